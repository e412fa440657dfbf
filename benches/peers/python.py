#!/usr/bin/env python3
"""The package for Python beside the same work in Rust, on the same data, in alternate rounds.

    cargo xtask python                                  # builds the wheel in target/python/wheels
    benches/peers/python.py [--records 20000000] [--rounds 3] [--texts 20000]

Loads uniform fingerprints from an array of NumPy, asks a million of them in one batch and 100,000 one by one, finds all
pairs within 3 bits, and makes fingerprints of an Arrow column of texts; `cargo bench --bench native` does the first four
in Rust alone, `fphash` the last (its time of parsing JSON included). Every round has a process of its own. Prints
medians, their ratio, and the peak memory of both, without mapped files.
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

from common import NUMPY, ROOT, TARGET, inside_environment, splitmix64, watched

PYTHON = """
import json, sys, time
import numpy as np
import fpstore as fp
file, path = sys.argv[1:3]
values = np.fromfile(file, dtype="<u8")
took = {}
begun = time.perf_counter()
store = fp.create(path, max_distance=3, filters="at-open")
store.load(values, ids=np.arange(len(values), dtype="u8"))
took["load"] = time.perf_counter() - begun
store.close()
store = fp.open(path, read_only=True, filters="at-open")
queries = values[:: max(1, len(values) // 1_000_000)][:1_000_000] ^ np.uint64(5)
begun = time.perf_counter()
found = sum(len(batch) for batch in store.query(queries, 3))
took["batch"] = time.perf_counter() - begun
singles = queries[:100_000].tolist()
begun = time.perf_counter()
single = 0
for query in singles:
    single += len(store.query(query, 3))
took["single"] = (time.perf_counter() - begun) / len(singles) * 1e6
begun = time.perf_counter()
pairs = sum(len(batch) for batch in store.pairs(3))
took["pairs"] = time.perf_counter() - begun
took["found"] = [found, single, pairs]
print(json.dumps(took))
"""

TEXTS = """
import json, sys, time
import pyarrow as pa
import fpstore as fp
texts = pa.array([json.loads(line)["text"] for line in open(sys.argv[1])])
begun = time.perf_counter()
made = fp.simhash(texts)
print(json.dumps({"simhash": time.perf_counter() - begun, "found": [len(made)]}))
"""


def run(command):
    """Runs a command; returns the object that it prints last, with its peak memory in MiB."""
    with tempfile.TemporaryFile() as out:
        _, peak = watched(command, stdout=out, stderr=subprocess.DEVNULL)
        out.seek(0)
        made = json.loads(out.read().decode().strip().splitlines()[-1])
    return made | {"memory": peak / 2**20}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=20_000, help="documents of 3,000 characters; 0 leaves them out")
    options = parser.parse_args()
    wheels = sorted((TARGET / "python" / "wheels").glob("fpstore-*.whl"))
    if not wheels:
        sys.exit("there is no wheel in target/python/wheels; run `cargo xtask python`")
    inside_environment([NUMPY, "pyarrow==26.0.1", "--force-reinstall", str(wheels[0])], "peers-python")
    cargo = ["cargo", "bench", "--quiet", "--bench", "native"]
    subprocess.run([*cargo, "--no-run"], cwd=ROOT, check=True)
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "fpstore-tools"], cwd=ROOT, check=True)
    directory = pathlib.Path(tempfile.mkdtemp())
    try:
        splitmix64(options.records).tofile(directory / "values.u64")
        rounds = []
        for _ in range(options.rounds):
            pair = []
            for command in ([*cargo, "--"], [sys.executable, "-c", PYTHON]):
                pair.append(run([*command, directory / "values.u64", directory / "store"]))
                shutil.rmtree(directory / "store")
            assert pair[0]["found"] == pair[1]["found"], pair
            rounds.append(pair)
        print(f"{options.records:,} fingerprints, {os.cpu_count()} cores, medians of {options.rounds} rounds\n")
        print("| | Rust | Python | ratio |\n|---|---|---|---|")
        for name, unit in (("load", "s"), ("batch", "s"), ("pairs", "s"), ("single", "us"), ("memory", "MiB")):
            rust, python = (statistics.median(pair[side][name] for pair in rounds) for side in (0, 1))
            print(f"| {name}, {unit} | {rust:.2f} | {python:.2f} | {python / rust:.2f} |")
        if options.texts:
            texts(options, directory)
    finally:
        shutil.rmtree(directory)


def texts(options, directory):
    """Compares `fphash` and `fpstore.simhash`, each on all cores."""
    import gzip

    with gzip.open(ROOT / "tests/data/rust-book-documents.ndjson.gz", "rt") as lines:
        book = [json.loads(line)["text"][:3000] for line in lines]
    with open(directory / "texts.ndjson", "w") as out:
        for number in range(options.texts):
            out.write(json.dumps({"id": number, "text": book[number % len(book)] + str(number)}) + "\n")
    program = TARGET / "release" / "fphash"
    ours, theirs = [], []
    for _ in range(options.rounds):
        with open(os.devnull, "w") as nothing:
            command = [program, "simhash", directory / "texts.ndjson"]
            ours.append(watched(command, stdout=nothing, stderr=nothing)[0])
        theirs.append(run([sys.executable, "-c", TEXTS, directory / "texts.ndjson"])["simhash"])
    rust, python = statistics.median(ours), statistics.median(theirs)
    print(f"| simhash of {options.texts:,} texts, s (fphash parses JSON, too) | {rust:.2f} | {python:.2f} | {python / rust:.2f} |")


if __name__ == "__main__":
    main()
