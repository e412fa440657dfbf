"""Errors say what is wrong, where, and what to do."""

import os
import shutil

import pytest

import fpstore as fp
from fpstore import errors


def test_the_tree_mirrors_python(path):
    with pytest.raises(FileNotFoundError) as raised:
        fp.open(path)
    assert isinstance(raised.value, errors.NotFoundError) and os.fspath(raised.value.path) == os.fspath(path)
    fp.create(path).close()
    with pytest.raises(FileExistsError):
        fp.create(path)
    assert all(issubclass(one, fp.FpstoreError) for one in vars(errors).values() if isinstance(one, type))


def test_damage_names_file_and_offset(path):
    with fp.create(path) as store:
        store.load(range(0, 1 << 40, 1 << 26), ids=range(1 << 14))
    segment = max(path.glob("*.segment"), key=lambda file: file.stat().st_size)
    data = bytearray(segment.read_bytes())
    data[len(data) // 3] ^= 1
    segment.write_bytes(data)
    found = fp.verify(path)["damages"]
    assert found and found[0]["path"].name == segment.name and found[0]["offset"] is not None
    store = fp.open(path, read_mode="pread", filters="off")
    with pytest.raises(errors.DamagedError) as raised:
        store.records().read_all()
    assert raised.value.path.name == segment.name and raised.value.offset is not None
    assert "verify" in str(raised.value)
    store.close()
    plan = fp.repair(path)
    assert not plan["sound"] and not plan["done"]
    assert fp.repair(path, yes=True)["done"] and fp.verify(path)["damages"] == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"width": 65}, "65 bits"),
        ({"ids": "uuid"}, "kind of ids"),
        ({"plan": "tables-0"}, "tables-0"),
        ({"kind": "vectors"}, "fingerprints or keys"),
        ({"filters": "sometimes"}, "filters"),
        ({"memory": "lots"}, "memory|number of bytes"),
        ({"threads": 0}, "threads=0"),
        ({"threads": 100_000}, "1 to 1024"),
        ({"max_distance": 99}, "distance"),
    ],
)
def test_arguments_of_create(path, arguments, message):
    with pytest.raises(errors.InvalidInputError, match=message):
        fp.create(path, **arguments)
    assert not path.exists()


def test_columns(path):
    store = fp.create(path, ids="text", hasher="simhash/native/9")
    for records, ids, message in [
        ([1, 2], ["a"], "fewer ids than records"),
        ([1], ["a", "b"], "fewer records than ids"),
        ([1.5], ["a"], "expected one fingerprint"),
        ([1], [7], "ids"),
        ([1], [None], "null"),
        ([b"1234"], ["a"], "bits|bytes"),
        (["x"], ["a"], "x"),
        ([-1], ["a"], "-1"),
        ([1], ["tab\tin it"], "character"),
        (fp.simhash(["a text of words"]), ["a"], "made by"),
    ]:
        with pytest.raises(errors.InvalidInputError, match=message):
            store.load(records, ids=ids)
        assert len(store) == 0
    with pytest.raises(TypeError):
        store.load(7)
    with pytest.raises(errors.InvalidInputError, match="expected one fingerprint"):
        store.get([1, 2])
    with pytest.raises(errors.InvalidInputError, match="k is 65"):
        store.query([1], 65)
    with pytest.raises(errors.UnsupportedError, match="id index"):
        store.get_id("a")
    assert store.load([1, None], ids=["a", "b"]) == {"records": 2, "added": 1, "removed": 0, "nulls": 1}


def test_a_failing_input_changes_nothing(path):
    store = fp.create(path)

    class Stream:
        """Fails in the middle."""

        def __iter__(self):
            yield 1
            raise RuntimeError("the source is gone")

    with pytest.raises(RuntimeError, match="the source is gone"):
        store.load(Stream())
    assert len(store) == 0 and store.verify()["damages"] == []


def test_a_torn_log_is_told(path, caplog):
    store = fp.create(path)
    store.insert(7, 1)
    store.insert(6, 2)
    crashed = path.with_name("crashed")
    shutil.copytree(path, crashed)
    store.close()
    (log,) = crashed.glob("*.wal")
    # The last frame is cut short.
    log.write_bytes(log.read_bytes().rstrip(b"\0")[:-3])
    assert len(fp.open(crashed)) == 1
    assert "cut short by a crash" in caplog.text and log.name in caplog.text


def test_stats_in_a_notebook(path):
    store = fp.create(path)
    store.load([1, 2, 3], ids=[1, 2, 3])
    assert "<td>records</td><td style='text-align:right'>3</td>" in store.stats()._repr_html_()
