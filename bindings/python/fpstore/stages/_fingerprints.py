"""The stages that find near pairs of fingerprints: partition and join."""

from __future__ import annotations

import contextlib
import itertools
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import fpstore
from fpstore._arrow import pa, pc
from fpstore._queries import unsigned
from fpstore.stages import _files
from fpstore.stages._plan import Plan
from fpstore.stages._sketch import rows

EQUAL, NEAR = "equal.parquet", "near.parquet"
FEW = 8
"""Stores that are joined as they are. Merging more of them first takes less time: a join, which reads its records some
at a time, looks for each piece in all stores."""


def write(path: pathlib.Path, stream: Any, keep: Any = None) -> None:
    """Writes a stream of record batches; ``keep`` selects the rows of each."""
    reader = pa.RecordBatchReader.from_stream(stream)
    with _files.writer(path, reader.schema) as out:
        for batch in reader:
            out.write_batch(batch if keep is None else batch.filter(keep(batch)))


def _records(plan: Plan, task: int) -> Iterator[Any]:
    """The records of a task: batches of `id` and `fingerprint`."""
    for ids, values in (batch.columns for batch in rows(plan, task)):
        yield pa.record_batch([ids, unsigned(values, plan.width)], names=["id", "fingerprint"])


def partition(plan: Plan, task: int, place: pathlib.Path) -> None:
    """Stores of the groups of a share, and a file of the records that are equal within it."""
    batches = _records(plan, task)
    first = next(batches, None)
    if first is None:
        return
    all_of_share = place / "all"
    with _created(plan, all_of_share) as store:
        store.load(pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches)))
        write(place / EQUAL, store.clusters(0, min_size=2, memory=plan.memory), _is_no_label)
        store.deal(place, groups=plan.groups, k=plan.distance)
    shutil.rmtree(all_of_share)


def _is_no_label(batch: Any) -> Any:
    return pc.not_equal(batch["id"], batch["cluster"])


def join(plan: Plan, task: int, place: pathlib.Path) -> None:
    """The near pairs of a group or, for single linkage, a spanning forest of them; and its equal records."""
    part, group = divmod(task, plan.groups)
    # The parts of a single group have one store.
    name = f"part-{part if plan.groups > 1 else 0}-group-{group}"
    paths = [plan.result("partition", number) / name for number in range(plan.tasks)]
    with contextlib.ExitStack() as opened:
        stores: list[fpstore.Store] = []
        for path in filter(pathlib.Path.exists, paths):
            store = opened.enter_context(fpstore.open(path, read_only=True, filters="off"))
            assert isinstance(store, fpstore.Store)
            stores.append(store)
        if len(stores) > FEW:
            merged = place / "merged"
            with _merged(plan, stores, merged) as store:
                _join(plan, part, [store], place)
            shutil.rmtree(merged)
        elif stores:
            _join(plan, part, stores, place)


def _merged(plan: Plan, stores: list[fpstore.Store], path: pathlib.Path) -> fpstore.Store:
    """A new store with the records of several."""
    readers = (pa.RecordBatchReader.from_stream(store.records()) for store in stores)
    first = next(readers)
    batches = (batch for reader in itertools.chain([first], readers) for batch in reader)
    store = _created(plan, path)
    try:
        store.load(pa.RecordBatchReader.from_batches(first.schema, batches))
    except BaseException:
        store.close()
        raise
    return store


def _created(plan: Plan, path: pathlib.Path) -> fpstore.Store:
    """A new store for one task."""
    return fpstore.create(
        path,
        width=plan.width,
        max_distance=plan.distance,
        ids=plan.ids,
        plan="tables-1",
        hasher=plan.hasher,
        memory=plan.memory,
    )


def _join(plan: Plan, part: int, stores: list[fpstore.Store], place: pathlib.Path) -> None:
    first, more = stores[0], stores[1:]
    k, memory = plan.distance, plan.memory
    if plan.linkage == "single":
        found = first.clusters(k, part=part, more=more, min_size=2, memory=memory)
        write(place / NEAR, found, _is_no_label)
    else:
        found = first.pairs(k, part=part, more=more, distinct=True, memory=memory)
        write(place / NEAR, _without_fingerprints(found))
        if part == 0 and plan.tasks > 1:
            write(place / EQUAL, first.clusters(0, more=more, min_size=2, memory=memory), _is_no_label)


def _without_fingerprints(found: Any) -> Any:
    reader = pa.RecordBatchReader.from_stream(found)
    wanted = ["id_a", "id_b", "distance"]
    schema = pa.schema([reader.schema.field(name) for name in wanted])
    return pa.RecordBatchReader.from_batches(schema, (batch.select(wanted) for batch in reader))
