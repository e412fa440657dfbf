"""Tables of records and links, in memory."""

from __future__ import annotations

import pathlib
from collections.abc import Iterable
from typing import Any

from fpstore._arrow import pa, pc, pq
from fpstore._native import linked
from fpstore.stages._plan import Plan


def id_type(plan: Plan) -> Any:
    """The type of ids. All ids of a column of `string` would take 2 GiB at most."""
    return pa.large_string() if plan.ids == "text" else pa.uint64()


def all_of(paths: Iterable[pathlib.Path], columns: dict[str, Any]) -> Any:
    """One table of the files that are there."""
    schema = pa.schema(list(columns.items()))
    tables = [pq.read_table(path, columns=schema.names).cast(schema) for path in paths if path.exists()]
    return pa.concat_tables(tables) if tables else schema.empty_table()


def _numbered(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """The distinct ids of two columns in order, and the columns as places among them."""
    ids = pa.chunked_array(a.chunks + b.chunks, type=a.type).unique()
    ids = ids.take(pc.sort_indices(ids))
    return ids, pc.index_in(a, ids), pc.index_in(b, ids)


def keepers(linkage: str, a: Any, b: Any) -> Any:
    """A table `id` and `keeper` of the ids of two columns, those of near records, that are not kept."""
    ids, a, b = _numbered(a, b)
    keepers = pa.array(linked(len(ids), a, b, linkage=linkage))
    own = pc.subtract(pc.cumulative_sum(pa.repeat(pa.scalar(1, pa.uint32()), len(ids))), pa.scalar(1, pa.uint32()))
    removed = pc.not_equal(keepers, own)
    return pa.table({"id": ids.filter(removed), "keeper": ids.take(keepers.filter(removed))})
