"""Rows that tasks send to each other: in a file, each task that they are for has row groups of its own."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable
from types import TracebackType
from typing import Any

from fpstore._arrow import pa, pc, pq
from fpstore._native import shares

_TO = b"fpstore:to"
"""The key, in the metadata of a file, of a list: the task that each row group is for."""


class Outbox:
    """Writes a file of rows for other tasks: a context manager."""

    def __init__(self, path: pathlib.Path, schema: Any, **how: Any) -> None:
        self._schema = schema
        self._to: list[int] = []
        self._out = pq.ParquetWriter(path, schema, compression="zstd", **how)

    def write(self, to: Any, rows: Any) -> None:
        """Writes rows, given the task that each is for, in the order of these."""
        runs, begin = pc.run_end_encode(to, run_end_type=pa.int64()), 0
        for number, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist()):
            of_task = rows.slice(begin, end - begin)
            self._out.write_table(of_task.select(self._schema.names).cast(self._schema), row_group_size=len(of_task))
            self._to.append(number)
            begin = end

    def send(self, rows: Any, by: str, count: int) -> None:
        """Writes rows, each to one of ``count`` tasks by the hash of the value in the column ``by``."""
        to = pa.array(shares(rows[by], count))
        order = pc.sort_indices(to)
        self.write(to.take(order), rows.take(order))

    def __enter__(self) -> Outbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._out.add_key_value_metadata({_TO: json.dumps(self._to)})
        self._out.close()


def received(paths: Iterable[pathlib.Path], task: int, schema: Any) -> Any:
    """A table of the rows that these files have for a task, with the columns of the schema."""
    found = [schema.empty_table()]
    for path in paths:
        with pq.ParquetFile(path) as file:
            to = json.loads(file.metadata.metadata[_TO])
            if numbers := [number for number, each in enumerate(to) if each == task]:
                found.append(file.read_row_groups(numbers, columns=schema.names).cast(schema))
    return pa.concat_tables(found)
