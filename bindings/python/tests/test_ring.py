"""Sharded stores: answers are those of one store, or errors that name what is missing."""

import json
import os
import pathlib
import shutil
import subprocess
import threading

import pytest

import brute
import fpstore as fp

pa = pytest.importorskip("pyarrow")
from fpstore import ring  # noqa: E402, after the check for pyarrow

NAMES = ("query_row", "distance", "fingerprint", "id")


def written(path, nodes, replicas=1, virtual=64):
    nodes = [{"name": name, "weight": weight} for name, weight in nodes.items()]
    fields = {"format": "fpstore ring", "version": 1, "hash": "xxh64", "virtual": virtual, "replicas": replicas}
    path.write_text(json.dumps(fields | {"nodes": nodes}))
    return path


def rows(table):
    return list(zip(*(table[name].to_pylist() for name in NAMES), strict=True))


def near(count, texts=False):
    records = brute.clustered(count, 64, seed=count)
    values, ids = map(list, zip(*records, strict=True))
    return values, [f"https://example.org/{id}" for id in ids] if texts else ids


@pytest.mark.parametrize("replicas", [1, 2, 3])
@pytest.mark.parametrize("texts", [False, True], ids=["numbers", "texts"])
def test_answers_are_those_of_one_store(tmp_path, replicas, texts):
    values, ids = near(3000, texts)
    queries = [value ^ 3 for value in values[::5]]
    kind = "text" if texts else "u64"
    file = written(tmp_path / "ring.json", {"a": 1, "b": 2, "c": 1, "d": 0.5}, replicas)
    with fp.create(tmp_path / "one", max_distance=3, ids=kind) as store:
        store.load(values, ids=ids)
        expected = rows(pa.table(store.query(queries, 3)))
    with ring.create(file, max_distance=3, ids=kind) as sharded:
        sharded.load(values, ids=ids)
        assert rows(sharded.query(queries, 3).table) == expected
    sizes = [len(fp.open(tmp_path / name, read_only=True)) for name in "abcd"]
    assert sum(sizes) == replicas * len(values) and min(sizes) > 100
    with ring.open(file) as sharded:
        assert rows(sharded.query(queries, 3).table) == expected
        for id in ids[:50]:
            has = [pa.array(sharded.ring.has([id], node)).to_pylist()[0] for node in range(4)]
            assert {name for name, one in zip("abcd", has, strict=True) if one} == set(sharded.ring.locate(id))


def test_a_missing_node_is_named_or_replaced_by_its_replicas(tmp_path):
    values, ids = near(2000)
    file = written(tmp_path / "ring.json", {"a": 1, "b": 1, "c": 1}, replicas=2)
    with ring.create(file, max_distance=3) as sharded:
        sharded.load(values, ids=ids)
        expected = rows(sharded.query(values, 3).table)
    shutil.move(tmp_path / "b", tmp_path / "gone")
    with ring.open(file) as sharded:
        found = sharded.query(values, 3)
        assert (rows(found.table), found.missing) == (expected, [])
    shutil.move(tmp_path / "c", tmp_path / "gone too")
    with ring.open(file) as sharded:
        with pytest.raises(fp.errors.IoError, match=r"of the records are on nodes.*node b: .*node c: "):
            sharded.query(values, 3)
        found = sharded.query(values, 3, partial=True)
        assert found.missing == ["b", "c"] and set(rows(found.table)) < set(expected)
        with pytest.raises(fp.errors.IoError, match="node b"):
            sharded.load([7], ids=[1])


def test_wrong_queries_are_not_the_fault_of_a_node(tmp_path):
    file = written(tmp_path / "ring.json", {"a": 1, "b": 1})
    with ring.create(file, max_distance=3) as sharded:
        with pytest.raises(fp.errors.InvalidInputError):
            sharded.query([7], 65)
        assert sharded.query([7]).table.num_rows == 0


def test_removed_records_are_gone_from_all_nodes(tmp_path):
    values, ids = near(500)
    file = written(tmp_path / "ring.json", {"a": 1, "b": 1, "c": 1}, replicas=2)
    with ring.create(file, max_distance=3) as sharded:
        sharded.load(values, ids=ids)
        sharded.remove(values[:400], ids=ids[:400])
        left = sharded.query(values[400:], 0).table["id"].to_pylist()
        assert set(left) == set(ids[400:])
    assert sum(len(fp.open(tmp_path / name, read_only=True)) for name in "abc") == 200


def test_a_ring_file_that_is_none_is_named(tmp_path):
    file = tmp_path / "ring.json"
    with pytest.raises(fp.errors.NotFoundError, match=r"ring\.json"):
        ring.Ring(file)
    file.write_text("{}")
    with pytest.raises(fp.errors.DamagedError, match=r"ring\.json"):
        ring.Ring(file)


def test_queries_stay_right_while_nodes_join_and_leave(tmp_path, programs):
    values, ids = near(20_000 if os.environ.get("FPSTORE_LONG") else 5000)
    queries = [value ^ 3 for value in values[::9]]
    file = written(tmp_path / "ring.json", {"a": 1, "b": 1, "c": 1}, replicas=2)
    with ring.create(file, max_distance=3) as sharded:
        sharded.load(values, ids=ids)
        expected = rows(sharded.query(queries, 3).table)
    answers, ended = [], threading.Event()

    def ask():
        with ring.open(file) as sharded:
            while not ended.is_set():
                answers.append(rows(sharded.query(queries, 3).table) == expected)

    asking = [threading.Thread(target=ask) for _ in range(2)]
    for thread in asking:
        thread.start()
    rings = [{"a": 1, "b": 1, "c": 1, "d": 2}, {"b": 1, "c": 1, "d": 2}, {"b": 3, "c": 1, "d": 1, "e": 1}]
    for number, nodes in enumerate(rings):
        new = written(tmp_path / f"new-{number}.json", nodes, replicas=2)
        before = len(answers)
        command = [pathlib.Path(programs) / "fpring", "rebalance", file, new, "--quiet"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        while len(answers) < before + 3:
            assert any(thread.is_alive() for thread in asking)
    ended.set()
    for thread in asking:
        thread.join()
    assert len(answers) >= 9 and all(answers)
    # Every record is on its nodes and on no other.
    circle = ring.Ring(file)
    for node, name in enumerate(circle.nodes):
        records = pa.table(fp.open(tmp_path / name, read_only=True).records())
        owned = pa.array(circle.has(ids, node)).to_pylist()
        assert sorted(records["id"].to_pylist()) == sorted(id for id, own in zip(ids, owned, strict=True) if own)
