#!/usr/bin/env python3
"""The package for Python beside the same work in Rust, on the same data, in alternate rounds.

    cargo xtask python                                  # builds the wheel in target/python/wheels
    benches/peers/python.py [--records 20000000] [--rounds 3] [--texts 100000]

Loads uniform fingerprints from Arrow columns, asks a million of them in one batch and 100,000 one by one, and finds all
pairs within 3 bits; `cargo bench --bench native` does the same in Rust alone. Loads a Parquet file with pyarrow and
with `fpload`. Makes fingerprints of an Arrow column of texts; `cargo bench --bench native -- --texts` of as many
strings in memory, on all cores. Every round has a process of its own. Prints medians, their ratio, and the peak memory
of both, without mapped files. The process of Python holds the data in Arrow and in NumPy.
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

from common import NUMPY, ROOT, TARGET, bench_program, inside_environment, package, splitmix64, watched

PYTHON = """
import json, sys, time
import numpy as np, pyarrow as pa
import fpstore as fp
sys.path.insert(0, sys.argv[3])
from common import resident
file, path = sys.argv[1:3]
values = np.fromfile(file, dtype="<u8")
table = pa.table({"fingerprint": values, "id": np.arange(len(values), dtype="u8")})
took = {"before": resident("self")}
begun = time.perf_counter()
store = fp.create(path, max_distance=3, filters="at-open")
store.load(table)
took["load"] = time.perf_counter() - begun
store.close()
store = fp.open(path, read_only=True, filters="at-open")
queries = values[:: max(1, len(values) // 1_000_000)][:1_000_000] ^ np.uint64(5)
column = pa.array(queries)
begun = time.perf_counter()
found = sum(len(batch) for batch in store.query(column, 3))
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

PARQUET = """
import json, sys, time
import pyarrow.parquet as pq
import fpstore as fp
begun = time.perf_counter()
store = fp.create(sys.argv[2], max_distance=3)
loaded = store.load(pq.read_table(sys.argv[1]))
store.close()
print(json.dumps({"seconds": time.perf_counter() - begun, "found": loaded["added"]}))
"""

TEXTS = """
import json, sys, time
import pyarrow as pa
import fpstore as fp
texts = pa.array([json.loads(line)["text"] for line in open(sys.argv[1])])
begun = time.perf_counter()
made = fp.simhash(texts)
took = time.perf_counter() - begun
print(json.dumps({"simhash": took, "found": sum(one for one in made.to_pylist()) % 2**64}))
"""


def run(*command):
    """Runs a command; returns the object that it prints last, with its peak of memory above what it had `before`."""
    # The threads that NumPy starts for matrices wait busily, at the cost of both sides.
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryFile() as out:
        _, peak = watched(command, stdout=out, stderr=subprocess.DEVNULL, env=environment)
        out.seek(0)
        made = json.loads(out.read().decode().strip().splitlines()[-1])
    return made | {"memory": (peak - made.get("before", 0)) / 2**20}


def python(program, *arguments):
    return run(sys.executable, "-c", program, *arguments)


def row(name, rounds, value):
    """Prints the medians of both sides."""
    rust, python = (statistics.median(value(pair[side]) for pair in rounds) for side in (0, 1))
    print(f"| {name} | {rust:.2f} | {python:.2f} | {python / rust:.2f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=20_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--texts", type=int, default=100_000, help="documents of up to 3,000 characters")
    parser.add_argument("--package", help="a wheel, or a directory with the package [default: target/python/wheels]")
    options = parser.parse_args()
    inside_environment([NUMPY, "pyarrow==26.0.1"], "peers-python")
    package(options.package)
    native = bench_program("native")
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "fpstore-tools", "--locked"], cwd=ROOT, check=True)
    directory = pathlib.Path(tempfile.mkdtemp())
    try:
        print(f"{options.records:,} fingerprints, {os.cpu_count()} cores, medians of {options.rounds} rounds\n")
        print("| | Rust | Python | ratio |\n|---|---|---|---|")
        fingerprints(options, directory, native)
        parquet(options, directory)
        texts(options, directory, native)
    finally:
        shutil.rmtree(directory)


def alternate(rounds, *sides):
    """What both sides return in every round; they have to find the same."""
    pairs = [[side() for side in sides] for _ in range(rounds)]
    for rust, python in pairs:
        assert rust["found"] == python["found"], (rust, python)
    return pairs


def fingerprints(options, directory, native):
    """The work with a store."""
    file, store = directory / "values.u64", directory / "store"
    splitmix64(options.records).tofile(file)

    def cleared(made):
        shutil.rmtree(store)
        return made

    rounds = alternate(
        options.rounds,
        lambda: cleared(run(native, file, store)),
        lambda: cleared(python(PYTHON, file, store, pathlib.Path(__file__).parent)),
    )
    for name, unit in (("load", "s"), ("batch", "s"), ("pairs", "s"), ("single", "us"), ("memory", "MiB")):
        row(f"{name}, {unit}", rounds, lambda made: made[name])


def parquet(options, directory):
    """A file of Parquet: `fpload` beside pyarrow."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    file, store = directory / "values.parquet", directory / "store"
    values = splitmix64(options.records)
    table = pa.table({"fingerprint": values, "id": np.arange(len(values), dtype="u8")})
    pq.write_table(table, file, compression="none", use_dictionary=False)
    del table, values

    def program():
        command = [TARGET / "release" / "fpload", "--create", "--max-distance", "3", "--quiet", store, file]
        seconds, _ = watched(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        shutil.rmtree(store)
        return {"seconds": seconds, "found": options.records}

    def module():
        made = python(PARQUET, file, store)
        shutil.rmtree(store)
        return made

    row("load from Parquet, s", alternate(options.rounds, program, module), lambda made: made["seconds"])


def texts(options, directory, native):
    """Fingerprints of texts, on all cores."""
    import gzip

    with gzip.open(ROOT / "tests/data/rust-book-documents.ndjson.gz", "rt") as lines:
        book = [json.loads(line)["text"][:3000] for line in lines]
    file = directory / "texts.ndjson"
    with open(file, "w") as out:
        for number in range(options.texts):
            out.write(json.dumps({"text": book[number % len(book)] + str(number)}) + "\n")
    rounds = alternate(options.rounds, lambda: run(native, "--texts", file), lambda: python(TEXTS, file))
    row(f"simhash of {options.texts:,} texts, s", rounds, lambda made: made["simhash"])


if __name__ == "__main__":
    main()
