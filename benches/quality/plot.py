#!/usr/bin/env python3
"""Draws precision and recall of sketches.

    benches/quality/plot.py [--output FILE.svg] [FILE.ndjson]

The file is the output of `cargo bench --bench quality -- --json`; without a file, the program runs this
command. A row for each corpus. Left: both over the maximum distance of fingerprints. Right: one over the other, with
MinHash.
"""
import argparse
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))
from common import NUMPY, ROOT, inside_environment  # noqa: E402
from common import MATPLOTLIB  # noqa: E402

COLOURS = {"native": "#0060a8", "native 1": "#60a8e0", "1e0ng": "#c8500a", "seomoz": "#2a8a3a", "string-hash": "#8a56b0", "bkdr": "#7a7a7a",
           "native, 128 bits": "#00a0c8", "minhash native": "#b01030", "minhash datasketch": "#e08a90",
           "minhash native, bits 1": "#b01030"}
CORPORA = {"rust-book": "One book", "manuals": "Manuals and licences"}
LABELS = {"native": "native (version 2)", "string-hash": "string-hash, -java", "minhash native": "MinHash native", "minhash datasketch":
          "MinHash datasketch", "minhash native, bits 1": "MinHash native, 1 bit"}


def measured(file):
    """For each corpus and sketch, by name: parameters, precisions, recalls."""
    if file:
        lines = file.read_text().splitlines()
    else:
        command = ["cargo", "bench", "--quiet", "--bench", "quality", "--", "--json"]
        lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    corpora = {corpus: {} for corpus in CORPORA}
    for line in map(json.loads, lines):
        if line.get("way") in ("simhash", "minhash"):
            points = [(at, found["right"][0] / found["found"], found["right"][0] / line["all"]["right"][0])
                      for at, found in line["points"] if found["found"]]
            name = line["sketch"] if line["way"] == "simhash" else "minhash " + line["sketch"]
            corpora[line["corpus"]][name] = list(zip(*points))
    return corpora


def over_bits(axes, corpus, sketches):
    for name in ("native", "native 1", "seomoz", "1e0ng", "string-hash", "bkdr"):
        at, precision, recall = sketches[name]
        colour = COLOURS[name]
        marker = "o" if name != "native 1" else None
        axes.plot(at, recall, color=colour, marker=marker, markersize=3, label=LABELS.get(name, name))
        axes.plot(at, precision, color=colour, linestyle="--", linewidth=1.2)
    axes.plot([], [], color="black", marker="o", markersize=3, label="recall")
    axes.plot([], [], color="black", linestyle="--", linewidth=1.2, label="precision")
    axes.set(xlabel="k: bits in which 64-bit fingerprints may differ", ylabel="share of pairs",
             title=f"{CORPORA[corpus]}: recall and precision over k", xlim=(-0.3, 16.3),
             ylim=(0, 1.03), xticks=range(0, 17, 2))


def over_each_other(axes, corpus, sketches):
    # The k or the estimate at some points, and the position of the text.
    labels = {"native": [(3, (0, -13)), (6, (-6, -13)), (7, (-9, -12)), (8, (-12, -12)), (10, (-20, -10)), (12, (-22, -9))],
              "1e0ng": [(2, (-16, -11)), (3, (-22, -9)), (6, (-22, -8)), (10, (-24, -6))],
              "minhash native": [(0.8, (-8, 5)), (0.6, (-12, 5)), (0.5, (-2, 8)), (0.4, (7, -3))]}
    for name in ("native", "native 1", "native, 128 bits", "seomoz", "1e0ng", "string-hash", "minhash native", "minhash datasketch",
                 "minhash native, bits 1"):
        at, precision, recall = sketches[name]
        minhash = name.startswith("minhash")
        axes.plot(recall, precision, color=COLOURS[name], marker=None if minhash or name == "native 1" else "o", markersize=3,
                  linestyle=":" if name.endswith("bits 1") else "-", label=LABELS.get(name, name))
        for parameter, offset in labels.get(name, []):
            place = at.index(parameter)
            if precision[place] < 0.6:
                continue
            axes.plot(recall[place], precision[place], color=COLOURS[name], marker="s" if minhash else "o", markersize=4)
            axes.annotate(f"{parameter:g}", (recall[place], precision[place]), textcoords="offset points",
                          xytext=offset, color=COLOURS[name], fontsize=8)
    axes.set(xlabel="recall (numbers: k, or the least estimate)", ylabel="precision", xlim=(0.2, 1.06), ylim=(0.6, 1.03),
             title=f"{CORPORA[corpus]}: precision over recall")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=pathlib.Path)
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "quality.svg")
    options = parser.parse_args()
    inside_environment([NUMPY, MATPLOTLIB])
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    corpora = measured(options.file)
    pyplot.rcParams.update({"svg.hashsalt": "fpstore", "font.size": 9})
    figure, rows = pyplot.subplots(len(corpora), 2, figsize=(10.4, 8.8), layout="constrained")
    for number, (corpus, sketches) in enumerate(corpora.items(), 1):
        for axes, draw in zip(rows[number - 1], (over_bits, over_each_other)):
            draw(axes, corpus, sketches)
            axes.grid(alpha=0.3)
            if number == len(corpora):
                axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3, frameon=False,
                            columnspacing=1, handlelength=1.5, fontsize=8)
    figure.savefig(options.output, metadata={"Date": None})


if __name__ == "__main__":
    main()
