"""fpstore on Apache Spark: stages as tasks, queries against a store, and a corpus that streams by queries. It needs
pyspark 3.5 or later and pyarrow.

    import fpstore.spark
    kept = fpstore.spark.dedup(spark.read.parquet("/shared/pages"), "/shared/job", id="url", distance=3)
    found = fpstore.spark.query(spark.read.parquet("/shared/new"), "/shared/pages.store", k=3)

Stores and jobs are directories that all executors see. Spark has no unsigned numbers: fingerprints of 64 bits are
`bigint` with the same bits, wider ones `binary`. A task that is lost with its executor is started again by Spark, and
changes nothing: a task's result is there whole or not at all (:mod:`fpstore.stages`).
"""

from __future__ import annotations

import importlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import fpstore
from fpstore import stages


def run(spark: Any, job: stages.Job) -> None:
    """Runs all tasks of a job that are left: each stage is a job of Spark, each task one of its tasks."""
    folder = str(job.folder)
    for stage in stages.STAGES:
        if missing := job.missing(stage):
            spark.sparkContext.parallelize(missing, len(missing)).foreach(_task(folder, stage))


def _task(folder: str, stage: str) -> Callable[[int], None]:
    def work(task: int) -> None:
        stages.open(folder).run(stage, task)

    return work


def dedup(rows: Any, folder: str | os.PathLike[str], **how: Any) -> Any:
    """The rows of a DataFrame without near-duplicates, a DataFrame.

    Writes the rows beside ``folder``, a new directory that all executors see, and runs a job there. ``how`` are the
    arguments of :func:`fpstore.stages.create`. The job stays: ``stages.open(folder).removed()`` is the file with the
    reasons.
    """
    spark = rows.sparkSession
    place = pathlib.Path(os.path.abspath(os.fspath(folder)))
    written = place.with_name(f"{place.name}-rows")
    rows.write.parquet(written.as_uri())
    job = stages.create(place, sorted(written.glob("*.parquet")), **how)
    run(spark, job)
    return spark.read.schema(rows.schema).parquet(*[path.as_uri() for path in job.kept()])


_STORES: dict[str, fpstore.Store] = {}


def _open(path: str) -> fpstore.Store:
    """The store at a path, opened once in a process of Python that Spark uses for many tasks."""
    if path not in _STORES:
        opened = fpstore.open(path, read_only=True)
        assert isinstance(opened, fpstore.Store)
        _STORES[path] = opened
    return _STORES[path]


def _signed(array: Any) -> Any:
    """A column with a type that Spark has."""
    pyarrow = importlib.import_module("pyarrow")
    if pyarrow.types.is_uint64(array.type):
        return array.view(pyarrow.int64())
    if pyarrow.types.is_fixed_size_binary(array.type):
        return array.cast(pyarrow.binary())
    return array.cast(pyarrow.int32()) if pyarrow.types.is_uint32(array.type) else array


def _matches(batch: Any, column: str, store: fpstore.Store, k: int | None) -> Any:
    """The rows of the queries in a batch that match, with what they match."""
    pyarrow = importlib.import_module("pyarrow")
    queries = batch[column]
    if pyarrow.types.is_int64(queries.type):
        queries = queries.view(pyarrow.uint64())
    elif pyarrow.types.is_binary(queries.type):
        queries = queries.cast(pyarrow.binary(store.width // 8))
    found = pyarrow.table(store.query(queries, k)).combine_chunks()
    rows = batch.take(found["query_row"].combine_chunks() if found.num_rows else pyarrow.array([], pyarrow.int64()))
    columns, names = list(rows.columns), list(rows.schema.names)
    for name in ("fingerprint", "distance", "id" if store.ids != "none" else "count"):
        made = pyarrow.concat_arrays(found[name].chunks) if found.num_rows else found[name].type
        columns.append(_signed(pyarrow.array([], made) if found.num_rows == 0 else made))
        names.append(f"match_{name}")
    return pyarrow.record_batch(columns, names=names)


def _schema(rows: Any, width: int, ids: str) -> Any:
    types: Any = importlib.import_module("pyspark.sql.types")
    fingerprint = types.LongType() if width == 64 else types.BinaryType()
    schema = types.StructType(list(rows.schema.fields))
    schema = schema.add("match_fingerprint", fingerprint).add("match_distance", types.IntegerType())
    name = "match_count" if ids == "none" else "match_id"
    return schema.add(name, types.StringType() if ids == "text" else types.LongType())


def query(rows: Any, path: str | os.PathLike[str], k: int | None = None, *, column: str = "fingerprint") -> Any:
    """The matches of a DataFrame of queries in a store on shared storage, a DataFrame: the columns of the query, and
    `match_fingerprint`, `match_distance` and `match_id`."""
    place = str(pathlib.Path(path).absolute())
    store = _open(place)

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        return (_matches(batch, column, _open(place), k) for batch in batches)

    return rows.mapInArrow(work, _schema(rows, store.width, store.ids))


def stream(corpus: Any, queries: Any, k: int = 3, *, column: str = "fingerprint", id: str = "id") -> Any:
    """The matches of few queries in a large corpus that no store holds, a DataFrame: the rows of the corpus that match,
    and `match_fingerprint`, `match_distance` and `match_id` of the query. The batch job of Manku, Jain and Das Sarma
    (WWW 2007): the queries are sent to all executors, become tables there, and the corpus streams by.

    ``queries`` is a DataFrame with the columns ``column`` and ``id``. Both DataFrames have fingerprints of one type.
    """
    spark = corpus.sparkSession
    rows = queries.select(column, id).collect()
    values, ids = [row[0] for row in rows], [row[1] for row in rows]
    width = 64 if not values or isinstance(values[0], int) else 8 * len(values[0])
    kind = "text" if ids and isinstance(ids[0], str) else "u64"
    values = [value % 2**64 if isinstance(value, int) else bytes(value) for value in values]
    sent = spark.sparkContext.broadcast((values, ids, width, kind))

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        folder = tempfile.mkdtemp(prefix="fpstore-queries-")
        try:
            values, ids, width, kind = sent.value
            with fpstore.create(f"{folder}/store", width=width, max_distance=k, ids=kind) as store:
                store.load(values, ids=ids)
                for batch in batches:
                    yield _matches(batch, column, store, k)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return corpus.mapInArrow(work, _schema(corpus, width, kind))
