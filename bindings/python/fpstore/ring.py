"""A store on many nodes: records are placed on a consistent-hash ring by their ids. It needs pyarrow.

`fpring create ring.json a b c --replicas 2` makes the ring, `fpring rebalance` moves records when it changes. The
nodes' stores are directories beside the ring file, or wherever it says.

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
partial=True the answer names them instead. That holds while `fpring rebalance` runs, too: a node answers for the
records that the ring gives to it, and a query whose ring was replaced meanwhile is asked again. Records are loaded and
removed while no rebalance runs. After an error of either, repeat it before anything else: until then a record may be on
some of its nodes only. On a network file system this needs what NFS calls close-to-open consistency.
"""

from __future__ import annotations

import builtins
import contextlib
import os
import pathlib
import random
import shutil
import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from fpstore import errors
from fpstore._arrow import pa, pc
from fpstore._native import Ring, RingLock
from fpstore._native import create as _create
from fpstore._native import open as _open
from fpstore._queries import opened
from fpstore._types import Column

__all__ = ["Found", "Ring", "RingLock", "ShardedStore", "create", "open"]

_ATTEMPTS = 5
_Stamp = tuple[int, int, int]
_Nodes = Callable[[str, pathlib.Path, bool], Any]


class Found(NamedTuple):
    """The answer to a query.

    >>> pages.query([2**64 - 1]).missing
    []
    """

    table: Any
    """A table of pyarrow: `query_row`, `fingerprint`, `distance`, `id`, in the order of :meth:`fpstore.Store.query`."""
    missing: list[str]
    """Names of nodes that could not be asked, if some records are on these alone: the answer may lack matches."""


class _View:
    """A ring as it was in its file, and the nodes that readers of it ask."""

    def __init__(self, path: str, stamp: _Stamp) -> None:
        self.ring = Ring(path)
        self.stamp = stamp
        self.nodes = list(zip(self.ring.nodes, self.ring.directories))
        self._covers: dict[tuple[bool, ...], tuple[list[bool], float]] = {}

    def cover(self, alive: list[bool], begin: int) -> tuple[list[bool], float]:
        key = tuple(alive)
        if key not in self._covers:
            self._covers[key] = self.ring.cover(alive, begin)
        return self._covers[key]


class ShardedStore:
    """A store on the nodes of a ring: :func:`create` and :func:`open` return it. Any number of threads may use it.

    ``nodes`` returns the store of a node, given its name, its directory, and whether it is to be read only: by default
    the directory is opened. It may return any object with the members of :class:`fpstore.Store` that are used: `width`,
    `max_distance`, `query`, `refresh`, `load`, `load_remove` and `close`. Where a node cannot be reached, ``nodes`` and
    these raise an OSError, such as ConnectionError, or an FpstoreError.

    >>> pages.ring.nodes
    ['a', 'b', 'c']
    """

    def __init__(self, path: str | os.PathLike[str], nodes: _Nodes) -> None:
        self._path = os.fspath(path)
        self._nodes = nodes
        self._mutex = threading.Lock()
        # The stores of the present nodes, open for reading.
        self._stores: dict[tuple[str, pathlib.Path], Any] = {}
        self._begin = random.randrange(2**16)
        self._last: _View | None = None
        self._view()

    @property
    def ring(self) -> Ring:
        """The ring, as it is in the file now.

        >>> pages.ring.replicas
        2
        """
        return self._view().ring

    def _view(self) -> _View:
        """Reads the ring again if its file was replaced. Stores of nodes that have left are closed by their last
        users."""
        while (last := self._last) is None or last.stamp != self._now():
            view = _View(self._path, self._now())
            with self._mutex:
                self._last = view
                self._stores = {node: store for node, store in self._stores.items() if node in view.nodes}
        return last

    def _now(self) -> _Stamp:
        try:
            # Opening a file, unlike looking at it, asks the server of a network file system.
            with builtins.open(self._path, "rb") as file:
                status = os.fstat(file.fileno())
        except FileNotFoundError:
            raise errors.NotFoundError(f"{self._path}: there is no ring file here", self._path) from None
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _reader(self, view: _View, node: int) -> Any:
        """The store of a node in its latest state."""
        key = view.nodes[node]
        store = self._stores.get(key)
        if store is None:
            store = self._nodes(*key, True)
            with self._mutex:
                store = self._stores.setdefault(key, store)
        store.refresh()
        return store

    def _change(self, fingerprints: Column, ids: Column, change: Callable[[_View, int, Any, Any], object]) -> None:
        """Calls ``change`` with each node, its store, and the records as a table, while the ring stays as it is."""
        with Ring(self._path).lock():
            view = self._view()
            stores: list[Any] = []
            try:
                for name, directory in view.nodes:
                    try:
                        stores.append(self._nodes(name, directory, False))
                    except (errors.FpstoreError, OSError) as error:
                        raise errors.IoError(f"node {name}: {error}", self._path) from error
                values, names = _array(fingerprints, stores[0].width), _array(ids)
                if len(values) != len(names):
                    raise errors.InvalidInputError(f"there are {len(values)} fingerprints and {len(names)} ids")
                table = pa.table({"fingerprint": values, "id": names})
                for node, store in enumerate(stores):
                    change(view, node, store, table)
            finally:
                for store in stores:
                    store.close()

    def load(self, fingerprints: Column, *, ids: Column) -> None:
        """Loads records: each on all of its nodes. Not all or nothing: after an error, load them again, which adds what
        is missing. Raises LockedError while another program changes records, or after a rebalance was interrupted.

        >>> pages.load([7], ids=[13])
        """

        def load(view: _View, node: int, store: Any, table: Any) -> None:
            store.load(table.filter(pa.array(view.ring.has(table["id"], node))))

        self._change(fingerprints, ids, load)

    def remove(self, fingerprints: Column, *, ids: Column) -> None:
        """Removes records from all nodes. As :meth:`load`.

        >>> pages.remove([7], ids=[13])
        """
        self._change(fingerprints, ids, lambda _view, _node, store, table: store.load_remove(table))

    def query(self, fingerprints: Column, k: int | None = None, *, partial: bool = False) -> Found:
        """The records within distance ``k``, in bits, of each of a column of fingerprints; without it, the distance for
        which the stores are made.

        Asks as few nodes as have all records. A node that fails is left out if its replicas can answer for it;
        otherwise that is an error, an :class:`fpstore.errors.IoError` with its name, unless ``partial`` is true.

        >>> len(pages.query([0, 2**64 - 1]).table)
        3
        """
        fingerprints = _repeatable(fingerprints)
        for _ in range(_ATTEMPTS):
            view = self._view()
            try:
                found = self._ask(view, fingerprints, k, partial)
            except errors.IoError:
                # The nodes may have left the ring.
                if self._now() == view.stamp:
                    raise
                continue
            if self._now() == view.stamp:
                return found
        raise errors.IoError(f"{self._path}: the ring was replaced {_ATTEMPTS} times during a query", self._path)

    def _ask(self, view: _View, fingerprints: Column, k: int | None, partial: bool) -> Found:
        alive = [True] * len(view.nodes)
        failed: dict[str, Exception] = {}
        while True:
            asked, lost = view.cover(alive, self._begin)
            if lost and (not partial or not any(asked)):
                reasons = "; ".join(f"node {name}: {error}" for name, error in sorted(failed.items()))
                message = f"{lost:.1%} of the records are on nodes that cannot be asked: {reasons}"
                raise errors.IoError(message, self._path)
            answers: list[Any] = []
            for node in (node for node, is_asked in enumerate(asked) if is_asked):
                try:
                    store = self._reader(view, node)
                    k = store.max_distance if k is None else k
                    found = pa.table(store.query(fingerprints, k))
                except errors.InvalidInputError:
                    raise
                except (errors.FpstoreError, OSError) as error:
                    self._stores.pop(view.nodes[node], None)
                    alive[node] = False
                    failed[view.nodes[node][0]] = error
                    break
                # A node answers for the records of which it is the first node that is asked.
                first = pa.array(view.ring.first(found["id"], asked))
                answers.append(found.filter(pc.equal(first, pa.scalar(node, first.type))))
            else:
                return Found(_merged(answers), sorted(failed) if lost else [])

    def close(self) -> None:
        """Closes the stores of the nodes. Call it after all queries have ended. A later query opens them again.

        >>> pages.close()
        """
        with self._mutex:
            stores, self._stores = self._stores, {}
        for store in stores.values():
            store.close()

    def __enter__(self) -> ShardedStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<fpstore.ring.ShardedStore {self._path}>"


def _repeatable(values: Column) -> Column:
    """Values that several nodes can be asked for: a stream and an iterator are gone after the first one."""
    if hasattr(values, "__len__") or hasattr(values, "__arrow_c_array__"):
        return values
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    return list(values) if hasattr(values, "__iter__") else values  # pyright: ignore


def _array(values: Column, width: int = 64) -> Any:
    """A column as an array of pyarrow."""
    if hasattr(values, "__arrow_c_stream__"):
        return pa.chunked_array(values)
    if hasattr(values, "__arrow_c_array__"):
        return pa.array(values)
    given: list[Any] = list(values)  # pyright: ignore
    if not any(isinstance(value, int) for value in given):
        return pa.array(given)
    try:
        if width > 64:
            return pa.array([value.to_bytes(width // 8, "big") for value in given], pa.binary(width // 8))
        return pa.array(given, pa.uint64())
    except (OverflowError, AttributeError, TypeError, ValueError) as error:
        raise errors.InvalidInputError(f"not all values are numbers of {width} bits without a sign: {error}") from None


def _merged(answers: list[Any]) -> Any:
    """The answers of all nodes in one order. A record comes from one node."""
    order = [(name, "ascending") for name in ("query_row", "distance", "fingerprint", "id")]
    return pa.concat_tables(answers).sort_by(order)


def _opened(_: str, directory: pathlib.Path, read_only: bool) -> Any:
    return opened(directory) if read_only else _open(directory)


def open(path: str | os.PathLike[str], *, nodes: _Nodes | None = None) -> ShardedStore:
    """Opens the sharded store of a ring file; ``nodes`` as of :class:`ShardedStore`. Stores of nodes are opened for
    reading when a query asks them, and for writing while records are loaded or removed.

    >>> ring.open(folder + "/ring.json").query([0], k=0).table.to_pydict()["id"]
    [10]
    """
    return ShardedStore(path, nodes or _opened)


def create(path: str | os.PathLike[str], **parameters: Any) -> ShardedStore:
    """Creates the store of each node of a ring file, empty, and opens the sharded store. ``parameters`` are those of
    :func:`fpstore.create`.

    >>> ring.create(folder + "/ring.json")
    Traceback (most recent call last):
    ...
    fpstore.errors.AlreadyExistsError: ...
    """
    if parameters.get("kind", "fingerprints") != "fingerprints":
        raise errors.InvalidInputError(f"kind={parameters['kind']!r}: a sharded store has fingerprints")
    if parameters.get("ids") == "none":
        raise errors.InvalidInputError("ids='none': the id of a record says which nodes have it")
    directories = Ring(path).directories
    for directory in filter(pathlib.Path.exists, directories):
        remedy = "remove it, or give the node another directory"
        raise errors.AlreadyExistsError(f"{directory}: there is something already; {remedy}", directory)
    with contextlib.ExitStack() as made:
        for directory in directories:
            _create(directory, **parameters).close()  # pyright: ignore
            # None of them stays if another one cannot be made.
            made.callback(shutil.rmtree, directory, ignore_errors=True)
        made.pop_all()
    return open(path)
