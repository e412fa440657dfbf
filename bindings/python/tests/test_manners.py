"""Arguments are refused by name, exceptions say where, events are logged, values are copied."""

import copy
import logging
import pathlib
import pickle
import threading
import time

import pytest

import fpstore as fp
from fpstore import errors


@pytest.fixture
def store(path):
    return fp.create(path, ids="text", id_index=True)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda store: store.query(7, "3"), TypeError, "k='3': expected a whole number .*4294967295, not a str"),
        (lambda store: store.query(7, -1), errors.InvalidInputError, "k=-1: expected a whole number from 0 to 42949"),
        (lambda store: store.nearest(7, 2**80), errors.InvalidInputError, "count=1208925819614629174706176"),
        (lambda store: store.pairs(memory=[1]), TypeError, r"memory=\[1\]: expected a number of bytes .*, or a text"),
        (lambda store: store.pairs(memory=-1), errors.InvalidInputError, "memory=-1: expected a number of bytes"),
        (lambda store: store.pairs(tmp_dir=7), TypeError, "tmp_dir=7: expected a str or os.PathLike, not an int"),
        (lambda store: store.clusters(linkage=None), TypeError, "linkage=None: expected a str, not a NoneType"),
        (lambda store: store.keep(evidence="no"), TypeError, "evidence='no': expected True or False"),
        (lambda store: store.keep(keep=7), TypeError, "keep=7: expected an Arrow array or stream"),
        (lambda store: store.join(7), TypeError, "other=7: expected a Store or a Snapshot, not an int"),
        (lambda store: store.insert(7, 1.5), TypeError, "id=1.5: expected a whole number from 0 to 1844"),
        (lambda store: store.insert(7, -1), errors.InvalidInputError, "id=-1: expected a whole number from 0 to 1844"),
        (lambda store: store.insert(7, "a", durability=1), TypeError, "durability=1: expected a str, not an int"),
        (lambda store: store.remove_id(None), TypeError, "id=None: expected"),
        (lambda store: store.load(7), TypeError, "records=7: expected an Arrow array or stream, a buffer or a seq"),
        (lambda store: store.load([1], ids="a"), TypeError, "ids='a': expected a column, not a str"),
        (lambda store: store.load([1], ids=["a"], id_column=1), TypeError, "id_column=1: expected a str"),
        (lambda store: store.get(1.5), errors.InvalidInputError, "expected one fingerprint.*, not 1.5"),
        (lambda store: store.backup(7), TypeError, "path=7: expected a str or os.PathLike"),
        (lambda store: fp.open(7), TypeError, "path=7"),
        (lambda store: fp.create(store.path, width="64"), TypeError, "width='64': expected a whole number"),
        (lambda store: fp.create(store.path, hasher=1), TypeError, "hasher=1: expected a str"),
        (lambda store: fp.compare("a", 1), TypeError, "b=1: expected a str"),
        (lambda store: fp.simhash("a"), TypeError, "texts='a': expected a column"),
        (lambda store: fp.health([1], width=None or "x"), TypeError, "width='x'"),
        (lambda store: fp.verify(None), TypeError, "path=None"),
        (lambda store: store.insert(7, "\ud800"), errors.InvalidInputError, r"id='\\ud800': expected a str without"),
        (lambda store: store.load([7], ids=["\ud800"]), errors.InvalidInputError, r"'\\ud800': expected a str without"),
        (lambda store: store.insert_if_new(7, "a", ids=["b"]), errors.InvalidInputError, "give one of them"),
        (lambda store: store.nearest(1, 1, k=99), errors.InvalidInputError, "k is 99, and fingerprints have 64 bits"),
        (lambda store: store.snapshot().nearest(1, 1, k=99), errors.InvalidInputError, "k is 99, and fingerprints"),
        (lambda store: fp.dedup({"text": ["a"]}, k=9), errors.InvalidInputError, "k goes with method='simhash'"),
        (lambda store: fp.lucene_min_hash(["a"], preset="native"), errors.InvalidInputError, "preset='native': it is"),
        (lambda store: fp.bands(["a"], rows=2), errors.InvalidInputError, "arguments were not provided: bands$"),
        (lambda store: fp.simhash(["a"], width="x"), errors.InvalidInputError, "invalid value 'x' for 'width': "),
        (lambda store: fp.simhash(["a"], stop_words=["a"]), TypeError, r"stop_words=\['a'\]: expected a str, a number"),
        (lambda store: fp.health(["a"]), errors.InvalidInputError, "expected fingerprints, not a column of Utf8"),
        (lambda store: fp.open(""), errors.InvalidInputError, "the path is empty"),
        (lambda store: fp.Table({"a": [1]})["b"], errors.InvalidInputError, "has no column \"b\"; it has a$"),
        (lambda store: store.records().read_all()["b"], errors.InvalidInputError, "no column \"b\"; it has finger"),
    ],
)
def test_arguments_are_refused_by_name(store, call, kind, message):
    with pytest.raises(kind, match=message) as raised:
        call(store)
    assert type(raised.value) is kind


def test_what_an_argument_raises_is_raised():
    """Such as Ctrl-C while a path is made."""

    class Path:
        def __fspath__(self):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fp.open(Path())
    with pytest.raises(KeyboardInterrupt):
        fp.create("store", tmp_dir=Path())


def test_arguments_of_a_key_index_are_refused_by_name(path):
    index = fp.create(path, kind="keys")
    for call, kind, message in [
        (lambda: index.query([1], min_shared="2"), TypeError, "min_shared='2'"),
        (lambda: index.query([1], 7), TypeError, "sketches=7: expected bytes"),
        (lambda: index.query([1], min_jaccard="x"), TypeError, "min_jaccard='x': expected a number"),
        (lambda: index.pairs(max_key_frequency=-1), errors.InvalidInputError, "max_key_frequency=-1"),
        (lambda: index.join(fp.create(path.with_name("other"))), TypeError, "expected a KeyIndex or a KeySnapshot"),
    ]:
        with pytest.raises(kind, match=message):
            call()


@pytest.mark.parametrize("given", [{"width": 64}, {"max_distance": 3}, {"plan": "auto"}])
def test_what_a_key_index_does_not_have(path, given):
    with pytest.raises(errors.InvalidInputError, match=f"{next(iter(given))}: a store of kind=\"keys\" has none"):
        fp.create(path, kind="keys", **given)
    assert not path.exists()


@pytest.mark.parametrize("given", [{"key_bits": 64}, {"sketch": 0}, {"sample_bits": 1}])
def test_what_a_store_of_fingerprints_does_not_have(path, given):
    with pytest.raises(errors.InvalidInputError, match=f"{next(iter(given))}: a store of kind=\"fingerprints\" has"):
        fp.create(path, **given)
    assert not path.exists()


class Pieces:
    """An Arrow stream of these batches."""

    def __init__(self, *tables):
        pa = pytest.importorskip("pyarrow")
        tables = [pa.table(table).to_batches()[0] for table in tables]
        self.reader = pa.RecordBatchReader.from_batches(tables[0].schema, tables)

    def __arrow_c_stream__(self, requested_schema=None):
        return self.reader.__arrow_c_stream__()


def raised_by(call):
    with pytest.raises(errors.InvalidInputError) as raised:
        call()
    error = raised.value
    assert error.offset is None
    return error.row, str(error)


def test_rows_are_those_of_the_whole_input(store, other):
    good = {"fingerprint": [1, 2, 3], "id": ["a", "b", "c"]}
    bad = {"fingerprint": [4, 5], "id": ["d", None]}
    assert raised_by(lambda: store.load(Pieces(good, good, bad))) == (7, "row 7: the id is null")
    tab = {"fingerprint": [4, 5], "id": ["d", "a\tb"]}
    row, text = raised_by(lambda: store.load(Pieces(good, tab)))
    assert row == 4 and text.startswith("row 4: ") and len(store) == 0
    row, text = raised_by(lambda: store.remove_ids(Pieces({"x": ["a"]}, {"x": ["", "a"]}).reader.read_all()["x"]))
    assert row == 1
    index = fp.create(other, kind="keys")
    lists = {"keys": [[1], [2]], "id": [1, 2]}
    assert raised_by(lambda: index.load(Pieces(lists, {"keys": [[1], [2, None]], "id": [3, 4]})))[0] == 3
    assert raised_by(lambda: index.load(Pieces(lists, {"keys": [[1], [2]], "id": [3, -4]})))[0] == 3
    tokens = Pieces({"t": [["a"], ["b"]]}, {"t": [["a"], ["b", None]]}).reader.read_all()["t"]
    assert raised_by(lambda: fp.simhash(tokens)) == (3, "row 3: a token is null")


def test_rows_of_values_of_python(store):
    assert raised_by(lambda: store.load([1, 2, "x"], ids=["a", "b", "c"]))[0] == 2
    assert raised_by(lambda: store.load([1, 2], ids=["a", 7])) == (1, "row 1: ids: expected a str, not 7")
    assert raised_by(lambda: store.load([1, None, 2.5], ids=["a", "b", "c"]))[0] == 2
    assert raised_by(lambda: fp.bands([["a"], ["b", 7]], bands=2, rows=2))[0] == 1
    assert raised_by(lambda: store.insert([5, 6], ["a", None]))[0] == 1
    assert raised_by(lambda: store.insert_if_new([5, 2**40], ["a", "b\tc"]))[0] == 1
    assert raised_by(lambda: store.query(7, 65))[0] is None


def test_exceptions_are_pickled_with_their_places():
    error = errors.DamagedError("text", "file", 3, 4)
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.path, again.offset, again.row) == ("text", "file", 3, 4)


def copies(thing):
    yield pickle.loads(pickle.dumps(thing))
    yield copy.copy(thing)
    yield copy.deepcopy(thing)


def test_values_are_pickled_and_copied(path, other):
    wide = fp.create(path, width=128, ids="none")
    wide.insert([2**100, 2**100, 7])
    text = fp.create(other, ids="text")
    text.insert(7, "a")
    matches = wide.query(2**100, 0) + text.query(6, 3)
    assert matches[0].id == 2
    for again in copies(matches):
        assert again == matches and [tuple(one) for one in again] == [tuple(one) for one in matches]
        assert [repr(one) for one in again] == [repr(one) for one in matches] and hash(again[0]) == hash(matches[0])
    index = fp.create(path.with_name("keys"), kind="keys", ids="text")
    index.load([[1 << 60]], ids=["x"])
    found = index.query([1 << 60])
    array = fp.simhash(["a b c", None, "d e f"])[1:]
    batch = fp.bands(["a b c", "d e f"], bands=2, rows=2, sketch="full")
    table = fp.Table({"a": [1, None], "b": [["x"], ["y", "z"]]})
    for again in copies((found, array, batch, table, array[:0])):
        assert again[0] == found
        assert again[1].to_pylist() == array.to_pylist() and again[1].hasher == array.hasher
        assert again[2].to_pylist() == batch.to_pylist()
        assert (again[2].hasher, again[2].sample_bits) == (batch.hasher, batch.sample_bits)
        assert again[3].to_pylist() == table.to_pylist()
        assert len(again[4]) == 0 and again[4].type == "uint64"


def test_a_store_is_pickled_with_its_options(path, tmp_path):
    fp.create(path).close()
    options = {"read_mode": "pread", "page_cache": "8MiB", "filters": "off", "filter_memory": "1MiB",
               "tmp_dir": tmp_path, "threads": 2}
    reader = fp.open(path, read_only=True, **options)
    again = pickle.loads(pickle.dumps(reader))
    assert again.__reduce__()[1] == reader.__reduce__()[1] == (path, options)


def test_the_version():
    manifest = (pathlib.Path(__file__).parents[3] / "Cargo.toml").read_text()
    assert f'\nversion = "{fp.__version__}"\n' in manifest


def test_events_are_logged(path, other, caplog):
    caplog.set_level(logging.DEBUG, "fpstore")

    def logged(call):
        caplog.clear()
        call()
        return [(record.levelname, record.message) for record in caplog.records if record.name == "fpstore"]

    store = fp.create(path)
    assert logged(lambda: store.load([1, 2], ids=[1, 2])) == [
        ("INFO", f"{path}: 2 records were read, 2 added, 0 removed")
    ]
    ((level, text),) = logged(store.verify)
    assert level == "INFO" and text.endswith(" 0 damages")
    assert logged(lambda: store.backup(other)) == [("INFO", f"{path}: backed up to {other}, 2 records")]
    assert logged(store.compact)[0][0] == "INFO"
    assert logged(lambda: fp.open(other, read_only=True)) == [("DEBUG", f"{other}: opened read-only")]
    manifest = other / "MANIFEST"
    manifest.write_bytes(manifest.read_bytes()[:-1])
    ((level, text),) = logged(lambda: fp.verify(other))
    assert level == "ERROR" and str(other) in text
    assert logged(lambda: fp.repair(other)) == [("INFO", f"{other}: a repair was planned")]


def test_everything_shows_itself(path, other):
    store = fp.create(path, max_distance=2)
    index = fp.create(other, kind="keys", ids="text")
    assert repr(store.snapshot()) == f"<fpstore.Snapshot {path}: 64 bits, max_distance=2, ids=u64>"
    assert repr(index) == f"<fpstore.KeyIndex {other}: keys of 48 bits, ids=text>"
    assert repr(index.snapshot()) == f"<fpstore.KeySnapshot {other}: keys of 48 bits, ids=text>"
    assert repr(store.writer("buffered")) == f"<fpstore.Writer {path}: durability=buffered>"
    reader = fp.open(path, read_only=True)
    assert repr(reader).endswith(", ids=u64, read-only>")
    reader.close()
    assert repr(reader) == f"<fpstore.Store {path} (closed)>"


def test_other_threads_run_while_ids_are_read(path):
    """The column of `keep` and a table of answers are read without the lock of the interpreter."""
    store = fp.create(path)
    store.load((number * 0x9E3779B97F4A7C15 % 2**64 for number in range(200_000)), ids=range(200_000))
    ids = store.records().read_all()["id"]
    counted, ended = [0], threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before, begun = counted[0], time.monotonic()
    for _ in range(20):
        assert len(fp.Table(store.records())) == 200_000
        store.keep(1, keep=ids).close()
    seconds = time.monotonic() - begun
    ended.set()
    thread.join()
    assert counted[0] - before > seconds * 50
