"""Exceptions: one for each kind of error, all of them :class:`FpstoreError`.

The text names the file, the offset or the row, and says what to do. Programs branch on the class, and find the place in
the attributes ``path``, ``offset`` and ``row``, which are None where they are not known.

>>> import fpstore as fp
>>> try:
...     fp.open("/no/such/store")
... except fp.errors.NotFoundError as error:
...     print(error.path.name)
store
"""

from __future__ import annotations

import os


class FpstoreError(Exception):
    """An error of fpstore.

    Attributes
    ----------
    path : the file or directory concerned
    offset : the byte in the file
    row : the row of the whole input, counted from 0

    >>> import fpstore as fp, tempfile
    >>> store = fp.create(tempfile.mkdtemp() + "/store", ids="text")
    >>> try:
    ...     store.load([1, 2], ids=["a", None])
    ... except fp.FpstoreError as error:
    ...     print(error, error.row, error.path, sep=" | ")
    row 1: the id is null | 1 | None
    """

    def __init__(
        self,
        message: str,
        path: str | os.PathLike[str] | None = None,
        offset: int | None = None,
        row: int | None = None,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.offset = offset
        self.row = row


class NotFoundError(FpstoreError, FileNotFoundError):
    """There is nothing at the path.

    >>> import fpstore as fp
    >>> fp.open("/no/such/store")
    Traceback (most recent call last):
    ...
    fpstore.errors.NotFoundError: ...store...
    """


class AlreadyExistsError(FpstoreError, FileExistsError):
    """There is a store or something else where one was to be created.

    >>> import fpstore as fp, tempfile
    >>> store = fp.create(tempfile.mkdtemp() + "/store")
    >>> fp.create(store.path)
    Traceback (most recent call last):
    ...
    fpstore.errors.AlreadyExistsError: ...
    """


class DamagedError(FpstoreError):
    """Bytes on disk are not the written ones; `path` and `offset` say where.

    >>> import fpstore as fp, pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp(), "store")
    >>> fp.create(path).close()
    >>> _ = (path / "MANIFEST").write_bytes(b"something else")
    >>> fp.open(path)
    Traceback (most recent call last):
    ...
    fpstore.errors.DamagedError: ...MANIFEST: ...
    """


class UnsupportedError(FpstoreError):
    """This version cannot read the file, or this store does not support the request.

    >>> import fpstore as fp, tempfile
    >>> store = fp.create(tempfile.mkdtemp() + "/store", id_index=False)
    >>> store.get_id(7)
    Traceback (most recent call last):
    ...
    fpstore.errors.UnsupportedError: ...
    """


class InvalidInputError(FpstoreError, ValueError):
    """An argument or a record is refused; of a record, `row` says which.

    >>> import fpstore as fp, tempfile
    >>> store = fp.create(tempfile.mkdtemp() + "/store")
    >>> store.query(7, k=99)
    Traceback (most recent call last):
    ...
    fpstore.errors.InvalidInputError: ...
    """


class LockedError(FpstoreError):
    """Another process, or another object of this one, has the store open for writing.

    >>> import fpstore as fp, tempfile
    >>> store = fp.create(tempfile.mkdtemp() + "/store")
    >>> fp.open(store.path)
    Traceback (most recent call last):
    ...
    fpstore.errors.LockedError: ...
    """


class ReadOnlyError(FpstoreError):
    """The store was opened for reading alone.

    >>> import fpstore as fp, tempfile
    >>> store = fp.create(tempfile.mkdtemp() + "/store")
    >>> fp.open(store.path, read_only=True).insert(7, 1)
    Traceback (most recent call last):
    ...
    fpstore.errors.ReadOnlyError: ...
    """


class PoisonedError(FpstoreError):
    """An earlier write failed and left the state on disk unknown: later writes are refused until the store is opened
    again.

    >>> import fpstore as fp, tempfile
    >>> def insert(store, fingerprint, id):
    ...     try:
    ...         store.insert(fingerprint, id)
    ...     except fp.errors.PoisonedError:
    ...         store.close()
    ...         store = fp.open(store.path)
    ...         store.insert(fingerprint, id)
    ...     return store
    >>> len(insert(fp.create(tempfile.mkdtemp() + "/store"), 7, 1))
    1
    """


class StoppedError(FpstoreError):
    """The work was asked to stop, as of answers that another library reads when Ctrl-C comes. A call that Ctrl-C ends
    raises KeyboardInterrupt.

    >>> import fpstore as fp
    >>> issubclass(fp.errors.StoppedError, fp.FpstoreError)
    True
    """


class IoError(FpstoreError, OSError):
    """The operating system refused.

    >>> import fpstore as fp, tempfile
    >>> fp.create(tempfile.mkdtemp() + "/" + 300 * "name")
    Traceback (most recent call last):
    ...
    fpstore.errors.IoError: ...
    """
