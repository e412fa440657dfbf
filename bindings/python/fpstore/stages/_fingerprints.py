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
from fpstore.stages import _files, _inputs
from fpstore.stages._plan import Plan
from fpstore.stages._sketch import rows

EQUAL, NEAR = "equal.parquet", "near.parquet"


def write(path: pathlib.Path, stream: Any, keep: Any = None) -> None:
    """Writes a stream of record batches; ``keep`` selects the rows of each."""
    reader = pa.RecordBatchReader.from_stream(stream)
    kept = (batch if keep is None else batch.filter(keep(batch)) for batch in reader)
    with _files.writer(path, reader.schema) as out:
        for table in _inputs.blocks(kept):
            out.write_table(table)


def _records(plan: Plan, task: int) -> Iterator[Any]:
    """The records of a task: batches of `id` and `fingerprint`."""
    for ids, values in (batch.columns for batch in rows(plan, task)):
        yield pa.record_batch([ids, unsigned(values, plan.width)], names=["id", "fingerprint"])


def partition(plan: Plan, task: int, place: pathlib.Path) -> None:
    """Stores of the groups of a share, and a file of the records that are equal within it, if there are any."""
    batches = _records(plan, task)
    first = next(batches, None)
    if first is None:
        return
    all_of_share = place / "all"
    with _created(plan, all_of_share) as store:
        store.load(pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches)))
        if has_equal := _has_equal(store):
            _write_equal(plan, store, place)
        # Otherwise the store is what `deal` would make of it.
        if is_dealt := plan.groups > 1 or has_equal:
            store.deal(place, groups=plan.groups, k=plan.distance)
    if is_dealt:
        shutil.rmtree(all_of_share)
    else:
        all_of_share.rename(place / _name(0, 0))


def _name(part: int, group: int) -> str:
    """The name that `deal` gives a store."""
    return f"part-{part}-group-{group}"


def _has_equal(store: fpstore.Store) -> bool:
    """Whether records may have equal fingerprints."""
    found = store.stats()
    return not found["distinct_is_exact"] or found["distinct_at_most"] < found["records"]


def _write_equal(plan: Plan, store: fpstore.Store, place: pathlib.Path) -> None:
    """Writes which records have equal fingerprints."""
    write(place / EQUAL, store.clusters(0, min_size=2, memory=plan.memory), _is_no_label)


def _is_no_label(batch: Any) -> Any:
    return pc.not_equal(batch["id"], batch["cluster"])


def join(plan: Plan, task: int, place: pathlib.Path) -> None:
    """The near pairs of a group or, for single linkage, a spanning forest of them; and its equal records."""
    part, group = (None, 0) if plan.is_small else divmod(task, plan.groups)
    # The parts of a single group have one store.
    name = _name(part if part and plan.groups > 1 else 0, group)
    paths = [plan.result("partition", number) / name for number in range(plan.tasks)]
    with contextlib.ExitStack() as opened:
        stores: list[fpstore.Store] = []
        for path in filter(pathlib.Path.exists, paths):
            store = opened.enter_context(fpstore.open(path, read_only=True, filters="off"))
            assert isinstance(store, fpstore.Store)
            stores.append(store)
        if len(stores) > 1:
            # Looking for each piece of the records in all stores would take more time than merging them.
            merged = place / "merged"
            with _merged(plan, stores, merged) as store:
                _join(plan, part, store, place)
            shutil.rmtree(merged)
        elif stores:
            _join(plan, part, stores[0], place)


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


def _join(plan: Plan, part: int | None, store: fpstore.Store, place: pathlib.Path) -> None:
    how: dict[str, Any] = {"part": part, "memory": plan.memory}
    if plan.linkage == "single":
        write(place / NEAR, store.clusters(plan.distance, min_size=2, **how), _is_no_label)
        return
    write(place / NEAR, _without_fingerprints(store.pairs(plan.distance, distinct=True, **how)))
    if not part and _has_equal(store):
        _write_equal(plan, store, place)


def _without_fingerprints(found: Any) -> Any:
    reader = pa.RecordBatchReader.from_stream(found)
    wanted = ["id_a", "id_b", "distance"]
    schema = pa.schema([reader.schema.field(name) for name in wanted])
    return pa.RecordBatchReader.from_batches(schema, (batch.select(wanted) for batch in reader))
