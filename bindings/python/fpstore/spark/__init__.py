"""fpstore on Apache Spark: stages as tasks, sketches of texts, queries against a store, and a corpus that streams by
queries. It needs pyspark 3.5 or later and pyarrow.

    import fpstore.spark
    hashed = fpstore.spark.sketch(spark.read.parquet("/shared/texts"), "text")
    kept = fpstore.spark.dedup(spark.read.parquet("/shared/pages"), "/shared/job", id="url", distance=3)
    found = fpstore.spark.query(spark.read.parquet("/shared/new"), "/shared/pages.store", k=3)

Stores and jobs are directories that all executors see. Spark has no unsigned numbers: fingerprints of 64 bits are
`bigint` with the same bits, wider ones `binary`. A task that is lost with its executor is started again by Spark, and
changes nothing: a task's result is there whole or not at all (:mod:`fpstore.stages`).
"""

from __future__ import annotations

import functools
import importlib
import os
import pathlib
import re
import shutil
import tempfile
import urllib.request
from collections.abc import Iterable, Iterator
from typing import Any

import fpstore
from fpstore import _queries, stages
from fpstore._arrow import pa, pq
from fpstore.errors import FpstoreError, InvalidInputError
from fpstore.stages import _inputs, _sketch
from fpstore.stages._job import new_rows, run_task

_TIMESTAMPS = "spark.sql.parquet.outputTimestampType"


def run(spark: Any, job: stages.Job) -> None:
    """Runs all tasks of a job that are left: each stage, and each step of `components`, is a job of Spark, each task
    one of its tasks."""
    for stage, missing in job.remaining():
        task = functools.partial(run_task, str(job.folder), stage)
        spark.sparkContext.parallelize(missing, len(missing)).foreach(task)


def dedup(rows: Any, folder: str | os.PathLike[str], /, **how: Any) -> Any:
    """The rows of a DataFrame without near-duplicates, a DataFrame.

    Runs a job in ``folder``, a new directory that all executors see. The files of ``spark.read.parquet(...)``, without
    further steps, are read where they are, and must not change until the job is done. The rows of another DataFrame
    are written beside ``folder`` first. ``how`` are the arguments of :func:`fpstore.stages.create`. The job stays:
    ``stages.open(folder).removed()`` returns the files with the evidence.
    """
    spark = rows.sparkSession
    place, beside = new_rows(folder)
    job = stages.create(place, _files(rows) or _written(rows, beside), **how)
    run(spark, job)
    return _read(spark, job.kept(), rows.schema)


def _files(rows: Any) -> list[str]:
    """The files of a DataFrame that is Parquet files and nothing more, or else none."""
    frame = getattr(rows, "_jdf", None)  # A session of Spark Connect has no plan here.
    plan = None if frame is None else frame.queryExecution().analyzed()
    if plan is None or _kind(plan) != "LogicalRelation" or _kind(plan.relation()) != "HadoopFsRelation":
        return []
    relation = plan.relation()
    if _kind(relation.fileFormat()) != "ParquetFileFormat" or not relation.partitionSchema().isEmpty():
        return []
    places: list[str] = rows.inputFiles()
    files = sorted(urllib.request.url2pathname(place.removeprefix("file:")) for place in places)
    if not files or not all(map(os.path.isfile, files)):
        return []
    # A schema that was given to Spark may have fewer columns, or other types.
    is_whole = _read(rows.sparkSession, files).schema == rows.schema
    return files if is_whole and all(map(_is_read_alike, files)) and _inputs.are_same(files) else []


def _is_read_alike(file: str) -> bool:
    """Whether a file says the same to Spark and to pyarrow: timestamps of 96 bits do not, nor dates before 1582 in the
    calendar of Spark 2, which later versions mark."""
    metadata = pq.read_metadata(file)
    marks: dict[bytes, bytes] = metadata.metadata or {}
    is_of_spark = b"org.apache.spark.sql.parquet.row.metadata" in marks
    is_old = is_of_spark and marks.get(b"org.apache.spark.version", b"2").startswith(b"2")
    is_marked = any(mark.startswith(b"org.apache.spark.legacy") for mark in marks)
    types = {metadata.schema.column(number).physical_type for number in range(len(metadata.schema))}
    return not is_old and not is_marked and "INT96" not in types


def _read(spark: Any, files: Iterable[str | os.PathLike[str]], schema: Any = None) -> Any:
    """A DataFrame of Parquet files."""
    reader = spark.read if schema is None else spark.read.schema(schema)
    # Spark takes paths for patterns, and decodes no `%20`.
    return reader.parquet(*["file:" + re.sub(r"[\\{}\[\]*?]", r"\\\g<0>", os.fspath(file)) for file in files])


def _kind(value: Any) -> str:
    """The name of the class of an object of Java."""
    return value.getClass().getSimpleName()


def _written(rows: Any, folder: pathlib.Path) -> list[pathlib.Path]:
    """New Parquet files with the rows of a DataFrame, in a folder."""
    spark = rows.sparkSession
    before = spark.conf.get(_TIMESTAMPS)
    # Other programs have no type for Spark's own timestamps of 96 bits.
    spark.conf.set(_TIMESTAMPS, "TIMESTAMP_MICROS")
    try:
        rows.write.parquet(f"file:{folder}")
    finally:
        spark.conf.set(_TIMESTAMPS, before)
    return sorted(folder.glob("*.parquet"))


def sketch(
    rows: Any, /, text: str = "text", method: str = "simhash", *, column: str | None = None, **options: Any
) -> Any:
    """A DataFrame with the fingerprint of each text of a column, or with the method "minhash" the keys of its bands, in
    one more column: `fingerprint` or `keys`, unless ``column`` is another name. A text that is null or too short has a
    null, or no keys. ``options`` are those of :func:`fpstore.simhash` or :func:`fpstore.bands`."""
    name, type = _sketch.column_of(method, options, column)
    _sketch.check_new(name, rows.columns)

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        for batch in batches:
            made = _signed(_sketch.sketches(batch[text], method, options, type))
            yield pa.record_batch([*batch.columns, made], names=[*batch.schema.names, name])

    return rows.mapInArrow(work, _with(rows, {name: _signed_type(type)}))


_STORES: dict[str, fpstore.Store] = {}


def _latest(path: str) -> fpstore.Store:
    """The store at a path in its latest state. A process of Python, which Spark uses for many tasks, keeps it open."""
    try:
        _STORES[path].refresh()
    except (KeyError, FpstoreError):
        _STORES[path] = _queries.opened(path)
    return _STORES[path]


def _signed(column: Any) -> Any:
    """A column with a type that Spark has; unsigned numbers keep their bits."""
    return column.cast(_signed_type(column.type), safe=False)


def _signed_type(type: Any) -> Any:
    if pa.types.is_list(type):
        return pa.list_(_signed_type(type.value_type))
    if pa.types.is_fixed_size_binary(type):
        return pa.binary()
    return {pa.uint64(): pa.int64(), pa.uint32(): pa.int32()}.get(type, type)


def _matches(batch: Any, column: str, store: fpstore.Store, k: int | None) -> Iterator[Any]:
    made = _queries.matches(batch, column, store, k)
    names = made.column_names
    own = len(batch.schema.names)
    columns = [*made.columns[:own], *map(_signed, made.columns[own:])]
    return iter(pa.table(columns, names=names).to_batches())


def _schema(rows: Any, width: int, ids: str) -> Any:
    types = [pa.int64() if width == 64 else pa.binary(), pa.int32(), pa.string() if ids == "text" else pa.int64()]
    return _with(rows, dict(zip(_queries.check_names(rows.columns, ids), types)))


def _with(rows: Any, added: dict[str, Any]) -> Any:
    """The schema of a DataFrame with more columns, of these types of Arrow."""
    types: Any = importlib.import_module("pyspark.sql.types")
    of_arrow = {
        pa.int64(): types.LongType(),
        pa.int32(): types.IntegerType(),
        pa.string(): types.StringType(),
        pa.binary(): types.BinaryType(),
        pa.list_(pa.int64()): types.ArrayType(types.LongType()),
    }
    schema = types.StructType(list(rows.schema.fields))
    for name, type in added.items():
        schema = schema.add(name, of_arrow[type])
    return schema


def query(rows: Any, path: str | os.PathLike[str], k: int | None = None, *, column: str = "fingerprint") -> Any:
    """The matches of a DataFrame of queries in a store on shared storage, a DataFrame: the columns of the query, and
    `match_fingerprint`, `match_distance` and `match_id`, or `match_count` where there are no ids."""
    place = str(pathlib.Path(path).absolute())
    store = _latest(place)

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        latest = _latest(place)
        for batch in batches:
            yield from _matches(batch, column, latest, k)

    return rows.mapInArrow(work, _schema(rows, store.width, store.ids))


def stream(corpus: Any, queries: Any, k: int = 3, *, column: str = "fingerprint", id: str = "id") -> Any:
    """The matches of few queries in a large corpus that no store holds, a DataFrame: the rows of the corpus that match,
    and `match_fingerprint`, `match_distance` and `match_id` of the query. The batch job of Manku, Jain and Das Sarma
    (WWW 2007): the queries are sent to all executors, become tables there, and the corpus streams by.

    ``queries`` is a DataFrame with the columns ``column`` and ``id``, whole numbers from 0 on or strings. Queries
    without a fingerprint match nothing. Both DataFrames have fingerprints of one type.
    """
    types: Any = importlib.import_module("pyspark.sql.types")
    spark = corpus.sparkSession
    rows = queries.select(column, id).where(queries[column].isNotNull()).collect()
    values, ids = [row[0] for row in rows], [row[1] for row in rows]
    is_text = isinstance(queries.schema[id].dataType, types.StringType)
    if not is_text and any(number is None or number < 0 for number in ids):
        raise InvalidInputError(f"the ids in {id!r} are not all numbers from 0 on")
    is_wide = isinstance(queries.schema[column].dataType, types.BinaryType)
    width = 64 if not is_wide else 8 * len(values[0]) if values else 128
    kind = "text" if is_text else "u64"
    schema = _schema(corpus, width, kind)
    if not rows:
        return spark.createDataFrame([], schema)
    values = [bytes(value) if is_wide else value % 2**64 for value in values]
    sent = spark.sparkContext.broadcast((values, ids))

    def work(batches: Iterator[Any]) -> Iterator[Any]:
        folder = tempfile.mkdtemp(prefix="fpstore-queries-")
        try:
            values, ids = sent.value
            with fpstore.create(f"{folder}/store", width=width, max_distance=k, ids=kind) as store:
                assert isinstance(store, fpstore.Store)
                store.load(values, ids=ids)
                for batch in batches:
                    yield from _matches(batch, column, store, k)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    return corpus.mapInArrow(work, schema)
