"""The stages that decide, after those that find links: which records are removed, and which rows stay."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Iterator
from typing import Any

from fpstore._arrow import pa, pc
from fpstore._native import bytes_of, linked, shares
from fpstore.errors import InvalidInputError
from fpstore.stages import _components, _files, _inputs, _keys, _links, _places, _shares, _stars
from fpstore.stages._exchange import Sender, received, sent
from fpstore.stages._plan import Plan
from fpstore.stages._rounds import Rounds
from fpstore.stages._tables import id_type, keepers, numbered, numbers

REMOVED, KEPT, DROPPED = "removed.parquet", "kept.parquet", "dropped"


def _rounds(plan: Plan, shares: int) -> Rounds:
    """The rounds of a job with several shares of records."""
    return (_stars if plan.linkage == "star" else _components).rounds(plan, shares)


def tasks_of_rounds(plan: Plan) -> int:
    """Number of tasks of `components` so far. All tasks of `join` have to be done."""
    shares = _shares.count(plan)
    return shares * _rounds(plan, shares).count() if shares > 1 else 0


def components(plan: Plan, task: int, place: pathlib.Path) -> None:
    """A task of a step of the rounds."""
    of = _rounds(plan, _shares.fix(plan))
    number, share = divmod(task, of.shares)
    step = of.step(of, number)
    assert step is not None
    step(of, number, share, place)


def decide(plan: Plan, share: int, place: pathlib.Path) -> None:
    """The removed records of a share: for each share of ids its row groups, in the order of the ids."""
    count = _shares.fix(plan)
    removed = (_removed_of_share(plan, count, share, place) if count > 1 else _removed(plan, place)).sort_by("id")
    with Sender(place / REMOVED, removed.schema) as out:
        out.send(removed, "id", count)


def _removed_of_share(plan: Plan, count: int, share: int, place: pathlib.Path) -> Any:
    of = _rounds(plan, count)
    if plan.linkage == "star":
        removed = _stars.removed(of, share)
        return removed if plan.has_keys else _with_equal(removed, _stars.equal(of, share))
    if plan.linkage == "single":
        return _components.labels(of, share).rename_columns(["id", "cluster"])
    return _by_rows(plan, _components.labeled(of, share), place)


def _removed(plan: Plan, place: pathlib.Path) -> Any:
    if plan.linkage == "single":
        return _forest(plan).rename_columns(["id", "cluster"])
    return _by_rows(plan, pa.concat_tables([_links.row_schema(plan).empty_table(), *_links.tables(plan)]), place)


def _by_rows(plan: Plan, rows: Any, place: pathlib.Path) -> Any:
    return _keys.removed(plan, rows, place) if plan.has_keys else _by_pairs(plan.linkage, rows)


def _forest(plan: Plan) -> Any:
    forest = _links.Forest(plan)
    for links in _links.tables(plan):
        forest.add(links)
    return forest.table()


def _by_pairs(linkage: str, rows: Any) -> Any:
    """The decisions on records by the pairs of distinct fingerprints, and by which are equal."""
    is_equal = pc.equal(rows["distance"], pa.scalar(0, pa.uint32()))
    equal, pairs = rows.filter(is_equal), rows.filter(pc.invert(is_equal))
    ids, a, b = numbered(pairs["id"], pairs["near"])
    keeper = pa.array(linked(len(ids), a, b, linkage=linkage))
    found: list[Any] = []
    for one, other in ((a, b), (b, a)):
        # The pair of a removed record and its keeper, in which either is the first.
        by = pc.equal(keeper.take(one), other)
        of_pair = {"id": ids.take(one.filter(by)), "keeper": ids.take(other.filter(by))}
        found.append(pa.table(of_pair | {"distance": pairs["distance"].filter(by)}))
    same = keepers("single", equal["id"], equal["near"]).rename_columns(["id", "near"])
    return _with_equal(pa.concat_tables(found), same)


def _with_equal(removed: Any, equal: Any) -> Any:
    """Removed records and those that are equal to the smallest one with their fingerprint, `near`: this is their keeper
    or has the same one."""
    at = pc.index_in(equal["near"], value_set=removed["id"].combine_chunks())
    distances = pc.fill_null(removed["distance"].take(at), 0)
    keepers_ = pc.coalesce(removed["keeper"].take(at), equal["near"])
    same = pa.table({"id": equal["id"], "keeper": keepers_, "distance": distances})
    return pa.concat_tables([removed, same.cast(removed.schema)])


def keep(plan: Plan, task: int, place: pathlib.Path) -> None:
    """The rows of a share of the input that stay, with all columns, and the number of those that do not."""
    pieces, schema = _inputs.share(plan.inputs, task, plan.tasks), _inputs.schema(plan.inputs)
    stays = pa.concat_arrays([pa.array([], pa.bool_()), *_stays(plan, pieces, schema)])
    begin = 0
    with _files.writer(place / KEPT, schema) as out:
        for batch in _inputs.batches(pieces, schema.names, schema):
            out.write_batch(batch.filter(stays.slice(begin, len(batch))))
            begin += len(batch)
    (place / DROPPED).write_text(f"{stays.false_count}\n", "utf-8")


def _stays(plan: Plan, pieces: list[_inputs.Piece], schema: Any) -> Iterator[Any]:
    """Whether each row of a share of the input stays: arrays of many rows. Rows whose id is null do."""
    count, schema_of_ids = _shares.count(plan), pa.schema([("id", id_type(plan))])
    files = list(sent(removed_files(plan, count)))

    @functools.lru_cache(1)
    def removed(share: int) -> Any:
        return received(files, share, schema_of_ids)["id"]

    # Removed records of several shares are read again for each block.
    least = min(bytes_of(plan.memory) // 16, 1 << 30) if count > 1 else 0
    for block in _inputs.blocks(_inputs.batches(pieces, [plan.id], schema), least):
        ids = block.column(0).combine_chunks()
        ids = ids.dictionary_decode() if pa.types.is_dictionary(ids.type) else ids
        places = pc.indices_nonzero(pc.is_valid(ids))
        # A negative id, which a row without fingerprint may have, becomes one that no record has.
        known = ids.drop_null().cast(id_type(plan), safe=False)
        own, gone = pa.array(shares(known, count)), [pa.array([], places.type)]
        for share in range(count):
            here = pc.equal(own, pa.scalar(share, pa.uint32()))
            gone.append(places.filter(here).filter(pc.is_in(known.filter(here), value_set=removed(share))))
        yield pc.invert(pc.is_in(numbers(len(ids)), value_set=pa.concat_arrays(gone)))


def check_ids(plan: Plan) -> None:
    """Refuses results where a removed record shares its id with another one, whose row has gone with it."""
    dropped = sum(_places.read_number(plan.result("keep", task) / DROPPED) for task in range(plan.tasks))
    removed = sum(map(_files.rows, removed_files(plan, _shares.count(plan))))
    if dropped != removed:
        counts = f"{removed} records are removed, and {dropped} rows have their ids"
        message = f"{counts}: the ids in {plan.id!r} are not unique; give each row its own, and create the job again"
        raise InvalidInputError(f"{plan.folder}: {message}", plan.folder)


def removed_files(plan: Plan, count: int) -> list[pathlib.Path]:
    """The files with the removed records, of so many shares."""
    return [plan.result("decide", share) / REMOVED for share in range(count)]
