#!/usr/bin/env python3
"""Tasks of a job of ten billion fingerprints at their full size, on this machine.

    cargo xtask python                              # builds the wheel in target/python/wheels
    benches/ten_billion.py [--total 10000000000] [--tasks 320]

A job of --total fingerprints at distance 3 has --tasks tasks of `partition` and of `join`; a quarter of the latter are
for each of its four parts.

* `partition` runs on one share of the input, of uniform fingerprints.
* `join` runs on one group of part 0 with as many fingerprints as that has in the whole job, and of the same density:
  the first 16 bits are those whose hash is that of the group, all others are uniform. They are in --tasks small stores,
  as the tasks of `partition` leave them; these are loaded here, not dealt. One fingerprint in a hundred is another one
  with up to three bits flipped; those pairs that do not differ in the first 16 bits are found, as in part 0 of a job.

* `components` and `decide`, with single and with star linkage, run on --links links between twice as many records by
  chance, in 8 shares, so that most have one other record and some are in large components.

Prints seconds, core-seconds, memory and bytes of each, and the core-hours of all tasks of their kind; of links what one
takes in all steps together.
"""
import argparse
import os
import pathlib
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
from common import NUMPY, core_seconds, inside_environment, mix, package  # noqa: E402
from common import paired, size, splitmix64, watched  # noqa: E402

PARTS, SHARES = 4, 8


def first_bits(np, groups):
    """The values of the first 16 bits that are in group 0 (format-spec/plan.md)."""
    values = np.arange(1 << 16, dtype=np.uint64)
    with np.errstate(over="ignore"):
        return values[mix(values << np.uint64(48)) % np.uint64(groups) == 0]


def run(*arguments):
    """Seconds, core-seconds and memory of a task."""
    before = core_seconds()
    seconds, memory = watched([sys.executable, "-m", "fpstore.stages", "run", *map(str, arguments)])
    return seconds, core_seconds() - before, memory


def link_by_link(np, pa, pq, stages, folder, links, linkage):
    """Prints what the rounds take for a link."""
    how = {"tasks": SHARES, "groups": SHARES // PARTS, "linkage": linkage, "memory": links * 170 // SHARES}
    job = stages.create(folder / linkage, folder / "share.parquet", **how)
    random = np.random.default_rng(1)
    for number in range(SHARES):
        job.plan.result("partition", number).mkdir(parents=True)
        place = job.plan.result("join", number)
        place.mkdir(parents=True)
        pairs = np.sort(random.integers(0, 2 * links, (links // SHARES, 2), dtype=np.uint64))
        columns = {"id": pairs[:, 1], "near": pairs[:, 0]}
        if linkage != "single":
            columns["distance"] = np.ones(len(pairs), np.uint32)
        table = pa.table(columns)
        pq.write_table(table.filter(pa.array(pairs[:, 1] != pairs[:, 0])), place / "near.parquet", compression="zstd")
    cores = most = count = 0
    for stage, missing in job.remaining():
        if stage == "keep":
            break
        for task in missing:
            _, core, memory = run(job.folder, stage, task)
            cores, most, count = cores + core, max(most, memory), count + 1
    shares, bytes_ = job.tasks("decide"), size(job.folder / "components")
    print(f"{links:,} links in {shares} shares, {linkage} linkage: {job.tasks('components') // shares} steps, "
          f"{cores / links * 1e6:.1f} core-us and {bytes_ / links:.0f} bytes a link in {count} tasks, of which each "
          f"begins with Python's start; {most / 2**20:.0f} MiB a task")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--total", type=int, default=10_000_000_000)
    parser.add_argument("--tasks", type=int, default=320)
    parser.add_argument("--links", type=int, default=4_000_000)
    parser.add_argument("--memory", default="4GiB", help="of a task (4GiB)")
    parser.add_argument("--package", help="a wheel, or a directory with the package [default: target/python/wheels]")
    options = parser.parse_args()
    inside_environment([NUMPY, "pyarrow==26.0.1"], "peers-python")
    package(options.package)
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    import fpstore as fp
    from fpstore import stages

    if options.tasks < PARTS or options.tasks % PARTS:
        parser.error(f"--tasks {options.tasks}: expected a multiple of {PARTS}")
    groups, share = options.tasks // PARTS, options.total // options.tasks
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        how = {"groups": groups, "memory": options.memory}
        values = splitmix64(share)
        table = pa.table({"id": np.arange(share, dtype="u8"), "fingerprint": values})
        pq.write_table(table, folder / "share.parquet", compression="none", use_dictionary=False,
                       row_group_size=1_000_000)
        job = stages.create(folder / "partition", folder / "share.parquet", tasks=1, **how)
        found = [("partition", share, *run(job.folder, "partition", 0), size(job.folder / "partition"))]
        shutil.rmtree(job.folder)

        chosen = first_bits(np, groups)
        records = options.total * len(chosen) >> 16
        values = paired(records, records // 100)
        at = (values >> np.uint64(48)) % np.uint64(len(chosen))
        values &= np.uint64((1 << 48) - 1)
        values |= chosen[at] << np.uint64(48)
        del at
        job = stages.create(folder / "join", folder / "share.parquet", tasks=options.tasks, **how)
        for number in range(options.tasks):
            place = job.plan.result("partition", number)
            place.mkdir(parents=True)
            rows = range(number * records // options.tasks, (number + 1) * records // options.tasks)
            with fp.create(place / "part-0-group-0", max_distance=3, plan="tables-1", id_index=False) as store:
                ids = pa.array(np.arange(rows.start, rows.stop, dtype="u8"))
                store.load(pa.array(values[rows.start : rows.stop]), ids=ids)
        del values
        found.append(("join", records, *run(job.folder, "join", 0), size(job.folder / "join")))
        pairs = pq.read_metadata(job.plan.result("join", 0) / "near.parquet").num_rows
        print(f"{options.total:,} fingerprints in {options.tasks} tasks of {options.memory}: {groups} groups a part; "
              f"{os.cpu_count()} cores\n")
        print("| task | records | s | core-s | memory, MiB | bytes a record | core-hours of all |")
        print("|---|---|---|---|---|---|---|")
        for stage, count, seconds, cores, memory, bytes_ in found:
            print(f"| {stage} | {count:,} | {seconds:.1f} | {cores:.1f} | {memory / 2**20:.0f} | "
                  f"{bytes_ / count:.2f} | {cores * options.tasks / 3600:.1f} |")
        print(f"\n{pairs:,} pairs in the group\n")
        for linkage in ("single", "star"):
            link_by_link(np, pa, pq, stages, folder, options.links, linkage)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
