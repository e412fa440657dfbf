"""The stages of records with keys, such as the bands of MinHash: the records of a key meet in one group."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import fpstore
from fpstore._arrow import pa, pc, pq
from fpstore.errors import InvalidInputError
from fpstore.stages import _inputs
from fpstore.stages._fingerprints import EQUAL, NEAR
from fpstore.stages._plan import Plan
from fpstore.stages._sketch import SKETCHED
from fpstore.stages._tables import all_of, id_type, keepers

SHARED = "shared.parquet"
SORTED = 64 << 20
"""Bytes of keys and ids that `partition` sorts at once. Sorting takes some times as much."""
GOLDEN = pa.scalar(0x9E37_79B9_7F4A_7C15, pa.uint64())
"""2^64 divided by the golden ratio: multiplying by it spreads keys that are small numbers (Knuth, The Art of Computer
Programming 3, 6.4)."""


def _memberships(plan: Plan, task: int) -> Iterator[Any]:
    """Batches `group`, `key` and `id` of a share: a row for each key of a record."""
    if plan.text is None:
        files, columns = plan.inputs, [plan.id, str(plan.keys)]
        pieces = _inputs.share(files, task, plan.tasks)
    else:
        files, columns = [str(plan.result("sketch", task) / SKETCHED)], ["id", "keys"]
        pieces = [(files[0], None)]
    for batch in _inputs.batches(pieces, columns, _inputs.schema(files)):
        batch = batch.filter(pc.is_valid(batch.column(1)))
        ids, keys = batch.columns
        flat = pc.list_flatten(keys)
        if ids.null_count or flat.null_count:
            raise InvalidInputError(f"there is a row with keys whose {'id' if ids.null_count else 'key'} is null")
        flat = flat.view(pa.uint64())
        ids = ids.dictionary_decode() if pa.types.is_dictionary(ids.type) else ids
        ids = ids.cast(id_type(plan)).take(pc.list_parent_indices(keys))
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


def _firsts(table: Any) -> tuple[Any, Any]:
    """Of rows in the order of `key` and `id`: which have the key of the row before, and the first id of each's key."""
    later = _is_repeated(table["key"].combine_chunks())
    ids = table["id"].combine_chunks()
    return later, pc.fill_null_forward(pc.if_else(later, pa.scalar(None, ids.type), ids))


def _forest(table: Any) -> Any:
    """Of rows in the order of `key` and `id`: a table `id` and `cluster` that links the records of each key."""
    later, first = _firsts(table)
    links = pa.table({"id": table["id"], "cluster": first}).filter(later)
    return keepers("single", links["id"], links["cluster"]).rename_columns(["id", "cluster"])


def partition(plan: Plan, task: int, place: pathlib.Path) -> None:
    """A file of the keys of each group of a share. For single linkage a key has only its first record there, and the
    other records are linked to that."""
    writers: dict[int, Any] = {}
    schema = pa.schema([("key", pa.uint64()), ("id", id_type(plan))])
    links: list[Any] = []
    for table in _collected(_memberships(plan, task)):
        table = _sorted(table, "group", "key", "id")
        if plan.linkage == "single":
            links.append(_forest(table))
            table = table.filter(pc.invert(_firsts(table)[0])).combine_chunks()
        runs, begin = pc.run_end_encode(table["group"].combine_chunks()), 0
        for group, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist()):
            if group not in writers:
                # Keys are in order, so their differences are small.
                writers[group] = pq.ParquetWriter(
                    place / f"group-{group}.parquet",
                    schema,
                    compression="zstd",
                    use_dictionary=False,
                    column_encoding={"key": "DELTA_BINARY_PACKED"},
                )
            writers[group].write_table(table.slice(begin, end - begin).select(schema.names))
            begin = end
    for writer in writers.values():
        writer.close()
    if links:
        pq.write_table(pa.concat_tables(links), place / EQUAL, compression="zstd")


def join(plan: Plan, group: int, place: pathlib.Path) -> None:
    """The records of a group that share a key: with single linkage a spanning forest of them, otherwise each of them
    and the keys that it shares."""
    paths = [plan.result("partition", number) / f"group-{group}.parquet" for number in range(plan.tasks)]
    table = _sorted(all_of(paths, {"key": pa.uint64(), "id": id_type(plan)}), "key", "id")
    if plan.linkage == "single":
        pq.write_table(_forest(table), place / NEAR, compression="zstd")
        return
    later, _ = _firsts(table)
    followed = pa.concat_arrays([later[1:], pa.array([False] * min(1, len(later)), pa.bool_())])
    pq.write_table(table.filter(pc.or_(later, followed)), place / SHARED, compression="zstd")


def removed(plan: Plan, place: pathlib.Path) -> Any:
    """A table of the removed records by a key index of those that share keys, which is made in a directory."""
    paths = [plan.result("join", number) / SHARED for number in range(plan.join_tasks)]
    rows = _sorted(all_of(paths, {"id": id_type(plan), "key": pa.uint64()}), "id", "key")
    runs = pc.run_end_encode(rows["id"].combine_chunks(), run_end_type=pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), runs.run_ends])
    keys = pa.LargeListArray.from_arrays(offsets, rows["key"].combine_chunks())
    path = place / "index"
    with fpstore.create(path, kind="keys", key_bits=64, ids=plan.ids, memory=plan.memory) as index:
        index.load(keys, ids=runs.values)
        found = pa.table(index.keep(linkage=plan.linkage, evidence=True, memory=plan.memory))
    shutil.rmtree(path)
    return found.select(["id", "keeper", "shared_keys"])
