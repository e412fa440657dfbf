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
        chunks = pa.chunked_array([queries[:7], queries[7:]], pa.uint64())
        for once in ((query for query in queries), chunks):
            assert rows(sharded.query(once, 3).table) == expected
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


def test_records_are_changed_by_one_program_at_a_time(tmp_path):
    file = written(tmp_path / "ring.json", {"a": 1, "b": 1})
    with ring.create(file, max_distance=3) as sharded:
        with sharded.ring.lock():
            for change in (sharded.load, sharded.remove):
                with pytest.raises(fp.errors.LockedError, match=r"ring\.json\.lock.*try again later"):
                    change([7], ids=[1])
            assert sharded.query([7]).table.num_rows == 0
        # As an interrupted rebalance leaves it.
        former = tmp_path / "ring.json.former"
        shutil.copy(file, former)
        for change in (sharded.load, sharded.remove):
            with pytest.raises(fp.errors.LockedError, match=r"former.*has to be run again"):
                change([7], ids=[1])
        former.unlink()
        sharded.load([7], ids=[1])
        assert sharded.query([7]).table["id"].to_pylist() == [1]


def test_no_store_stays_if_one_cannot_be_made(tmp_path, monkeypatch):
    file = written(tmp_path / "ring.json", {"a": 1, "b": 1})
    circle = json.loads(file.read_text())
    circle["nodes"][1]["path"] = str(tmp_path / "none" / "b")
    file.write_text(json.dumps(circle))
    (tmp_path / "none").write_text("no directory")
    with pytest.raises(fp.errors.FpstoreError, match="none"):
        ring.create(file)
    assert not (tmp_path / "a").exists()
    (tmp_path / "none").unlink()
    # Another program makes a store meanwhile.
    make, mine = ring._create, tmp_path / "none" / "b"

    def made(directory, **parameters):
        if directory == mine and not mine.exists():
            make(directory, **parameters).close()
        return make(directory, **parameters)

    monkeypatch.setattr(ring, "_create", made)
    with pytest.raises(fp.errors.AlreadyExistsError, match="b"):
        ring.create(file)
    assert len(fp.open(mine, read_only=True)) == 0 and not (tmp_path / "a").exists()
    shutil.rmtree(mine)
    monkeypatch.undo()
    ring.create(file, max_distance=3).load([7], ids=[1])
    assert len(fp.open(tmp_path / "a", read_only=True)) + len(fp.open(tmp_path / "none" / "b", read_only=True)) == 1


def test_columns_that_are_no_records_are_refused(tmp_path):
    file = written(tmp_path / "ring.json", {"a": 1, "b": 1})
    with pytest.raises(fp.errors.InvalidInputError, match="ids='none'"):
        ring.create(file, ids="none")
    with ring.create(file, max_distance=3) as sharded:
        for fingerprints, ids in [([7, 6], [1]), ([7], [-1]), ([-7], [1]), ([7, None], [None, 1]), ([7, "6"], [1, 2])]:
            with pytest.raises(fp.FpstoreError):
                sharded.load(fingerprints, ids=ids)
        assert sharded.query([7, 6], 3).table.num_rows == 0


def test_all_nodes_search_within_the_same_distance(tmp_path):
    file = written(tmp_path / "ring.json", {"a": 1, "b": 1})
    for name, distance in (("a", 1), ("b", 6)):
        fp.create(tmp_path / name, max_distance=distance).close()
    with ring.open(file) as sharded:
        sharded.load([7] * 40, ids=range(40))
        assert sharded.query([0]).table.num_rows in (0, 40)
        assert sharded.query([0], 3).table.num_rows == 40


def test_readers_ask_different_nodes(tmp_path):
    circle = ring.Ring(written(tmp_path / "ring.json", {name: 1 for name in "abcdef"}, replicas=3, virtual=1))
    asked = {tuple(circle.cover([True] * 6, begin)[0]) for begin in range(6)}
    assert len(asked) > 1 and all(circle.cover(list(some)) == (list(some), 0.0) for some in asked)


def test_a_store_that_is_made_again_is_opened_again(tmp_path):
    file = written(tmp_path / "ring.json", {"a": 1})
    with ring.create(file, max_distance=3) as sharded:
        sharded.load([7], ids=[1])
        assert sharded.query([7]).table.num_rows == 1
        shutil.rmtree(tmp_path / "a")
        fp.create(tmp_path / "a", max_distance=3).close()
        assert sharded.query([7]).table.num_rows == 0
        sharded.load([6], ids=[2])
        assert sharded.query([7]).table["id"].to_pylist() == [2]


def test_many_threads_use_one_store_while_its_ring_changes(tmp_path):
    values, ids = near(300)
    rings = [written(tmp_path / name, nodes) for name, nodes in
             (("small", {"a": 1, "b": 1}), ("large", {"a": 1, "b": 1, "c": 1, "d": 1}))]
    file = tmp_path / "ring.json"
    for source in rings:
        shutil.copy(source, file)
        for directory in ring.Ring(file).directories:
            shutil.rmtree(directory, ignore_errors=True)
    # All nodes have all records, so every ring gives the same answer.
    for name in "abcd":
        with fp.create(tmp_path / name, max_distance=3) as store:
            store.load(values, ids=ids)
    failures, ended = [], threading.Event()

    def ask(sharded, expected):
        while not ended.is_set():
            try:
                if rows(sharded.query(values[:20], 3).table) != expected:
                    failures.append("another answer")
            except fp.errors.IoError as error:
                # The ring is replaced all the time.
                if "replaced" not in str(error):
                    failures.append(error)
            except Exception as error:
                failures.append(error)

    with ring.open(file) as sharded:
        expected = rows(sharded.query(values[:20], 3).table)
        asking = [threading.Thread(target=ask, args=(sharded, expected)) for _ in range(3)]
        for thread in asking:
            thread.start()
        for number in range(60):
            shutil.copy(rings[number % 2], tmp_path / "next")
            os.replace(tmp_path / "next", file)
            ended.wait(0.02)
        ended.set()
        for thread in asking:
            thread.join()
    assert not failures


def test_queries_and_loads_stay_right_while_nodes_join_and_leave(tmp_path, programs):
    values, ids = near(20_000 if os.environ.get("FPSTORE_LONG") else 5000)
    queries = [value ^ 3 for value in values[::9]]
    file = written(tmp_path / "ring.json", {"a": 1, "b": 1, "c": 1}, replicas=2)
    with ring.create(file, max_distance=3) as sharded:
        sharded.load(values, ids=ids)
        expected = rows(sharded.query(queries, 3).table)
    answers, failures, ended = [], [], threading.Event()
    # Far from all others.
    added = [(2**64 - 1 - number, 10**6 + number) for number in range(2000)]
    loaded = []

    def guarded(work):
        try:
            with ring.open(file) as sharded:
                while not ended.is_set():
                    work(sharded)
        except Exception as error:
            failures.append(error)

    def ask(sharded):
        answers.append(rows(sharded.query(queries, 3).table) == expected)

    def load(sharded):
        some = added[len(loaded) : len(loaded) + 10]
        # Until both are done, also after the end: a rebalance may come between them.
        while True:
            try:
                sharded.load([value for value, _ in some], ids=[id for _, id in some])
                # Some of them are removed again.
                sharded.remove([some[0][0]], ids=[some[0][1]])
            except fp.errors.LockedError:
                ended.wait(0.05)
            else:
                break
        loaded.extend(some)
        # The rebalance has to get its turn.
        ended.wait(0.05)

    working = [threading.Thread(target=guarded, args=(work,)) for work in (ask, ask, load)]
    for thread in working:
        thread.start()
    rings = [{"a": 1, "b": 1, "c": 1, "d": 2}, {"b": 1, "c": 1, "d": 2}, {"b": 3, "c": 1, "d": 1, "e": 1}]
    for number, nodes in enumerate(rings):
        new = written(tmp_path / f"new-{number}.json", nodes, replicas=2)
        before = len(answers)
        command = [pathlib.Path(programs) / "fpring", "rebalance", file, new, "--quiet"]
        for _ in range(200):
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            # A load has the ring.
            if "try again later" not in done.stderr:
                break
            ended.wait(0.05)
        assert done.returncode == 0, done.stderr
        while len(answers) < before + 3 and not failures:
            ended.wait(0.01)
    ended.set()
    for thread in working:
        thread.join()
    assert not failures and len(answers) >= 9 and all(answers) and loaded
    # Every record is on its nodes and on no other.
    removed = {id for _, id in loaded[::10]}
    all_ids = ids + [id for _, id in loaded if id not in removed]
    circle = ring.Ring(file)
    for node, name in enumerate(circle.nodes):
        records = pa.table(fp.open(tmp_path / name, read_only=True).records())
        owned = pa.array(circle.has(all_ids, node)).to_pylist()
        assert sorted(records["id"].to_pylist()) == sorted(id for id, own in zip(all_ids, owned, strict=True) if own)
