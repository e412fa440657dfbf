# pyright: basic, reportMissingImports=false
"""An index of PDQ hashes for py-tx (``threatexchange``) and HMA, in the place of its FAISS index.

>>> from fpstore.threatexchange import PDQIndex
>>> index = PDQIndex.build([("0f" * 32, {"case": 7}), ("f0" * 32, {"case": 8})])
>>> [match.metadata for match in index.query("0f" * 31 + "0e")]
[{'case': 7}]

It answers exactly, takes additions without a rebuild, and keeps its hashes compressed on disk, in a temporary
directory. :meth:`PDQIndex.save` and :meth:`PDQIndex.open` share a directory among any number of workers: its files are
mapped, so all of them use the same memory.

A signal type of py-tx names its index, and so does one for HMA's ``SIGNAL_TYPES``::

    class Pdq(threatexchange.signal_type.pdq.PdqSignal):
        @classmethod
        def get_index_cls(cls):
            return PDQIndex
"""

from __future__ import annotations

import binascii
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

from threatexchange.signal_type.index import (
    IndexMatchUntyped,
    SignalSimilarityInfoWithSingleDistance,
    SignalTypeIndex,
)

from fpstore._entries import SavedEntries, write_entries
from fpstore._native import Store, create, open as open_store
from fpstore.errors import ReadOnlyError

_T = TypeVar("_T")
_WIDTH = 256
_THRESHOLD = 31
"""Distance within which PDQ counts a match as confident."""
_CHUNK = 1 << 16
_FEW = 1 << 10
"""So many hashes are written to the log; more of them become a segment."""


@contextmanager
def _directory(parent: str | None = None) -> Generator[str, None, None]:
    """A new temporary directory, which is removed if the block fails."""
    made = tempfile.mkdtemp(prefix="fpstore-pdq-", dir=parent)
    try:
        yield made
    except BaseException:
        shutil.rmtree(made, ignore_errors=True)
        raise


def _remove(directory: str, process: int) -> None:
    # A process that was forked shares the directory of its parent.
    if os.getpid() == process:
        shutil.rmtree(directory, ignore_errors=True)


def _packed(hashes: Sequence[str]) -> bytes:
    """The bytes of hashes, one after the other."""
    if set(map(len, hashes)) != {_WIDTH // 4}:
        raise ValueError("a PDQ hash has 64 hexadecimal digits")
    return binascii.unhexlify("".join(hashes))


class PDQIndex(SignalTypeIndex[_T]):
    """A ``SignalTypeIndex`` of PDQ hashes (64 hexadecimal digits) with any metadata.

    ``threshold`` is the distance in bits within which a query finds entries, ``tmp_dir`` where the temporary directory
    is made. Threads may query and add at the same time. A forked process has the entries of that moment, for reading.

    >>> from fpstore.threatexchange import PDQIndex
    >>> index = PDQIndex([("0f" * 32, "a"), ("f0" * 32, "b")], threshold=31)
    >>> len(index)
    2
    """

    def __init__(
        self, entries: Iterable[tuple[str, Any]] = (), *, threshold: int = _THRESHOLD, tmp_dir: str | None = None
    ) -> None:
        with _directory(tmp_dir) as directory:
            store = create(os.path.join(directory, "store"), width=_WIDTH, max_distance=threshold)
            self._begin(store, [], directory)
        self.add_all(entries)

    def _begin(self, store: Store, entries: list[Any] | SavedEntries, directory: str | None) -> None:
        """Sets the fields; `directory` is removed in the end."""
        self.threshold = store.max_distance
        self._store, self._path = store, store.path
        # The metadata of a hash is at the place that is its id in the store.
        self._entries = entries
        self._adding = threading.Lock()
        self._process = os.getpid()
        self._directory = directory
        if directory is not None:
            self._removed = weakref.finalize(self, _remove, directory, self._process)

    def _opened(self) -> Store:
        """The store, which a forked process has to open again."""
        if os.getpid() != self._process:
            self._store = cast(Store, open_store(self._path, read_only=True))
            self._adding = threading.Lock()
            self._process = os.getpid()
        return self._store

    def __len__(self) -> int:
        return len(self._opened())

    def query(self, query: str) -> Sequence[Any]:
        """The entries within the threshold, nearest first: matches with ``similarity_info`` and ``metadata``.

        >>> (match,) = index.query("0f" * 31 + "0e")
        >>> match.metadata, match.similarity_info.distance
        ('a', 1)
        """
        info, match, entries = SignalSimilarityInfoWithSingleDistance, IndexMatchUntyped, self._entries
        found = self._opened().query(query, self.threshold)
        # The parent of a forked process may have added hashes since, whose entries are not here.
        known = len(entries)
        return [match(info(one.distance), entries[one.id]) for one in found if one.id < known]

    def add(self, signal_str: str, entry: Any) -> None:
        """Adds an entry; those of the same hash stay.

        >>> index.add("0f" * 32, "c")
        >>> [match.metadata for match in index.query("0f" * 32)]
        ['a', 'c']
        """
        self.add_all([(signal_str, entry)])

    def add_all(self, entries: Iterable[tuple[str, Any]]) -> None:
        """Adds entries, all of them or, if one is refused, none.

        >>> index.add_all([("00" * 32, "d"), ("ff" * 32, "e")])
        >>> len(index)
        4
        """
        hashes, values = bytearray(), []
        rest = iter(entries)
        while some := list(islice(rest, _CHUNK)):
            hashes += _packed([hash for hash, _ in some])
            values += [entry for _, entry in some]
        store = self._opened()
        if store.read_only or isinstance(self._entries, SavedEntries):
            raise ReadOnlyError("an index that was saved, or made by a parent process, can only be read", self._path)
        if not values:
            return
        rows = memoryview(hashes).cast("B", (len(values), _WIDTH // 8))
        with self._adding:
            first = len(self._entries)
            # Before the hashes: a query of another thread finds an entry for each of them. If the store fails, the
            # entries stay, so no other hash gets their ids.
            self._entries += values
            ids = range(first, len(self._entries))
            if len(values) == 1:
                store.insert(bytes(hashes), first, durability="buffered")
            elif len(values) <= _FEW:
                store.insert(rows, ids, durability="buffered")
            else:
                store.load(rows, ids=ids)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the index to a new directory, for :meth:`open`. Each entry is pickled.

        >>> import tempfile
        >>> index.save(tempfile.mkdtemp() + "/index")
        """
        os.makedirs(path)
        store = self._opened()
        with self._adding:
            store.backup(os.path.join(path, "store"))
            write_entries(os.path.join(path, "entries"), self._entries)

    @classmethod
    def open(cls, path: str | os.PathLike[str], **options: Any) -> PDQIndex:
        """Opens a saved index for reading. Workers on one machine share its memory.

        Options are those of :func:`fpstore.open`: ``filters="off"`` saves the 15 bytes a hash that each worker has for
        itself, and makes queries slower.

        >>> import tempfile
        >>> index.save(path := tempfile.mkdtemp() + "/index")
        >>> [match.metadata for match in PDQIndex.open(path).query("0f" * 32)]
        ['a']
        """
        index = cls.__new__(cls)
        store = cast(Store, open_store(os.path.join(path, "store"), read_only=True, **options))
        index._begin(store, SavedEntries(os.path.join(path, "entries")), None)
        return index

    def dispose(self) -> None:
        """Closes the store, and removes its directory if that is a temporary one.

        >>> index.dispose()
        """
        self._store.close()
        if self._directory is not None:
            self._removed()

    def __reduce__(self) -> tuple[Any, ...]:
        """The files of the store and the entries, for ``serialize``."""
        store = self._opened()
        with tempfile.TemporaryDirectory(prefix="backup-", dir=self._directory) as directory, self._adding:
            copy = Path(directory, "store")
            store.backup(copy, hard_links=True)
            return _restored, (type(self), {file.name: file.read_bytes() for file in copy.iterdir()}, [*self._entries])


def _restored(cls: type[PDQIndex], files: dict[str, bytes], entries: list[Any]) -> PDQIndex:
    """An index from what ``serialize`` wrote."""
    index = cls.__new__(cls)
    with _directory() as directory:
        path = os.path.join(directory, "store")
        os.mkdir(path)
        for name, content in files.items():
            Path(path, name).write_bytes(content)
        index._begin(cast(Store, open_store(path)), entries, directory)
    return index
