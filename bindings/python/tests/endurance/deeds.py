"""Long calls, each of which can be interrupted, and the stores that they work on."""

from __future__ import annotations

import argparse
import dataclasses
import pathlib
import shutil
import time
from collections.abc import Callable
from typing import Any

import data
import fpstore as fp

State = list[tuple[Any, ...]]
"""The records of a store."""


class Place:
    """A store that is made once and copied for each call."""

    def __init__(self, directory: pathlib.Path, kind: str, options: argparse.Namespace) -> None:
        self.directory, self.kind, self.count = directory, kind, options.records
        directory.mkdir()
        self.template, self.path = directory / "template", directory / "store"
        self.other, self.copy = directory / "other", directory / "copy"
        self.first: State = []
        count, ids = self.count, range(self.count)
        self.texts = data.texts(count // 8, options.seed)
        if kind == "keys":
            self.column: Any = data.key_lists(count, options.seed)
            self.more: Any = data.key_lists(count, options.seed + 1)
            with fp.create(self.template, kind="keys") as index:
                index.load(self.column, ids=ids)
            return
        self.column = data.clustered(count, options.seed)
        self.more = data.clustered(count, options.seed + 1)
        with fp.create(self.template, max_distance=4, id_index=True) as store:
            store.load(self.column[: count // 2], ids=ids[: count // 2])
            store.load(self.column[count // 2 :], ids=ids[count // 2 :])
            # Something in the log, and something to merge.
            store.insert(self.more[:100], range(count, count + 100))
        with fp.create(self.other, max_distance=4) as store:
            store.load(self.more, ids=ids)

    @property
    def more_ids(self) -> range:
        return range(10 * self.count, 11 * self.count)

    def restore(self) -> None:
        shutil.copytree(self.template, self.path)

    def tidy(self) -> None:
        """Removes the store, and a copy that a call has made; a copy must be whole or not there."""
        if self.copy.exists():
            assert self.state_of(self.copy) == self.state_of(self.template)
            shutil.rmtree(self.copy)
        shutil.rmtree(self.path)
        left = [one.name for one in self.directory.iterdir() if one not in (self.template, self.other)]
        assert not left, f"files beside the store: {left}"

    def open(self) -> Any:
        """Opens the store. A call that was interrupted may still be ending."""
        until = time.monotonic() + 60
        while True:
            try:
                return fp.open(self.path)
            except fp.errors.LockedError:
                assert time.monotonic() < until, "the store stays locked"
                time.sleep(0.01)

    def state_of(self, path: pathlib.Path) -> State:
        with fp.open(path, read_only=True) as store:
            return self.state(store)

    def state(self, store: Any) -> State:
        records = store.records().read_all()
        if self.kind == "keys":
            return list(zip(records["id"].to_pylist(), map(tuple, records["keys"].to_pylist())))
        return list(zip(records["fingerprint"].to_pylist(), records["id"].to_pylist()))


@dataclasses.dataclass
class Deed:
    """A call. One that writes row by row may leave any number of its rows; others all or none."""

    name: str
    do: Callable[[Place, Any], object]
    kind: str = "fingerprints"
    is_row_by_row: bool = False


class Stream:
    """An Arrow stream, as other libraries have."""

    def __init__(self, table: fp.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__()


def _stream(**columns: Any) -> Stream:
    return Stream(fp.Table(columns))


def read(answers: Any) -> None:
    """Reads all batches, one at a time."""
    for _ in answers:
        pass


DEEDS = [
    Deed("load", lambda place, store: store.load(place.more, ids=place.more_ids)),
    Deed("load of a list", lambda place, store: store.load(list(place.more), ids=list(place.more_ids))),
    Deed("load of a stream", lambda place, store: store.load(_stream(fingerprint=place.more, id=place.more_ids))),
    Deed("load with progress", lambda place, store: store.load(place.more, place.more_ids, progress=lambda rows: None)),
    Deed("load_replace", lambda place, store: store.load_replace(place.more, ids=range(place.count))),
    Deed("load_remove", lambda place, store: store.load_remove(place.column, ids=range(place.count))),
    Deed("remove_ids", lambda place, store: store.remove_ids(range(place.count // 2))),
    Deed("insert many", lambda place, store: store.insert(place.more, place.more_ids)),
    Deed(
        "insert_if_new many",
        lambda place, store: store.insert_if_new(place.more, ids=place.more_ids, k=2),
        is_row_by_row=True,
    ),
    Deed("remove many", lambda place, store: store.remove(place.column, range(place.count))),
    Deed("compact", lambda place, store: store.compact()),
    Deed("backup", lambda place, store: store.backup(place.copy)),
    Deed("verify", lambda place, store: store.verify()),
    Deed("fpstore.verify", lambda place, store: fp.verify(place.path)),
    Deed("open for reading", lambda place, store: fp.open(place.path, read_only=True).close()),
    Deed("stats", lambda place, store: [store.stats() for _ in range(1000)]),
    Deed("query one, far", lambda place, store: [store.query(one, 24) for one in place.more[:4]]),
    Deed("query one, many matches", lambda place, store: [store.query(one, 64) for one in place.more[:4]]),
    Deed("nearest one", lambda place, store: [store.nearest(one, 100) for one in place.more[:8]]),
    Deed("query many", lambda place, store: read(store.query(place.column, 4))),
    Deed("query many, whole", lambda place, store: store.query(place.column, 4).read_all()),
    Deed("nearest many", lambda place, store: read(store.nearest(place.more[: place.count // 50], 3))),
    Deed("contains_near many", lambda place, store: store.contains_near(place.more[: place.count // 8], 4)),
    Deed("records", lambda place, store: store.records().to_pylist()),
    Deed("pairs", lambda place, store: read(store.pairs(6))),
    Deed("pairs, whole", lambda place, store: store.pairs(4).read_all()),
    Deed("join", lambda place, store: _join(place, store)),
    Deed("clusters, single", lambda place, store: read(store.clusters(6))),
    Deed("clusters, complete", lambda place, store: read(store.clusters(4, linkage="complete"))),
    Deed("keep", lambda place, store: read(store.keep(4, evidence=True))),
    Deed("snapshot", lambda place, store: read(store.snapshot().pairs(4))),
    Deed("simhash", lambda place, store: fp.simhash(place.texts)),
    Deed("bands", lambda place, store: fp.bands(place.texts, bands=14, rows=8, sketch="full")),
    Deed("dedup", lambda place, store: fp.dedup({"text": place.texts}, threshold=0.7)),
    Deed("dedup of a stream", lambda place, store: fp.dedup(_stream(text=place.texts), threshold=0.7)),
    Deed("table of a stream", lambda place, store: fp.Table(store.pairs(4))),
    Deed("load of keys", lambda place, index: index.load(place.more, ids=place.more_ids), kind="keys"),
    Deed("remove_ids of keys", lambda place, index: index.remove_ids(range(place.count // 2)), kind="keys"),
    Deed("query many keys", lambda place, index: read(index.query(place.more[: place.count // 4])), kind="keys"),
    Deed("pairs of keys", lambda place, index: read(index.pairs()), kind="keys"),
    Deed("clusters of keys", lambda place, index: read(index.clusters()), kind="keys"),
    Deed("keep of keys", lambda place, index: read(index.keep(evidence=True)), kind="keys"),
    Deed("compact of keys", lambda place, index: index.compact(), kind="keys"),
    Deed("backup of keys", lambda place, index: index.backup(place.copy), kind="keys"),
]


def _join(place: Place, store: Any) -> None:
    with fp.open(place.other, read_only=True) as other:
        read(store.join(other, 4))
