"""Tables of records and links, in memory."""

from __future__ import annotations

from typing import Any

from fpstore._arrow import pa, pc
from fpstore._native import linked
from fpstore.stages._plan import Plan


def id_type(plan: Plan) -> Any:
    """The type of ids. All ids of a column of `string` would take 2 GiB at most."""
    return pa.large_string() if plan.ids == "text" else pa.uint64()


def is_repeated(column: Any) -> Any:
    """Whether each value is that before it."""
    column = column.combine_chunks()
    return pa.concat_arrays([pa.array([False] * min(1, len(column)), pa.bool_()), pc.equal(column[1:], column[:-1])])


def is_followed(column: Any) -> Any:
    """Whether each value is that behind it."""
    return pa.concat_arrays([is_repeated(column)[1:], pa.array([False] * min(1, len(column)), pa.bool_())])


def ordered(table: Any, *names: str) -> Any:
    """The distinct rows in the order of these columns, in one piece."""
    table = table.sort_by([(name, "ascending") for name in names]).combine_chunks()
    same = [is_repeated(table[name]) for name in names]
    while len(same) > 1:
        same.append(pc.and_(same.pop(), same.pop()))
    return table.filter(pc.invert(same[0])).combine_chunks()


def first_of_run(column: Any, later: Any) -> Any:
    """For each row the value in the first row of its run, given which rows are not the first of theirs."""
    column = column.combine_chunks()
    return pc.fill_null_forward(pc.if_else(later, pa.scalar(None, column.type), column))


def found(ids: Any, links: Any) -> Any:
    """For each id the record `near` of the link with this `id`, or else null."""
    known, near = (links[name].combine_chunks() for name in ("id", "near"))
    return near.take(pc.index_in(ids.combine_chunks(), value_set=known))


def numbers(count: int) -> Any:
    """The numbers from 0 to ``count`` - 1."""
    one = pa.scalar(1, pa.uint64())
    return pc.subtract(pc.cumulative_sum(pa.repeat(one, count)), one)


def numbered(a: Any, b: Any) -> tuple[Any, Any, Any]:
    """The distinct ids of two columns in order, and the columns as places among them."""
    ids = pa.chunked_array(a.chunks + b.chunks, type=a.type).unique()
    ids = ids.take(pc.sort_indices(ids))
    return ids, pc.index_in(a, ids), pc.index_in(b, ids)


def keepers(linkage: str, a: Any, b: Any) -> Any:
    """A table `id` and `keeper` of the ids of two columns, those of near records, that are not kept."""
    ids, a, b = numbered(a, b)
    keepers = pa.array(linked(len(ids), a, b, linkage=linkage))
    removed = pc.not_equal(keepers, numbers(len(ids)))
    return pa.table({"id": ids.filter(removed), "keeper": ids.take(keepers.filter(removed))})
