"""De-duplication by numbered tasks of records with keys: the results are those of one key index."""

import os
import random

import pytest

import fpstore as fp
import real

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
from fpstore import stages  # noqa: E402, after the check for pyarrow
from jobs import divide, results  # noqa: E402

LINKAGES = ("single", "star", "complete")
LISTS = pa.list_(pa.uint64())


def chance(count, seed=3):
    """Keys of records of which some share one or several, some have a key twice, and some have none."""
    rng, made = random.Random(seed), []
    for _ in range(count):
        keys = [rng.getrandbits(64) for _ in range(5)]
        for place in range(5):
            if made and rng.random() < 0.12:
                keys[place] = rng.choice(rng.choice(made) or keys)
        made.append([] if rng.random() < 0.03 else keys + keys[: rng.randrange(2)])
    return made


def giant(count):
    """One key in a third of the records, and a few keys in all others."""
    rng = random.Random(4)
    return [[rng.getrandbits(64), 7] if number % 3 == 0 else [rng.randrange(count)] for number in range(count)]


def bands(count):
    return [keys or [] for keys in fp.bands(real.documents(count)).to_pylist()]


DATA = {
    "uniform": lambda: chance(3000),
    "giant": lambda: giant(1_000_000 if os.environ.get("FPSTORE_LONG") else 20_000),
    "real": lambda: bands(1000),
}


def one_index(folder, keys, ids, linkage):
    """What one key index of all records says: the removed ones, and the rows of the others."""
    with fp.create(folder, kind="keys", key_bits=64, ids="text" if isinstance(ids[0], str) else "u64") as index:
        index.load(pa.array(keys, LISTS), ids=ids)
        if linkage == "single":
            labels = index.clusters().to_pylist()
            removed = [{"id": one["id"], "cluster": one["cluster"]} for one in labels if one["id"] != one["cluster"]]
        else:
            names = ("id", "keeper", "shared_keys")
            evidence = index.keep(linkage=linkage, evidence=True).to_pylist()
            removed = [{name: one[name] for name in names} for one in evidence]
    gone = {one["id"] for one in removed}
    return sorted(removed, key=lambda one: one["id"]), [row for row, id in enumerate(ids) if id not in gone]


def shuffled(count, texts=False):
    ids = random.Random(5).sample(range(count), count)
    return [f"https://example.org/{id}" for id in ids] if texts else ids


def written(folder, keys, ids):
    path = folder / "records.parquet"
    pq.write_table(pa.table({"id": ids, "keys": keys, "row": range(len(ids))}), path, row_group_size=len(ids) // 7 + 1)
    return path


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("name", DATA)
def test_results_are_those_of_one_index(tmp_path, name, linkage):
    # With complete linkage a key of many records costs their pairs, in one index too.
    keys = giant(2000) if (name, linkage) == ("giant", "complete") else DATA[name]()
    for texts in (False, True):
        ids = shuffled(len(keys), texts)
        expected = one_index(tmp_path / f"one-{texts}", keys, ids, linkage)
        assert expected[0] and expected[1]
        path = written(tmp_path, pa.array(keys, LISTS), ids)
        for tasks in (1, 3, 16):
            job = stages.create(tmp_path / f"{texts}-{tasks}", path, keys="keys", tasks=tasks, linkage=linkage)
            job.run_all()
            assert results(job) == expected, (texts, tasks)
        job = divide(stages.create(tmp_path / f"{texts}-rounds", path, keys="keys", tasks=3, linkage=linkage), 5)
        job.run_all()
        assert results(job) == expected and job.tasks("components") > 0


def test_texts_get_the_keys_of_minhash(tmp_path):
    texts = [*real.documents(500), None, ""]
    ids = shuffled(len(texts))
    table = pa.table({"id": ids, "text": texts, "row": range(len(texts))})
    pq.write_table(table, tmp_path / "texts.parquet", row_group_size=100)
    options = {"bands": 20, "rows": 5, "features": "words:3"}
    job = stages.create(tmp_path / "job", tmp_path / "texts.parquet", text="text", method="minhash", tasks=3, **options)
    job.run_all()
    keys = [one or [] for one in fp.bands(texts, **options).to_pylist()]
    assert results(job) == one_index(tmp_path / "one", keys, ids, "star")


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_share_that_is_sorted_in_many_pieces(tmp_path, monkeypatch, linkage):
    keys, ids = chance(2000), shuffled(2000, texts=True)
    expected = one_index(tmp_path / "one", keys, ids, linkage)
    # Other pieces in each stage, as other versions may make.
    monkeypatch.setattr("fpstore.stages._inputs.BLOCK", 1)
    path = written(tmp_path, pa.array(keys, LISTS), ids)
    job = stages.create(tmp_path / "job", path, keys="keys", tasks=2, groups=300, linkage=linkage)
    for stage in ("digest", "common"):
        for task in job.missing(stage):
            job.run(stage, task)
    monkeypatch.setattr("fpstore.stages._inputs.BLOCK", 5000)
    job.run_all()
    assert results(job) == expected


def test_keys_of_one_record_are_not_sent(tmp_path):
    # Two keys of equal digests, in several records; one has two keys of one digest itself.
    same = [pow(0x9E37_79B9_7F4A_7C15, -1, 2**64) * ((5 << 24) + low) % 2**64 for low in (1, 2)]
    keys = [[same[0], 1], [2], [same[1], 3], [same[0], 4], same, [9], [9]]
    path = written(tmp_path, pa.array(keys, LISTS), list(range(7)))
    job = stages.create(tmp_path / "job", path, keys="keys", tasks=2, linkage="complete")
    job.run_all()
    assert results(job) == one_index(tmp_path / "one", keys, list(range(7)), "complete")
    files = job.folder.glob("partition/*/keys.parquet")
    sent = [key for file in files for key in pq.read_table(file)["key"].to_pylist()]
    assert sorted(sent) == sorted([same[0], same[1], same[0], *same, 9, 9])


def test_rows_without_keys_stay_whatever_their_ids_are(tmp_path):
    keys = pa.array([[], [], None, [1], [1]], LISTS)
    path = written(tmp_path, keys, pa.array([None, -5, None, 1, 2]))
    job = stages.create(tmp_path / "job", path, keys="keys", tasks=1)
    job.run_all()
    assert results(job) == ([{"id": 2, "keeper": 1, "shared_keys": 1}], [0, 1, 2, 3])


def test_options_that_no_file_holds(tmp_path):
    pq.write_table(pa.table({"id": [1], "text": ["a"]}), tmp_path / "texts.parquet")
    how = {"method": "minhash", "bands": pytest.importorskip("numpy").int64(20), "rows": 5}
    with pytest.raises(fp.errors.InvalidInputError, match="give numbers and texts of Python"):
        stages.create(tmp_path / "job", tmp_path / "texts.parquet", text="text", **how)
    assert not (tmp_path / "job").exists()


@pytest.mark.parametrize(
    "type", [pa.list_(pa.int64()), pa.large_list(pa.uint64()), pa.list_(pa.int64(), 2)], ids=str
)
def test_lists_of_every_type(tmp_path, type):
    keys = [[-1, 2], [3, 2**63 - 1], None, [-1, 4]]
    values = pa.array([[key % 2**64 for key in one] if one else None for one in keys], LISTS)
    if pa.types.is_int64(type.value_type):
        values = pa.array(keys, type)
    path = written(tmp_path, values.cast(type), pa.array(["a", "b", "c", "d"]).dictionary_encode())
    job = stages.create(tmp_path / "job", path, keys="keys", tasks=3)
    job.run_all()
    assert results(job) == ([{"id": "d", "keeper": "a", "shared_keys": 1}], [0, 1, 2])


def test_wrong_rows_are_named_with_their_file(tmp_path):
    good = pa.array([[1], [2]], LISTS)
    for ids, keys, message in [
        (pa.array([1, None]), good, "whose id is null"),
        (pa.array([1, -1]), good, "the id -1 in 'id' is negative"),
        (pa.array([1, 2]), pa.array([[1], [None]], LISTS), "whose key is null"),
    ]:
        path = written(tmp_path, keys, ids)
        job = stages.create(tmp_path / f"job {message}", path, keys="keys", tasks=1)
        with pytest.raises(fp.errors.InvalidInputError, match=f"records.parquet: .*{message}"):
            job.run_all()
