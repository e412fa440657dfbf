#!/usr/bin/env python3
"""De-duplication on Spark by fpstore beside the common recipes, on a standalone cluster of two workers on this machine.

    cargo xtask python                                   # builds the wheel in target/python/wheels
    benches/peers/spark.py --keys 14 --records 1000000   # documents with bands
    benches/peers/spark.py --records 1000000 [--rounds 3] [--sides fpstore,recipe]
    benches/peers/spark.py --documents 20000             # texts, beside MinHashLSH of Spark ML

The data are those of benches/peers/stages.py, or the documents of benches/peers/documents.py. `fpstore` is
`fpstore.spark.dedup` with single linkage. `recipe` is what is usual in plain Spark: explode the bands, group by them,
link each document to the smallest of its group, and find connected components by large and small stars until nothing
changes (Kiveris et al., SoCC 2014), as GraphFrames and the script of text-dedup do; then an anti-join. What an
iteration needs stays in memory (localCheckpoint). Fingerprints are cut into four blocks of 16 bits, of which two within
three bits share one, joined by the blocks, compared, and linked. Both read Parquet and write the rows that stay as
Parquet; they have to keep the same rows.

Of documents, fpstore makes 14 bands of 8 rows of five words in a row. `MinHashLSH` has as many hash tables, each of one
hash, and compares the sets of five words of documents that agree in one: pairs within a Jaccard distance of 0.3. The
links, components and the anti-join are those of the recipe. It keeps other documents than fpstore.

Prints medians: seconds; bytes that shuffles and intermediate files wrote; and the largest sum of the memory of all
processes of the executors, without mapped files.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile
import threading
import time

import documents
from common import NUMPY, ROOT, inside_environment, package, paired, resident, size
from stages import keys

TASKS = 8
BANDS = {"text": "text", "method": "minhash", "bands": 14, "rows": 8, "features": "words:5"}


def session(address, folder, memory):
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1",
        "spark.executor.memory": memory, "spark.driver.memory": "2g", "spark.eventLog.enabled": "true",
        "spark.eventLog.dir": folder.as_uri(), "spark.eventLog.compress": "false", "spark.local.dir": str(folder),
        "spark.sql.shuffle.partitions": str(TASKS), "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.eventLog.rolling.enabled": "false",
    }
    builder = SparkSession.builder.master(address).appName("fpstore")
    for name, value in settings.items():
        builder = builder.config(name, value)
    made = builder.getOrCreate()
    made.sparkContext.setLogLevel("ERROR")
    return made


def shuffled(folder):
    """Bytes that the shuffles of all sessions have written, by their logs of events."""
    total = 0
    for path in (path for path in folder.iterdir() if path.is_file()):
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                if '"SparkListenerTaskEnd"' in line:
                    metrics = json.loads(line).get("Task Metrics") or {}
                    total += metrics.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)
    return total


class Memory(threading.Thread):
    """The largest sum of the memory of the executors and the Python processes that these start."""

    def __init__(self):
        super().__init__(daemon=True)
        self.most, self.ended = 0, threading.Event()

    def run(self):
        while not self.ended.wait(0.1):
            total = 0
            for path in pathlib.Path("/proc").glob("[0-9]*"):
                try:
                    line = (path / "cmdline").read_bytes()
                    if b"CoarseGrainedExecutorBackend" in line or b"pyspark.daemon" in line:
                        total += resident(path.name)
                except (OSError, ValueError):
                    pass
            self.most = max(self.most, total)

    def end(self):
        self.ended.set()
        self.join()
        return self.most


def by_fpstore(spark, source, folder, column):
    import fpstore.spark

    frame = spark.read.parquet(source.as_uri())
    how = {"keys": {"keys": column}, "fingerprint": {"distance": 3}, "text": BANDS}[column]
    kept = fpstore.spark.dedup(frame, folder / "job", linkage="single", tasks=TASKS, **how)
    kept.write.parquet((folder / "kept").as_uri())
    return size(folder / "job", folder / "job-rows") - size(folder / "job" / "keep")


def recipe(spark, source, folder, column):
    from pyspark.sql import functions as F

    frame = spark.read.parquet(source.as_uri())
    if column == "keys":
        rows = frame.select("id", F.explode("keys").alias("key"))
        groups = rows.groupBy("key").agg(F.collect_list("id").alias("ids")).where(F.size("ids") > 1)
        links = groups.select(F.explode("ids").alias("id"), F.array_min("ids").alias("near")).where("id > near")
    else:
        blocks = [F.struct(F.lit(at).alias("at"), F.shiftrightunsigned("fingerprint", 16 * at).bitwiseAND(0xFFFF)
                           .alias("value")) for at in range(4)]
        cut = frame.select("id", "fingerprint", F.explode(F.array(*blocks)).alias("block"))
        a, b = cut.alias("a"), cut.alias("b")
        near = F.bit_count(F.col("a.fingerprint").bitwiseXOR(F.col("b.fingerprint"))) <= 3
        links = a.join(b, (F.col("a.block") == F.col("b.block")) & (F.col("a.id") > F.col("b.id")) & near)
        links = links.select(F.col("a.id").alias("id"), F.col("b.id").alias("near"))
    write_without(frame, links, folder)
    return 0


def write_without(frame, links, folder):
    stars = components(links.distinct().localCheckpoint())
    frame.join(stars.select("id"), "id", "left_anti").write.parquet((folder / "kept").as_uri())


def minhash_lsh(spark, source, folder, column):
    from pyspark.ml import Pipeline
    from pyspark.ml.feature import HashingTF, MinHashLSH, NGram, RegexTokenizer
    from pyspark.sql import functions as F

    frame = spark.read.parquet(source.as_uri())
    steps = [
        RegexTokenizer(inputCol="text", outputCol="words", pattern=r"\W+"),
        NGram(n=5, inputCol="words", outputCol="grams"),
        HashingTF(numFeatures=1 << 20, binary=True, inputCol="grams", outputCol="set"),
    ]
    sets = Pipeline(stages=steps).fit(frame).transform(frame).where(F.size("grams") > 0).select("id", "set")
    lsh = MinHashLSH(inputCol="set", outputCol="hashes", numHashTables=BANDS["bands"], seed=1).fit(sets)
    near = lsh.approxSimilarityJoin(sets, sets, 0.3)
    links = near.select(F.col("datasetA.id").alias("id"), F.col("datasetB.id").alias("near")).where("id > near")
    write_without(frame, links, folder)
    return 0


def window(column):
    from pyspark.sql import Window

    return Window.partitionBy(column)


def components(links):
    """Links of each record to the smallest of its component, by large and small stars until nothing changes."""
    from pyspark.sql import functions as F

    def state(links):
        return tuple(links.agg(F.count("*"), F.sum(F.xxhash64("id", "near").cast("decimal(38)"))).first())

    before = None
    while (now := state(links)) != before:
        before = now
        both = links.union(links.select(F.col("near").alias("id"), F.col("id").alias("near")))
        least = F.least("id", F.min("near").over(window("id")))
        large = both.withColumn("least", least).where("near > id")
        links = large.select(F.col("near").alias("id"), F.col("least").alias("near")).distinct()
        least = links.withColumn("least", F.min("near").over(window("id")))
        links = least.select(F.col("near").alias("id"), F.col("least").alias("near")).where("id > near").union(
            least.select("id", F.col("least").alias("near"))).distinct().localCheckpoint()
    return links


def measured(side, address, source, folder, column, memory):
    """Seconds, bytes and memory of a side, and the number of rows that stay."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir()
    (folder / "events").mkdir()
    spark = session(address, folder / "events", memory)
    try:
        spark.range(1).count()  # the executors are there
        watch = Memory()
        watch.start()
        start = time.perf_counter()
        files = side(spark, source, folder, column)
        seconds, most = time.perf_counter() - start, watch.end()
    finally:
        spark.stop()
    kept = pa.concat_tables(pq.read_table(path, columns=["id"]) for path in (folder / "kept").glob("*.parquet"))["id"]
    made = {"seconds": seconds, "bytes": files + shuffled(folder / "events"), "memory": most, "kept": len(kept),
            "ids": hash(np.sort(kept.to_numpy()).tobytes())}
    shutil.rmtree(folder)
    return made


SIDES = {"fpstore": by_fpstore, "recipe": recipe, "MinHashLSH": minhash_lsh}


def write(folder, records, count):
    """Writes records with a fingerprint, or with so many keys."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    if count:
        column, values = "keys", keys(np, records, count).cast(pa.list_(pa.int64()), safe=False)
    else:
        column, values = "fingerprint", paired(records, records // 100).view(np.int64)
    table = pa.table({"id": np.arange(len(values), dtype="i8"), column: values})
    each = -(-len(table) // TASKS)
    for task in range(TASKS):
        pq.write_table(table.slice(task * each, each), folder / f"part-{task}.parquet", row_group_size=100_000)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--keys", type=int, help="keys of a record, instead of fingerprints")
    parser.add_argument("--documents", type=int, help="documents with texts, instead of records")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--sides", help="fpstore,recipe, or fpstore,MinHashLSH of documents")
    parser.add_argument("--memory", default="3g", help="of an executor's heap (3g)")
    parser.add_argument("--package", help="a wheel, or a directory with the package [default: target/python/wheels]")
    options = parser.parse_args()
    inside_environment([NUMPY, "pyarrow==26.0.1", "pyspark==4.3.0"], "peers-spark")
    package(options.package)
    options.sides = options.sides or ("fpstore,MinHashLSH" if options.documents else "fpstore,recipe")
    records = options.documents or options.records
    sys.path.insert(0, str(ROOT / "bindings" / "python" / "tests" / "engines"))
    from cluster import cluster

    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        if options.documents:
            column, source = "text", folder / "parts"
            documents.write(folder, records)
        else:
            column, source = "keys" if options.keys else "fingerprint", folder / "pages"
            source.mkdir()
            write(source, records, options.keys)
        rounds = []
        with cluster(folder, memory="8g") as address:
            for number in range(options.rounds):
                made, order = {}, options.sides.split(",")
                for name in order if number % 2 == 0 else order[::-1]:
                    made[name] = measured(SIDES[name], address, source, folder / "run", column, options.memory)
                print(json.dumps(made), flush=True)
                assert options.documents or len({(one["kept"], one["ids"]) for one in made.values()}) == 1, made
                rounds.append(made)
        kind = f"{options.keys} keys" if options.keys else f"a {column}"
        print(f"\n{records:,} records with {kind}, {os.cpu_count()} cores, medians of {options.rounds} rounds\n")
        print("| | s | bytes a record shuffled | memory, MiB | kept |\n|---|---|---|---|---|")
        for name in options.sides.split(","):
            seconds, between, most = (statistics.median(made[name][one] for made in rounds)
                                        for one in ("seconds", "bytes", "memory"))
            kept = rounds[0][name]["kept"]
            print(f"| {name} | {seconds:.1f} | {between / records:.1f} | {most / 2**20:.0f} | {kept:,} |")
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
