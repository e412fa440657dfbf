"""A store on many nodes: records are placed on a consistent-hash ring by their ids. It needs pyarrow.

`fpring create ring.json a b c --replicas 2` makes the ring, `fpring rebalance` moves records when it changes. The nodes'
stores are directories beside the ring file, or wherever it says.

>>> import fpstore as fp, tempfile
>>> from fpstore import ring
>>> folder = tempfile.mkdtemp()
>>> _ = open(folder + "/ring.json", "w").write('{"format": "fpstore ring", "version": 1, "hash": "xxh64", '
...     '"virtual": 128, "replicas": 2, "nodes": [{"name": "a", "weight": 1}, {"name": "b", "weight": 1}, '
...     '{"name": "c", "weight": 1}]}')
>>> pages = ring.create(folder + "/ring.json", max_distance=3)
>>> pages.load([0b0000, 0b0111, 2**64 - 1], ids=[10, 11, 12])
>>> pages.query([0b0001], k=2).table.to_pylist()[0]
{'query_row': 0, 'fingerprint': 0, 'distance': 1, 'id': 10}

Guaranteed: an answer is that of one store with all records, or an error that names the nodes that are missing; with
partial=True the answer names them instead. That holds while `fpring rebalance` runs, too: a node answers for the records
that the ring gives to it, and a query whose ring was replaced meanwhile is asked again.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, NamedTuple

from fpstore import errors
from fpstore._native import Ring, Store
from fpstore._native import create as _create
from fpstore._native import open as _open
from fpstore._types import Column
from fpstore.stages._arrow import pa, pc

__all__ = ["Found", "Ring", "ShardedStore", "create", "open"]

_ATTEMPTS = 5
_Stamp = tuple[int, int, int]


class Found(NamedTuple):
    """What a query has found.

    >>> pages.query([2**64 - 1]).missing
    []
    """

    table: Any
    """A table of pyarrow: `query_row`, `fingerprint`, `distance`, `id`, in the order of :meth:`fpstore.Store.query`."""
    missing: list[str]
    """Names of nodes that could not be asked, if some records are on these alone: the answer may lack matches."""


class ShardedStore:
    """A store on the nodes of a ring: :func:`create` and :func:`open` return it.

    ``nodes`` returns the store of a node, given its name and its directory: by default the directory is opened. It may
    return anything with the methods of :class:`fpstore.Store` that are used, such as a handle of an actor, and raises an
    exception where a node cannot be reached.

    >>> pages.ring.nodes
    ['a', 'b', 'c']
    """

    def __init__(self, path: str | os.PathLike[str], nodes: Callable[[str, Any], Any]) -> None:
        self._path = os.fspath(path)
        self._nodes = nodes
        self._stores: dict[str, Any] = {}
        self._stamp: _Stamp | None = None
        self._read()

    def _read(self) -> None:
        """Reads the ring again if its file was replaced, so that it is that of `_stamp`."""
        while (stamp := self._now()) != self._stamp:
            self.ring = Ring(self._path)
            if stamp == self._now():
                self._stamp = stamp

    def _now(self) -> _Stamp:
        status = os.stat(self._path)
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _store(self, node: int) -> Any:
        name, directory = self.ring.nodes[node], self.ring.directories[node]
        key = f"{name}\0{directory}"
        if key not in self._stores:
            self._stores[key] = self._nodes(name, directory)
        return self._stores[key]

    def _each(self) -> list[Any]:
        """The stores of all nodes."""
        stores: list[Any] = []
        for node, name in enumerate(self.ring.nodes):
            try:
                stores.append(self._store(node))
            except (errors.FpstoreError, OSError) as error:
                raise errors.IoError(f"node {name}: {error}", self._path) from error
        return stores

    def load(self, fingerprints: Column, *, ids: Column) -> None:
        """Loads records: each on all of its nodes. Not all or nothing: after an error, load them again, which adds what
        is missing.

        >>> pages.load([7], ids=[13])
        """
        self._read()
        stores = self._each()
        table = pa.table({"fingerprint": _array(fingerprints, stores[0].width), "id": _array(ids)})
        for node, store in enumerate(stores):
            owned = pa.array(self.ring.has(table["id"], node))
            store.load(table.filter(owned))

    def remove(self, fingerprints: Column, *, ids: Column) -> None:
        """Removes records from all nodes. As :meth:`load`.

        >>> pages.remove([7], ids=[13])
        """
        self._read()
        stores = self._each()
        table = pa.table({"fingerprint": _array(fingerprints, stores[0].width), "id": _array(ids)})
        for store in stores:
            store.load_remove(table)

    def query(self, fingerprints: Column, k: int | None = None, *, partial: bool = False) -> Found:
        """The records within distance ``k``, in bits, of each of a column of fingerprints.

        Asks as few nodes as have all records. A node that fails is left out if its replicas can answer for it;
        otherwise that is an error, an :class:`fpstore.errors.IoError` with its name, unless ``partial`` is true.

        >>> len(pages.query([0, 2**64 - 1]).table)
        3
        """
        for _ in range(_ATTEMPTS):
            self._read()
            stamp = self._stamp
            found = self._ask(fingerprints, k, partial)
            if self._now() == stamp:
                return found
        raise errors.IoError(f"{self._path}: the ring was replaced {_ATTEMPTS} times during a query", self._path)

    def _ask(self, fingerprints: Column, k: int | None, partial: bool) -> Found:
        alive = [True] * len(self.ring.nodes)
        failed: dict[str, Exception] = {}
        while True:
            asked, lost = self.ring.cover(alive)
            if lost and not partial and self._stamp == self._now():
                reasons = "; ".join(f"node {name}: {error}" for name, error in failed.items())
                message = f"{lost:.1%} of the records are on nodes that cannot be asked: {reasons}"
                raise errors.IoError(message, self._path)
            answers: list[Any] = []
            for node in (node for node, is_asked in enumerate(asked) if is_asked):
                try:
                    answers.append(self._answer(node, asked, fingerprints, k))
                except (errors.FpstoreError, OSError) as error:
                    if isinstance(error, errors.InvalidInputError):
                        raise
                    alive[node] = False
                    failed[self.ring.nodes[node]] = error
                    break
            else:
                return Found(_merged(answers), sorted(failed) if lost else [])

    def _answer(self, node: int, asked: list[bool], fingerprints: Column, k: int | None) -> Any:
        """What a node finds of the records for which it is the first one that is asked."""
        store = self._store(node)
        store.refresh()
        found = pa.table(store.query(fingerprints, k))
        first = pa.array(self.ring.first(found["id"], asked))
        return found.filter(pc.equal(first, pa.scalar(node, first.type)))

    def close(self) -> None:
        """Closes the stores of the nodes.

        >>> pages.close()
        """
        for store in self._stores.values():
            store.close()
        self._stores.clear()

    def __enter__(self) -> ShardedStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<fpstore.ring.ShardedStore {self._path}, {len(self.ring.nodes)} nodes>"


def _array(values: Column, width: int = 64) -> Any:
    """A column as an array of pyarrow."""
    if hasattr(values, "__arrow_c_array__") or hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values) if hasattr(values, "__arrow_c_stream__") else pa.array(values)
    given: list[Any] = list(values)  # pyright: ignore
    if width > 64 and given and isinstance(given[0], int):
        return pa.array([value.to_bytes(width // 8, "big") for value in given], pa.binary(width // 8))
    return pa.array(given, pa.uint64()) if given and isinstance(given[0], int) else pa.array(given)


def _merged(answers: list[Any]) -> Any:
    """The answers of all nodes in one order. A record comes from one node."""
    order = [(name, "ascending") for name in ("query_row", "distance", "fingerprint", "id")]
    return pa.concat_tables(answers).sort_by(order)


def _of_fingerprints(path: Any) -> Any:
    found = _open(path, read_only=True)
    if not isinstance(found, Store):
        raise errors.UnsupportedError(f"{path}: a key index; the nodes have stores of fingerprints", path)
    return found


def open(
    path: str | os.PathLike[str], *, read_only: bool = True, nodes: Callable[[str, Any], Any] | None = None
) -> ShardedStore:
    """Opens the sharded store of a ring file. The stores are opened when they are used.

    >>> ring.open(folder + "/ring.json").query([0], k=0).table.to_pydict()["id"]
    [10]
    """

    def opened(_: str, directory: Any) -> Any:
        return _of_fingerprints(directory) if read_only else _open(directory)

    return ShardedStore(path, nodes or opened)


def create(path: str | os.PathLike[str], **parameters: Any) -> ShardedStore:
    """Creates the store of each node of a ring file, empty, and opens them for writing. ``parameters`` are those of
    :func:`fpstore.create`.

    >>> ring.create(folder + "/ring.json")
    Traceback (most recent call last):
    ...
    fpstore.errors.AlreadyExistsError: ...
    """
    for directory in Ring(path).directories:
        _create(directory, **parameters).close()  # pyright: ignore
    return open(path, read_only=False)
