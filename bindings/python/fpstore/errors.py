"""Exceptions: one for each kind of error, all of them :class:`FpstoreError`.

The text names the file, the offset or the row, and says what to do. Programs branch on the class.
"""

from __future__ import annotations

import os


class FpstoreError(Exception):
    """An error of fpstore: its text, the file or directory concerned, and the byte in it, where they are known."""

    def __init__(self, message: str, path: str | os.PathLike[str] | None = None, offset: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.offset = offset


class NotFoundError(FpstoreError, FileNotFoundError):
    """There is nothing at the path."""


class AlreadyExistsError(FpstoreError, FileExistsError):
    """There is a store or something else where one was to be created."""


class DamagedError(FpstoreError):
    """Bytes on disk are not the written ones."""


class UnsupportedError(FpstoreError):
    """This version cannot read the file, or this store does not support the request."""


class InvalidInputError(FpstoreError, ValueError):
    """An argument or a record is refused."""


class LockedError(FpstoreError):
    """Another process has the store open for writing."""


class ReadOnlyError(FpstoreError):
    """The store was opened for reading alone."""


class PoisonedError(FpstoreError):
    """An earlier write failed and left the state on disk unknown: open the store again."""


class StoppedError(FpstoreError):
    """The work was stopped."""


class IoError(FpstoreError, OSError):
    """The operating system refused."""
