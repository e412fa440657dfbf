"""A writer: writes of one durability, and a sync at the end."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from fpstore._native import Batch, Store
    from fpstore._types import Column, Fingerprint, Id


class Writer:
    """Writes to a store, each as durable as was said: ``Store.writer``.

    With "buffered", the end of the ``with`` block syncs, so one sync makes all writes durable.

    >>> import fpstore as fp, tempfile
    >>> store = fp.create(tempfile.mkdtemp() + "/store", id_index=True)
    >>> with store.writer(durability="buffered") as writer:
    ...     writer.insert(7, 1)
    ...     writer.insert_if_new([6, 2**63], ids=[2, 3])["inserted"].to_pylist()
    [False, True]
    """

    def __init__(self, store: Store, durability: str = "sync") -> None:
        self._store = store
        self._durability = durability

    def insert(self, fingerprint: Fingerprint | Column, id: Id | Column | None = None) -> None:
        """As ``Store.insert``, with the durability of the writer.

        >>> writer.insert(5, 4)
        """
        self._store.insert(fingerprint, id, durability=self._durability)

    @overload
    def insert_if_new(  # type: ignore[overload-overlap]  # pyright: ignore[reportOverlappingOverload]
        self, fingerprint: Fingerprint, id: Id | None = None, *, ids: None = None, k: int | None = None
    ) -> bool: ...
    @overload
    def insert_if_new(
        self, fingerprint: Column, id: Column | None = None, *, ids: Column | None = None, k: int | None = None
    ) -> Batch: ...
    def insert_if_new(
        self, fingerprint: object, id: object = None, *, ids: object = None, k: int | None = None
    ) -> bool | Batch:
        """As ``Store.insert_if_new``, with the durability of the writer.

        >>> writer.insert_if_new(7, 4, k=0)
        False
        """
        insert: Any = self._store.insert_if_new
        return insert(fingerprint, id, ids=ids, k=k, durability=self._durability)

    def remove(self, fingerprint: Fingerprint | Column, id: Id | Column | None = None) -> int:
        """As ``Store.remove``, with the durability of the writer.

        >>> writer.remove(7, 1)
        1
        """
        return self._store.remove(fingerprint, id, durability=self._durability)

    def remove_id(self, id: Id) -> int:
        """As ``Store.remove_id``, with the durability of the writer. The store needs an id index.

        >>> writer.remove_id(1)
        1
        """
        return self._store.remove_id(id, durability=self._durability)

    def replace(self, fingerprint: Fingerprint, id: Id) -> int:
        """As ``Store.replace``, with the durability of the writer. The store needs an id index.

        >>> writer.replace(15, 1), store.get_id(1)
        (1, [15])
        """
        return self._store.replace(fingerprint, id, durability=self._durability)

    def __repr__(self) -> str:
        return f"<fpstore.Writer {self._store.path}: durability={self._durability}>"

    def __enter__(self) -> Writer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._store.sync("sync-all" if self._durability == "sync-all" else "sync")
