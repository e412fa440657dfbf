#!/usr/bin/env python3
"""Documents without near-duplicates on datatrove and Ray, by fpstore beside datatrove's own stages.

    cargo xtask python                                  # builds the wheel in target/python/wheels
    benches/peers/pipelines.py [--documents 20000] [--rounds 1] [--sides ...]

The documents are those of benches/peers/documents.py, in Parquet; 14 bands of 8 rows, two workers:

* `datatrove`: its four stages of MinHash between a reader and a writer of Parquet, by LocalPipelineExecutor.
* `fpstore.datatrove`: MinhashSketch and MinhashFilter between the same, by the same executor. It has to keep the same
  documents.
* `fpstore.ray`: `fpstore.ray.dedup` of texts with single linkage, on a local cluster of Ray, from Parquet files to
  `write_parquet`. Its features are five words in a row, which are other ones than datatrove's.
* `datatrove on Ray`: its four stages by RayPipelineExecutor, on such a cluster.
* `Data-Juicer`: its RayBTSMinhashDeduplicator, from `read_parquet` to `write_parquet`, on such a cluster. The rows,
  which it copies, are its only intermediate files: bands and links go from process to process, and are not counted.

Prints medians: seconds of the process, Ray's start included; bytes of intermediate files; the largest sum of the memory
of all processes without mapped files; and the documents that stay.
"""
import argparse
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

import documents
from common import inside_environment, package, size, watched

WORKERS, BUCKETS, ROWS = 2, 14, 8
SIDES = ["datatrove", "fpstore.datatrove", "fpstore.ray", "datatrove on Ray", "Data-Juicer"]


def datatrove(source, folder, executor):
    """The four stages. Each executor waits for the one before it."""
    from datatrove.pipeline.dedup import (MinhashDedupBuckets, MinhashDedupCluster, MinhashDedupFilter,
                                          MinhashDedupSignature)
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import ParquetReader
    from datatrove.pipeline.writers import ParquetWriter

    config = MinhashConfig(n_grams=5, num_buckets=BUCKETS, hashes_per_bucket=ROWS)
    reader = ParquetReader(str(source))
    signatures, buckets, removed = (str(folder / "work" / name) for name in ("signatures", "buckets", "removed"))
    stages = [
        ([reader, MinhashDedupSignature(signatures, config)], documents.PARTS),
        ([MinhashDedupBuckets(signatures, buckets, config=config)], BUCKETS),
        ([MinhashDedupCluster(buckets, removed, config)], 1),
        ([reader, MinhashDedupFilter(removed), ParquetWriter(str(folder / "kept"))], documents.PARTS),
    ]
    before = None
    for number, (pipeline, tasks) in enumerate(stages):
        how = {"tasks": tasks, "workers": WORKERS, "logging_dir": str(folder / "logs" / str(number)), "depends": before}
        before = executor(pipeline, **how)
    before.run()


def by_steps(source, folder, executor):
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import ParquetReader
    from datatrove.pipeline.writers import ParquetWriter
    from fpstore.datatrove import MinhashFilter, MinhashSketch

    config = MinhashConfig(n_grams=5, num_buckets=BUCKETS, hashes_per_bucket=ROWS)
    reader, work = ParquetReader(str(source)), str(folder / "work")
    how = {"tasks": documents.PARTS, "workers": WORKERS}
    sketch = executor([reader, MinhashSketch(work, config)], logging_dir=str(folder / "logs" / "0"), **how)
    last = [reader, MinhashFilter(work), ParquetWriter(str(folder / "kept"))]
    executor(last, logging_dir=str(folder / "logs" / "1"), depends=sketch, **how).run()


def on_ray(source, folder):
    import fpstore.ray

    options = {"bands": BUCKETS, "rows": ROWS, "features": "words:5"}
    files = sorted(source.glob("*.parquet"))
    kept = fpstore.ray.dedup(files, folder / "work", text="text", method="minhash", linkage="single",
                             tasks=documents.PARTS, **options)
    kept.write_parquet(str(folder / "kept"))


def data_juicer(source, folder):
    import ray
    from data_juicer.ops.deduplicator.ray_bts_minhash_deduplicator import RayBTSMinhashDeduplicator

    bands = {"num_permutations": BUCKETS * ROWS, "num_bands": BUCKETS, "num_rows_per_band": ROWS}
    step = RayBTSMinhashDeduplicator(work_dir=str(folder / "work"), **bands)
    step.run(ray.data.read_parquet(str(source))).write_parquet(str(folder / "kept"))


def run(side, source, folder):
    """The work of a side, in a process of its own."""
    from datatrove.executor import LocalPipelineExecutor

    if side in SIDES[2:]:
        import ray

        ray.init(num_cpus=WORKERS, include_dashboard=False, log_to_driver=False, logging_level="error")
    if side == "fpstore.ray":
        on_ray(source, folder)
    elif side == "Data-Juicer":
        data_juicer(source, folder)
    elif side == "fpstore.datatrove":
        by_steps(source, folder, LocalPipelineExecutor)
    elif side == "datatrove":
        datatrove(source, folder, LocalPipelineExecutor)
    else:
        from datatrove.executor import RayPipelineExecutor

        datatrove(source, folder, RayPipelineExecutor)


def measured(side, source, folder):
    folder.mkdir()
    command = [sys.executable, __file__, "--run", side, source, folder]
    with open(folder / "log", "w") as log:
        seconds, memory, _ = watched(command, documents.tree, pause=1, stdout=log, stderr=log)
    between = size(folder / "work") - size(folder / "work" / "keep")
    made = {"seconds": seconds, "bytes": between, "memory": memory, "kept": documents.ids(folder / "kept")}
    shutil.rmtree(folder)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--sides", default=",".join(SIDES))
    parser.add_argument("--package", help="a wheel, or a directory with the package [default: target/python/wheels]")
    parser.add_argument("--run", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.run:
        return run(options.run[0], *map(pathlib.Path, options.run[1:]))
    packages = [one for one in documents.PACKAGES if not one.startswith(("text-dedup", "datasets"))]
    inside_environment([*packages, "ray[data]==2.60.0", "aiohttp==3.14.5", "regex==2026.11.19",
                        "py-data-juicer==1.6.1"], "pipeline-peers")
    package(options.package)
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        text, *_ = documents.write(folder, options.documents)
        rounds = []
        for _ in range(options.rounds):
            made = {side: measured(side, folder / "parts", folder / "run") for side in options.sides.split(",")}
            same = [made[side]["kept"] for side in made if "datatrove" in side]
            assert all(one == same[0] for one in same), "datatrove and its replacement keep other documents"
            rounds.append(made)
        print(f"{options.documents:,} documents, {text / 1e6:.0f} MB of text, {os.cpu_count()} cores, medians of "
              f"{options.rounds} rounds\n")
        print("| | s | intermediate files, MB | memory, MiB | kept |\n|---|---|---|---|---|")
        for side in rounds[0]:
            seconds, between, memory = (statistics.median(made[side][name] for made in rounds)
                                        for name in ("seconds", "bytes", "memory"))
            print(f"| {side} | {seconds:.1f} | {between / 1e6:.1f} | {memory / 2**20:.0f} | "
                  f"{len(rounds[0][side]['kept']):,} |")
    finally:
        shutil.rmtree(folder)
    return None


if __name__ == "__main__":
    main()
