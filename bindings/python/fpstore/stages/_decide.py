"""The stages that decide: which records are removed, and which rows stay."""

from __future__ import annotations

import pathlib
from typing import Any

from fpstore._arrow import pa, pc, pq
from fpstore.errors import InvalidInputError
from fpstore.stages import _inputs, _keys
from fpstore.stages._fingerprints import EQUAL, NEAR
from fpstore.stages._plan import Plan
from fpstore.stages._tables import all_of, id_type, keepers

REMOVED, KEPT, DROPPED = "removed.parquet", "kept.parquet", "dropped"


def decide(plan: Plan, _: int, place: pathlib.Path) -> None:
    """The removed records, in the order of their ids."""
    id, groups = id_type(plan), [plan.result("join", number) for number in range(plan.join_tasks)]
    near = [folder / NEAR for folder in groups]
    if plan.linkage == "single":
        forest = pa.concat_tables([_equal(plan), all_of(near, {"id": id, "cluster": id})])
        removed = keepers("single", forest["id"], forest["cluster"]).rename_columns(["id", "cluster"])
    elif plan.has_keys:
        removed = _keys.removed(plan, place)
    else:
        removed = _stars(plan.linkage, _equal(plan), all_of(near, {"id_a": id, "id_b": id, "distance": pa.uint32()}))
    pq.write_table(removed.sort_by("id"), place / REMOVED, compression="zstd")


def _equal(plan: Plan) -> Any:
    """A table `id` and `cluster` of records that are equal within a share or a group."""
    shares = [plan.result("partition", number) for number in range(plan.tasks)]
    groups = [plan.result("join", number) for number in range(plan.join_tasks)]
    id = id_type(plan)
    return all_of([folder / EQUAL for folder in (*shares, *groups)], {"id": id, "cluster": id})


def _stars(linkage: str, equal: Any, pairs: Any) -> Any:
    """The decisions on records by the pairs of distinct fingerprints, and by which are equal."""
    removed = keepers(linkage, pairs["id_a"], pairs["id_b"])
    # The distance of each to its keeper is that of their pair, in which the smaller fingerprint comes first.
    turned = pairs.select(["id_b", "id_a", "distance"])
    both = pa.concat_tables([one.rename_columns(["id", "keeper", "distance"]) for one in (pairs, turned)])
    removed = removed.join(both, ["id", "keeper"], join_type="inner")
    # A record whose fingerprint another record keeps is removed by that; one whose fingerprint is removed has the
    # keeper of that fingerprint.
    same = keepers("single", equal["id"], equal["cluster"]).rename_columns(["id", "same"])
    same = same.join(removed, "same", "id", join_type="left outer")
    keeper = pc.coalesce(same["keeper"], same["same"])
    same = pa.table({"id": same["id"], "keeper": keeper, "distance": pc.fill_null(same["distance"], 0)})
    return pa.concat_tables([removed, same.cast(removed.schema)])


def keep(plan: Plan, task: int, place: pathlib.Path) -> None:
    """The rows of a share that stay, with all columns of the input, and the number of those that do not."""
    removed, schema, dropped = _removed(plan), _inputs.schema(plan.inputs), 0
    with pq.ParquetWriter(place / KEPT, schema, compression="zstd") as out:
        for batch in _inputs.batches(_inputs.share(plan.inputs, task, plan.tasks), schema.names, schema):
            ids = batch[plan.id]
            stays = pc.invert(pc.is_in(ids.cast(removed.type) if plan.ids == "text" else ids, value_set=removed))
            dropped += stays.false_count
            out.write_batch(batch.filter(stays))
    (place / DROPPED).write_text(f"{dropped}\n", "utf-8")


def _removed(plan: Plan) -> Any:
    ids = pq.read_table(plan.result("decide", 0) / REMOVED, columns=["id"])["id"]
    return ids.cast(pa.large_string() if plan.ids == "text" else _inputs.schema(plan.inputs).field(plan.id).type)


def check_ids(plan: Plan) -> None:
    """Refuses results where a removed record shares its id with another one, whose row has gone with it."""
    dropped = sum(int((plan.result("keep", task) / DROPPED).read_text("utf-8")) for task in range(plan.tasks))
    removed = pq.read_metadata(plan.result("decide", 0) / REMOVED).num_rows
    if dropped != removed:
        counts = f"{removed} records are removed, and {dropped} rows have their ids"
        message = f"{counts}: the ids in {plan.id!r} are not unique; give each row its own, and create the job again"
        raise InvalidInputError(f"{plan.folder}: {message}", plan.folder)
