"""Calls of many threads on one store: single and many queries, inserts, answers that are shared, or dropped half
read."""

from __future__ import annotations

import argparse
import array
import pathlib
import random
import threading
import time

import data
import fpstore as fp
from held import MIB, Watch, python_growth

NUMBERS = {
    "calls": (20_000, 10_000_000),
    "threads": (8, 8),
    "records": (8_192, 65_536),
    "rounds": (8, 40),
}
K = 3
QUESTIONS = 256
AHEAD = 64
"""Records of its own that a thread has in the store before it removes one for each that it inserts."""


class Load:
    """A store with records that stay, and what is known of them."""

    def __init__(self, path: pathlib.Path, count: int, seed: int) -> None:
        self.column = data.clustered(count, seed)
        self.count = count
        self.store = fp.create(path, max_distance=K, id_index=True)
        self.store.load(self.column, ids=range(count))
        rng = random.Random(seed)
        self.rows = rng.sample(range(count), QUESTIONS)
        self.near = {row: self.neighbours(self.column[row]) for row in self.rows}
        self.questions = array.array("Q", (self.column[row] for row in self.rows))
        self.shared: list[fp.Answers | None] = [None] * 4
        self.errors: list[BaseException] = []

    def neighbours(self, query: int) -> list[int]:
        return [id for id, one in enumerate(self.column) if (query ^ one).bit_count() <= K]

    def work(self, number: int, seed: int, calls: int) -> None:
        try:
            Worker(self, number, seed).run(calls)
        except BaseException as error:
            self.errors.append(error)

    def round(self, threads: int, seed: int, calls: int) -> None:
        """So many calls of each of so many threads."""
        arguments = [(number, seed * threads + number, calls) for number in range(threads)]
        working = [threading.Thread(target=self.work, args=each) for each in arguments]
        [thread.start() for thread in working]
        [thread.join() for thread in working]
        self.shared = [None] * len(self.shared)
        if self.errors:
            raise self.errors[0]


class Worker:
    """One thread. Its own records are far from those that stay."""

    def __init__(self, load: Load, number: int, seed: int) -> None:
        self.load, self.store = load, load.store
        self.rng = random.Random(seed)
        self.own: list[int] = []
        self.next = (number + 1) << 40

    def run(self, calls: int) -> None:
        rare = [self.many, self.half_read, self.share, self.write_many, self.snapshot]
        for _ in range(calls):
            dice = self.rng.getrandbits(12)
            if dice < len(rare):
                rare[dice]()
            elif dice < 2200:
                self.query()
            elif dice < 3200:
                self.near()
            elif dice < 3700:
                self.get()
            else:
                self.insert()
        while self.own:
            self.remove(self.own.pop())

    def row(self) -> int:
        return self.load.rows[self.rng.randrange(QUESTIONS)]

    def query(self) -> None:
        row = self.row()
        found = self.store.query(self.load.column[row], K)
        assert sorted(one.id for one in found if one.id < self.load.count) == self.load.near[row]

    def near(self) -> None:
        assert self.store.contains_near(self.load.column[self.row()], K)

    def get(self) -> None:
        row = self.row()
        assert row in self.store.get(self.load.column[row])

    def insert(self) -> None:
        self.next += 1
        self.store.insert(data.mixed(self.next), self.next, durability="buffered")
        self.own.append(self.next)
        if len(self.own) > AHEAD:
            self.remove(self.own.pop(0))

    def remove(self, id: int) -> None:
        assert self.store.remove(data.mixed(id), id, durability="buffered") == 1

    def many(self) -> None:
        answers = self.store.query(self.load.questions, K).to_pydict()
        found: dict[int, list[int]] = {}
        for query, id in zip(answers["query_row"], answers["id"]):
            if id < self.load.count:
                found.setdefault(self.load.rows[query], []).append(id)
        assert {row: sorted(ids) for row, ids in found.items()} == self.load.near

    def half_read(self) -> None:
        answers = self.rng.choice([self.store.pairs, self.store.records, self.store.clusters])()
        for _ in range(self.rng.randrange(2)):
            next(answers, None)

    def share(self) -> None:
        """Reads answers that other threads may be reading, and leaves answers for others."""
        shared = self.load.shared
        place = self.rng.randrange(len(shared))
        answers = shared[place]
        if answers is None:
            shared[place] = self.store.records()
            return
        for batch in answers:
            ids = batch["id"].to_pylist()
            assert ids == list(dict.fromkeys(ids))
        shared[place] = None

    def write_many(self) -> None:
        ids = range(self.next + 1, self.next + 100)
        self.next += 100
        column = [data.mixed(id) for id in ids]
        self.store.insert(column, ids, durability="buffered")
        assert self.store.contains_near(column, 0).to_pylist() == [True] * len(ids)
        assert self.store.remove(column, ids, durability="buffered") == len(ids)

    def snapshot(self) -> None:
        assert self.store.snapshot().contains_near(self.load.questions, K).to_pylist() == [True] * QUESTIONS


def run(directory: pathlib.Path, options: argparse.Namespace) -> dict[str, object]:
    load = Load(directory / "store", options.records, options.seed)
    watch = Watch(directory / "temporary", memory_slack=32 * MIB)
    calls = -(-options.calls // (options.rounds * options.threads))
    load.round(options.threads, 0, min(calls, 1000))
    watch.begin()
    seconds = 0.0
    for number in range(1, options.rounds + 1):
        begun = time.monotonic()
        load.round(options.threads, number, calls)
        seconds += time.monotonic() - begun
        watch.sample(number * calls * options.threads)
    python = python_growth(lambda: load.round(options.threads, 1, min(calls, 2000)))
    assert python < 64 << 10, f"objects of Python grew by {python} bytes"
    ids = load.store.records().read_all()["id"].to_pylist()
    assert sorted(ids) == list(range(options.records)), "the store has other records than before"
    assert load.store.verify()["damages"] == []
    load.store.close()
    with fp.open(directory / "store") as store:
        assert len(store) == options.records and store.verify()["damages"] == []
    done = options.rounds * calls * options.threads
    return {"calls": done, "seconds": round(seconds, 1), "python_growth_bytes": python, **watch.report()}
