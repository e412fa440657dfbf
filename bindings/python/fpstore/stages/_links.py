"""What links near records: the results of `partition` and `join`, as those stages that decide read them."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from fpstore._arrow import pa, pq
from fpstore.stages._fingerprints import EQUAL, NEAR
from fpstore.stages._keys import SHARED, links_of_keys
from fpstore.stages._plan import Plan
from fpstore.stages._tables import id_type, keepers

BATCH = 1 << 20
"""Links that are read at once, and that are more than a forest of them before it is made."""


def results(plan: Plan, share: int = 0, shares: int = 1) -> list[pathlib.Path]:
    """The files with links that one of some shares of them has."""
    of_partition = [plan.result("partition", task) for task in range(share, plan.tasks, shares)]
    of_join = [plan.result("join", task) for task in range(share, plan.join_tasks, shares)]
    files = [folder / name for folder in (*of_partition, *of_join) for name in (EQUAL, NEAR, SHARED)]
    return [file for file in files if file.exists()]


def link_schema(plan: Plan) -> Any:
    """The columns of links: two near records."""
    return pa.schema([("id", id_type(plan)), ("near", id_type(plan))])


def row_schema(plan: Plan) -> Any:
    """The columns of what the linkages star and complete decide by: the distances of pairs, which is 0 of records that
    are linked because they are equal; or the keys that records share."""
    if plan.has_keys:
        return pa.schema([("id", id_type(plan)), ("key", pa.uint64())])
    return link_schema(plan).append(pa.field("distance", pa.uint32()))


def read(plan: Plan, file: pathlib.Path) -> Iterator[Any]:
    """Tables of rows, with the columns `id` and `near` of links, or `id` and `key`, all rows of a key in one table."""
    if file.name == SHARED:
        yield pq.read_table(file).select(["id", "key"])
        return
    with pq.ParquetFile(file) as opened:
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
        self._more = 0

    def add(self, rows: Any) -> None:
        """Adds links, or those of records that share keys."""
        links = rows if "near" in rows.column_names else links_of_keys(rows)
        self._tables.append(links.select(["id", "near"]))
        self._more += len(links)
        # So each link is looked at a few times, and there are twice as many as the trees have at most.
        if self._more > max(BATCH, len(self._tables[0])):
            self.table()

    def table(self) -> Any:
        """The forest: a table `id` and `near`."""
        links = pa.concat_tables(self._tables)
        forest = keepers("single", links["id"], links["near"]).rename_columns(["id", "near"]).cast(self._schema)
        self._tables, self._more = [forest], 0
        return forest
