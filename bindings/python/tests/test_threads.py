"""What threads share. With free-threaded Python they run at the same time."""

import os
import subprocess
import sys
import sysconfig
import threading

import pytest

import fpstore as fp

THREADS = 8


def at_once(work):
    """Calls a function in some threads at the same moment, with the number of the thread; raises what they raise."""
    ready, errors = threading.Barrier(THREADS), []

    def run(number):
        try:
            ready.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    if errors:
        raise errors[0]


@pytest.fixture
def filled(path):
    store = fp.create(path, max_distance=3, id_index=True)
    store.load((number * 0x9E3779B97F4A7C15 % 2**64 for number in range(50_000)), ids=range(50_000))
    return store


@pytest.mark.skipif(not sysconfig.get_config_var("Py_GIL_DISABLED"), reason="not a free-threaded Python")
def test_free_threaded_python_stays_free_threaded():
    """A module that does not declare itself ready would turn the lock on."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHON_GIL"}
    code = "import fpstore, sys; print(sys._is_gil_enabled())"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], env=environment, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.strip() == "False", done.stdout + done.stderr


def test_threads_share_one_iterator(filled):
    """Each batch comes to one of them, and all batches come."""
    for _ in range(5):
        answers, found = filled.records(), []
        at_once(lambda number: found.extend(id for batch in answers for id in batch["id"].to_pylist()))
        assert sorted(found) == list(range(50_000))


def test_answers_are_closed_while_other_threads_read_them(filled):
    for _ in range(10):
        answers = filled.pairs(12)

        def work(number):
            if number == 0:
                answers.close()
            try:
                for _ in answers:
                    pass
            except fp.errors.InvalidInputError as error:
                assert "closed" in str(error)

        at_once(work)


def test_a_stream_passes_to_one_thread(filled):
    answers, taken = filled.records(), []

    def work(number):
        try:
            taken.append(fp.Table(answers))
        except fp.errors.InvalidInputError:
            pass

    at_once(work)
    assert [len(table) for table in taken] == [50_000]


def test_batches_and_snapshots_are_shared(filled):
    batch = filled.records().read_all()
    snapshot = filled.snapshot()
    rows = batch.to_pydict()

    def work(number):
        assert batch.to_pydict() == rows
        assert len(snapshot) == 50_000
        assert all(snapshot.contains_near(batch["fingerprint"][:1000], 0).to_pylist())
        filled.insert(1 << 63 | number, 100_000 + number, durability="buffered")
        assert snapshot.contains_near([1 << 63 | number], 0).to_pylist() == [False]

    at_once(work)
    assert len(filled) == 50_000 + THREADS


def test_writes_of_many_threads(filled):
    """Single and many, of the same id too: the store is as after one of their orders."""

    def work(number):
        ids = range(1_000_000 * (number + 1), 1_000_000 * (number + 1) + 500)
        filled.insert([id << 20 for id in ids], ids, durability="buffered")
        for id in ids[:100]:
            assert filled.remove_id(id, durability="buffered") == 1
            filled.replace(number + 1, 7, durability="buffered")
        filled.load([id << 20 for id in ids[:100]], ids=ids[:100])

    at_once(work)
    assert len(filled) == 50_000 + THREADS * 500
    assert filled.get_id(7)[0] in range(1, THREADS + 1) and len(filled.get_id(7)) == 1
    assert filled.verify()["damages"] == []


def test_a_store_is_closed_while_other_threads_use_it(filled):
    def work(number):
        if number == 0:
            filled.close()
        try:
            while True:
                filled.query(0, 3)
                filled.contains_near([1, 2, 3], 3)
                next(filled.records())
        except fp.errors.InvalidInputError as error:
            assert "closed" in str(error)

    at_once(work)


def test_sketches_of_many_threads():
    texts = [f"the text of number {number} and what stands in it" for number in range(2000)]
    expected = fp.simhash(texts).to_pylist()

    def work(number):
        assert fp.simhash(texts).to_pylist() == expected

    at_once(work)
