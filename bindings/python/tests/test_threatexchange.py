"""The index for py-tx answers as its own indexes do, and does what its tests and HMA ask of an index."""

import io
import multiprocessing
import os
import pickle
import random
import sys
import threading

import pytest

import fpstore as fp

pytest.importorskip("threatexchange")

import faiss  # noqa: E402
from threatexchange.cli.cli_state import CliIndexStore  # noqa: E402
from threatexchange.signal_type.index import (  # noqa: E402
    IndexMatchUntyped,
    SignalSimilarityInfoWithIntDistance,
    SignalTypeIndex,
)
from threatexchange.signal_type.pdq import PdqSignal, pdq_index, pdq_index2  # noqa: E402

from asked import answers, ask, ask_saved  # noqa: E402
from fpstore.threatexchange import PDQIndex  # noqa: E402

# Hashes of images; the first twelve are of one image and its variants.
REAL = PdqSignal.get_examples()
ZEROS, ONES = "0" * 64, "f" * 64
CORNERS = [(ZEROS, 9), ("0" * 60 + "ffff", 8), ("0f" * 32, 7), ("f0" * 32, 6), (ONES, 5)]


def hashes(count, seed):
    """Hashes with their numbers, in families."""
    rng = random.Random(seed)
    centres = [rng.getrandbits(256) for _ in range(count // 3)]
    for number in range(count):
        yield flipped(f"{rng.choice(centres):064x}", rng.randrange(40), rng), {"number": number}


def flipped(hash, bits, rng):
    one = int(hash, 16)
    for bit in rng.sample(range(256), bits):
        one ^= 1 << bit
    return f"{one:064x}"


def uniform(count, seed):
    rng = random.Random(seed)
    return [f"{rng.getrandbits(256):064x}" for _ in range(count)]


def brute(entries, query, threshold=31):
    found = (((int(hash, 16) ^ int(query, 16)).bit_count(), repr(entry)) for hash, entry in entries)
    return sorted(one for one in found if one[0] <= threshold)


def copied(index):
    """The index after it was serialized. HMA reads it by the class of all indexes."""
    file = io.BytesIO()
    index.serialize(file)
    file.seek(0)
    return SignalTypeIndex.deserialize(file)


@pytest.fixture
def saved(tmp_path):
    """Where an index was saved, and its entries."""
    entries = list(hashes(500, seed=3))
    index = PDQIndex.build(entries)
    index.save(tmp_path / "index")
    index.dispose()
    return tmp_path / "index", entries


def test_answers_are_those_of_its_own_indexes(tmp_path):
    entries = list(hashes(2000, seed=1))
    entries += [(entries[0][0], {"number": 2000})]
    faiss.omp_set_num_threads(1)
    theirs = pdq_index.PDQIndex(entries), pdq_index2.PDQIndex2(entries=entries)
    ours = PDQIndex.build(entries[:1500])
    for hash, entry in entries[1500:1510]:
        ours.add(hash, entry)
    ours.add_all(entries[1510:])
    ours.save(tmp_path / "index")
    indexes = [ours, copied(ours), PDQIndex.open(tmp_path / "index"), *theirs]
    assert [len(one) for one in indexes] == [2001, 2001, 2001, 2001, len({hash for hash, _ in entries})]
    for query, _ in entries[::37]:
        expected = brute(entries, query)
        assert all(answers(one, query) == expected for one in indexes)
        distances = [one.similarity_info.distance for one in ours.query(query)]
        assert distances == sorted(distances)


def test_matches_are_of_the_types_of_py_tx():
    entry = {"case": 1}
    index = PDQIndex.build([(REAL[0], entry)])
    (match,) = index.query(REAL[1])
    theirs = pdq_index.PDQIndex([(REAL[0], entry)]).query(REAL[1])
    assert [match] == theirs == [IndexMatchUntyped(SignalSimilarityInfoWithIntDistance(2), entry)]
    assert type(match) is type(theirs[0]) and type(match.similarity_info) is type(theirs[0].similarity_info)
    assert match.metadata is entry and match.similarity_info.pretty_str() == "2"
    assert PDQIndex[int] and isinstance(index, SignalTypeIndex)


@pytest.mark.parametrize("entries", [CORNERS, [(hash, number) for number, hash in enumerate(REAL)]])
@pytest.mark.parametrize("threshold", [0, 10, 16, 31, 50, 128])
def test_thresholds(entries, threshold):
    index = PDQIndex(entries, threshold=threshold)
    again = copied(index)
    assert again.threshold == index.threshold == threshold
    for query in [hash for hash, _ in entries] + ["a" * 64, "b" * 64, "f" * 56 + "0" * 8, *uniform(20, seed=4)]:
        assert answers(index, query) == answers(again, query) == brute(entries, query, threshold)


@pytest.mark.parametrize("threshold", [10, 31, 50])
def test_each_distance_up_to_the_threshold_is_found_and_none_beyond(threshold):
    rng = random.Random(42)
    base = uniform(100, seed=42)
    index = PDQIndex(((hash, number) for number, hash in enumerate(base)), threshold=threshold)
    for distance in (0, 1, 20, 30, 31, 60, threshold, threshold + 1):
        found = answers(index, flipped(base[0], distance, rng))
        assert found == ([(distance, "0")] if distance <= threshold else [])


def test_uniform_hashes():
    """Most queries find nothing, the first ten themselves."""
    base = uniform(100, seed=42)
    index = PDQIndex.build((hash, number) for number, hash in enumerate(base))
    for number, query in enumerate(base[:10] + uniform(1000, seed=43)):
        assert answers(index, query) == ([(0, str(number))] if number < 10 else [])


def test_empty_and_small_indexes():
    for index in (PDQIndex(), PDQIndex.build([]), PDQIndex.build(iter(())), copied(PDQIndex())):
        assert len(index) == 0 and index.query(REAL[0]) == []
        index.add_all([])
        index.add(REAL[0], 0)
        assert len(index) == 1 and answers(index, REAL[0]) == [(0, "0")] and index.query(uniform(1, seed=1)[0]) == []


def test_entries_of_one_hash_stay():
    index = PDQIndex.build([(REAL[0], 7)])
    index.add(REAL[0], 7)
    index.add_all((REAL[0], number) for number in range(3))
    assert answers(index, REAL[0]) == answers(copied(index), REAL[0]) == [(0, each) for each in "01277"]


def test_additions_are_found():
    first, second = list(hashes(13, seed=5)), [(hash, {"more": hash}) for hash in uniform(3000, seed=6)]
    index = copied(PDQIndex.build(first))
    assert index.query(first[0][0]) and not index.query(second[0][0])
    index.add(*second[0])
    index.add_all(second[1:20])
    index.add_all(second[20:])
    for hash, entry in (first[0], second[0], second[19], second[-1]):
        assert entry in [one.metadata for one in index.query(hash)]
    assert len(index) == 3013


@pytest.mark.parametrize("hash", ["", "00", "0" * 32, "0" * 63, "0" * 65, "g" * 64, "é" * 64])
def test_what_is_no_hash_is_refused_and_nothing_added(hash):
    index = PDQIndex.build([(REAL[0], 0)])
    for use in (
        lambda: index.add(hash, 1),
        lambda: index.add_all([(REAL[1], 1), (hash, 1)]),
        lambda: index.add_all([(one, 1) for one in uniform(70_000, seed=2)] + [(hash, 1)]),
        lambda: index.query(hash),
    ):
        with pytest.raises(ValueError):
            use()
    assert len(index) == 1 and answers(index, REAL[1]) == [(2, "0")]


def test_any_entries_are_serialized_and_saved(tmp_path):
    shared = {"bank": "b"}
    entries = [(hash, entry) for hash, entry in zip(REAL[-4:], [shared, ("x", None), 2**70, "text"])]
    index = PDQIndex.build(entries)
    index.save(tmp_path / "index")
    with pytest.raises(FileExistsError):
        index.save(tmp_path / "index")
    index.dispose()
    opened = PDQIndex.open(tmp_path / "index", filters="off")
    for one in (opened, copied(opened)):
        for hash, entry in entries:
            assert [match.metadata for match in one.query(hash)] == [entry]
    with pytest.raises(fp.errors.ReadOnlyError):
        opened.add(REAL[0], 0)
    assert len(opened) == len(entries) and opened.query(REAL[0]) == []
    again = copied(opened)
    again.add(REAL[0], 0)
    assert len(again) == len(entries) + 1


@pytest.mark.parametrize("protocol", range(3, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_are_small_and_of_later_protocols(protocol):
    index = PDQIndex.build((hash, number) for number, hash in enumerate(uniform(20_000, seed=8)))
    content = pickle.dumps(index, protocol=protocol)
    again = pickle.loads(content)
    query = uniform(20_000, seed=8)[-1]
    assert answers(again, query) == [(0, "19999")] and len(again) == 20_000
    # A hash is 32 bytes, and 64 as the digits that py-tx keeps of each beside its index.
    assert len(content) < 20_000 * 80


def test_the_files_of_an_index_go_with_it(tmp_path):
    index = PDQIndex([(REAL[0], 0)], tmp_dir=str(tmp_path))
    copied(index)
    (directory,) = tmp_path.iterdir()
    assert [file.name for file in directory.iterdir()] == ["store"]
    del index
    assert not list(tmp_path.iterdir())
    index = PDQIndex([(REAL[0], 0)], tmp_dir=str(tmp_path))
    index.dispose()
    index.dispose()
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="closed"):
        index.query(REAL[0])


def test_an_index_that_cannot_be_made_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with pytest.raises(fp.errors.InvalidInputError, match="distance"):
        PDQIndex(threshold=300)
    content = pickle.dumps(PDQIndex.build([(REAL[0], 0)]))
    assert not list(tmp_path.iterdir())
    assert content.count(b"MANIFEST") == 1
    with pytest.raises(fp.FpstoreError):
        pickle.loads(content.replace(b"MANIFEST", b"MANIFOLD"))
    assert not list(tmp_path.iterdir())


def test_the_store_of_the_command_line_keeps_it(tmp_path):
    class Pdq(PdqSignal):
        @classmethod
        def get_index_cls(cls):
            return PDQIndex

    kept = CliIndexStore(tmp_path)
    assert kept.load(Pdq) is None
    kept.store(Pdq, PDQIndex.build((hash, number) for number, hash in enumerate(REAL)))
    assert answers(kept.load(Pdq), REAL[-1]) == [(0, str(len(REAL) - 1))]


def test_threads_query_while_others_add():
    index = PDQIndex()
    parts = [[(hash, (part, hash)) for hash in uniform(400, seed=part)] for part in range(4)]
    errors = []

    def work(entries):
        try:
            index.add_all(entries[:200])
            for hash, entry in entries[200:]:
                index.add(hash, entry)
                assert [one.metadata for one in index.query(hash)] == [entry]
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(entries,)) for entries in parts]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not errors and len(index) == 1600
    for entries in parts:
        for hash, entry in entries:
            assert [one.metadata for one in index.query(hash)] == [entry]


STARTS = [each for each in ("spawn", "fork") if each in multiprocessing.get_all_start_methods()]


@pytest.mark.parametrize("start", STARTS)
def test_workers_share_a_saved_index(saved, start):
    path, entries = saved
    queries = [hash for hash, _ in entries[::50]]
    with multiprocessing.get_context(start).Pool(3) as pool:
        for found, mapped in pool.starmap(ask_saved, [(path, queries)] * 6, chunksize=1):
            assert found == [brute(entries, query) for query in queries]
            if mapped:
                files = {line.split()[-1] for line in mapped.splitlines() if str(path) in line}
                assert str(path / "entries") in files and any(file.endswith(".segment") for file in files)


def test_workers_get_an_index_as_an_argument():
    entries = list(hashes(300, seed=9))
    index = PDQIndex.build(entries)
    queries = [hash for hash, _ in entries[::50]]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for found, _ in pool.starmap(ask, [(index, queries)] * 2):
            assert found == [brute(entries, query) for query in queries]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_forked_process_reads_the_index_of_its_parent(saved):
    path, entries = saved
    live = PDQIndex.build(entries[:200])
    live.add_all(entries[200:])
    for index in (live, PDQIndex.open(path)):
        goes_on, added = os.pipe()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                os.read(goes_on, 1)
                # The parent has added another entry, which is not of this copy.
                for query, _ in entries[::50]:
                    assert answers(index, query) == brute(entries, query)
                assert len(pickle.dumps(index)) > 500 * 32
                assert index.query(REAL[0]) == []
                try:
                    index.add(REAL[0], 0)
                except fp.errors.ReadOnlyError:
                    status = 0
                index.dispose()
            finally:
                os._exit(status)
        if index is live:
            index.add(REAL[0], "later")
        os.write(added, b"x")
        assert os.waitpid(child, 0)[1] == 0
        assert answers(index, entries[0][0]) == brute(entries, entries[0][0])
    assert [one.metadata for one in live.query(REAL[0])] == ["later"]
