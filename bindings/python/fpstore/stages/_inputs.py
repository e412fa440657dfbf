"""Shares of the input: files, or row groups of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fpstore._arrow import pa, pq
from fpstore.errors import InvalidInputError

BATCH = 32 << 20
"""Bytes of rows that are read at once."""
BLOCK = 64 << 20
"""Bytes of keys and ids that are sorted, or looked for, at once. Sorting takes some five times as much."""
Piece = tuple[str, "list[int] | None"]
"""A file, and the numbers of its row groups; None: all of them."""


def _opened(file: str) -> Any:
    try:
        # Timestamps of 96 bits go further than nanoseconds in 64.
        return pq.ParquetFile(file, coerce_int96_timestamp_unit="us", page_checksum_verification=True)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{file}: {error}; expected a Parquet file", file) from None


def schema(files: Sequence[str]) -> Any:
    """The columns of the first file, which are those of all. Each may have nulls, as it may in other files."""
    return pa.schema([field.with_nullable(True) for field in _opened(files[0]).schema_arrow])


def check_same(files: Sequence[str]) -> int:
    """Refuses files with other columns than the first one, or with other types. Returns the number of rows."""
    expected, rows = schema(files), 0
    for file in files:
        opened = _opened(file)
        rows += opened.metadata.num_rows
        found = opened.schema_arrow
        _check_columns(file, found, expected)
        if extra := set(found.names) - set(expected.names):
            raise InvalidInputError(f"{file}: the column {min(extra)!r} is not in the first file, {files[0]}", file)
    return rows


def are_same(files: Sequence[str]) -> bool:
    """Whether files are of Parquet and have the same columns."""
    try:
        check_same(files)
    except (InvalidInputError, pa.ArrowException):
        return False
    return True


def _check_columns(file: str, found: Any, expected: Any) -> None:
    for field in expected:
        if field.name not in found.names:
            raise InvalidInputError(f"{file}: there is no column {field.name!r}, which the first file has", file)
        if (type := found.field(field.name).type) != field.type:
            message = f"{file}: the column {field.name!r} is {type}, and {field.type} in the first file"
            raise InvalidInputError(message, file)


def is_text(type: Any) -> bool:
    """Whether values of a type are texts."""
    types = pa.types
    if types.is_dictionary(type):
        return is_text(type.value_type)
    return types.is_string(type) or types.is_large_string(type)


def share(files: Sequence[str], task: int, tasks: int) -> list[Piece]:
    """The pieces of a task. Every row belongs to one task. Files are not cut if there are enough of them."""

    def of(count: int) -> range:
        return range(task * count // tasks, (task + 1) * count // tasks)

    if len(files) >= tasks:
        return [(files[number], None) for number in of(len(files))]
    groups = [(file, group) for file in files for group in range(_opened(file).num_row_groups)]
    return [(file, [group]) for file, group in (groups[number] for number in of(len(groups)))]


def batches(pieces: Sequence[Piece], columns: list[str], expected: Any) -> Iterator[Any]:
    """Record batches of these columns, of some bytes each, with the types of the first file."""
    wanted = pa.schema([expected.field(name) for name in columns])
    for file, groups in pieces:
        opened = _opened(file)
        _check_columns(file, opened.schema_arrow, wanted)
        rows, metadata = 1 << 16, opened.metadata
        for group in range(metadata.num_row_groups) if groups is None else groups:
            of_group = metadata.row_group(group)
            each = max(1, of_group.total_byte_size // max(1, of_group.num_rows))
            rows = min(rows, max(1, BATCH // each))
        for batch in opened.iter_batches(row_groups=groups, columns=columns, batch_size=rows):
            yield pa.record_batch([batch[name] for name in columns], schema=wanted)


def blocks(batches: Iterator[Any], least: int = 0) -> Iterator[Any]:
    """Tables of some `BLOCK` bytes, or ``least`` ones."""
    found: list[Any] = []
    size = 0
    for batch in batches:
        found.append(batch)
        size += batch.nbytes
        if size >= max(BLOCK, least):
            yield pa.Table.from_batches(found)
            found, size = [], 0
    if found:
        yield pa.Table.from_batches(found)
