#!/usr/bin/env python3
"""The first table of BENCHMARKS.md: sizes, loads, queries, batches, all pairs and clusters of 1 million to a billion
fingerprints, beside peers.

    cargo xtask bench               # 1, 20 and 100 million, and a billion if the disk has space: some half an hour
    cargo xtask bench --quick       # 1 and 20 million, each once: some three minutes
    benches/headline.py [--rounds 3] [--peers mih-rs,all-pairs-hamming,faiss] [--plot FILE.svg] [COUNT...]

Uniform 64-bit fingerprints, k = 3; one in twenty, but 500,000 at most, is another one with one to three bits flipped.
The programs run as a user runs them, from files to files, with the store in the page cache:

* load: `fpload --create --memory 4GiB`, from a file of integers to a store on disk;
* query: `fpquery --batch never --filter on`, 200,000 queries on one thread, half of them within 3 bits of a stored
  value: the mean time of a query and the blocks that it reads, as `--stats` has them;
* one query: `fpquery -k 3 STORE FINGERPRINT`, from the start of the program to its end, with the store in the page
  cache and without: the median of nine;
* batch: `fpquery --batch always`, a million such queries, from opening the store to the answers in a file;
* all pairs: `fpdedup pairs --distinct`, with two limits of memory;
* clusters: `fpdedup clusters`, with a line for each record, up to 100 million.

Each is the median of the rounds, from 100 million on one run. Ends with 1 if a planted pair is not found once, if the
limits of memory do not give the same pairs, or a peer not as many. Peers get the same fingerprints in memory, and write
nothing:

* mih-rs, its own choice of blocks: queries on one thread, up to 100 million;
* FAISS `IndexBinaryMultiHash(64, 2, 32)` with nflip 1: building, and queries on one thread, up to 20 million;
* all-pairs-hamming: all pairs, on one thread, up to 20 million.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
from common import MATPLOTLIB, NUMPY, ROOT, TARGET, inside_environment, paired, size, watched  # noqa: E402
from faiss_peer import PACKAGE as FAISS  # noqa: E402
from search import build_program, make_queries, run  # noqa: E402

PROGRAMS, JOIN_PEERS = TARGET / "release", TARGET / "join-peers"
COUNTS = [1_000_000, 20_000_000, 100_000_000, 1_000_000_000]
ONCE = 100_000_000
"""From here on one round."""
PLANTED, QUERIES, BATCH, DISTANCE = 500_000, 200_000, 1_000_000, 3
BYTES = 40
"""Bytes of disk for a fingerprint: the file, the store, and a load's temporary files or the labels."""
MOST_CLUSTERS = 100_000_000
MOST = {"mih-rs": 100_000_000, "faiss-2x32": 20_000_000, "all-pairs-hamming": 20_000_000}
"""Most fingerprints for a peer, which takes several times their memory or hours for more."""
ROWS = [
    ("bytes", "bytes a fingerprint on disk", "{:.2f}"),
    ("load", "load, s", "{:.2f}"),
    ("faiss-2x32 build", "FAISS, building in memory, s", "{:.1f}"),
    ("query", "query, us", "{:.2f}"),
    ("blocks", "blocks that it reads", "{:.2f}"),
    ("mih-rs", "mih-rs, us", "{:.1f}"),
    ("faiss-2x32", "FAISS, us", "{:.1f}"),
    ("one", "`fpquery` of one fingerprint, ms", "{:.0f}"),
    ("one, from disk", "the same, files not in memory, ms", "{:.0f}"),
    ("batch", "batch of a million queries, s", "{:.2f}"),
    ("pairs 4GiB", "all pairs within 4 GiB, s", "{:.2f}"),
    ("pairs 512MiB", "all pairs within 512 MiB, s", "{:.2f}"),
    ("all-pairs-hamming", "all-pairs-hamming, s", "{:.1f}"),
    ("found", "near pairs", "{:,.0f}"),
    ("clusters", "clusters, s", "{:.2f}"),
]
LINES = {"load": "load", "pairs 4GiB": "all pairs", "clusters": "clusters", "batch": "1 M queries",
         "query": "1 M queries, one by one"}
"""Figures of the picture: microseconds of a query are seconds of a million."""


def program(name, *arguments):
    """Seconds of a program of the project."""
    return watched([PROGRAMS / name, *arguments], accept=(0, 1))[0]


def answers(name, *arguments):
    """The standard error of a program of the project."""
    command = [str(PROGRAMS / name), *map(str, arguments)]
    return subprocess.run(command, check=True, stderr=subprocess.PIPE, text=True).stderr


def median(rounds, work):
    return statistics.median(work() for _ in range(rounds))


def one_query(store, wanted, from_disk):
    """Median milliseconds of a program that looks one of the fingerprints up."""
    def milliseconds(fingerprint):
        for file in store.iterdir() if from_disk else []:
            handle = os.open(file, os.O_RDONLY)
            os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
            os.close(handle)
        command = [str(PROGRAMS / "fpquery"), "-k", str(DISTANCE), str(store), f"{fingerprint:016x}"]
        start = time.perf_counter()
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return 1000 * (time.perf_counter() - start)

    return statistics.median(map(milliseconds, wanted))


def found_pairs(np, path, wanted):
    """The pairs in a file of `fpdedup pairs`; ends the program if it does not have each wanted one once."""
    with open(path) as lines:
        found = np.array([[int(digits, 16) for digits in line.split("\t")[:2]] for line in lines], dtype=np.uint64)
    distinct = np.unique(np.sort(found, axis=1), axis=0)
    together = np.unique(np.concatenate([distinct, wanted]), axis=0)
    if len(distinct) < len(found) or len(distinct) < len(together):
        sys.exit(f"{len(found) - len(distinct)} pairs twice, {len(together) - len(distinct)} wanted ones not at all")
    return distinct


def own(np, count, planted, folder, rounds):
    """The figures of fpstore, given the near pairs that have to be found."""
    figures, data, store, out = {}, folder / "data.u64", folder / "store", folder / "out.tsv"

    def load():
        shutil.rmtree(store, ignore_errors=True)
        return program("fpload", "--quiet", "--create", "--memory", "4GiB", store, data)

    figures["load"] = median(rounds, load)
    figures["bytes"] = size(store) / count
    asked = ["-k", DISTANCE, "--output", out, store, "--format", "le", "--input"]
    one = ["--batch", "never", "--filter", "on", "--threads", 1, "--stats", "--json", *asked, folder / "queries.u64"]
    asking = [json.loads(answers("fpquery", *one)) for _ in range(rounds)]
    figures["query"] = statistics.median(stats["latency_us"]["mean"] for stats in asking)
    figures["blocks"] = asking[0]["blocks_read"] / asking[0]["queries"]
    figures["batch"] = median(rounds, lambda: program("fpquery", "--batch", "always", *asked, folder / "batch.u64"))
    some = [int(fingerprint) for fingerprint in planted[:: len(planted) // 9, 0]]
    figures["one"] = one_query(store, some, False)
    figures["one, from disk"] = one_query(store, some, True)
    before = None
    for memory in ("4GiB", "512MiB"):
        joined = ["pairs", "--quiet", "--distinct", "-k", DISTANCE, "--memory", memory, "--output", out, store]
        figures[f"pairs {memory}"] = median(rounds, lambda: program("fpdedup", *joined))
        found = found_pairs(np, out, planted)
        if before is not None and not np.array_equal(before, found):
            sys.exit(f"{memory}: other pairs than with more memory")
        before = found
    figures["found"] = len(before)
    if count <= MOST_CLUSTERS:
        labeled = ["clusters", "--quiet", "-k", DISTANCE, "--memory", "4GiB", "--output", out, store]
        figures["clusters"] = median(rounds, lambda: program("fpdedup", *labeled))
    return figures


def of_peers(names, count, folder, found):
    """The figures of peers."""
    figures, files = {}, [str(folder / f"{name}.u64") for name in ("data", "queries", "warm-up")]
    for name in (name for name in names if count <= MOST[name]):
        if name == "all-pairs-hamming":
            command = [JOIN_PEERS / "release" / "fpstore-join-peers", name, files[0], str(DISTANCE)]
            joined = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            if joined["pairs"] != found:
                sys.exit(f"{name} has found {joined['pairs']} pairs, not {found}")
            figures[name] = joined["build"] + joined["join"]
        elif asked := run(name, [*files, str(count), str(DISTANCE)]):
            figures |= {name: asked["mean_us"], f"{name} build": asked["build_s"]}
    return figures


def figures_of(count, options):
    import numpy as np

    rounds, pairs = 1 if count >= ONCE else options.rounds, min(PLANTED, count // 20)
    with tempfile.TemporaryDirectory() as folder:
        folder, values = pathlib.Path(folder), paired(count, pairs)
        planted = np.sort(np.stack([values[:pairs], values[-pairs:]], axis=1), axis=1)
        files = {"data": values}
        files["queries"], files["warm-up"] = make_queries(values, QUERIES, uniform=True)
        files["batch"], _ = make_queries(values, BATCH, uniform=True)
        for name, array in files.items():
            array.tofile(folder / f"{name}.u64")
        # A billion are 8 GB, which the page cache can use.
        del values, files, array
        figures = own(np, count, planted, folder, rounds)
        shutil.rmtree(folder / "store")
        return figures | of_peers(options.peers, count, folder, figures["found"])


def draw(table, path):
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "fpstore", "font.size": 9})
    figure, axes = pyplot.subplots(figsize=(6.4, 4.2), layout="constrained")
    counts = list(table)
    first = min(1, len(counts) - 1)
    for name, label in LINES.items():
        known = [count for count in counts if name in table[count]]
        seconds = [table[count][name] for count in known]
        [line] = axes.plot(known, seconds, marker="o", label=label)
        if name not in ("batch", "query"):
            linear = [seconds[first] * count / counts[first] for count in counts]
            axes.plot(counts, linear, color=line.get_color(), linestyle=":", linewidth=1)
    axes.set(xscale="log", yscale="log", xlabel="fingerprints", ylabel="seconds",
             title=f"Uniform fingerprints, k = 3, {os.cpu_count()} cores; dotted: straight lines")
    axes.grid(which="major", alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="*", type=int)
    parser.add_argument("--quick", action="store_true", help="the first two sizes, each once")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=",".join(MOST))
    parser.add_argument("--plot", type=pathlib.Path, help="draws the table")
    options = parser.parse_args()
    options.peers = [name for name in options.peers.split(",") if name]
    if unknown := set(options.peers) - set(MOST):
        parser.error(f"no such peers: {', '.join(unknown)}; there are {', '.join(MOST)}")
    inside_environment([NUMPY, MATPLOTLIB, FAISS], "headline")
    if options.quick:
        options.rounds = 1
    space = shutil.disk_usage(tempfile.gettempdir()).free
    counts = options.counts or (COUNTS[:2] if options.quick else COUNTS)
    if too_many := [count for count in counts if count * BYTES > space]:
        print(f"{tempfile.gettempdir()} has not {max(too_many) * BYTES} bytes; left out: {too_many}", file=sys.stderr)
    build = ["cargo", "build", "--quiet", "--release", "--locked", "--target-dir"]
    subprocess.run([*build, TARGET, "-p", "fpstore-tools"], cwd=ROOT, check=True)
    if asked := [name for name in options.peers if name != "all-pairs-hamming"]:
        build_program(asked)
    if "all-pairs-hamming" in options.peers:
        subprocess.run([*build, JOIN_PEERS], cwd=ROOT / "benches/peers/joins", check=True)
    table = {}
    for count in sorted(set(counts) - set(too_many)):
        print(f"{count:,} fingerprints", file=sys.stderr)
        table[count] = figures_of(count, options)
        print(json.dumps(table[count]), file=sys.stderr, flush=True)
    print(f"{os.cpu_count()} cores\n\n| |" + "|".join(f" {count / 1e6:,.0f} M " for count in table) + "|")
    print("|---" * (1 + len(table)) + "|")
    for key, title, form in ROWS:
        cells = [form.format(figures[key]) if key in figures else "" for figures in table.values()]
        if any(cells):
            print(f"| {title} |" + "|".join(f" {cell} " for cell in cells) + "|")
    if options.plot:
        draw(table, options.plot)


if __name__ == "__main__":
    main()
