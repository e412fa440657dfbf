"""The stages that find which keys several records may have, by 40 bits of each key: `digest` and `common`. Then only
those keys, with their records, are sent to the groups that join them. Most keys of most corpora are of one record.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from fpstore._arrow import pa, pc
from fpstore._native import in_sorted
from fpstore.stages import _inputs
from fpstore.stages._exchange import Sender, received, sent
from fpstore.stages._memberships import memberships
from fpstore.stages._plan import Plan
from fpstore.stages._tables import is_repeated

DIGESTS = "digests.parquet"
_DELTAS: dict[str, Any] = {"use_dictionary": False, "column_encoding": {"digest": "DELTA_BINARY_PACKED"}}
"""Digests are in order, so their differences are small."""
_SCHEMA = pa.schema([("digest", pa.uint64())])


def digest(plan: Plan, task: int, place: pathlib.Path) -> None:
    """The digests of the keys of a share for the groups of the keys, a row group for those of each group that were
    sorted together. A digest that comes up several times among these is there twice, so that `common` finds it even if
    no other share has it."""
    with Sender(place / DIGESTS, _SCHEMA, **_DELTAS) as out:
        for table in _inputs.blocks(memberships(plan, task)):
            table = table.select(["group", "digest"]).sort_by("digest").combine_chunks()
            again = is_repeated(table["digest"])
            third = pc.and_(again, pa.concat_arrays([pa.array([False], pa.bool_()), again])[:-1])
            table = table.filter(pc.invert(third)).combine_chunks()
            out.write(table["group"].combine_chunks(), table)


def common(plan: Plan, group: int, place: pathlib.Path) -> None:
    """The digests of a group that come up several times, for each share that has them."""
    found = [_SCHEMA.append(pa.field("share", pa.uint32())).empty_table()]
    for share in range(plan.tasks):
        table = received(sent([plan.result("digest", share) / DIGESTS]), group, _SCHEMA)
        found.append(table.append_column("share", pa.repeat(pa.scalar(share, pa.uint32()), len(table))))
    table = pa.concat_tables(found).sort_by([("digest", "ascending"), ("share", "ascending")]).combine_chunks()
    again = is_repeated(table["digest"])
    several = pc.or_(again, pa.concat_arrays([again, pa.array([False], pa.bool_())])[1:])
    once = pc.invert(pc.and_(again, is_repeated(table["share"])))
    table = table.filter(pc.and_(several, once)).sort_by([("share", "ascending"), ("digest", "ascending")])
    with Sender(place / DIGESTS, _SCHEMA, **_DELTAS) as out:
        out.write(table["share"].combine_chunks(), table)


def in_common(plan: Plan, task: int) -> Iterator[Any]:
    """Tables of the memberships of a share whose digests come up several times."""
    files = (plan.result("common", group) / DIGESTS for group in range(plan.groups))
    # Groups have ascending ranges of digests.
    known = pa.concat_tables(received(sent([file]), task, _SCHEMA) for file in files)["digest"].combine_chunks()
    for table in _inputs.blocks(memberships(plan, task)):
        yield table.filter(pa.array(in_sorted(table["digest"], known)))
