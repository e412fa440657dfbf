"""Spark, on a real standalone cluster of a master and two workers on this machine."""

import glob
import os
import pathlib
import shutil
import signal
import threading
import time

import pytest

pyspark = pytest.importorskip("pyspark")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java", allow_module_level=True)
import fpstore as fp  # noqa: E402
import fpstore.spark  # noqa: E402, after the check for pyspark
from fpstore import stages  # noqa: E402
from cluster import cluster  # noqa: E402
from jobs import divide, rounds  # noqa: E402
from pages import K, MINHASH, Pages, pa, pq, removed, texts  # noqa: E402


@pytest.fixture(scope="module")
def master(tmp_path_factory):
    """The address of a cluster."""
    tests = pathlib.Path(__file__).parent
    with cluster(tmp_path_factory.mktemp("spark"), [tests, tests.parent]) as address:
        yield address


@pytest.fixture(scope="module", params=["true", "false"], ids=["adaptive", "not-adaptive"])
def spark(master, request):
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master(master).appName("fpstore")
    settings = {
        "spark.sql.adaptive.enabled": request.param, "spark.ui.enabled": "false", "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1", "spark.executor.memory": "700m", "spark.task.maxFailures": "20",
        "spark.deploy.maxExecutorRetries": "50", "spark.sql.execution.arrow.pyspark.enabled": "true",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    yield session
    session.stop()


@pytest.fixture
def rows(tmp_path):
    return Pages(tmp_path, signed=True)


def signed(value):
    return value - 2**64 if value >= 2**63 else value


def test_a_frame_without_near_duplicates(spark, rows, tmp_path):
    frame = spark.read.parquet(rows.folder.as_uri())
    kept = fpstore.spark.dedup(frame, tmp_path / "job", distance=K, tasks=4)
    assert kept.schema == frame.schema
    assert sorted(row.id for row in kept.collect()) == rows.kept
    assert removed(stages.open(tmp_path / "job")) == rows.removed


def test_rows_are_copied_unless_the_frame_is_its_files(spark, rows, tmp_path):
    odd = tmp_path / "odd é"
    shutil.copytree(rows.folder, odd / "pages of 100%20 [a]*")
    whole = spark.read.parquet(rows.folder.as_uri())
    whole.withColumn("day", whole.fingerprint % 2).write.partitionBy("day").parquet((tmp_path / "days").as_uri())
    whole.selectExpr("id", "fingerprint", "1 as more").write.parquet((tmp_path / "more").as_uri())
    frames = {
        "whole": (spark.read.parquet(rows.folder.as_uri()), False),
        "odd [é] 100%20": (spark.read.parquet(f"file:{odd}/*"), False),
        "days": (spark.read.parquet((tmp_path / "days").as_uri()), True),
        "filtered": (whole.where("fingerprint % 2 = 0 or fingerprint % 2 <> 0"), True),
        "limited": (whole.limit(10_000), True),
        "some columns": (spark.read.schema(whole.schema).parquet((tmp_path / "more").as_uri()), True),
        "made [é] 100%20": (spark.createDataFrame(whole.collect(), whole.schema), True),
    }
    for name, (frame, copied) in frames.items():
        kept = fpstore.spark.dedup(frame, tmp_path / name / "job", distance=K, tasks=2)
        assert kept.schema == frame.schema, name
        assert sorted(row.id for row in kept.collect()) == rows.kept, name
        assert (tmp_path / name / "job-rows").exists() == copied, name


def test_all_types_of_columns_come_back(spark, tmp_path):
    rows = [(number, 7 << number % 2, number * 86_400 * 365 * 180) for number in range(-3, 4)]
    frame = spark.createDataFrame(rows, "number bigint, fingerprint bigint, second bigint").selectExpr(
        "number + 3 as id", "fingerprint", "timestamp_seconds(second) as moment",
        "date(timestamp_seconds(second)) as day", "timestamp_ntz'0001-02-03 04:05:06.789' as local",
        "cast(number / 3 as decimal(20, 7)) as part",
        "map('a', number) as map", "named_struct('x', array(number), 'y', null) as nested", "binary('b') as bytes")
    zone, kind = "spark.sql.session.timeZone", "spark.sql.parquet.outputTimestampType"
    rebase = "spark.sql.parquet.datetimeRebaseModeInWrite"
    before = {name: spark.conf.get(name) for name in (zone, kind, rebase)}
    spark.conf.set(zone, "America/New_York")
    try:
        for name, types, mode, copied in [("now", "TIMESTAMP_MICROS", "CORRECTED", False),
                                          ("int96", "INT96", "CORRECTED", True),
                                          ("legacy", "TIMESTAMP_MICROS", "LEGACY", True)]:
            spark.conf.set(kind, types)
            spark.conf.set(rebase, mode)
            frame.write.parquet(f"file:{tmp_path / name}")
            spark.conf.set(rebase, "CORRECTED")
            read = spark.read.parquet(f"file:{tmp_path / name}")
            kept = fpstore.spark.dedup(read, tmp_path / f"{name}-job", distance=0, tasks=2)
            assert kept.schema == read.schema
            assert sorted(map(str, kept.collect())) == sorted(map(str, read.where("id < 2").collect())), name
            assert (tmp_path / f"{name}-job-rows").exists() == copied, name
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def test_texts_that_share_a_band(spark, tmp_path):
    table, stay = texts()
    frame = spark.createDataFrame(list(zip(*table.to_pydict().values())), "id long, text string")
    kept = fpstore.spark.dedup(frame, tmp_path / "job", tasks=3, **MINHASH)
    assert sorted(row.id for row in kept.collect()) == stay and len(stay) < 290


def test_sketches_of_texts(spark, tmp_path):
    table, stay = texts()
    rows = [*zip(*table.to_pydict().values()), (300, None), (301, "")]
    frame = spark.createDataFrame(rows, "id long, text string").repartition(3)
    given = [text for _, text in rows]
    made = {row.id: row.fingerprint for row in fpstore.spark.sketch(frame).collect()}
    expected = pa.array(fp.simhash(given)).to_pylist()
    assert [made[id] for id in range(302)] == [None if one is None else signed(one) for one in expected]
    assert expected[-2:] == [None, None]
    keyed = fpstore.spark.sketch(frame, "text", "minhash", column="bands", bands=14, rows=8)
    expected = pa.array(fp.bands(given, bands=14, rows=8)).to_pylist()
    expected = {id: [signed(key) for key in keys] for id, keys in enumerate(expected)}
    assert {row.id: row.bands for row in keyed.collect()} == expected
    kept = fpstore.spark.dedup(keyed, tmp_path / "job", keys="bands", tasks=2)
    assert sorted(row.id for row in kept.collect()) == [*stay, 300, 301]
    with pytest.raises(fp.errors.InvalidInputError, match="a column 'id' already"):
        fpstore.spark.sketch(frame, column="id")
    with pytest.raises(fp.errors.InvalidInputError, match="method='md5'"):
        fpstore.spark.sketch(frame, method="md5")


def test_labels(spark, rows, tmp_path):
    files = sorted(rows.folder.glob("*.parquet"))
    job = stages.create(tmp_path / "job", files, distance=K, tasks=3, linkage="single")
    fpstore.spark.run(spark, job)
    assert removed(job) == rows.labels


def test_components_in_rounds(spark, rows, tmp_path):
    files = sorted(rows.folder.glob("*.parquet"))
    job = divide(stages.create(tmp_path / "job", files, distance=K, tasks=2), 2)
    fpstore.spark.run(spark, job)
    assert removed(job) == rows.removed and rounds(job) > 2


def test_queries_against_a_store(spark, rows):
    queries = [value ^ 5 for value in rows.values[:500]]
    frame = spark.createDataFrame([(signed(query),) for query in queries], "fingerprint bigint").repartition(5)
    found = fpstore.spark.query(frame, rows.store, K).collect()
    made = sorted((row.fingerprint % 2**64, row.match_id, row.match_distance) for row in found)
    assert made == rows.matches(queries)


def test_a_corpus_streams_by(spark, rows):
    queries = [(signed(value ^ 9), f"query-{number}") for number, value in enumerate(rows.values[:60])]
    frame = spark.createDataFrame(queries, "fingerprint bigint, id string")
    corpus = spark.read.parquet(rows.folder.as_uri())
    found = fpstore.spark.stream(corpus, frame, K).collect()
    made = sorted((row.id, row.match_id, row.match_distance) for row in found)
    pairs = ((id, name, (value ^ (query % 2**64)).bit_count())
             for value, id in zip(rows.values, rows.ids, strict=True) for query, name in queries)
    assert made == sorted(pair for pair in pairs if pair[2] <= K) and made


def test_wide_fingerprints(spark, tmp_path):
    values = [(7).to_bytes(32, "big"), (6).to_bytes(32, "big"), (2**255).to_bytes(32, "big")]
    rows = list(zip(map(bytearray, values), [1, 2, 3], strict=True))
    frame = spark.createDataFrame(rows, "fingerprint binary, id bigint")
    kept = fpstore.spark.dedup(frame, tmp_path / "job", distance=2, tasks=2)
    assert sorted(row.id for row in kept.collect()) == [1, 3]


def test_timestamps_and_a_folder_that_is_taken(spark, tmp_path):
    moments = ["1600-01-01 00:00:00", "2026-11-26 01:02:03.456789", "1600-01-01 00:00:00"]
    rows = [(moment, number, 7 << number) for number, moment in enumerate(moments)]
    frame = spark.createDataFrame(rows, "moment string, id bigint, fingerprint bigint")
    frame = frame.withColumn("moment", frame.moment.cast("timestamp"))
    kept = fpstore.spark.dedup(frame, tmp_path / "job", distance=0, tasks=2)
    assert sorted(map(str, kept.collect())) == sorted(map(str, frame.collect()))
    for folder in ("job", "other"):
        (tmp_path / "other-rows").mkdir(exist_ok=True)
        (tmp_path / "other-rows" / "left").touch()
        with pytest.raises(fp.errors.AlreadyExistsError, match="not empty"):
            fpstore.spark.dedup(frame, tmp_path / folder)


def test_a_store_that_changes_is_read_again(spark, tmp_path):
    path = tmp_path / "store"
    frame = spark.createDataFrame([(7,)], "fingerprint bigint")
    with fp.create(path, max_distance=3) as store:
        store.load([7], ids=[1])
        assert [row.match_id for row in fpstore.spark.query(frame, path).collect()] == [1]
        store.load([7], ids=[2])
    assert [row.match_id for row in fpstore.spark.query(frame, path).collect()] == [1, 2]
    shutil.rmtree(path)
    with fp.create(path, max_distance=3, ids="text") as store:
        store.load([7], ids=["a"])
    assert [row.match_id for row in fpstore.spark.query(frame, path).collect()] == ["a"]


def test_odd_queries(spark, rows):
    corpus = spark.read.parquet(rows.folder.as_uri())
    none = spark.createDataFrame([], "fingerprint bigint, id string")
    found = fpstore.spark.stream(corpus, none, K)
    assert found.collect() == [] and dict(found.dtypes)["match_id"] == "string"
    nulls = spark.createDataFrame([(None, 1), (signed(rows.values[0]), 2)], "fingerprint bigint, id bigint")
    assert {row.match_id for row in fpstore.spark.stream(corpus, nulls, K).collect()} == {2}
    negative = spark.createDataFrame([(7, -2)], "fingerprint bigint, id bigint")
    with pytest.raises(fp.errors.InvalidInputError, match="from 0 on"):
        fpstore.spark.stream(corpus, negative, K)
    taken = spark.createDataFrame([(7, 1)], "fingerprint bigint, match_id bigint")
    with pytest.raises(fp.errors.InvalidInputError, match="match_id"):
        fpstore.spark.query(taken, rows.store)


def executors():
    """The processes of executors."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as line:
                if b"CoarseGrainedExecutorBackend" in line.read():
                    found.append(int(path.split("/")[2]))
        except OSError:
            continue
    return found


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="finds processes in /proc")
def test_an_executor_that_is_killed_changes_nothing(spark, rows, tmp_path):
    files = sorted(rows.folder.glob("*.parquet"))
    job = stages.create(tmp_path / "job", files, distance=K, tasks=8)
    killed = []

    def kill():
        while not job.plan.result("partition", 0).parent.exists():
            time.sleep(0.01)
        killed.append(executors()[0])
        os.kill(killed[0], signal.SIGKILL)

    killer = threading.Thread(target=kill)
    killer.start()
    fpstore.spark.run(spark, job)
    killer.join()
    assert killed and removed(job) == rows.removed
    assert sorted(pa.concat_tables(map(pq.read_table, job.kept()))["id"].to_pylist()) == rows.kept
