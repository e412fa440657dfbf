"""Star linkage of records whose links do not fit in the memory of one task, in rounds.

In the order of the ids, a record is kept if no kept one before it is near. For this a near pair is a key of its two
records. The first kept record that has a key takes it, and later ones that have it are removed, so no other record
takes it. Records are divided into shares by ranges of their ids, with about as many keys each:

* `sample`: each task reads some ids, of which all find the same ranges.
* `divide`: each record goes with its keys to its share, which also learns of each key whether an earlier share has it,
  and which one is the next that has it.
* `take`, several times: a share decides on all records that it can, and sends each key of which it has decided on all
  records to the next share that has it, with the record that has taken it.

The keeper of a removed record is the smallest of those that have taken its keys. The evidence is the number of its
keys that this one has taken, or the distance of the pair. So the result is that of one task with all links.

The first share decides on all of its records in the first `take`, and each other one at the latest in that after the
share before it. So there are at most as many rounds as shares, whatever the links are; and as many as shares have the
same key, which goes from one to the next. Of pairs they are mostly far fewer, as a record waits only for those near it:
if the ids are in an order by chance, some log^2 of the number of records (Blelloch et al., Greedy Sequential Maximal
Independent Set and Matching are Parallel on Average, SPAA 2012). A share that was sent nothing in a round has no work
in the next one.
"""

from __future__ import annotations

import contextlib
import pathlib
import random
from typing import Any, NamedTuple

from fpstore._arrow import pa, pc
from fpstore._native import claimed, ranges, reasons
from fpstore.stages import _files, _links
from fpstore.stages._exchange import Sender
from fpstore.stages._plan import Plan
from fpstore.stages._rounds import Rounds, Step, write_unsettled
from fpstore.stages._tables import found, id_type, is_followed, is_repeated, numbers

SAMPLES = 256
"""Ids of the sample for each share: the rows of shares differ by some 1 / sqrt(256), or 6%."""
FREE = pa.scalar((1 << 32) - 1, pa.uint32())
"""The holder of a key that no record has taken."""
_SAMPLE, _IDS, _ROWS, _CROSSING, _EQUAL, _CHOSEN, _TAKEN = (
    f"{name}.parquet" for name in ("sample", "ids", "rows", "crossing", "equal", "chosen", "taken")
)
_DIVIDE, _FIRST = 1, 2
"""The steps `divide`, and the first `take`."""
_CROSSING_SCHEMA = pa.schema([("key", pa.uint64()), ("waits", pa.bool_()), ("next", pa.uint32())])
"""The columns of keys that several shares have: whether one of them is before this one, and the next one or null."""


def _row_schema(plan: Plan) -> Any:
    """The columns of records with their keys."""
    schema = pa.schema([("id", id_type(plan)), ("key", pa.uint64())])
    return schema if plan.has_keys else schema.append(pa.field("distance", pa.uint32()))


def _taken_schema(plan: Plan) -> Any:
    """The columns of keys of which all records before are decided: their holders, null if none has taken it."""
    return pa.schema([("key", pa.uint64()), ("holder", id_type(plan))])


def rounds(plan: Plan, shares: int) -> Rounds:
    """The rounds of a job."""
    # Two steps before the first `take`, and one `take` for each share.
    return Rounds(plan, shares, _step, most=2 + shares)


def _step(of: Rounds, number: int) -> Step | None:
    if number <= _FIRST:
        return (_sample, _divide, _take_first)[number]
    return None if of.is_settled(number - 1) else _take


def _sample(of: Rounds, _: int, share: int, place: pathlib.Path) -> None:
    rows = sum(map(_files.rows, _links.results(of.plan)))
    stride, sampled = max(1, rows // (SAMPLES * of.shares)), [pa.array([], id_type(of.plan))]
    # Places by chance, as the records of a key are in order; the same ones if the task is run again.
    chance = random.Random(share)
    for table in _links.tables(of.plan, share, of.shares):
        for name in ("id",) if of.plan.has_keys else ("id", "near"):
            places = (begin + chance.randrange(stride) for begin in range(0, len(table), stride))
            within = pa.array([place for place in places if place < len(table)], pa.int64())
            sampled.append(table[name].combine_chunks().take(within))
    _files.write(place / _SAMPLE, pa.table({"id": pa.concat_arrays(sampled)}))


def _bounds(of: Rounds) -> Any:
    """The first ids of all shares but the first one."""
    sampled = pa.concat_tables(of.read(0, share, _SAMPLE) for share in range(of.shares))["id"].combine_chunks()
    sampled = sampled.take(pc.sort_indices(sampled))
    places = [len(sampled) * share // of.shares for share in range(1, of.shares)]
    return sampled.take(pa.array(places if len(sampled) else [], pa.int64()))


def _divide(of: Rounds, _: int, share: int, place: pathlib.Path) -> None:
    plan, bounds, next_key = of.plan, _bounds(of), share << 40
    links = _links.link_schema(plan)
    with contextlib.ExitStack() as opened:
        rows_out = opened.enter_context(Sender(place / _ROWS, _row_schema(plan)))
        crossing_out = opened.enter_context(Sender(place / _CROSSING, _CROSSING_SCHEMA))
        equal_out = opened.enter_context(Sender(place / _EQUAL, links))
        chosen_out = opened.enter_context(Sender(place / _CHOSEN, links))
        for table in _links.tables(plan, share, of.shares):
            if not plan.has_keys:
                is_equal = pc.equal(table["distance"], pa.scalar(0, pa.uint32()))
                equal, pairs = table.filter(is_equal), table.filter(pc.invert(is_equal))
                equal_out.send_to(ranges(equal["near"], bounds), equal)
                chosen_out.send_to(ranges(equal["id"], bounds), equal)
                table = _with_keys(pairs, next_key)
                next_key += len(pairs)
            to = pa.array(ranges(table["id"], bounds))
            rows_out.send_to(to, table)
            crossing = _crossing(table["key"].combine_chunks(), to)
            crossing_out.send_to(crossing["share"].combine_chunks(), crossing)


def _with_keys(pairs: Any, first: int) -> Any:
    """A row for each record of some pairs, whose keys are numbers, in the order of the keys and the ids."""
    keys = pc.add(numbers(len(pairs)), pa.scalar(first, pa.uint64()))
    columns = {"key": keys, "distance": pairs["distance"]}
    both = pa.concat_tables(pa.table({"id": pairs[name]} | columns) for name in ("id", "near"))
    return both.sort_by([("key", "ascending"), ("id", "ascending")])


def _crossing(keys: Any, shares: Any) -> Any:
    """For keys that several shares have, a row for each of them; given the shares of rows in the order of both."""
    table = pa.table({"key": keys, "share": shares})
    is_same = pc.and_(is_repeated(table["key"]), is_repeated(table["share"]))
    table = table.filter(pc.invert(is_same)).combine_chunks()
    waits, is_before = is_repeated(table["key"]), is_followed(table["key"])
    share = table["share"].combine_chunks()
    following = pa.concat_arrays([share[1:], share[:1]])
    following = pc.if_else(is_before, following, pa.scalar(None, share.type))
    table = table.append_column("waits", waits).append_column("next", following)
    return table.filter(pc.or_(waits, is_before))


def _take_first(of: Rounds, step: int, share: int, place: pathlib.Path) -> None:
    """Numbers the records, in order, and the keys, of which those that several shares have are first."""
    crossing = of.sent(_DIVIDE, _CROSSING, share, _CROSSING_SCHEMA).combine_chunks()
    rows = of.sent(_DIVIDE, _ROWS, share, _row_schema(of.plan)).combine_chunks()
    rows = rows.take(pc.sort_indices(rows["id"])).combine_chunks()
    is_first = pc.invert(is_repeated(rows["id"]))
    ids = rows.select(["id"]).filter(is_first)
    records = pc.subtract(pc.cumulative_sum(is_first.cast(pa.uint32())), pa.scalar(1, pa.uint32()))
    keys = pa.chunked_array([crossing["key"].combine_chunks(), rows["key"].combine_chunks()]).unique()
    columns = {"record": records, "key": pc.index_in(rows["key"], value_set=keys).cast(pa.uint32())}
    rows = pa.table(columns | ({} if of.plan.has_keys else {"distance": rows["distance"]}))
    for name, table in ((_IDS, ids), (_ROWS, rows), (_CROSSING, crossing)):
        _files.write(place / name, table)
    if not of.plan.has_keys:
        _send_equal(of, share, place)
    _send_taken(of, step, share, _Share(ids["id"].combine_chunks(), rows, crossing), place)


def _take(of: Rounds, step: int, share: int, place: pathlib.Path) -> None:
    if len(of.sent(step - 1, _TAKEN, share, _taken_schema(of.plan))):
        _send_taken(of, step, share, _read(of, share), place)
    else:
        with Sender(place / _TAKEN, _taken_schema(of.plan)):
            write_unsettled(place, of.unsettled(step - 1, share))


class _Share(NamedTuple):
    """The records of a share."""

    ids: Any
    """Their ids, in order."""
    rows: Any
    """The numbers of records, in order, and of their keys: a table `record`, `key`, and `distance` of pairs."""
    crossing: Any
    """The keys with the first numbers: a table `key`, `waits`, `next`."""


def _read(of: Rounds, share: int) -> _Share:
    ids, rows, crossing = (of.read(_FIRST, share, name) for name in (_IDS, _ROWS, _CROSSING))
    return _Share(ids["id"].combine_chunks(), rows, crossing)


class _Decided(NamedTuple):
    """The decisions on the records of a share."""

    ids: Any
    """The records of earlier shares that have taken a key, and those of this one: both in order."""
    records: Any
    """For each row the place of its record in `ids`."""
    holders: Any
    """For each key the place in `ids` of the record that has taken it, or `FREE`; null if that is not known."""


def _decided(of: Rounds, step: int, share: int, own: _Share) -> _Decided:
    """What follows from the rows of a share, and from all that it was sent before a step."""
    sent = [of.sent(earlier, _TAKEN, share, _taken_schema(of.plan)) for earlier in range(_FIRST, step)]
    taken = pa.concat_tables([_taken_schema(of.plan).empty_table(), *sent]).combine_chunks()
    keys, by = (column.combine_chunks() for column in taken.columns)
    before = by.unique().drop_null()
    before = before.take(pc.sort_indices(before))
    known = pc.fill_null(pc.index_in(by, value_set=before).cast(pa.uint32()), FREE)
    known = known.take(pc.index_in(own.crossing["key"].combine_chunks(), value_set=keys))
    known = pc.if_else(own.crossing["waits"].combine_chunks(), known, FREE)
    records, row_keys = (own.rows[name].combine_chunks() for name in ("record", "key"))
    records = pc.add(records, pa.scalar(len(before), pa.uint32()))
    others = (pc.max(row_keys).as_py() or 0) + 1 - len(known)
    holders = pa.concat_arrays([known, pa.repeat(FREE, max(0, others))])
    return _Decided(pa.concat_arrays([before, own.ids]), records, pa.array(claimed(records, row_keys, holders)))


def _send_taken(of: Rounds, step: int, share: int, own: _Share, place: pathlib.Path) -> None:
    """Decides on the records that can be, and sends the keys whose holder behind this share is known, and was not."""
    decided = _decided(of, step, share, own)
    write_unsettled(place, decided.holders.null_count)
    crossing, holders = own.crossing, decided.holders[: len(own.crossing)]
    earlier = [of.read(before, share, _TAKEN)["key"].combine_chunks() for before in range(_FIRST, step)]
    is_sent = pc.is_in(crossing["key"], value_set=pa.concat_arrays([pa.array([], pa.uint64()), *earlier]))
    is_due = pc.and_not(pc.and_(pc.is_valid(crossing["next"]), pc.is_valid(holders)), is_sent).combine_chunks()
    crossing, holders = crossing.filter(is_due), holders.filter(is_due)
    holders = pc.if_else(pc.equal(holders, FREE), pa.scalar(None, holders.type), holders)
    with Sender(place / _TAKEN, _taken_schema(of.plan)) as out:
        out.send_to(crossing["next"].combine_chunks(), crossing.append_column("holder", decided.ids.take(holders)))


def _send_equal(of: Rounds, share: int, place: pathlib.Path) -> None:
    """Sends equal records with the smallest of these to its share. A record of `partition` may be equal to one that
    `join` has found to be equal to a smaller one."""
    links = _links.link_schema(of.plan)
    equal, chosen = (of.sent(_DIVIDE, name, share, links) for name in (_EQUAL, _CHOSEN))
    near = pc.coalesce(found(equal["near"], chosen), equal["near"].combine_chunks())
    with Sender(place / _EQUAL, links) as out:
        out.send_to(ranges(near, _bounds(of)), pa.table({"id": equal["id"], "near": near}))


def removed(of: Rounds, share: int) -> Any:
    """A table of the removed records of a share: `id`, `keeper`, and `distance` or `shared_keys`. Without those that
    are equal to other ones."""
    own = _read(of, share)
    decided = _decided(of, of.count(), share, own)
    keepers = pa.array(reasons(decided.records, own.rows["key"], decided.holders))
    is_reason = pc.is_valid(keepers)
    ids, keepers = (decided.ids.take(column.filter(is_reason)) for column in (decided.records, keepers))
    removed = pa.table({"id": ids, "keeper": keepers})
    if not of.plan.has_keys:
        return removed.append_column("distance", own.rows["distance"].filter(is_reason))
    counted = removed.group_by(["id", "keeper"]).aggregate([([], "count_all")])
    shared = counted["count_all"].cast(pa.uint64())
    return counted.select(["id", "keeper"]).append_column("shared_keys", shared)


def equal(of: Rounds, share: int) -> Any:
    """A table `id` and `near` of records that are equal to the smallest one, which is of a share."""
    return of.sent(_FIRST, _EQUAL, share, _links.link_schema(of.plan))
