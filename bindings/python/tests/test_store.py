"""Answers of stores of every width beside a comparison of everything with everything."""

import pickle
from collections import Counter

import pytest

import fpstore as fp


def as_column(fingerprints, width):
    return fingerprints if width == 64 else [one.to_bytes(width // 8, "big") for one in fingerprints]


def as_ints(values):
    return [value if isinstance(value, int) else int.from_bytes(value, "big") for value in values]


@pytest.mark.parametrize("width", [64, 128, 256])
@pytest.mark.parametrize("ids", ["u64", "text"])
def test_answers_are_those_of_the_model(path, model, near, width, ids):
    records = near(400, width, seed=width)
    if ids == "text":
        records = [(one, f"page/{id:05}") for one, id in records]
    fingerprints, names = zip(*records)
    expected = model(set(records))
    with fp.create(path, width=width, max_distance=4, ids=ids) as store:
        half = len(records) // 2
        store.load(as_column(fingerprints[:half], width), ids=names[:half])
        store.insert(as_column(fingerprints[half:], width), names[half:])
        assert len(store) == len(set(records))
        for k in (0, 3, 4, 9):
            for query in fingerprints[:40]:
                assert [tuple(one) for one in store.query(query, k)] == expected.query(query, k)
            found = store.query(as_column(fingerprints, width), k).to_pydict()
            rows = zip(found["query_row"], found["distance"], as_ints(found["fingerprint"]), found["id"])
            assert list(rows) == [
                (row, *one) for row, query in enumerate(fingerprints) for one in expected.query(query, k)
            ]
            pairs = store.pairs(k).to_pydict()
            columns = (pairs["id_a"], pairs["id_b"], pairs["distance"], as_ints(pairs["fp_a"]), as_ints(pairs["fp_b"]))
            assert Counter(zip(*columns)) == expected.pairs(k)
            near_ones = store.contains_near(as_column(fingerprints, width), k)
            assert all(near_ones.to_pylist())
        nearest = store.nearest(fingerprints[0], 7)
        assert [tuple(one) for one in nearest] == expected.query(fingerprints[0], width)[:7]
        found = store.nearest(as_column(fingerprints[:5], width), 7).to_pydict()
        assert found["query_row"] == [row for row in range(5) for _ in range(7)]
        all_records = store.records().to_pydict()
        assert sorted(zip(as_ints(all_records["fingerprint"]), all_records["id"])) == sorted(set(records))


def test_large_batches_are_merged_and_equal_single_queries(path, near):
    records = near(20_000, 64, seed=5)
    fingerprints, ids = zip(*records)
    with fp.create(path) as store:
        store.load(fingerprints, ids=ids)
        found = store.query(fingerprints, 3)
        rows = {}
        for batch in found:
            columns = batch.to_pydict()
            for row, id in zip(columns["query_row"], columns["id"]):
                rows.setdefault(row, []).append(id)
        assert list(rows) == list(range(len(fingerprints)))
        for row in range(0, len(fingerprints), 997):
            assert rows[row] == [one.id for one in store.query(fingerprints[row], 3)]


def test_clusters_and_evidence_divide_all_records(path, near):
    fingerprints, ids = zip(*near(600, 64, seed=9))
    with fp.create(path, max_distance=3) as store:
        store.load(fingerprints, ids=ids)
        present = set(store.records().to_pydict()["id"])
        for linkage in ("single", "star", "complete"):
            clusters = store.clusters(3, linkage=linkage).to_pydict()
            assert set(clusters["id"]) == present
            kept = store.keep(3, linkage=linkage).to_pydict()["id"]
            evidence = store.keep(3, linkage=linkage, evidence=True).to_pydict()
            assert sorted(kept + evidence["id"]) == sorted(present)
            assert set(evidence["keeper"]) <= set(kept)
            cluster = dict(zip(clusters["id"], clusters["cluster"]))
            by_id = dict(zip(ids, fingerprints))
            for id, keeper, label, distance in zip(*(evidence[c] for c in ("id", "keeper", "cluster", "distance"))):
                assert cluster[id] == cluster[keeper] == label
                assert distance == (by_id[id] ^ by_id[keeper]).bit_count()
                assert linkage == "single" or distance <= 3
        last_first = store.keep(3, keep=list(reversed(sorted(present)))).to_pydict()["id"]
        assert sorted(last_first) == sorted(store.keep(3, keep="largest").to_pydict()["id"])


def test_stores_without_ids_count(path):
    with fp.create(path, ids="none", max_distance=2) as store:
        assert store.load([5, 5, 5, 4])["added"] == 4
        assert [(one.distance, one.id) for one in store.query(5, 1)] == [(0, 3), (1, 1)]
        assert store.query([5], 1).column_names == ["query_row", "fingerprint", "distance", "count"]
        assert store.pairs(1).column_names[:2] == ["count_a", "count_b"]
        evidence = store.keep(1, evidence=True).to_pydict()
        assert sorted(evidence) == ["cluster", "count", "distance", "fingerprint", "keeper"]


def test_writes_one_by_one_and_many(path):
    with fp.create(path, id_index=True) as store:
        store.insert(0b0001, 1)
        assert store.insert_if_new(0b0011, 2, k=1) is False
        assert store.insert_if_new(1 << 40, 3, k=1) is True
        found = store.insert_if_new([1 << 41, 1 << 42, (1 << 42) + 1, None], ids=[4, 5, 6, 7], k=1)
        assert found.to_pydict() == {
            "inserted": [True, True, False, False],
            "number": [None] * 4,
            "id": [None, None, 1, None],
            "distance": [None, None, 1, None],
        }
        assert store.remove(1 << 41, 4) == 1 and store.remove(1 << 41, 4) == 0
        assert store.replace(1 << 50, 5) == 1
        assert store.get_id(5) == [1 << 50] and store.get(1 << 50) == [5]
        assert store.remove_id(5) == 1 and store.remove_ids([3, 99]) == 1
        assert 1 in store and (1 << 50) not in store
        with store.writer(durability="buffered") as writer:
            writer.insert([8, 16], [8, 16])
        assert store.load_remove([8], ids=[8])["removed"] == 1
        assert store.load_replace([32], ids=[16]) == {"records": 1, "added": 1, "removed": 1, "nulls": 0}
    with fp.open(path) as store:
        assert store.records().to_pydict() == {"fingerprint": [1, 32], "id": [1, 16]}


def test_snapshots_followers_backups_and_pickles(path, other):
    store = fp.create(path)
    store.insert(7, 1)
    before = store.snapshot()
    reader = fp.open(path, read_only=True)
    store.insert(6, 2)
    assert before.query([7], 3).to_pydict()["id"] == [1] and len(before) == 1
    assert [one.id for one in store.query(7, 3)] == [1, 2]
    assert reader.refresh() and len(reader) == 2
    assert store.backup(other) == 2
    copy = pickle.loads(pickle.dumps(fp.open(other, read_only=True)))
    assert copy.join(reader, 0).to_pydict()["id_a"] == [2, 1]
    with pytest.raises(fp.FpstoreError, match="read_only"):
        pickle.dumps(store)
    with pytest.raises(fp.errors.ReadOnlyError):
        copy.insert(1, 1)
    with pytest.raises(fp.errors.LockedError):
        fp.open(path)
    store.compact()
    assert store.verify()["damages"] == []
    stats = store.stats()
    assert stats["records"] == 2 and stats["tables"]
    store.close()
    with pytest.raises(fp.errors.InvalidInputError, match="closed"):
        store.query(1, 1)


def test_answers_are_read_once_and_stop(path, near):
    fingerprints, ids = zip(*near(5000, 64, seed=2))
    with fp.create(path) as store:
        store.load(fingerprints, ids=ids)
        answers = store.pairs(3)
        assert len(next(answers)) > 0
        answers.close()
        with pytest.raises(fp.errors.InvalidInputError, match="closed"):
            next(answers)
        whole = store.pairs(3)
        rows = sum(len(batch) for batch in whole)
        assert rows == len(store.pairs(3).read_all()) and whole.progress == 1.0
    # Answers outlive the store.
    with fp.open(path) as store:
        late = store.pairs(3)
    assert len(late.read_all()) == rows
