"""The stages of records with keys, such as the bands of MinHash: the records of a key meet in one group."""

from __future__ import annotations

import contextlib
import json
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import fpstore
from fpstore._arrow import pa, pc, pq
from fpstore.errors import InvalidInputError
from fpstore.stages._fingerprints import EQUAL, NEAR
from fpstore.stages._plan import Plan
from fpstore.stages._sketch import rows
from fpstore.stages._tables import all_of, id_type, keepers

MEMBERSHIPS, GROUPS, SHARED = "keys.parquet", "groups.json", "shared.parquet"
SORTED = 64 << 20
"""Bytes of keys and ids that `partition` sorts at once. Sorting takes some five times as much."""
GOLDEN = pa.scalar(0x9E37_79B9_7F4A_7C15, pa.uint64())
"""2^64 divided by the golden ratio: multiplying by it spreads keys that are small numbers (Knuth, The Art of Computer
Programming 3, 6.4)."""


def _memberships(plan: Plan, task: int) -> Iterator[Any]:
    """Batches `group`, `key` and `id` of a share: a row for each key of a record."""
    for batch in rows(plan, task):
        # Rows without keys, whatever their ids are, stay.
        ids, keys = batch.filter(pc.is_valid(batch.column(1))).columns
        ids, flat = ids.take(pc.list_parent_indices(keys)), pc.list_flatten(keys).cast(keys.type.value_type)
        if null := "id" if ids.null_count else "key" if flat.null_count else None:
            raise InvalidInputError(f"there is a row with keys in {plan.keys or plan.text!r} whose {null} is null")
        flat = flat.view(pa.uint64())
        ids = ids.dictionary_decode() if pa.types.is_dictionary(ids.type) else ids
        if pa.types.is_signed_integer(ids.type) and len(ids) and (least := pc.min(ids).as_py()) < 0:
            raise InvalidInputError(f"the id {least} in {plan.id!r} is negative; ids are whole numbers from 0 on")
        ids = ids.cast(id_type(plan))
        high = pc.shift_right(pc.multiply(flat, GOLDEN), pa.scalar(32, pa.uint64()))
        group = pc.shift_right(pc.multiply(high, pa.scalar(plan.groups, pa.uint64())), pa.scalar(32, pa.uint64()))
        yield pa.record_batch([group, flat, ids], names=["group", "key", "id"])


def _collected(batches: Iterator[Any]) -> Iterator[Any]:
    """Tables of some `SORTED` bytes."""
    found: list[Any] = []
    size = 0
    for batch in batches:
        found.append(batch)
        size += batch.nbytes
        if size >= SORTED:
            yield pa.Table.from_batches(found)
            found, size = [], 0
    if found:
        yield pa.Table.from_batches(found)


def _is_repeated(column: Any) -> Any:
    """Whether each value is that before it."""
    return pa.concat_arrays([pa.array([False] * min(1, len(column)), pa.bool_()), pc.equal(column[1:], column[:-1])])


def _sorted(table: Any, *names: str) -> Any:
    """The distinct rows in the order of these columns, in one piece."""
    table = table.sort_by([(name, "ascending") for name in names]).combine_chunks()
    same = [_is_repeated(table[name].combine_chunks()) for name in names]
    while len(same) > 1:
        same.append(pc.and_(same.pop(), same.pop()))
    return table.filter(pc.invert(same[0])).combine_chunks()


def _later(table: Any) -> Any:
    """Of rows in the order of `key` and `id`: which are not the first of their key."""
    return _is_repeated(table["key"].combine_chunks())


def _forest(table: Any, later: Any) -> Any:
    """Of rows in the order of `key` and `id`: a table `id` and `cluster` that links the records of each key."""
    ids = table["id"].combine_chunks()
    first = pc.fill_null_forward(pc.if_else(later, pa.scalar(None, ids.type), ids))
    links = pa.table({"id": ids, "cluster": first}).filter(later)
    return keepers("single", links["id"], links["cluster"]).rename_columns(["id", "cluster"])


def partition(plan: Plan, task: int, place: pathlib.Path) -> None:
    """The keys of a share, a row group for those of each group that were sorted together. For single linkage a key has
    only its first record in a row group, and a file links the others to that."""
    schema = pa.schema([("key", pa.uint64()), ("id", id_type(plan))])
    links = pa.schema([("id", id_type(plan)), ("cluster", id_type(plan))])
    groups: list[int] = []
    with contextlib.ExitStack() as opened:
        # Keys are in order, so their differences are small.
        how: dict[str, Any] = {"use_dictionary": False, "column_encoding": {"key": "DELTA_BINARY_PACKED"}}
        out = opened.enter_context(pq.ParquetWriter(place / MEMBERSHIPS, schema, compression="zstd", **how))
        linked = None
        if plan.linkage == "single":
            linked = opened.enter_context(pq.ParquetWriter(place / EQUAL, links, compression="zstd"))
        for table in _collected(_memberships(plan, task)):
            table = _sorted(table, "group", "key", "id")
            if linked is not None:
                later = _later(table)
                linked.write_table(_forest(table, later).cast(links))
                table = table.filter(pc.invert(later)).combine_chunks()
            runs, begin = pc.run_end_encode(table["group"].combine_chunks(), run_end_type=pa.int64()), 0
            for group, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist()):
                of_group = table.slice(begin, end - begin).select(schema.names)
                out.write_table(of_group, row_group_size=len(of_group))
                groups.append(group)
                begin = end
    (place / GROUPS).write_text(json.dumps(groups) + "\n", "utf-8")


def _of_group(plan: Plan, group: int) -> Any:
    """The keys of a group, and their records, of all shares."""
    found = [pa.schema([("key", pa.uint64()), ("id", id_type(plan))]).empty_table()]
    for share in (plan.result("partition", number) for number in range(plan.tasks)):
        groups = json.loads((share / GROUPS).read_text("utf-8"))
        if numbers := [number for number, each in enumerate(groups) if each == group]:
            with pq.ParquetFile(share / MEMBERSHIPS) as file:
                found.append(file.read_row_groups(numbers))
    return pa.concat_tables(found)


def join(plan: Plan, group: int, place: pathlib.Path) -> None:
    """The records of a group that share a key: with single linkage a spanning forest of them, otherwise each of them
    and the keys that it shares."""
    table = _sorted(_of_group(plan, group), "key", "id")
    later = _later(table)
    if plan.linkage == "single":
        pq.write_table(_forest(table, later), place / NEAR, compression="zstd")
        return
    followed = pa.concat_arrays([later[1:], pa.array([False] * min(1, len(later)), pa.bool_())])
    pq.write_table(table.filter(pc.or_(later, followed)), place / SHARED, compression="zstd")


def removed(plan: Plan, place: pathlib.Path) -> Any:
    """A table of the removed records by a key index of those that share keys, which is made in a directory."""
    paths = [plan.result("join", number) / SHARED for number in range(plan.join_tasks)]
    shared = _sorted(all_of(paths, {"id": id_type(plan), "key": pa.uint64()}), "id", "key")
    runs = pc.run_end_encode(shared["id"].combine_chunks(), run_end_type=pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), runs.run_ends])
    keys = pa.LargeListArray.from_arrays(offsets, shared["key"].combine_chunks())
    path = place / "index"
    with fpstore.create(path, kind="keys", key_bits=64, ids=plan.ids, memory=plan.memory) as index:
        index.load(keys, ids=runs.values)
        found = pa.table(index.keep(linkage=plan.linkage, evidence=True, memory=plan.memory))
    shutil.rmtree(path)
    return found.select(["id", "keeper", "shared_keys"])
