"""Rows that tasks send to each other: in a file, each task that receives rows has row groups of its own."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, NamedTuple

from fpstore._arrow import pa, pc
from fpstore._native import shares
from fpstore.stages import _files

_TO = b"fpstore:to"
"""The key, in the metadata of a file, of a list with the receiving task of each row group."""
GROUP = 1 << 20
"""Most rows of a row group."""


class Sender:
    """Writes a file of rows for other tasks: a context manager."""

    def __init__(self, path: pathlib.Path, schema: Any, **how: Any) -> None:
        self._schema = schema
        self._to: list[int] = []
        self._out = _files.writer(path, schema, **how)

    def write(self, to: Any, rows: Any) -> None:
        """Writes rows, given the receiving task of each, in the order of these."""
        runs, begin = pc.run_end_encode(to, run_end_type=pa.int64()), 0
        for number, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist()):
            for at in range(begin, end, GROUP):
                group = rows.slice(at, min(GROUP, end - at)).select(self._schema.names).cast(self._schema)
                self._out.write_table(group, row_group_size=GROUP)
                self._to.append(number)
            begin = end

    def send(self, rows: Any, by: str, count: int) -> None:
        """Writes rows, each for one of ``count`` tasks by the hash of the value in the column ``by``."""
        self.send_to(pa.array(shares(rows[by], count)), rows)

    def send_to(self, to: Any, rows: Any) -> None:
        """Writes rows, given the receiving task of each."""
        to = pa.array(to)
        order = pc.sort_indices(to)
        self.write(to.take(order), rows.take(order))

    def __enter__(self) -> Sender:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._out.add_key_value_metadata({_TO: json.dumps(self._to)})
        self._out.close()


class Sent(NamedTuple):
    """A file of a sender."""

    path: pathlib.Path
    metadata: Any
    to: list[int]


def sent(paths: Iterable[pathlib.Path]) -> Iterator[Sent]:
    """The files of senders, without their rows, one after the other."""
    for path in paths:
        with _files.opened(path) as file:
            to = json.loads(file.metadata.metadata[_TO])
            if len(to) != file.metadata.num_row_groups:
                raise ValueError(f"the receivers of {file.metadata.num_row_groups} row groups are {len(to)} numbers")
            metadata = file.metadata
        yield Sent(path, metadata, to)


def received(files: Iterable[Sent], task: int, schema: Any) -> Any:
    """A table of the rows that files have for a task, with the columns of the schema."""
    found = [schema.empty_table()]
    for path, metadata, to in files:
        if numbers := [number for number, each in enumerate(to) if each == task]:
            with _files.opened(path, metadata) as file:
                found.append(file.read_row_groups(numbers, columns=schema.names).cast(schema))
    return pa.concat_tables(found)
