"""The stages of records with keys, such as the bands of MinHash: the records of a key meet in one group."""

from __future__ import annotations

import contextlib
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import fpstore
from fpstore._arrow import pa, pc
from fpstore.errors import InvalidInputError
from fpstore.stages import _files, _inputs
from fpstore.stages._exchange import Sender, received, sent
from fpstore.stages._fingerprints import EQUAL, NEAR
from fpstore.stages._plan import Plan
from fpstore.stages._sketch import rows
from fpstore.stages._tables import first_of_run, id_type, is_repeated, keepers, ordered

MEMBERSHIPS, SHARED = "keys.parquet", "shared.parquet"
GOLDEN = pa.scalar(0x9E37_79B9_7F4A_7C15, pa.uint64())
"""2^64 divided by the golden ratio: multiplying by it spreads keys that are small numbers (Knuth, The Art of Computer
Programming 3, 6.4)."""


def _schema(plan: Plan) -> Any:
    """The columns of keys and their records."""
    return pa.schema([("key", pa.uint64()), ("id", id_type(plan))])


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


def links_of_keys(table: Any) -> Any:
    """A table `id` and `near` that links the records of each key, given rows of `key` and `id` in this order."""
    later = is_repeated(table["key"])
    return pa.table({"id": table["id"].combine_chunks(), "near": first_of_run(table["id"], later)}).filter(later)


def partition(plan: Plan, task: int, place: pathlib.Path) -> None:
    """The keys of a share, a row group for those of each group that were sorted together. For single linkage a key has
    only its first record in a row group, and a file links the others to that."""
    single, schema = plan.linkage == "single", _schema(plan)
    links = pa.schema([("id", id_type(plan)), ("cluster", id_type(plan))])
    with contextlib.ExitStack() as opened:
        # Keys are in order, so their differences are small.
        how: dict[str, Any] = {"use_dictionary": False, "column_encoding": {"key": "DELTA_BINARY_PACKED"}}
        out = opened.enter_context(Sender(place / MEMBERSHIPS, schema, **how))
        linked = opened.enter_context(_files.writer(place / EQUAL, links)) if single else None
        for table in _inputs.blocks(_memberships(plan, task)):
            table = ordered(table, "group", "key", "id")
            if linked is not None:
                linked.write_table(_forest(table).cast(links))
                table = table.filter(pc.invert(is_repeated(table["key"]))).combine_chunks()
            out.write(table["group"].combine_chunks(), table)


def _forest(table: Any) -> Any:
    """A table `id` and `cluster` of the records that share keys, given rows in the order of `key` and `id`."""
    links = links_of_keys(table)
    return keepers("single", links["id"], links["near"]).rename_columns(["id", "cluster"])


def join(plan: Plan, group: int, place: pathlib.Path) -> None:
    """The records of a group that share a key: with single linkage a spanning forest of them, otherwise each of them
    and the keys that it shares."""
    shares = (plan.result("partition", number) / MEMBERSHIPS for number in range(plan.tasks))
    table = ordered(received(sent(shares), group, _schema(plan)), "key", "id")
    if plan.linkage == "single":
        _files.write(place / NEAR, _forest(table))
        return
    later = is_repeated(table["key"])
    followed = pa.concat_arrays([later[1:], pa.array([False] * min(1, len(later)), pa.bool_())])
    _files.write(place / SHARED, table.filter(pc.or_(later, followed)))


def removed(plan: Plan, shared: Any, place: pathlib.Path) -> Any:
    """A table of the removed records by a key index of those that share keys, a table `id` and `key`. The index is made
    in a directory."""
    shared = ordered(shared, "id", "key")
    runs = pc.run_end_encode(shared["id"].combine_chunks(), run_end_type=pa.int64())
    offsets = pa.concat_arrays([pa.array([0], pa.int64()), runs.run_ends])
    keys = pa.LargeListArray.from_arrays(offsets, shared["key"].combine_chunks())
    path = place / "index"
    with fpstore.create(path, kind="keys", key_bits=64, ids=plan.ids, memory=plan.memory) as index:
        index.load(keys, ids=runs.values)
        found = pa.table(index.keep(linkage=plan.linkage, evidence=True, memory=plan.memory))
    shutil.rmtree(path)
    return found.select(["id", "keeper", "shared_keys"])
