"""Threads, Ctrl-C, progress, and what is left behind."""

import array
import os
import signal
import statistics
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import fpstore as fp


# A shell that starts the tests in the background makes them, and programs that they start, ignore Ctrl-C.
NOTICED = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"


def run(text, *arguments):
    """Runs a program of its own, which notices Ctrl-C."""
    command = [sys.executable, "-c", NOTICED + textwrap.dedent(text), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def script(text, *arguments):
    """Runs a program of its own and returns its output."""
    done = run(text, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_other_threads_run_during_a_long_call(path):
    """The lock of the interpreter is released: a counter goes on counting."""
    store = fp.create(path)
    counted, ended = [0], threading.Event()

    def count():
        while not ended.is_set():
            counted[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    before = counted[0]
    begun = time.monotonic()
    store.load((number * 0x9E3779B97F4A7C15 % 2**64 for number in range(300_000)), ids=range(300_000))
    sum(len(batch) for batch in store.pairs(6))
    seconds = time.monotonic() - begun
    ended.set()
    thread.join()
    assert counted[0] - before > seconds * 50


INTERRUPTED = """
    import os, signal, sys, threading, time
    import fpstore as fp
    path, what, delay = sys.argv[1], sys.argv[2], float(sys.argv[3])
    store = fp.open(path)
    before = len(store)

    def pairs():
        while True:
            for _ in store.pairs(20): pass

    def queries():
        column = store.records().read_all()["fingerprint"]
        while True:
            for _ in store.query(column, 16): pass

    def clusters():
        while True:
            store.clusters(12).read_all()

    def load():
        column = store.records().read_all()["fingerprint"]
        while True:
            store.load(column, ids=range(10_000_000, 10_000_000 + len(column)))
            store.load_remove(column, ids=range(10_000_000, 10_000_000 + len(column)))

    sent = []
    def interrupt():
        time.sleep(delay)
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)
    try:
        # On a busy machine the signal may come while the thread starts.
        threading.Thread(target=interrupt, daemon=True).start()
        globals()[what]()
    except KeyboardInterrupt:
        took = time.monotonic() - sent[0]
    else:
        sys.exit("not interrupted")
    store.close()
    with fp.open(path) as store:
        assert store.verify()["damages"] == []
        left = len(store)
        assert left in (before, 2 * before), (before, left)
        if left != before:
            store.remove_ids(range(10_000_000, 10_000_000 + before))
    print(took)
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("what", ["pairs", "queries", "clusters", "load"])
def test_ctrl_c_ends_a_long_call_soon(path, what):
    with fp.create(path, id_index=True) as store:
        store.load((number * 0x9E3779B97F4A7C15 % 2**64 for number in range(100_000)), ids=range(100_000))
    took = [float(script(INTERRUPTED, path, what, delay)) for delay in (0.3, 0.45, 0.7)]
    # 200 ms are promised; the machine of the tests may be busy.
    assert statistics.median(took) < 0.5, took


def test_progress_is_told_and_may_stop_a_load(path):
    store = fp.create(path)
    told = []
    store.load(list(range(100_000)), ids=range(100_000), progress=told.append)
    assert told[-1] == 100_000 and told == sorted(told)

    class Enough(Exception):
        pass

    def stop(records):
        raise Enough

    with pytest.raises(Enough):
        store.load(list(range(2**40, 2**40 + 100_000)), ids=range(200_000, 300_000), progress=stop)
    # The last call of progress comes after the load, whose records are there then.
    assert len(store) in (100_000, 200_000) and store.verify()["damages"] == []
    assert store.load([1], ids=[1], progress=True)["added"] == 0


def test_a_stop_that_comes_too_late_stops_nothing_else(path):
    """The load ends while the exception is raised; later calls go on."""
    store = fp.create(path)

    def slow(records):
        time.sleep(1.0)
        raise ValueError("too late")

    with pytest.raises(ValueError, match="too late"):
        store.load(list(range(200_000)), ids=range(200_000), progress=slow)
    assert store.load([1 << 60], ids=[1 << 60])["added"] == 1
    assert len(store) in (1, 200_001)
    store.close()


def test_a_stop_of_one_load_leaves_other_calls_alone(path):
    store = fp.create(path, id_index=True)
    store.load(range(1000), ids=range(1000))
    errors, ended = [], threading.Event()

    def others():
        number = 1 << 50
        try:
            while not ended.is_set():
                number += 1
                store.insert(number, number, durability="buffered")
                store.remove_ids([number])
        except BaseException as error:
            errors.append(error)

    class Enough(Exception):
        pass

    calls = []

    def stop(records):
        calls.append(records)
        if len(calls) == 2:
            raise Enough

    thread = threading.Thread(target=others)
    thread.start()
    numbers = (number * 0x9E3779B97F4A7C15 % 2**64 for number in range(1_000_000))
    with pytest.raises(Enough):
        store.load(array.array("Q", numbers), ids=range(1 << 40, (1 << 40) + 1_000_000), progress=stop)
    ended.set()
    thread.join()
    assert not errors
    store.compact()
    assert len(store) in range(1000, 1002)


def test_ctrl_c_is_not_lost_in_another_library(path):
    pytest.importorskip("pyarrow")
    with fp.create(path) as store:
        store.load((number * 0x9E3779B97F4A7C15 % 2**64 for number in range(20_000)), ids=range(20_000))
    done = run(
        """
        import os, signal, sys, threading, time
        import pyarrow as pa
        import fpstore as fp
        store = fp.open(sys.argv[1])
        # What pyarrow imports at first is not to be interrupted.
        pa.table(store.pairs(0))
        threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
        seen = []
        try:
            try:
                while True:
                    pa.table(store.pairs(28))
            except Exception as error:
                seen.append(type(error).__name__)
                time.sleep(5)
        except KeyboardInterrupt:
            print("interrupted")
        """,
        path,
    )
    assert (done.returncode, done.stdout.strip(), done.stderr) == (0, "interrupted", "")


# Sends Ctrl-C while a stream of 20 seconds is read.
SLOW = """
    import os, signal, sys, threading, time
    import pyarrow as pa
    import fpstore as fp
    schema = pa.schema([("fingerprint", pa.uint64()), ("id", pa.uint64())])
    made, sent = [], []

    def slow():
        for number in range(200):
            if number == 3:
                sent.append(time.monotonic())
                os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.1)
            made.append(number)
            yield pa.record_batch([pa.array([number], pa.uint64())] * 2, schema=schema)

    reader = pa.RecordBatchReader.from_batches(schema, slow())
    store = fp.create(sys.argv[1])
"""


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
@pytest.mark.parametrize("call", ["store.load(reader)", "fp.Table(reader)", "fp.dedup(reader)"])
def test_a_stream_is_not_read_on_after_ctrl_c(path, call):
    pytest.importorskip("pyarrow")
    text = textwrap.dedent(SLOW) + textwrap.dedent(f"""
        try:
            {call}
        except KeyboardInterrupt:
            took = time.monotonic() - sent[0]
        else:
            sys.exit("not interrupted")
        time.sleep(1)
        assert len(made) < 8, made
        store.insert(1 << 40, 1 << 40)
        assert store.load([1 << 41], ids=[1 << 41])["added"] == 1
        assert len(store) == 2
        store.close()
        print(took)
    """)
    # 200 ms are promised; the machine of the tests may be busy.
    assert float(script(text, path)) < 2


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_an_interrupted_load_ends_before_the_interpreter(path):
    pytest.importorskip("pyarrow")
    done = run(textwrap.dedent(SLOW) + "store.load(reader)", path)
    assert done.returncode == -signal.SIGINT and done.stderr.endswith("KeyboardInterrupt\n"), done
    assert "Fatal" not in done.stderr
    assert len(fp.open(path)) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked_processes(path):
    """A child makes sketches and opens stores of its own, cannot use those of its parent, and ends."""
    out = script(
        """
        import os, sys
        import fpstore as fp
        texts = ["one two three"] * 100
        fp.simhash(texts)
        store = fp.create(sys.argv[1])
        store.load(range(100), ids=range(100))
        answers = store.pairs(20)
        reader = fp.open(sys.argv[1], read_only=True)
        before = store.snapshot()
        index = fp.create(sys.argv[1] + "-keys", kind="keys")
        keys = index.snapshot()
        child = os.fork()
        if child == 0:
            assert len(fp.simhash(texts)) == 100
            assert str(before.path) == sys.argv[1] and "Snapshot" in repr(before)
            calls = [lambda: store.query(1, 1), lambda: next(answers), lambda: len(reader), lambda: len(before)]
            calls += [lambda: before.query([1], 1), lambda: before.pairs(1), lambda: before.ids, lambda: len(keys)]
            calls += [lambda: keys.query([1]), lambda: store.join(before), lambda: answers.__arrow_c_stream__()]
            for call in calls:
                try:
                    call()
                except fp.errors.InvalidInputError as error:
                    assert "forked" in str(error)
                else:
                    raise SystemExit("the store of the parent was used")
            own = fp.open(sys.argv[1], read_only=True)
            assert len(own.query([1, 2], 3).read_all()) > 0
            sys.exit(0)
        _, status = os.waitpid(child, 0)
        assert status == 0, status
        assert len(store) == 100 and len(before) == 100 and len(keys) == 0 and len(answers.read_all()) > 0
        print("ended")
        """,
        path,
    )
    assert out.strip() == "ended"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_forked_processes_write(path):
    """Children write stores of their own while their parent has stores open, whose waiting threads they do not have."""
    path.mkdir()
    out = script(
        """
        import os, signal, sys
        import fpstore as fp
        open_stores = [fp.create(f"{sys.argv[1]}/parent-{number}") for number in range(8)]
        for turn in range(4):
            child = os.fork()
            if child == 0:
                signal.alarm(60)
                own = [fp.create(f"{sys.argv[1]}/child-{turn}-{number}") for number in range(16)]
                for store in own:
                    store.insert(list(range(100)), range(100), durability="buffered")
                    store.compact()
                    assert len(store) == 100
                for store in own:
                    store.close()
                os._exit(0)
            _, status = os.waitpid(child, 0)
            assert status == 0, status
        for store in open_stores:
            store.insert(1, 1)
            store.close()
        print("ended")
        """,
        path,
    )
    assert out.strip() == "ended"


def test_a_store_that_is_dropped_lets_other_threads_run(path):
    """What it holds in memory is written without the lock of the interpreter."""
    store = fp.create(path)
    numbers = array.array("Q", (number * 0x9E3779B97F4A7C15 % 2**64 for number in range(1_200_000)))
    for first in range(0, 1_200_000, 20_000):
        store.insert(numbers[first : first + 20_000], range(first, first + 20_000), durability="buffered")
    longest, ended, started = [0.0], threading.Event(), threading.Event()

    def tick():
        last = time.monotonic()
        while not ended.is_set():
            time.sleep(0.001)
            now = time.monotonic()
            longest[0], last = max(longest[0], now - last), now
            started.set()

    thread = threading.Thread(target=tick)
    thread.start()
    started.wait()
    begun = time.monotonic()
    del store
    took = time.monotonic() - begun
    ended.set()
    thread.join()
    # On a busy machine the thread may wait for a processor.
    assert longest[0] < max(0.5 * took, 0.2), (longest, took)
    assert len(fp.open(path)) == 1_200_000


@pytest.mark.skipif(os.name == "nt", reason="signals of Unix")
def test_ctrl_c_ends_a_query_with_many_matches(path):
    text = """
        import signal, sys, time
        import fpstore as fp
        store = fp.create(sys.argv[1], max_distance=1)
        store.load([1] * 2_000_000, ids=range(2_000_000))

        def interrupt(*_):
            raise KeyboardInterrupt

        signal.signal(signal.SIGPROF, interrupt)
        for call in store.query, store.get:
            begun = time.process_time()
            signal.setitimer(signal.ITIMER_PROF, 0.1)
            try:
                while True:
                    call(1)
            except KeyboardInterrupt:
                print(time.process_time() - begun - 0.1)
        """
    # 200 ms are promised, here of the processor's time, since the machine of the tests may be busy.
    took = [float(line) for line in script(text, path).split()]
    assert len(took) == 2 and max(took) < 1, took


def test_dropped_answers_do_not_hold_up_the_interpreter(path):
    store = fp.create(path)
    store.load((number * 0x9E3779B97F4A7C15 % 2**64 for number in range(100_000)), ids=range(100_000))
    answers = store.clusters(14)
    time.sleep(0.2)
    begun = time.monotonic()
    del answers
    assert time.monotonic() - begun < 0.5
