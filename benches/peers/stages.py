#!/usr/bin/env python3
"""De-duplication by numbered tasks beside one process, on the same data, in alternate rounds.

    cargo xtask python                                  # builds the wheel in target/python/wheels
    benches/peers/stages.py [--records 10000000] [--rounds 3] [--tasks 1,4,16]
    benches/peers/stages.py --keys 14 --records 1000000

Uniform fingerprints of 64 bits in Parquet, one in a hundred within three bits of another, numbers as ids; or random
keys (--keys of each record), of which one record in a hundred shares half with the one before it. One process loads
them into a store and decides by stars (`keep`); it and each job write the removed records and the rows that stay. A job
runs its tasks one after the other, each in a process of its own and on all cores, as a scheduler would. Prints medians:
seconds, their ratio, bytes between the stages, and the largest memory of a process without mapped files.
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

from common import NUMPY, inside_environment, package, paired, watched

ONE = """
import sys
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
import fpstore as fp
source, folder, column = sys.argv[1:4]
how = dict(kind="keys", key_bits=64) if column == "keys" else dict(max_distance=3)
with fp.create(folder + "/store", memory="1GiB", **how) as store:
    store.load(pa.RecordBatchReader.from_batches(pq.read_schema(source), pq.ParquetFile(source).iter_batches()))
    removed = pa.table(store.keep(evidence=True, memory="1GiB"))
pq.write_table(removed.sort_by("id"), folder + "/removed.parquet", compression="zstd")
ids = removed["id"]
with pq.ParquetWriter(folder + "/kept.parquet", pq.read_schema(source), compression="zstd") as out:
    for batch in pq.ParquetFile(source).iter_batches():
        out.write_batch(batch.filter(pc.invert(pc.is_in(batch["id"], value_set=ids))))
print(len(removed))
"""


def run(command, folder):
    """Seconds and memory of a process, and its output."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"}
    with open(folder / "out", "w") as out:
        seconds, memory = watched([sys.executable, *command], stdout=out, env=environment)
    return seconds, memory, (folder / "out").read_text().strip()


def one(source, folder, column):
    seconds, memory, removed = run(["-c", ONE, source, folder, column], folder)
    return {"seconds": seconds, "memory": memory, "removed": int(removed), "bytes": 0}


def job(source, folder, column, tasks):
    place, module = folder / "job", ["-m", "fpstore.stages"]
    options = ["--tasks", str(tasks), f"--{column}", column]
    seconds, memory, made = run([*module, "create", place, *options, source], folder)
    for stage, count in (part.split("=") for part in made.split()):
        for task in range(int(count)):
            took, most, _ = run([*module, "run", place, stage, str(task)], folder)
            seconds, memory = seconds + took, max(memory, most)
    import pyarrow.parquet as pq

    between = sum(path.stat().st_size for stage in ("partition", "join") for path in (place / stage).rglob("*")
                  if path.is_file())
    removed = pq.read_metadata(place / "decide/task-0/removed.parquet").num_rows
    return {"seconds": seconds, "memory": memory, "removed": removed, "bytes": between}


def keys(np, records, count):
    """Lists of random keys. One record in a hundred has half of the keys of the one before it."""
    import pyarrow as pa

    made = np.random.default_rng(1).integers(0, 2**64, (records, count), dtype=np.uint64)
    made[100::100, : count // 2] = made[99:-1:100, : count // 2]
    return pa.ListArray.from_arrays(np.arange(0, records * count + 1, count, dtype=np.int32), made.ravel())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--keys", type=int, help="keys of a record, instead of fingerprints")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--tasks", default="1,4,16")
    parser.add_argument("--package", help="a wheel, or a directory with the package [default: target/python/wheels]")
    options = parser.parse_args()
    inside_environment([NUMPY, "pyarrow==26.0.1"], "peers-python")
    package(options.package)
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        source = folder / "pages.parquet"
        if options.keys:
            column, values = "keys", keys(np, options.records, options.keys)
        else:
            column, values = "fingerprint", paired(options.records, options.records // 100)
        table = pa.table({"id": np.arange(len(values), dtype="u8"), column: values})
        pq.write_table(table, source, compression="none", use_dictionary=False, row_group_size=100_000)
        del table, values
        sides = [("one process", lambda place: one(source, place, column))]
        for tasks in map(int, options.tasks.split(",")):
            sides.append((f"{tasks} tasks", lambda place, tasks=tasks: job(source, place, column, tasks)))
        rounds = []
        for _ in range(options.rounds):
            made = []
            for _, side in sides:
                place = folder / "work"
                place.mkdir()
                made.append(side(place))
                shutil.rmtree(place)
            assert len({one["removed"] for one in made}) == 1, made
            rounds.append(made)
        kind = f"{options.keys} keys" if options.keys else "a fingerprint"
        print(f"{options.records:,} records with {kind}, {rounds[0][0]['removed']:,} removed, {os.cpu_count()} cores, "
              f"medians of {options.rounds} rounds\n")
        print("| | s | beside one process | bytes a record between the stages | memory, MiB |\n|---|---|---|---|---|")
        medians = [{name: statistics.median(made[at][name] for made in rounds) for name in rounds[0][0]}
                   for at in range(len(sides))]
        for (name, _), made in zip(sides, medians):
            print(f"| {name} | {made['seconds']:.1f} | {made['seconds'] / medians[0]['seconds']:.2f} | "
                  f"{made['bytes'] / options.records:.1f} | {made['memory'] / 2**20:.0f} |")
        print("\n" + json.dumps(medians))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
