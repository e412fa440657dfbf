"""De-duplication by numbered tasks: the results are those of one store, for any number of tasks, however often one is
killed."""

import json
import os
import random
import shutil
import subprocess
import sys
import time

import pytest

import brute
import fpstore as fp
import real

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
from fpstore import stages  # noqa: E402, after the check for pyarrow
from jobs import divide, results  # noqa: E402

TYPES = {64: pa.uint64(), 128: pa.binary(16), 256: pa.binary(32)}


def column(values, width):
    if width == 64:
        return pa.array(values, pa.uint64())
    return pa.array([value.to_bytes(width // 8, "big") for value in values], TYPES[width])


def files(folder, values, ids, width=64, count=4):
    """The records as some Parquet files, each of several row groups."""
    table = pa.table({"id": ids, "fingerprint": column(values, width), "row": range(len(values))})
    made = []
    for number in range(count):
        rows = range(number * len(values) // count, (number + 1) * len(values) // count)
        made.append(folder / f"part-{number}.parquet")
        pq.write_table(table.slice(rows.start, len(rows)), made[-1], row_group_size=max(1, len(rows) // 3))
    return made


def one_store(folder, values, ids, k, linkage, width=64):
    """What one store with all records says: the removed ones, and the rows of the others."""
    kind = "text" if isinstance(ids[0], str) else "u64"
    with fp.create(folder / "one", width=width, max_distance=k, ids=kind) as store:
        store.load(column(values, width), ids=ids)
        if linkage == "single":
            labels = store.clusters(k).to_pylist()
            removed = [one for one in labels if one["id"] != one["cluster"]]
        else:
            wanted = ("id", "keeper", "distance")
            evidence = store.keep(k, linkage=linkage, evidence=True).to_pylist()
            removed = [{name: one[name] for name in wanted} for one in evidence]
    gone = {one["id"] for one in removed}
    order = sorted(removed, key=lambda one: one["id"])
    return order, [row for row, id in enumerate(ids) if id not in gone]


def near(count, width, texts=False):
    records = brute.clustered(count, width, seed=count + width)
    # Some fingerprints several times.
    records += [(value, count + number) for number, (value, _) in enumerate(records[:: 7])]
    random.Random(1).shuffle(records)
    values, ids = zip(*records, strict=True)
    return list(values), [f"https://example.org/{id}" if texts else id for id in ids]


def repeated(count):
    """One fingerprint in most rows, and some beside it."""
    others = [random.Random(bit).getrandbits(64) for bit in range(99)]
    values = [7] * count + [7 ^ 1 << bit for bit in range(64)] + others
    return values, list(range(len(values)))


def of_real():
    values = real.fingerprints().tolist()[:20_000]
    return values + values[::50], list(range(len(values) + len(values[::50])))


DATA = {
    "64": (lambda: near(3000, 64), 64, 3),
    "128": (lambda: near(2000, 128), 128, 5),
    "256": (lambda: near(1500, 256, texts=True), 256, 8),
    "texts": (lambda: near(2000, 64, texts=True), 64, 3),
    "repeated": (lambda: repeated(1_000_000 if os.environ.get("FPSTORE_LONG") else 5_000), 64, 3),
    "real": (of_real, 64, 6),
    "equal": (lambda: near(2000, 64), 64, 0),
}


OTHERS = [(name, linkage) for name in ("64", "repeated") for linkage in ("single", "complete")]


@pytest.mark.parametrize(("name", "linkage"), [(name, "star") for name in DATA] + OTHERS)
def test_results_are_those_of_one_store(tmp_path, name, linkage):
    make, width, k = DATA[name]
    values, ids = make()
    inputs = files(tmp_path, values, ids, width)
    expected = one_store(tmp_path, values, ids, k, linkage, width)
    for tasks, groups in ((1, None), (3, None), (3, 1), (3, 2), (16, 4)):
        place = tmp_path / f"job-{tasks}-{groups}"
        job = stages.create(place, inputs, distance=k, tasks=tasks, groups=groups, linkage=linkage)
        job.run_all()
        assert results(job) == expected, (tasks, groups)
    job = divide(stages.create(tmp_path / "rounds", inputs, distance=k, tasks=3, linkage=linkage), 5)
    job.run_all()
    assert results(job) == expected and job.tasks("components") > 0


def test_groups_are_as_many_as_there_are_rows_for(tmp_path, monkeypatch):
    values, ids = near(2000, 64)
    inputs = files(tmp_path, values, ids)
    made = [stages.create(tmp_path / "few", inputs, tasks=16), stages.create(tmp_path / "said", inputs, groups=1)]
    # Enough for three groups, each row counted once for each of the four parts.
    monkeypatch.setattr("fpstore.stages._job.ROWS_OF_GROUP", 4 * len(values) // 3 + 1)
    made += [stages.create(tmp_path / f"{tasks}", inputs, tasks=tasks) for tasks in (4, 8, 16, 100)]
    assert [job.plan.groups for job in made] == [1, 1, 1, 2, 3, 3]
    assert [job.tasks("join") for job in made] == [1, 4, 4, 8, 12, 12]


def test_every_pair_is_found_by_one_task(tmp_path):
    values, ids = near(2000, 64)
    job = stages.create(tmp_path / "job", files(tmp_path, values, ids), distance=3, tasks=16, groups=4)
    job.run_all(workers=2)
    found = pa.concat_tables(pq.read_table(path) for path in job.folder.glob("join/task-*/near.parquet"))
    with fp.create(tmp_path / "one", max_distance=3) as store:
        store.load(values, ids=ids)
        expected = store.pairs(3, distinct=True).to_pylist()
    wanted = sorted((one["id_a"], one["id_b"], one["distance"]) for one in expected)
    assert sorted(zip(*(found[name].to_pylist() for name in ("id_a", "id_b", "distance")), strict=True)) == wanted


def test_texts_get_the_fingerprints_of_simhash(tmp_path):
    texts = [*real.documents(300), None, ""]
    ids = [f"page-{number}" for number in range(len(texts))]
    table = pa.table({"id": ids, "text": texts, "row": range(len(texts))})
    pq.write_table(table, tmp_path / "texts.parquet", row_group_size=50)
    job = stages.create(tmp_path / "job", [tmp_path / "texts.parquet"], text="text", distance=6, tasks=3)
    job.run_all()
    hashes = fp.simhash(texts)
    given = [(value, id) for value, id in zip(hashes.to_pylist(), ids, strict=True) if value is not None]
    removed, _ = one_store(tmp_path, *map(list, zip(*given, strict=True)), 6, "star")
    gone = {one["id"] for one in removed}
    assert len(gone) > 20 and results(job) == (removed, [row for row, id in enumerate(ids) if id not in gone])


def test_rows_without_a_fingerprint_stay(tmp_path):
    table = pa.table({"id": ["a", "b", "c"], "fingerprint": pa.array([7, None, 7], pa.uint64()), "row": [0, 1, 2]})
    pq.write_table(table, tmp_path / "some.parquet")
    job = stages.create(tmp_path / "job", [tmp_path / "some.parquet"], tasks=5)
    job.run_all()
    assert results(job) == ([{"id": "c", "keeper": "a", "distance": 0}], [0, 1])


def begun(job, stage, task):
    """Whether a task has begun its result."""
    return any(job.folder.glob(f"{stage}/.making-task-{task}-*"))


@pytest.mark.parametrize(
    "method", [{"distance": 6}, {"method": "minhash", "linkage": "single"}], ids=["fingerprints", "keys"]
)
def test_a_task_of_each_stage_is_killed_and_run_again(tmp_path, method):
    texts = real.documents(1500)
    ids = [f"page-{number}" for number in range(len(texts))]
    table = pa.table({"id": ids, "text": texts, "row": range(len(texts))})
    pq.write_table(table, tmp_path / "texts.parquet", row_group_size=200)
    inputs, how = [tmp_path / "texts.parquet"], {"text": "text", "tasks": 2} | method
    undisturbed = stages.create(tmp_path / "undisturbed", inputs, **how)
    undisturbed.run_all()
    job = stages.create(tmp_path / "job", inputs, **how)
    rng = random.Random(5)
    for stage in filter(job.tasks, stages.STAGES):
        killed = 0
        while killed < 3:
            # Two of the same task, too. A task that has ended before it was killed is made to begin anew.
            task = rng.randrange(job.tasks(stage))
            shutil.rmtree(job.plan.result(stage, task), ignore_errors=True)
            command = [sys.executable, "-m", "fpstore.stages", "run", str(job.folder), stage, str(task)]
            running = [subprocess.Popen(command) for _ in range(2)]
            while not begun(job, stage, task) and any(process.poll() is None for process in running):
                time.sleep(0.001)
            time.sleep(rng.uniform(0, 0.03))
            alive = [process for process in running if process.poll() is None]
            for process in alive:
                process.kill()
            for process in running:
                process.wait()
            killed += bool(alive) and begun(job, stage, task)
            job.clean()
        for task in job.missing(stage):
            job.run(stage, task)
    assert results(job) == results(undisturbed)


def test_what_is_done_stays(tmp_path):
    values, ids = near(500, 64)
    job = stages.create(tmp_path / "job", files(tmp_path, values, ids), tasks=2)
    job.run_all()
    before = [path.stat().st_mtime_ns for path in job.removed()]
    stages.open(job.folder).run_all()
    job.run("decide", 0)
    assert [path.stat().st_mtime_ns for path in job.removed()] == before


def test_wrong_uses_are_refused(tmp_path):
    inputs = files(tmp_path, [7, 6], [1, 2], count=1)
    job = stages.create(tmp_path / "job", inputs, tasks=2)
    refused = [
        (lambda: stages.create(tmp_path / "job", inputs), "not empty"),
        (lambda: stages.create(tmp_path / "new", inputs, id="url"), "no column 'url'"),
        (lambda: stages.create(tmp_path / "new", inputs, linkage="double"), "linkage='double'"),
        (lambda: stages.create(tmp_path / "new", inputs, tasks=0), "tasks=0"),
        (lambda: stages.create(tmp_path / "new", inputs, memory="lots"), '"lots"'),
        (lambda: stages.create(tmp_path / "new", inputs, groups=4097), "groups=4097.* 4096 groups at most"),
        (lambda: stages.create(tmp_path / "new", inputs, distance=65), "64 bits"),
        (lambda: stages.create(tmp_path / "new", inputs, features="words:2"), "features"),
        (lambda: stages.create(tmp_path / "new", inputs, text="id", fingerprint="fingerprint"), "not several"),
        (lambda: stages.create(tmp_path / "new", inputs, keys="fingerprint"), "the keys in 'fingerprint' are uint64"),
        (lambda: stages.create(tmp_path / "new", inputs, keys="id", distance=3), "distance is of fingerprints"),
        (lambda: stages.create(tmp_path / "new", inputs, text="row", method="md5"), "method='md5'"),
        (lambda: stages.create(tmp_path / "new", inputs, text="row"), "the texts in 'row' are int64"),
        (lambda: stages.create(tmp_path / "new", inputs, fingerprint="id"), "a column of their own"),
        (lambda: stages.create(tmp_path / "new", inputs, method="minhash"), "method is for texts"),
        (lambda: stages.open(tmp_path), "no job"),
        (lambda: job.run("join", 0), "not done: 0, 1"),
        (lambda: job.run("sketch", 0), "sketch has no tasks"),
        (lambda: stages.create(tmp_path / "new", inputs, distance=3.0), "distance=3.0: expected int"),
        (lambda: job.run("partition", 2), "tasks 0 to 1"),
        (lambda: job.run("parting", 0), "no stage"),
        (lambda: job.run_all(workers=0), "workers=0"),
    ]
    for call, message in refused:
        with pytest.raises(fp.FpstoreError, match=message):
            call()
    assert not (tmp_path / "new").exists()
    file = job.folder / "job.json"
    fields = json.loads(file.read_text())
    file.write_text("{}")
    with pytest.raises(fp.errors.DamagedError, match="no job of this version"):
        stages.open(job.folder)
    for name, value in [("tasks", "4"), ("tasks", -1), ("tasks", True), ("inputs", []), ("id", 3), ("groups", None)]:
        file.write_text(json.dumps(fields | {name: value}))
        with pytest.raises(fp.errors.DamagedError, match=rf"job\.json: {'there are no' if name == 'inputs' else name}"):
            stages.open(job.folder)
    for text in ("[" * 200_000, "[]", "7", json.dumps(fields | {"more": 1}), file.read_text()[:50]):
        file.write_text(text)
        with pytest.raises(fp.errors.DamagedError, match=r"job\.json"):
            stages.open(job.folder)


def test_a_file_with_other_columns_is_named(tmp_path):
    inputs = files(tmp_path, [7, 6, 5, 4], [1, 2, 3, 4], count=2)
    job = stages.create(tmp_path / "job", inputs, tasks=2)
    pq.write_table(pa.table({"id": ["a"], "fingerprint": column([7], 64), "row": [0]}), inputs[1])
    with pytest.raises(fp.errors.InvalidInputError, match=r"part-1.parquet: the column 'id' is string"):
        job.run_all()
    assert job.missing("partition") == [1] and not list(job.folder.glob("*/.making-*"))
    more = {"id": pa.array([1], pa.int64()), "fingerprint": column([7], 64), "row": [0]}
    for other, message in [
        (more | {"id": ["a"]}, "the column 'id' is string"),
        (more | {"more": [1]}, "the column 'more' is not in the first file"),
        ({"id": more["id"], "fingerprint": more["fingerprint"]}, "there is no column 'row'"),
    ]:
        pq.write_table(pa.table(other), inputs[1])
        with pytest.raises(fp.errors.InvalidInputError, match=f"part-1.parquet: {message}"):
            stages.create(tmp_path / "new", inputs)


def test_a_column_may_have_nulls_in_some_files_only(tmp_path):
    schema = pa.schema([pa.field("id", pa.uint64(), nullable=False), ("fingerprint", pa.uint64()), ("row", pa.int64())])
    pq.write_table(pa.table([[1], [7], [0]], schema=schema), tmp_path / "0.parquet")
    other = schema.set(0, pa.field("id", pa.uint64()))
    pq.write_table(pa.table([[2], [2**63], [1]], schema=other), tmp_path / "1.parquet")
    job = stages.create(tmp_path / "job", [tmp_path / "0.parquet", tmp_path / "1.parquet"], tasks=1)
    job.run_all()
    assert results(job) == ([], [0, 1])


def test_ids_that_are_not_unique_are_refused(tmp_path):
    inputs = files(tmp_path, [0, 1, 2**64 - 1], [1, 5, 5], count=1)
    job = stages.create(tmp_path / "job", inputs, tasks=2)
    with pytest.raises(fp.errors.InvalidInputError, match="1 records are removed, and 2 rows have their ids"):
        job.run_all()
    with pytest.raises(fp.errors.InvalidInputError, match="not unique"):
        stages.open(job.folder).kept()


def test_rows_stay_in_the_order_of_the_given_files(tmp_path):
    inputs = files(tmp_path, [1 << 60, 1 << 40, 1 << 20, 1], [1, 2, 3, 4], count=4)
    job = stages.create(tmp_path / "job", [*inputs[::-1], inputs[0]], tasks=3, distance=0)
    job.run_all()
    assert results(job) == ([], [3, 2, 1, 0])
    assert stages.create(tmp_path / "one", str(inputs[0])).plan.inputs == [str(inputs[0])]


@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="reads /proc")
def test_memory_does_not_grow_with_the_rows(tmp_path):
    """Texts of which 65,536 would take a gigabyte."""
    texts = [f"{number} " * 2500 for number in range(30_000)]
    table = pa.table({"id": range(len(texts)), "text": texts})
    pq.write_table(table, tmp_path / "texts.parquet", row_group_size=15_000)
    del texts, table
    stages.create(tmp_path / "job", [tmp_path / "texts.parquet"], text="text", tasks=1, memory="64MiB")
    code = (
        "import sys; from fpstore import stages; stages.open(sys.argv[1]).run_all();"
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    done = subprocess.run([sys.executable, "-c", code, tmp_path / "job"], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 700 << 10


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([1, 2], pa.int64()), pa.array([1, 2], pa.int32()), pa.array(["1", "2"], pa.large_string()),
        pa.array(["1", "2"]).dictionary_encode(),
    ],
    ids=lambda ids: str(ids.type).split("<")[0],
)
def test_ids_and_columns_keep_their_types(tmp_path, ids):
    table = pa.table({"id": ids, "fingerprint": column([7, 6], 64).view(pa.int64())})
    pq.write_table(table, tmp_path / "some.parquet")
    job = stages.create(tmp_path / "job", [tmp_path / "some.parquet"], tasks=3)
    job.run_all()
    kept = pa.concat_tables(map(pq.read_table, job.kept()))
    assert kept.equals(table.slice(0, 1).cast(kept.schema)) and kept.schema.field("id").type == ids.type


def test_wrong_rows_are_named_with_their_file(tmp_path):
    def refused(message, ids, fingerprints):
        file = tmp_path / f"{len(list(tmp_path.iterdir()))}.parquet"
        pq.write_table(pa.table({"id": ids, "fingerprint": fingerprints}), file)
        job = stages.create(tmp_path / f"job of {file.name}", [file], tasks=1)
        with pytest.raises(fp.errors.InvalidInputError, match=rf"{file.name}: .*{message}"):
            job.run_all()

    refused("row 1: the id is null", pa.array([1, None]), column([7, 6], 64))
    refused("row 0: the id -1 is negative", pa.array([-1, 1]), column([7, 6], 64))
    refused("fingerprints have 16 bytes", pa.array([1, 2]), pa.array([b"a" * 16, b"a" * 15]))
    (tmp_path / "none.parquet").write_text("no Parquet")
    for name in ("none.parquet", "missing.parquet"):
        with pytest.raises(fp.errors.InvalidInputError, match=name):
            stages.create(tmp_path / "new", [tmp_path / name])


def test_the_program(tmp_path):
    values, ids = near(500, 64)
    inputs = [str(path) for path in files(tmp_path, values, ids)]

    def run(*arguments):
        command = [sys.executable, "-m", "fpstore.stages", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    folder = tmp_path / "job"
    assert run("create", folder, "--tasks", "2", *inputs).stdout == "partition=2 join=1 decide=1 keep=2\n"
    assert run("run", folder, "partition").returncode == 0
    assert run("status", folder).stdout.splitlines() == ["partition\t2\t2", "join\t0\t1", "decide\t0\t1", "keep\t0\t2"]
    early = run("run", folder, "keep", "0")
    assert (early.returncode, early.stdout) == (2, "") and "keep needs all of join" in early.stderr
    assert run("missing", folder, "join").stdout == "0\n" and run("missing", folder, "partition").stdout == ""
    assert run("run", folder, "--workers", "2").returncode == 0
    assert results(stages.open(folder)) == one_store(tmp_path, values, ids, 3, "star")
    assert run("clean", folder).stdout == "0 interrupted tasks\n"
    assert run("status", tmp_path / "none").returncode == 2
    assert run("create", tmp_path / "lots", "--memory", "lots", *inputs).returncode == 2
    assert run("create", tmp_path / "small", "--memory", "1KiB", *inputs).returncode == 0
    small = run("run", tmp_path / "small")
    assert (small.returncode, small.stdout) == (2, "") and "Traceback" not in small.stderr, small.stderr
    assert "examples:" in run("--help").stdout
