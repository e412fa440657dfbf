# pyright: basic, reportMissingImports=false
"""An index of PDQ hashes for py-tx (``threatexchange``) and HMA, in the place of its FAISS index.

>>> from fpstore.threatexchange import PDQIndex                          # doctest: +SKIP
>>> index = PDQIndex.build([("0f" * 32, {"case": 7}), ("f0" * 32, {"case": 8})])   # doctest: +SKIP
>>> [match.metadata for match in index.query("0f" * 31 + "0e")]          # doctest: +SKIP
[{'case': 7}]

It answers exactly, takes additions without a rebuild, and keeps its hashes compressed on disk. Without a path they are in
a temporary directory. :meth:`PDQIndex.save` and :meth:`PDQIndex.open` share one directory among any number of workers:
its files are mapped, so all of them use the same memory.
"""

from __future__ import annotations

import os
import pickle
import shutil
import tempfile
import weakref
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, TypeVar, cast

from threatexchange.signal_type.index import (
    IndexMatchUntyped,
    SignalSimilarityInfoWithIntDistance,
    SignalTypeIndex,
)

from fpstore._native import Store, create, open as open_store

T = TypeVar("T")
_WIDTH = 256
_THRESHOLD = 31
"""Distance within which PDQ counts a match as confident."""
_CHUNK = 1 << 16
_FEW = 64
"""So many hashes are written one by one; more of them become a segment."""


def _remove(directory: str, process: int) -> None:
    # A process that was forked shares the directory of its parent.
    if os.getpid() == process:
        shutil.rmtree(directory, ignore_errors=True)


class PDQIndex(SignalTypeIndex):
    """A ``SignalTypeIndex`` of PDQ hashes (64 hexadecimal digits) with any metadata."""

    def __init__(
        self, entries: Iterable[tuple[str, Any]] = (), *, threshold: int = _THRESHOLD, tmp_dir: str | None = None
    ) -> None:
        self.threshold = threshold
        directory = tempfile.mkdtemp(prefix="fpstore-pdq-", dir=tmp_dir)
        self._removed = weakref.finalize(self, _remove, directory, os.getpid())
        self._store = create(os.path.join(directory, "store"), width=_WIDTH, max_distance=threshold)
        self._entries: list[Any] = []
        self.add_all(entries)

    def __len__(self) -> int:
        return len(self._entries)

    def query(self, query: str) -> Sequence[Any]:
        """The entries within the threshold, nearest first."""
        info, match = SignalSimilarityInfoWithIntDistance, IndexMatchUntyped
        entries = self._entries
        found = self._store.query(query, self.threshold)
        return [match(info(one.distance), entries[one.id]) for one in found]

    def add(self, signal_str: str, entry: Any) -> None:
        """Adds an entry; those of the same hash stay."""
        self.add_all([(signal_str, entry)])

    def add_all(self, entries: Iterable[tuple[str, Any]]) -> None:
        """Adds entries, many at a time."""
        rest = iter(entries)
        while some := list(islice(rest, _CHUNK)):
            hashes = [bytes.fromhex(hash) for hash, _ in some]
            if any(len(one) != _WIDTH // 8 for one in hashes):
                raise ValueError("a PDQ hash has 64 hexadecimal digits")
            first = len(self._entries)
            ids = range(first, first + len(some))
            # Before the hashes: a query of another thread finds an entry for each of them.
            self._entries += [entry for _, entry in some]
            if len(some) <= _FEW:
                self._store.insert(hashes, ids, durability="buffered")
            else:
                self._store.load(hashes, ids=ids)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index to a new directory, for :meth:`open`."""
        os.makedirs(path)
        self._store.backup(os.path.join(path, "store"))
        with open(os.path.join(path, "entries"), "wb") as file:
            pickle.dump((self.threshold, self._entries), file, protocol=pickle.HIGHEST_PROTOCOL)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> PDQIndex:
        """Opens a saved index for reading. Workers on one machine share its memory."""
        index = cls.__new__(cls)
        with open(os.path.join(path, "entries"), "rb") as file:
            index.threshold, index._entries = pickle.load(file)
        index._store = cast(Store, open_store(os.path.join(path, "store"), read_only=True))
        return index

    def dispose(self) -> None:
        """Closes the store, and removes its directory if that is a temporary one."""
        self._store.close()
        if hasattr(self, "_removed"):
            self._removed()

    def __getstate__(self) -> tuple[int, list[bytes], list[Any]]:
        hashes = [b""] * len(self._entries)
        for batch in self._store.records():
            for hash, id in zip(batch["fingerprint"].to_pylist(), batch["id"].to_pylist()):
                hashes[id] = hash
        return self.threshold, hashes, self._entries

    def __setstate__(self, state: tuple[int, list[bytes], list[Any]]) -> None:
        threshold, hashes, entries = state
        self.__init__(threshold=threshold)
        self._store.load(hashes, ids=range(len(hashes)))
        self._entries = entries
