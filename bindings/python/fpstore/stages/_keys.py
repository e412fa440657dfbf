"""The stages of records with keys, such as the bands of MinHash: the records of a key meet in one group."""

from __future__ import annotations

import contextlib
import pathlib
import shutil
from typing import Any

import fpstore
from fpstore._arrow import pa, pc
from fpstore.stages import _files
from fpstore.stages._digests import in_common
from fpstore.stages._exchange import Sender, received, sent
from fpstore.stages._fingerprints import EQUAL, NEAR
from fpstore.stages._plan import Plan
from fpstore.stages._tables import first_of_run, id_type, is_followed, is_repeated, keepers, ordered

MEMBERSHIPS, SHARED = "keys.parquet", "shared.parquet"


def _schema(plan: Plan) -> Any:
    """The columns of keys and their records."""
    return pa.schema([("key", pa.uint64()), ("id", id_type(plan))])


def links_of_keys(table: Any) -> Any:
    """A table `id` and `near` that links the records of each key, given rows of `key` and `id` in this order."""
    later = is_repeated(table["key"])
    return pa.table({"id": table["id"].combine_chunks(), "near": first_of_run(table["id"], later)}).filter(later)


def partition(plan: Plan, task: int, place: pathlib.Path) -> None:
    """The keys of a share that other records may have, a row group for those of each group that were sorted together.
    For single linkage a key has only its first record in a row group, and a file links the others to that."""
    single, schema = plan.linkage == "single", _schema(plan)
    links = pa.schema([("id", id_type(plan)), ("cluster", id_type(plan))])
    with contextlib.ExitStack() as opened:
        # Keys are in order, so their differences are small.
        how: dict[str, Any] = {"use_dictionary": False, "column_encoding": {"key": "DELTA_BINARY_PACKED"}}
        out = opened.enter_context(Sender(place / MEMBERSHIPS, schema, **how))
        linked = opened.enter_context(_files.writer(place / EQUAL, links)) if single else None
        for table in in_common(plan, task):
            table = ordered(table.select(["group", "key", "id"]), "group", "key", "id")
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
    is_shared = pc.or_(is_repeated(table["key"]), is_followed(table["key"]))
    _files.write(place / SHARED, table.filter(is_shared))


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
