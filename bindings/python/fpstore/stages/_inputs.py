"""Shares of the input: files, or row groups of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from fpstore.errors import InvalidInputError
from fpstore.stages._arrow import pa, pq

Piece = tuple[str, "list[int] | None"]
"""A file, and the numbers of its row groups; None: all of them."""


def _opened(file: str) -> Any:
    try:
        return pq.ParquetFile(file)
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{file}: {error}; expected a Parquet file", file) from None


def schema(files: Sequence[str]) -> Any:
    """The columns of the first file, which are those of all."""
    return _opened(files[0]).schema_arrow


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


def batches(pieces: Sequence[Piece], columns: list[str] | None, expected: Any) -> Iterator[Any]:
    """Record batches of these columns. Every file has the columns of the first one, with the same types."""
    for file, groups in pieces:
        opened = _opened(file)
        names = columns or expected.names
        for name in names:
            field, first = opened.schema_arrow, expected.field(name)
            if name not in field.names:
                raise InvalidInputError(f"{file}: there is no column {name!r}, which the first file has")
            if field.field(name).type != first.type:
                found = field.field(name).type
                raise InvalidInputError(f"{file}: the column {name!r} is {found}, and {first.type} in the first file")
        yield from opened.iter_batches(row_groups=groups, columns=names, batch_size=1 << 16)

