"""Columns from and to other packages. Each test is skipped where its package is missing."""

import array
import subprocess
import sys
import textwrap

import pytest

import fpstore as fp

FINGERPRINTS = [0, 7, 15, 0xF0F0 << 48]
IDS = ["a", "b", "c", "d"]


@pytest.fixture
def store(path):
    return fp.create(path, ids="text")


def check(store):
    assert store.records().to_pydict() == {"fingerprint": FINGERPRINTS, "id": IDS}


def test_sequences_and_buffers(store, path, other):
    store.load(array.array("Q", FINGERPRINTS), ids=(id for id in IDS))
    check(store)
    wide = fp.create(other, width=128)
    rows = memoryview(bytes(range(32))).cast("B", (2, 16))
    assert wide.load(rows, ids=memoryview(array.array("q", [1, 2])))["added"] == 2
    assert wide.load([2**100, "ff" * 16, bytes(16), None], ids=[3, 4, 5, 6])["nulls"] == 1
    assert wide.get(2**100) == [3] and wide.get(bytearray(16)) == [5]
    with pytest.raises(TypeError, match="buffer of format"):
        store.load(bytearray(8), ids=["e"])
    assert wide.get(bytes(range(16))) == [1] and wide.get(bytes(range(16, 32)).hex()) == [2]


def test_ranges(store, other):
    """A range is read a piece at a time, with the same answers as its list."""
    numbers = fp.create(other)
    assert numbers.load(range(3, 1_000_003, 2), ids=range(500_000))["added"] == 500_000
    assert numbers.get(5) == [1] and numbers.get(1_000_001) == [499_999] and len(numbers) == 500_000
    assert numbers.load(range(0), ids=range(0))["records"] == 0
    assert numbers.contains_near(range(9, 2, -3), 0).to_pylist() == [True, False, True]
    with pytest.raises(fp.errors.InvalidInputError, match="fewer ids than records"):
        numbers.load(range(7), ids=range(6))
    with pytest.raises(fp.errors.InvalidInputError, match="-1"):
        numbers.load(range(-1, 2), ids=range(3))


def test_numpy(store, other):
    numpy = pytest.importorskip("numpy")
    fingerprints = numpy.array(FINGERPRINTS, dtype="u8")
    store.load(fingerprints, ids=IDS)
    check(store)
    assert store.query(fingerprints[1], 0)[0].id == "b"
    assert store.contains_near(fingerprints[::2], 0).to_pylist() == [True, True]
    assert numpy.asarray(store.query(fingerprints, 0).read_all()["fingerprint"]).tolist() == FINGERPRINTS
    many = numpy.arange(1_000_000, dtype="u8") << 40
    assert store.contains_near(many[:5000].view("i8"), 0).to_pylist()[0]
    rows = numpy.frombuffer(numpy.random.default_rng(1).bytes(64_000), dtype="u1").reshape(2000, 32)
    wide = fp.create(other, width=256)
    wide.load(rows, ids=numpy.arange(2000))
    found = wide.query(rows, 0).read_all()
    assert (numpy.asarray(found["fingerprint"]) == rows).all()
    assert numpy.asarray(found["id"], dtype="i4").tolist() == list(range(2000))
    assert store.load(fingerprints.astype(">u8"), ids=numpy.array(IDS))["added"] == 0
    assert store.load(fingerprints[::-1], ids=IDS[::-1])["added"] == 0
    with pytest.raises(fp.errors.InvalidInputError, match="expected one fingerprint"):
        store.load(numpy.zeros(3, dtype="f4"), ids=IDS[:3])
    with pytest.raises(TypeError, match="buffer of format"):
        store.load(numpy.zeros((3, 5), dtype="u1"), ids=IDS[:3])


def test_pyarrow(store, other):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"fp": pa.chunked_array([FINGERPRINTS[:1], FINGERPRINTS[1:]], type=pa.uint64()), "name": IDS})
    reader = pa.RecordBatchReader.from_batches(table.schema, iter(table.to_batches(max_chunksize=1)))
    assert store.load(reader, fingerprint_column="fp", id_column="name")["added"] == 4
    check(store)
    for ids in (pa.array(IDS, pa.large_string()), pa.array(IDS, pa.string_view()), table["name"]):
        assert store.load(table["fp"], ids=ids)["added"] == 0
    pairs = pa.table(store.pairs(3))
    assert pairs.schema.names == ["id_a", "id_b", "distance", "fp_a", "fp_b"] and pairs.num_rows == 2
    batch = pa.record_batch(next(store.pairs(3)))
    assert batch.equals(pairs.combine_chunks().to_batches()[0])
    assert pa.array(fp.simhash(["a b c"])).type == pa.uint64()
    assert pa.schema(store.pairs(3)).names == pairs.schema.names
    wide = fp.create(other, width=128)
    rows = [bytes([n] * 16) for n in range(9)]
    for number, kind in enumerate((pa.binary(16), pa.binary(), pa.large_binary(), pa.binary_view())):
        added = wide.load(pa.array(rows, kind), ids=pa.array(range(9), pa.int32()))["added"]
        assert added == (0 if number else 9)
    assert wide.records().read_all()["fingerprint"].to_pylist() == rows
    with pytest.raises(fp.errors.InvalidInputError, match="no column"):
        store.load(table)
    with pytest.raises(fp.errors.InvalidInputError, match="negative"):
        wide.load(pa.array(rows), ids=pa.array(range(-9, 0)))


def test_answers_are_read_once(path):
    store = fp.create(path)
    store.load([7, 6], ids=[1, 2])
    readings = [lambda answers: answers.read_all(), lambda answers: answers.to_pydict()]
    readings += [lambda answers: answers.to_pylist(), lambda answers: answers.__arrow_c_stream__()]
    for first in (list, fp.Answers.read_all):
        for again in readings:
            answers = store.pairs(1)
            assert len(first(answers)) == 1
            with pytest.raises(fp.errors.InvalidInputError, match="read or closed already"):
                again(answers)
            assert list(answers) == []


def test_polars(store):
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame({"fingerprint": pl.Series(FINGERPRINTS, dtype=pl.UInt64), "id": IDS})
    store.load(frame)
    check(store)
    assert pl.DataFrame(store.query(frame["fingerprint"], 3)).columns == ["query_row", "fingerprint", "distance", "id"]
    assert pl.Series(fp.simhash(pl.Series(["a b", None]))).null_count() == 1
    assert pl.DataFrame(store.keep(3, evidence=True)).to_dicts() == [
        {"id": "b", "keeper": "a", "cluster": "a", "distance": 3}
    ]
    pages = pl.DataFrame({"url": IDS, "text": ["a b c d e f", "a b c d e f", None, "x y z u v w"]})
    kept, evidence = fp.dedup(pages, id="url", threshold=0.7)
    assert pl.DataFrame(kept)["url"].to_list() == ["a", "c", "d"]
    assert pl.DataFrame(evidence)["id"].to_list() == ["b"]


def test_pandas(store):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    store.load(pd.Series(FINGERPRINTS, dtype="uint64"), ids=pd.Series(IDS))
    check(store)
    frame = pd.DataFrame({"text": ["one two three", "one two three"]})
    kept, _ = fp.dedup(frame, method="simhash")
    assert len(kept) == 1


WITHOUT_PYARROW = """
    import sys

    class Hidden:
        def find_spec(self, name, path=None, target=None):
            if name.partition(".")[0] == "pyarrow":
                raise ModuleNotFoundError("pyarrow is hidden", name=name)

    sys.meta_path.insert(0, Hidden())
    import numpy as np
    import pandas as pd
    import fpstore as fp
    path = sys.argv[1]

    texts = ["one two three", None, "four five six"]
    expected = fp.simhash(texts).to_pylist()
    for column in (pd.Series(texts), pd.Series(texts, dtype=object), pd.Series(texts, dtype="string"), pd.Index(texts)):
        assert fp.simhash(column).to_pylist() == expected
    for missing in (float("nan"), pd.NA):
        assert fp.simhash(pd.Series([texts[0], missing, texts[2]], dtype=object)).to_pylist() == expected

    store = fp.create(path + "/numbers")
    numbers = pd.Series([1, 2, 2**63], dtype="uint64")
    assert store.load(numbers, ids=pd.RangeIndex(3))["added"] == 3
    assert store.load(numbers.to_numpy(), ids=numbers.index)["added"] == 0
    assert store.load(pd.Series([7, None], dtype="UInt64"), ids=pd.Series([4, 5]))["nulls"] == 1
    assert store.load(pd.DataFrame({"fingerprint": numbers, "id": [10, 11, 12]}))["added"] == 3
    assert store.query(numbers[1:], 0).to_pydict()["id"] == [1, 11, 2, 12]
    assert store.contains_near(numbers, 0).to_pylist() == [True] * 3

    frame = pd.DataFrame({"url": list("abcd"), "text": ["a b c d e f g"] * 2 + ["h i j k l m n", None],
                          "n": np.arange(4, dtype="i4"), "score": [0.5, None, 1, 2], "ok": [True, False, True, True]})
    kept, evidence = fp.dedup(frame, id="url", threshold=0.7)
    assert kept.to_pydict() == {"url": ["a", "c", "d"], "text": ["a b c d e f g", "h i j k l m n", None],
                                "n": [0, 2, 3], "score": [0.5, 1.0, 2.0], "ok": [True, True, True]}
    assert evidence.to_pydict()["id"] == ["b"]
    assert fp.Table(frame[:0]).column_names == list(frame)
    assert pd.DataFrame(kept.to_pydict())["url"].tolist() == ["a", "c", "d"]
    print("ended")
"""


def test_pandas_without_pyarrow(tmp_path):
    pytest.importorskip("pandas")
    command = [sys.executable, "-c", textwrap.dedent(WITHOUT_PYARROW), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert done.stdout.strip() == "ended", done.stderr


def test_arro3(store, other):
    a3 = pytest.importorskip("arro3.core")
    u64, text = a3.DataType.uint64(), a3.DataType.string()
    fingerprints, ids = a3.Array(FINGERPRINTS, u64), a3.Array(IDS, text)
    assert store.load(fingerprints, ids=ids)["added"] == 4
    check(store)
    columns = {"fingerprint": fingerprints, "id": ids}
    batch = a3.RecordBatch.from_pydict(columns)
    reader = a3.RecordBatchReader.from_batches(batch.schema, [batch.slice(0, 1), batch.slice(1)])
    for table in (batch, a3.Table.from_pydict(columns), reader):
        assert store.load(table)["records"] == 4
    chunks = a3.ChunkedArray([fingerprints.slice(0, 1), fingerprints.slice(1)])
    assert store.load(chunks, ids=ids)["records"] == 4
    check(store)
    pairs = a3.Table.from_arrow(store.pairs(3))
    assert pairs.column_names == ["id_a", "id_b", "distance", "fp_a", "fp_b"] and pairs.num_rows == 2
    assert a3.RecordBatch.from_arrow(next(store.pairs(3))).num_rows == 2
    assert a3.Schema.from_arrow(store.pairs(3)).names == pairs.column_names
    assert sum(batch.num_rows for batch in a3.RecordBatchReader.from_stream(store.query(fingerprints, 3))) == 8
    hashes = a3.Array.from_arrow(fp.simhash(a3.Array(["a b", None], text)))
    assert hashes.type == u64 and hashes.null_count == 1
    assert a3.Table.from_arrow(fp.Table(columns)).num_rows == 4
    wide = fp.create(other, width=128)
    rows = a3.Array([bytes([n] * 16) for n in range(9)], a3.DataType.binary(16))
    assert wide.load(rows, ids=a3.Array(range(9), u64))["added"] == 9
    assert a3.Table.from_arrow(wide.records())["fingerprint"].type == a3.DataType.binary(16)


def test_duckdb(store):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    store.load(duckdb.sql("select unnest([0, 7, 15, 17361376563513262080]::ubigint[]) as fingerprint, "
                          "unnest(['a', 'b', 'c', 'd']) as id"))
    check(store)
    pairs = store.pairs(3)
    assert duckdb.sql("select count(*) from pairs where distance <= 3").fetchall() == [(2,)]


def test_arrays_that_are_not_what_they_say(store):
    pa = pytest.importorskip("pyarrow")
    offsets, bad = pa.array([0, 2, 4], pa.int32()).buffers()[1], pa.py_buffer(b"ab\xff\xfe")
    texts = pa.Array.from_buffers(pa.string(), 2, [None, offsets, bad])
    for use in (lambda: fp.simhash(texts), lambda: store.insert([5, 6], texts), lambda: store.load([1, 2], ids=texts)):
        with pytest.raises(fp.errors.InvalidInputError, match="(?i)utf-?8"):
            use()
    assert len(store) == 0
    rows = pa.StructArray.from_arrays(
        [pa.array([1, 2, 3], pa.uint64())], names=["fingerprint"], mask=pa.array([False, True, False])
    )
    with pytest.raises(fp.errors.InvalidInputError, match="null as a whole"):
        store.load(rows)
    with pytest.raises(fp.errors.InvalidInputError, match="null as a whole"):
        fp.Table(rows)

    class Once:
        def __init__(self, array):
            self.capsules = array.__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    once = Once(pa.array([1], pa.uint64()))
    assert store.contains_near(once, 0).to_pylist() == [False]
    with pytest.raises(fp.errors.InvalidInputError, match="read already"):
        store.contains_near(once, 0)


def test_named_columns_have_to_be_there(path):
    store = fp.create(path)
    table = fp.Table({"fingerprint": [1, 2], "doc": [70, 80], "score": [0.5, 1.0], "rank": [-1, 2], "ok": [True, None]})
    with pytest.raises(fp.errors.InvalidInputError, match="no column \"dok\""):
        store.load(table, id_column="dok")
    assert store.load(table, id_column="doc")["added"] == 2 and store.get(1) == [70]
    assert table.to_pylist()[0] == {"fingerprint": 1, "doc": 70, "score": 0.5, "rank": -1, "ok": True}


def test_keys_of_bytes(path):
    index = fp.create(path, kind="keys")
    index.load([[b"a", b"b"], [b"b"]], ids=[1, 2])
    assert index.query([[b"b"]]).to_pydict()["id"] == [1, 2]


def categories(values):
    """The values as a column of categories of each package that is installed."""
    try:
        import pyarrow as pa

        yield pa.array(values).dictionary_encode()
        yield pa.chunked_array([pa.array(values[:1]).dictionary_encode(), pa.array(values[1:]).dictionary_encode()])
        numbers = pa.array([values.index(value) for value in values], pa.int8())
        yield pa.DictionaryArray.from_arrays(numbers, pa.array(values, pa.large_string()))
    except ImportError:
        pass
    try:
        import polars as pl

        yield pl.Series(values, dtype=pl.Categorical)
        yield pl.Series(values, dtype=pl.Enum(sorted({value for value in values if value is not None})))
    except ImportError:
        pass
    try:
        import pandas as pd

        yield pd.Series(values, dtype="category")
    except ImportError:
        pass


def test_categories_are_ids_texts_and_keys(path, other):
    pytest.importorskip("pyarrow")
    store, index = fp.create(path, ids="text"), fp.create(other, kind="keys", ids="text")
    texts = ["one two three four", "five six seven", "one two three four", "eight nine"]
    ids, hashes = list(categories(IDS)), fp.simhash(texts).to_pylist()
    assert len(ids) >= 3
    for column in ids:
        assert store.load(FINGERPRINTS, ids=column)["added"] == 4
        check(store)
        assert store.load_remove(fp.Table({"fingerprint": FINGERPRINTS, "id": column}))["removed"] == 4
        assert index.load([[1 << 60]] * 4, ids=column)["added"] == 4 and index.remove_ids(column) == 4
    store.load(FINGERPRINTS, ids=IDS)
    for column in categories(texts):
        assert fp.simhash(column).to_pylist() == hashes
        kept, evidence = fp.dedup({"text": column, "name": column}, threshold=0.7)
        assert kept.to_pydict()["name"] == [texts[0], texts[1], texts[3]] and evidence.to_pydict()["id"] == [2]
    for column in categories(["b", "a", "c", "d"]):
        assert store.keep(3, keep=column).to_pydict()["id"][0] == "b"
    import pyarrow as pa

    keys = pa.array([["a", "b"], ["b"]], pa.list_(pa.dictionary(pa.int8(), pa.string())))
    assert index.load(keys, ids=["x", "y"])["added"] == 2
    assert index.query([["a"]]).to_pydict()["id"] == ["x"]


def test_null_categories(path):
    pa = pytest.importorskip("pyarrow")
    texts = pa.array(["a b c d", None, "a b c d"]).dictionary_encode()
    assert fp.simhash(texts).null_count == 1
    with pytest.raises(fp.errors.InvalidInputError, match="row 1: the id is null"):
        fp.create(path, ids="text").load([1, 2, 3], ids=texts)


def test_columns_of_nothing_and_of_nulls():
    table = fp.Table({"a": [None, None], "b": [1, 2]})
    assert table.to_pydict() == {"a": [None, None], "b": [1, 2]} and table["a"][0] is None
    assert table.without([]).to_pydict() == table.to_pydict()
    with pytest.raises(fp.errors.InvalidInputError, match="rows: expected numbers of rows"):
        table.without([-1])


def test_numbers_of_rows_of_numpy():
    numpy = pytest.importorskip("numpy")
    table = fp.Table({"a": [1, 2, 3]})
    assert table.without(numpy.array([0])).to_pydict() == table.without(numpy.array([0], "i4")).to_pydict()
    assert table.without(numpy.array([0, 2])).to_pydict() == {"a": [2]}


def test_a_dictionary_is_a_table(path, other):
    store = fp.create(path, ids="text")
    assert store.load({"fingerprint": [1, 2], "id": ["a", "b"]})["added"] == 2
    assert store.get(2) == ["b"]
    index = fp.create(other, kind="keys")
    assert index.load({"keys": [[1 << 60], [2 << 60]], "id": [3, 4]})["added"] == 2
    with pytest.raises(fp.errors.InvalidInputError, match='the table has no column "fingerprint"'):
        store.load({"print": [3]})
