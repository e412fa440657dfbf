#!/usr/bin/env python3
"""De-duplication by numbered tasks beside one process, on the same data, in alternate rounds.

    cargo xtask python                                  # builds the wheel in target/python/wheels
    benches/peers/stages.py [--records 10000000] [--rounds 3] [--tasks 1,4,16]
    benches/peers/stages.py --keys 14 --records 1000000

Uniform fingerprints of 64 bits in Parquet, one in a hundred within three bits of another, numbers as ids; or random
keys (--keys of each record), of which one record in a hundred shares half with the one before it. One process loads
them into a store and decides by stars (`keep`); it and each job write the removed records and the rows that stay. A job
runs its tasks in as many processes as there are cores (`run JOB --workers`). Prints medians: seconds, their ratio,
bytes between the stages, and the largest memory of a process without mapped files. Then the last number of tasks runs
once more, one task after the other in a process of its own as a scheduler would start it, and of each stage there is
what it takes and writes for a record, the start of Python included. All have 1 GiB (--memory).
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import time

from common import NUMPY, core_seconds, inside_environment, package, paired, resident, size, watched
from documents import processes

STAGES = ("digest", "common", "partition", "join", "components", "decide", "keep")
ONE = """
import sys
import pyarrow as pa, pyarrow.compute as pc, pyarrow.parquet as pq
import fpstore as fp
source, folder, column = sys.argv[1:4]
how = dict(kind="keys", key_bits=64) if column == "keys" else dict(max_distance=3)
memory = sys.argv[4]
with fp.create(folder + "/store", memory=memory, **how) as store:
    store.load(pa.RecordBatchReader.from_batches(pq.read_schema(source), pq.ParquetFile(source).iter_batches()))
    removed = pa.table(store.keep(evidence=True, memory=memory))
pq.write_table(removed.sort_by("id"), folder + "/removed.parquet", compression="zstd")
ids = removed["id"]
with pq.ParquetWriter(folder + "/kept.parquet", pq.read_schema(source), compression="zstd") as out:
    for batch in pq.ParquetFile(source).iter_batches():
        out.write_batch(batch.filter(pc.invert(pc.is_in(batch["id"], value_set=ids))))
print(len(removed))
"""


def run(command, folder):
    """Seconds, memory and core-seconds of a process, and its output."""
    environment, before = os.environ | {"OPENBLAS_NUM_THREADS": "1"}, core_seconds()
    with open(folder / "out", "w") as out:
        seconds, memory = watched([sys.executable, *command], stdout=out, env=environment)
    return seconds, memory, core_seconds() - before, (folder / "out").read_text().strip()


def one(source, folder, column, memory):
    seconds, most, _, removed = run(["-c", ONE, source, folder, column, memory], folder)
    return {"seconds": seconds, "memory": most, "removed": int(removed), "bytes": 0}


def largest(pid):
    """The memory of the largest process of a tree."""
    return (max(map(resident, processes(pid)), default=0),)


def created(source, folder, column, tasks, memory):
    """A new job."""
    place = folder / "job"
    options = ["--tasks", str(tasks), f"--{column}", column, "--memory", memory]
    run(["-m", "fpstore.stages", "create", place, *options, source], folder)
    return place


def job(*how):
    """The whole of a job."""
    import pyarrow.parquet as pq

    begin = time.perf_counter()
    place = created(*how)
    command = [sys.executable, "-m", "fpstore.stages", "run", place, "--workers", str(os.cpu_count())]
    _, memory = watched(command, largest, pause=0.1, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
    seconds = time.perf_counter() - begin
    removed = sum(pq.read_metadata(path).num_rows for path in (place / "decide").glob("task-*/removed.parquet"))
    return {"seconds": seconds, "memory": memory, "removed": removed, "bytes": size(place) - size(place / "keep")}


def stage_by_stage(*how):
    """Core-seconds, the memory of the largest task, bytes and the number of tasks of each stage."""
    place, folder = created(*how), how[1]
    for stage in STAGES:
        cores = most = count = 0
        while missing := run(["-m", "fpstore.stages", "missing", place, stage], folder)[-1].split():
            for task in missing:
                _, memory, core, _ = run(["-m", "fpstore.stages", "run", place, stage, task], folder)
                cores, most, count = cores + core, max(most, memory), count + 1
        yield stage, cores, most, size(place / stage), count


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
    parser.add_argument("--memory", default="1GiB", help="of a task, and of one process (1GiB)")
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
        sides = [("one process", lambda place: one(source, place, column, options.memory))]
        for tasks in map(int, options.tasks.split(",")):
            how = (column, tasks, options.memory)
            sides.append((f"{tasks} tasks", lambda place, how=how: job(source, place, *how)))
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
        print(f"\n| {how[1]} tasks | tasks | core-us a record | bytes a record | memory of a task, MiB |\n"
              "|---|---|---|---|---|")
        place = folder / "work"
        place.mkdir()
        for stage, cores, most, bytes_, count in stage_by_stage(source, place, *how):
            print(f"| {stage} | {count} | {cores / options.records * 1e6:.2f} | {bytes_ / options.records:.1f} | "
                  f"{most / 2**20:.0f} |", flush=True)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
