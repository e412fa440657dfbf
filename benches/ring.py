#!/usr/bin/env python3
"""A sharded store under queries while a node is added and others are killed: every answer is compared with brute force.

    cargo xtask python && cargo build --release --bin fpring
    benches/ring.py [--records 10000000] [--queries 200]

Uniform fingerprints of 64 bits, one in a hundred within three bits of another, on three nodes with two replicas. Each
node is a process that has its store open. Threads ask batches of queries without a pause while `fpring rebalance` adds
a fourth node, then while one node's process is killed, and then a second one, so that some records have no node left.
Prints for each phase the number of answers, how many equalled brute force, how many were errors that name the killed
nodes, and the median time of a batch.
"""
import argparse
import multiprocessing
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
from common import NUMPY, TARGET, inside_environment, package, paired  # noqa: E402

K, THREADS, PAUSE = 3, 2, 5.0


def serve(directory, address):
    """The process of a node: answers calls of a store that is open for reading."""
    import fpstore as fp
    import pyarrow as pa
    from multiprocessing.connection import Listener

    store = fp.open(directory, read_only=True)
    listener = Listener(address)
    while True:
        with listener.accept() as connection:
            try:
                while True:
                    name, arguments = connection.recv()
                    found = getattr(store, name)
                    found = found(*arguments) if callable(found) else found
                    connection.send(pa.table(found) if name == "query" else found)
            except (EOFError, OSError):
                pass


class Node:
    """A store of another process. A thread has a connection of its own for each call."""

    def __init__(self, address):
        self._address = address

    def _call(self, name, *arguments):
        from multiprocessing.connection import Client

        with Client(self._address) as connection:
            connection.send((name, arguments))
            try:
                return connection.recv()
            except EOFError:
                raise ConnectionError("the node has ended") from None

    @property
    def max_distance(self):
        return self._call("max_distance")

    def refresh(self):
        return self._call("refresh")

    def query(self, fingerprints, k):
        return self._call("query", fingerprints, k)

    def close(self):
        pass


class Cluster:
    """The processes of all nodes, which begin when they are first asked."""

    def __init__(self, folder):
        self._folder, self._mutex, self.processes = folder, threading.Lock(), {}

    def __call__(self, name, directory, read_only):
        import fpstore as fp

        if not read_only:
            return fp.open(directory)
        address = str(self._folder / f"{name}.socket")
        with self._mutex:
            if name not in self.processes:
                process = multiprocessing.get_context("spawn").Process(
                    target=serve, args=(directory, address), daemon=True)
                process.start()
                self.processes[name] = process
                while not os.path.exists(address) and process.is_alive():
                    time.sleep(0.01)
        return Node(address)

    def kill(self, name):
        os.kill(self.processes[name].pid, signal.SIGKILL)
        self.processes[name].join()


def brute(np, values, queries):
    """Rows of query, fingerprint, distance and id of all matches, in the order of answers."""
    found = []
    for row, query in enumerate(queries):
        distances = np.bitwise_count(values ^ query)
        at = np.flatnonzero(distances <= K)
        found += sorted((row, int(distances[id]), int(values[id]), int(id)) for id in at)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=10_000_000)
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--package", help="a wheel, or a directory with the package [default: target/python/wheels]")
    options = parser.parse_args()
    inside_environment([NUMPY, "pyarrow==26.0.1"], "peers-python")
    package(options.package)
    import numpy as np
    import pyarrow as pa
    from fpstore import ring

    folder = pathlib.Path(tempfile.mkdtemp())
    program = TARGET / "release" / "fpring"
    file = folder / "ring.json"
    cluster = Cluster(folder)
    answers, threads, ended = [], [], threading.Event()
    try:
        values = paired(options.records, options.records // 100)
        queries = values[-options.queries :] ^ np.uint64(1)
        expected = brute(np, values, queries)
        subprocess.run([program, "create", file, "a", "b", "c", "--replicas", "2"], check=True)
        start = time.perf_counter()
        with ring.create(file, max_distance=K) as made:
            made.load(pa.array(values), ids=pa.array(np.arange(len(values), dtype=np.uint64)))
        print(f"{options.records:,} records, 2 replicas on 3 nodes: loaded in {time.perf_counter() - start:.1f} s\n")
        sharded = ring.open(file, nodes=cluster)
        sharded.query(queries[:1], K)

        def ask():
            while not ended.is_set():
                begin = time.perf_counter()
                try:
                    table = sharded.query(queries, K).table
                    columns = [table[name].to_pylist() for name in ("query_row", "distance", "fingerprint", "id")]
                    outcome = "right" if list(zip(*columns)) == expected else "wrong"
                except Exception as error:
                    outcome = f"{type(error).__name__}: {error}"
                answers.append((time.perf_counter() - begin, outcome))

        def phase(name, work, named=()):
            begin = len(answers)
            started = time.perf_counter()
            work()
            took = time.perf_counter() - started
            time.sleep(PAUSE)
            made = answers[begin:]
            right = sum(outcome == "right" for _, outcome in made)
            refused = sum(bool(named) and all(f"node {one}: " in outcome for one in named) for _, outcome in made)
            median = statistics.median(seconds for seconds, _ in made) * 1e3
            print(f"| {name} | {took:.1f} | {len(made)} | {right} | {refused} | {median:.1f} |", flush=True)
            assert made and right + refused == len(made), [outcome for _, outcome in made if outcome != "right"][:3]
            return refused

        def add():
            shutil.copy(file, folder / "new.json")
            subprocess.run([program, "add", folder / "new.json", "d"], check=True)
            subprocess.run([program, "rebalance", file, folder / "new.json", "--quiet"], check=True)

        threads += [threading.Thread(target=ask) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        print(f"Batches of {options.queries} queries, {THREADS} threads, {os.cpu_count()} cores\n")
        print("| | s | answers | equal to brute force | errors that name the nodes | median, ms |")
        print("|---|---|---|---|---|---|")
        phase("before", lambda: None)
        phase("a node is added", add)
        phase("after", lambda: None)
        phase("one is killed", lambda: cluster.kill("b"))
        assert phase("a second one is killed", lambda: cluster.kill("c"), ["b", "c"]), "no error"
    finally:
        ended.set()
        for thread in threads:
            thread.join()
        for process in cluster.processes.values():
            process.kill()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
