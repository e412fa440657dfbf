"""Parquet files of results: their pages have checksums, and what is damaged is named."""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Generator
from typing import Any

from fpstore._arrow import pa, pq
from fpstore.errors import DamagedError
from fpstore.stages._places import AGAIN


def writer(path: pathlib.Path, schema: Any, **how: Any) -> Any:
    """A writer of a new file."""
    return pq.ParquetWriter(path, schema, compression="zstd", write_page_checksum=True, **how)


def write(path: pathlib.Path, table: Any) -> None:
    """Writes a table to a new file."""
    with writer(path, table.schema) as out:
        out.write_table(table)


@contextlib.contextmanager
def named(path: pathlib.Path) -> Generator[None]:
    """Gives errors that a damaged file causes its name and a remedy."""
    try:
        yield
    except MemoryError:
        raise
    except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
        if getattr(error, "errno", None) is not None:
            # The system refused, which says nothing of the file.
            raise
        raise DamagedError(f"{path}: {error}; {AGAIN}", path) from error


@contextlib.contextmanager
def opened(path: pathlib.Path, metadata: Any = None) -> Generator[Any]:
    """A file for reading, with its metadata if these are known."""
    with named(path), pq.ParquetFile(path, metadata=metadata, page_checksum_verification=True) as file:
        yield file


def read(path: pathlib.Path) -> Any:
    """The table of a file."""
    with opened(path) as file:
        return file.read()


def rows(path: pathlib.Path) -> int:
    """The number of rows of a file."""
    with opened(path) as file:
        return file.metadata.num_rows
