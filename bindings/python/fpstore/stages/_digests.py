"""The stages that find which keys several records may have, by 40 bits of each key: `digest` and `common`. Then only the
keys in common, with their records, are sent to the groups that join them. Most keys of most corpora are of one record.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from fpstore._arrow import pa, pc
from fpstore.stages import _inputs
from fpstore.stages._exchange import Sender, received, sent
from fpstore.stages._memberships import memberships
from fpstore.stages._plan import Plan
from fpstore.stages._tables import is_repeated

DIGESTS = "digests.parquet"
_MOST_BLOCKS = 1 << 20
"""Each block of a share receives rows by a number of its own."""
_DELTAS: dict[str, Any] = {"use_dictionary": False, "column_encoding": {"digest": "DELTA_BINARY_PACKED"}}
"""Digests are in order, so their differences are small."""
_REPLY = pa.schema([("digest", pa.uint64())])
_SENT = _REPLY.append(pa.field("block", pa.uint32()))


def _number(share: int, block: int) -> int:
    """The number of a block as a receiver."""
    return share * _MOST_BLOCKS + block


def digest(plan: Plan, task: int, place: pathlib.Path) -> None:
    """The digests of the keys of a share, block by block, for the groups of the keys. A block sends a digest twice if it
    has it several times."""
    with Sender(place / DIGESTS, _SENT, **_DELTAS) as out:
        for number, table in enumerate(_inputs.blocks(memberships(plan, task))):
            table = table.select(["group", "digest"]).sort_by("digest").combine_chunks()
            again = is_repeated(table["digest"])
            third = pc.and_(again, pa.concat_arrays([pa.array([False], pa.bool_()), again])[:-1])
            table = table.filter(pc.invert(third)).combine_chunks()
            block = pa.repeat(pa.scalar(number, pa.uint32()), len(table))
            out.write(table["group"].combine_chunks(), table.append_column("block", block))


def common(plan: Plan, group: int, place: pathlib.Path) -> None:
    """The digests of a group that come up several times, for the blocks that have them."""
    found = [_SENT.append(pa.field("to", pa.uint64())).empty_table()]
    for share in range(plan.tasks):
        table = received(sent([plan.result("digest", share) / DIGESTS]), group, _SENT)
        to = pc.add(table["block"].cast(pa.uint64()), pa.scalar(_number(share, 0), pa.uint64()))
        found.append(table.append_column("to", to))
    table = pa.concat_tables(found).sort_by([("digest", "ascending"), ("to", "ascending")]).combine_chunks()
    again = is_repeated(table["digest"])
    several = pc.or_(again, pa.concat_arrays([again, pa.array([False], pa.bool_())])[1:])
    # A block that has one twice gets it once.
    twice = pc.and_(again, is_repeated(table["to"]))
    table = table.filter(pc.and_not(several, twice)).sort_by([("to", "ascending"), ("digest", "ascending")])
    with Sender(place / DIGESTS, _REPLY, **_DELTAS) as out:
        out.write(table["to"].combine_chunks(), table)


def in_common(plan: Plan, task: int) -> Iterator[Any]:
    """The memberships of a share, block by block, whose digests come up several times."""
    replies = list(sent(plan.result("common", group) / DIGESTS for group in range(plan.groups)))
    for number, table in enumerate(_inputs.blocks(memberships(plan, task))):
        known = received(replies, _number(task, number), _REPLY)["digest"]
        yield table.filter(pc.is_in(table["digest"], value_set=known.combine_chunks()))
