#!/usr/bin/env python3
"""Sketching speed in megabytes of text per second, beside Python packages, on the same documents in the same run.

    benches/peers/sketch.py [--rounds 5] [--every 3]

Documents: every third of tests/data/rust-book-documents.ndjson.gz. All run on one core, alternating; medians of the
rounds. Ours is the Rust library (`cargo bench --bench sketch`); Python calls the others as their users do:
simhash 2.1.2 `Simhash(text)` with numpy 1.26.4, datasketch 2.0.0 `MinHash(num_perm=128).update_batch`, rensa 0.5.0
`RMinHash(num_perm=128).update`. MinHash uses five consecutive tokens, which Python cuts from the text; for ready tokens
only the package's own work is timed. Ready tokens are lists of str or of bytes, ours of `String`.
"""
import argparse
import gzip
import json
import os
import statistics
import subprocess
import time

from common import ROOT, inside_environment

PACKAGES = ["numpy==1.26.4", "simhash==2.1.2", "datasketch==2.0.0", "rensa==0.5.0"]
DOCUMENTS = ROOT / "tests/data/rust-book-documents.ndjson.gz"


def shingles(text):
    tokens = text.split()
    return [" ".join(tokens[i:i + 5]) for i in range(len(tokens) - 4)]


def peers(texts):
    """Name, sketching function, and items of each."""
    from datasketch import MinHash
    from rensa import RMinHash
    from simhash import Simhash

    permutations = MinHash(num_perm=128).permutations

    def datasketch(tokens):
        minhash = MinHash(num_perm=128, permutations=permutations, scheme="affine32")
        minhash.update_batch(tokens)
        return minhash.digest()

    def rensa(tokens):
        minhash = RMinHash(num_perm=128, seed=42)
        minhash.update(tokens)
        return minhash.digest()

    strings = [shingles(text) for text in texts]
    encoded = [[token.encode() for token in tokens] for tokens in strings]
    return [
        ("simhash 2.1.2", lambda text: Simhash(text).value, texts),
        ("datasketch 2.0.0", lambda text: datasketch([token.encode() for token in shingles(text)]), texts),
        ("datasketch 2.0.0, ready tokens (bytes)", datasketch, encoded),
        ("rensa 0.5.0", lambda text: rensa(shingles(text)), texts),
        ("rensa 0.5.0, ready tokens (str)", rensa, strings),
        ("rensa 0.5.0, ready tokens (bytes)", rensa, encoded),
    ]


def ours(rounds, every):
    command = ["cargo", "bench", "--quiet", "--bench", "sketch", "--", str(rounds), str(every)]
    lines = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    return [(found["name"], found["mb_s"]) for found in map(json.loads, lines)]


def table(speeds, beside, names):
    """Speeds of the sketches whose name has one of these prefixes, and their ratios to those of `beside`."""
    print("\n| | MB/s | " + " | ".join(f"beside {name}" for name in beside) + " |\n|---|---|" + "---|" * len(beside))
    for name, found in speeds.items():
        if name.startswith(names):
            speed = statistics.median(found)
            times = [f"{speed / statistics.median(speeds[other]):.3g}" for other in beside]
            print(f"| {name} | {speed:.3g} | " + " | ".join(times) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--every", type=int, default=3, help="take every N-th document [default: 3]")
    options = parser.parse_args()
    inside_environment(PACKAGES)
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    with gzip.open(DOCUMENTS, "rt") as lines:
        texts = [json.loads(line)["text"] for line in lines][::options.every]
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    others = peers(texts)
    speeds = {}
    for _ in range(options.rounds):
        for name, speed in ours(3, options.every):
            speeds.setdefault(name, []).append(speed)
        for name, sketch, items in others:
            start = time.perf_counter()
            for item in items:
                sketch(item)
            speeds.setdefault(name, []).append(megabytes / (time.perf_counter() - start))
    print(f"{len(texts)} documents, {megabytes:.1f} MB, one core, medians of {options.rounds} rounds")
    table(speeds, ["simhash 2.1.2"], ("simhash",))
    ready = "rensa 0.5.0, ready tokens (bytes)"
    table(speeds, ["datasketch 2.0.0", "rensa 0.5.0", ready], ("minhash", "datasketch", "rensa"))


if __name__ == "__main__":
    main()
