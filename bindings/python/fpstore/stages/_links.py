"""Links between near records: the results of `partition` and `join`, as the stages that decide read them."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from fpstore._arrow import pa
from fpstore.stages import _files
from fpstore.stages._fingerprints import EQUAL, NEAR
from fpstore.stages._keys import SHARED, links_of_keys
from fpstore.stages._plan import Plan
from fpstore.stages._tables import id_type, keepers

BATCH = 1 << 20
"""Links that are read at once."""


def results(plan: Plan, share: int = 0, shares: int = 1) -> list[pathlib.Path]:
    """The files of one of `shares` shares of all results."""
    of_partition = [plan.result("partition", task) for task in range(share, plan.tasks, shares)]
    of_join = [plan.result("join", task) for task in range(share, plan.join_tasks, shares)]
    files = [folder / name for folder in (*of_partition, *of_join) for name in (EQUAL, NEAR, SHARED)]
    return [file for file in files if file.exists()]


def link_schema(plan: Plan) -> Any:
    """The columns of links: two near records."""
    return pa.schema([("id", id_type(plan)), ("near", id_type(plan))])


def row_schema(plan: Plan) -> Any:
    """The columns by which the linkages star and complete decide: pairs with their distance, 0 for equal records; or
    records with the keys that they share."""
    if plan.has_keys:
        return pa.schema([("id", id_type(plan)), ("key", pa.uint64())])
    return link_schema(plan).append(pa.field("distance", pa.uint32()))


def tables(plan: Plan, share: int = 0, shares: int = 1) -> Iterator[Any]:
    """Tables of the files of one of `shares` shares of all results: links with single linkage, or else rows to decide
    by. All rows of a key of a file are in one table, in the order of the keys and the ids."""
    for file in results(plan, share, shares):
        yield from _read(plan, file)


def _read(plan: Plan, file: pathlib.Path) -> Iterator[Any]:
    if file.name == SHARED:
        yield _files.read(file).select(["id", "key"])
        return
    with _files.opened(file) as opened:
        for batch in opened.iter_batches(batch_size=BATCH):
            columns: dict[str, Any] = dict(zip(("id", "near"), batch.columns))
            if plan.linkage != "single":
                distances = batch.schema.get_field_index("distance")
                none = pa.repeat(pa.scalar(0, pa.uint32()), len(batch))
                columns["distance"] = none if distances < 0 else batch.column(distances)
            schema = link_schema(plan) if plan.linkage == "single" else row_schema(plan)
            yield pa.table(columns).cast(schema)


class Forest:
    """A spanning forest of links, in which each record is linked to the smallest of its tree."""

    def __init__(self, plan: Plan) -> None:
        self._schema = link_schema(plan)
        self._tables: list[Any] = [self._schema.empty_table()]
        self._added = 0

    def __len__(self) -> int:
        """Links in memory."""
        return len(self._tables[0]) + self._added

    def add(self, rows: Any) -> None:
        """Adds links, or those of records that share keys."""
        links = rows if "near" in rows.column_names else links_of_keys(rows)
        self._tables.append(links.select(["id", "near"]))
        self._added += len(links)
        # At most as many new links as the forest has, so that a link costs the same for any number of them.
        if self._added > max(BATCH, len(self._tables[0])):
            self.table()

    def table(self) -> Any:
        """The forest: a table `id` and `near`."""
        links = pa.concat_tables(self._tables)
        forest = keepers("single", links["id"], links["near"]).rename_columns(["id", "near"]).cast(self._schema)
        self._tables, self._added = [forest], 0
        return forest
