#!/usr/bin/env python3
"""Clusters updated from labels beside a full run, alternating: seconds, processor seconds, and their ratios.

    benches/peers/previous.py FILE.u64 [--records 3000000] [--new 1000] [--rounds 5]

The first records of the file make a store, once with numeric ids and once with URLs, in an order different from that of
the fingerprints; the next ones are new. Times `fpdedup clusters` to a file with and without `--previous`, alternating,
and exits with 1 if the files differ. Medians.
"""
import argparse
import array
import filecmp
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

from common import TARGET, core_seconds

PROGRAMS = TARGET / "release"


def url(number):
    mixed = number * 2654435761 & 0xFFFFFFFF
    return f"https://host-{mixed % 50021}.example/path/{mixed >> 7:x}/page-{number}.html"


def timed(arguments, out):
    """Seconds and processor seconds of `fpdedup clusters`."""
    before, start = core_seconds(), time.perf_counter()
    with open(out, "wb") as file:
        subprocess.run([PROGRAMS / "fpdedup", "clusters", "-q", *arguments], stdout=file, check=True)
    return time.perf_counter() - start, core_seconds() - before


def write(path, fingerprints, names):
    with open(path, "w") as file:
        file.writelines(f"{one:016x}\t{name}\n" for one, name in zip(fingerprints, names))


def measure(folder, name, kind, fingerprints, names, options):
    store, old, new, labels = (folder / part for part in ("store-" + kind, "old.tsv", "new.tsv", "labels.tsv"))
    write(old, fingerprints[:options.records], names[:options.records])
    write(new, fingerprints[options.records:], names[options.records:])
    subprocess.run([PROGRAMS / "fpload", "-q", "--create", "--ids", kind, store, old], check=True)
    timed([store], labels)
    for what, more in (("nothing new", []), (f"{options.new:,} new", ["--new", new])):
        full, previous = [], []
        for _ in range(options.rounds):
            full.append(timed([*more, store], folder / "full.tsv"))
            previous.append(timed(["--previous", labels, *more, store], folder / "previous.tsv"))
        if not filecmp.cmp(folder / "full.tsv", folder / "previous.tsv", shallow=False):
            raise SystemExit(f"{name}, {what}: the labels differ")
        (a, b), (c, d) = ([statistics.median(part) for part in zip(*times)] for times in (full, previous))
        print(f"| {name}, {what} | {a:.2f} | {c:.2f} | {c / a:.2f} | {b:.2f} | {d:.2f} | {d / b:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--records", type=int, default=3_000_000)
    parser.add_argument("--new", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    fingerprints = array.array("Q", options.file.read_bytes())[:options.records + options.new]
    ids = list(range(1, len(fingerprints) + 1))
    random.Random(5).shuffle(ids)
    print("| ids, records | full, s | previous, s | ratio | full, processor s | previous, processor s | ratio |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, kind, names in (("numbers", "u64", ids), ("URLs", "text", [url(number) for number in ids])):
            measure(pathlib.Path(folder), name, kind, fingerprints, names, options)


if __name__ == "__main__":
    main()
