"""Key indexes beside a model that counts shared keys."""

import random

import pytest

import fpstore as fp


def records(count, seed):
    rng = random.Random(seed)
    pool = [rng.getrandbits(64) for _ in range(count)]
    return [sorted({rng.choice(pool) for _ in range(rng.randrange(8))}) for _ in range(count)]


def shared_pairs(lists, least):
    found = {}
    for a, keys_a in enumerate(lists):
        for b in range(a + 1, len(lists)):
            shared = len(set(keys_a) & set(lists[b]))
            if shared >= least:
                found[a, b] = shared
    return found


def test_answers_are_those_of_the_model(path, other):
    lists = records(300, seed=1)
    with fp.create(path, kind="keys", key_bits=64) as index:
        assert index.load(lists[:200], ids=range(200))["added"] == 200
        assert index.load(lists[200:], ids=range(200, 300))["added"] == 100
        assert len(index) == 300
        for least in (1, 2):
            pairs = index.pairs(min_shared=least).to_pydict()
            assert dict(zip(zip(pairs["id_a"], pairs["id_b"]), pairs["shared"])) == shared_pairs(lists, least)
            answers = index.query(lists, min_shared=least).to_pydict()
            many = list(zip(answers["query_row"], answers["id"], answers["shared"]))
            one_by_one = []
            for row, keys in enumerate(lists):
                expected = [(id, len(set(keys) & set(known))) for id, known in enumerate(lists)]
                expected = sorted((one for one in expected if one[1] >= least), key=lambda one: (-one[1], one[0]))
                assert [(one.id, one.shared) for one in index.query(keys, min_shared=least)] == expected
                one_by_one += [(row, *one) for one in expected]
            assert many == one_by_one
        clusters = index.clusters().to_pydict()
        label = dict(zip(clusters["id"], clusters["cluster"]))
        assert all(label[a] == label[b] for a, b in shared_pairs(lists, 1))
        kept = index.keep().to_pydict()["id"]
        evidence = index.keep(evidence=True).to_pydict()
        assert sorted(kept + evidence["id"]) == list(range(300)) and all(evidence["shared_keys"])
        with fp.create(other, kind="keys", key_bits=64) as second:
            second.load(lists[:50], ids=range(1000, 1050))
            joined = index.join(second).to_pydict()
            expected = {
                (a, 1000 + b): len(set(one) & set(two))
                for a, one in enumerate(lists)
                for b, two in enumerate(lists[:50])
                if set(one) & set(two)
            }
            assert dict(zip(zip(joined["id_a"], joined["id_b"]), joined["shared"])) == expected
        assert index.remove_ids([0, 1, 999]) == 2 and len(index) == 298
        assert index.load([[1, 2]], ids=[5], replace=True)["added"] == 1
        assert [one.id for one in index.query([1, 2])] == [5]
        index.compact()
        assert index.stats()["kind"] == "keys" and len(index) == 298


def test_sketches_estimate(path):
    texts = ["one two three four five six seven eight nine ten"] * 2 + ["quite another text of other words here now"]
    keys = fp.bands(texts, bands=8, rows=2, features="words:2", sketch="full")
    bits = 8 * len(keys["sketch"][0])
    with fp.create(path, kind="keys", sketch=bits, sample_bits=keys.sample_bits, hasher=keys.hasher) as index:
        index.load(keys, ids=[0, 1, 2])
        assert index.query(keys["keys"], keys["sketch"], min_jaccard=0.9).to_pydict() == {
            "query_row": [0, 0, 1, 1, 2],
            "id": [0, 1, 0, 1, 2],
            "shared": [8, 8, 8, 8, 8],
            "jaccard": [1.0] * 5,
        }
        assert index.query(keys["keys"][0], keys["sketch"][0])[1].jaccard == 1.0
        with pytest.raises(fp.errors.InvalidInputError, match="made by"):
            index.load(fp.bands(texts, bands=4, rows=2), ids=[7, 8, 9])


def test_keys_of_bytes_and_strings_are_equal(path):
    with fp.create(path, kind="keys", ids="text") as index:
        index.load([["a", "b"], ["b"], None, []], ids=["one", "two", "three", "four"])
        found = index.query([["b"]]).to_pydict()
        assert found["id"] == ["one", "two"] and len(index) == 4


def test_frequent_keys_are_counted_when_they_are_left_out(path):
    with fp.create(path, kind="keys", key_bits=64) as index:
        index.load([[1, 2]] * 5 + [[3]] * 2, ids=range(7))
        for question in (index.pairs, index.clusters, index.keep):
            answers = question(max_key_frequency=3)
            rows = answers.read_all()
            assert answers.skipped_keys == 2
        assert len(rows) == 6 and len(index.pairs(max_key_frequency=3).read_all()) == 1


def test_a_snapshot_is_of_one_moment(path, other):
    lists = records(200, seed=3)
    with fp.create(path, kind="keys", key_bits=64) as index, fp.create(other, kind="keys", key_bits=64) as second:
        index.load(lists[:100], ids=range(100))
        second.load(lists[:50], ids=range(1000, 1050))
        questions = [
            lambda of: of.query(lists, min_shared=2).to_pylist(),
            lambda of: [of.query(keys) for keys in lists],
            lambda of: of.records().to_pylist(),
            lambda of: of.pairs().to_pylist(),
            lambda of: of.join(second).to_pylist(),
            lambda of: of.join(second.snapshot()).to_pylist(),
            lambda of: of.clusters().to_pylist(),
            lambda of: of.keep(evidence=True).to_pylist(),
            lambda of: of.stats()["records"],
            len,
        ]
        before = [ask(index) for ask in questions]
        snapshot = index.snapshot()
        assert [ask(snapshot) for ask in questions] == before
        index.load(lists[100:], ids=range(100, 200))
        index.remove_ids([0, 1])
        index.compact()
        assert [ask(snapshot) for ask in questions] == before
        after = [ask(index) for ask in questions]
        assert all(one != two for one, two in zip(before, after))
        kept = snapshot.keep(keep="largest")
    assert len(kept.read_all()) > 0


def test_records_are_what_was_loaded(path, other):
    lists = records(3000, seed=5)
    with fp.create(path, kind="keys", key_bits=64, ids="text") as index:
        index.load(lists, ids=[f"page/{row}" for row in range(3000)])
        found = index.records().read_all()
        assert found.column_names == ["id", "keys"] and found["keys"].to_pylist() == lists
        assert found["id"].to_pylist() == [f"page/{row}" for row in range(3000)]
        # They can be loaded into another index.
        with fp.create(other, kind="keys", key_bits=64, ids="text") as copy:
            assert copy.load(index.records())["added"] == 3000
            assert copy.pairs().to_pylist() == index.pairs().to_pylist()
    texts = ["one two three four five", "six seven eight nine ten"]
    keys = fp.bands(texts, bands=4, rows=2, sketch="full")
    bits = 8 * keys["sketch"].width
    path = path.with_name("sketched")
    with fp.create(path, kind="keys", key_bits=64, sketch=bits, sample_bits=keys.sample_bits) as index:
        index.load(keys, ids=[1, 2])
        found = index.records().to_pydict()
        assert found["sketch"] == keys["sketch"].to_pylist()
        assert found["keys"] == [sorted(one) for one in keys["keys"].to_pylist()]


def test_a_damaged_index_is_found_and_repaired(path, other):
    with fp.create(path, kind="keys", key_bits=64) as index:
        index.load(records(5000, seed=7), ids=range(5000))
        assert index.verify()["damages"] == [] and fp.verify(path)["files"] == index.verify()["files"]
        assert index.backup(other) == 5000 and fp.verify(other)["damages"] == []
        reader = fp.open(path, read_only=True)
        assert len(reader) == 5000 and not reader.refresh()
        index.load([[1]], ids=[5000])
        assert reader.refresh() and len(reader) == 5001
        segment = max(path.glob("*.segment"), key=lambda file: file.stat().st_size)
        data = bytearray(segment.read_bytes())
        data[len(data) // 3] ^= 1
        segment.write_bytes(data)
        (damage, *_) = index.verify()["damages"]
        assert damage["path"].name == segment.name
    assert not fp.repair(path)["sound"]
    assert fp.repair(path, yes=True)["done"] and fp.verify(path)["damages"] == []


def test_keys_are_lists_of_any_kind(path):
    numpy = pytest.importorskip("numpy")
    index = fp.create(path, kind="keys")
    lists = [numpy.array([1 << 60, 2 << 60], dtype="u8"), numpy.array([3 << 60], dtype="i8")]
    assert index.load(lists, ids=[1, 2])["added"] == 2
    assert [one.id for one in index.query([2 << 60])] == [1] and index.query(lists).to_pydict()["id"] == [1, 2]
