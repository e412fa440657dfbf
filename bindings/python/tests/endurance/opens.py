"""Stores opened and closed, for writing and for reading, of fingerprints and of keys."""

from __future__ import annotations

import argparse
import os
import pathlib
import time
from collections.abc import Callable

import data
import fpstore as fp
from held import MIB, Watch, python_growth

NUMBERS = {"count": (80, 10_000), "records": (2_000, 20_000), "rounds": (8, 40)}


class Stores:
    """A store and a key index, and what they answer."""

    def __init__(self, directory: pathlib.Path, count: int, seed: int) -> None:
        self.path, self.keys_path = directory / "store", directory / "keys"
        self.column = data.clustered(count, seed)
        self.keys = data.key_lists(count, seed)
        with fp.create(self.path) as store:
            store.load(self.column, ids=range(count))
        with fp.create(self.keys_path, kind="keys") as index:
            index.load(self.keys, ids=range(count))
        self.count = count
        self.opened = 0

    def one(self) -> None:
        """Opens one of them, asks it, and closes it, each time in another way."""
        number = self.opened
        self.opened += 1
        read_only, row = number % 2 == 0, number % self.count
        if number // 2 % 2:
            store = fp.open(self.path, read_only=read_only)
            assert row in [one.id for one in store.query(self.column[row], 1)]
            if not read_only:
                new = data.mixed(number)
                store.insert(new, self.count + number, durability="buffered")
                assert store.remove(new, self.count + number, durability="buffered") == 1
            elif number % 20 == 2:
                # Closed before its answers are read.
                answers = store.pairs()
                next(answers, None)
                store.close()
        else:
            store = fp.open(self.keys_path, read_only=read_only)
            assert row in [one.id for one in store.query(self.keys[row])]
            if not read_only and number % 50 == 1:
                store.load([[number]], ids=[self.count + number])
                assert store.remove_ids([self.count + number]) == 1
        CLOSE[number // 4 % len(CLOSE)](store)

    def files(self) -> int:
        return sum(len(os.listdir(path)) for path in (self.path, self.keys_path))


def _with(store: fp.Store | fp.KeyIndex) -> None:
    with store:
        pass


CLOSE: list[Callable[[fp.Store | fp.KeyIndex], None]] = [lambda store: store.close(), _with, lambda store: None]


def run(directory: pathlib.Path, options: argparse.Namespace) -> dict[str, object]:
    stores = Stores(directory, options.records, options.seed)
    watch = Watch(directory / "temporary", memory_slack=8 * MIB)
    for _ in range(24):
        stores.one()
    watch.begin()
    count = -(-options.count // options.rounds)
    files, seconds = stores.files(), 0.0
    for number in range(1, options.rounds + 1):
        begun = time.monotonic()
        for _ in range(count):
            stores.one()
        seconds += time.monotonic() - begun
        watch.sample(number * count)
    python = python_growth(lambda: [stores.one() for _ in range(min(count, 100))] and None)
    assert python < 64 << 10, f"objects of Python grew by {python} bytes"
    # A store that is written to has some more files until they are merged.
    assert stores.files() <= files + 20, f"{stores.files()} files after {files}"
    for path in (stores.path, stores.keys_path):
        with fp.open(path) as store:
            assert len(store) == options.records
        assert fp.verify(path)["damages"] == []
    done = options.rounds * count
    return {"opened": done, "seconds": round(seconds, 1), "python_growth_bytes": python, **watch.report()}
