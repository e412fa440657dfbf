"""The stages that find near pairs: sketch, partition and join."""

from __future__ import annotations

import contextlib
import itertools
import pathlib
import shutil
from collections.abc import Iterator
from typing import Any

import fpstore
from fpstore._arrow import pa, pc, pq
from fpstore._queries import unsigned
from fpstore.stages import _inputs
from fpstore.stages._plan import Plan

SKETCHED = "fingerprints.parquet"
EQUAL, NEAR = "equal.parquet", "near.parquet"


def write(path: pathlib.Path, stream: Any, keep: Any = None) -> None:
    """Writes a stream of record batches; ``keep`` selects the rows of each."""
    reader = pa.RecordBatchReader.from_stream(stream)
    with pq.ParquetWriter(path, reader.schema, compression="zstd") as out:
        for batch in reader:
            out.write_batch(batch if keep is None else batch.filter(keep(batch)))


def sketch(plan: Plan, task: int, place: pathlib.Path) -> None:
    """Fingerprints of the texts of a share."""
    schema = _inputs.schema(plan.inputs)
    source = _inputs.batches(_inputs.share(plan.inputs, task, plan.tasks), [plan.id, str(plan.text)], schema)
    type = pa.uint64() if plan.width == 64 else pa.binary(plan.width // 8)
    made = pa.schema([schema.field(plan.id).with_name("id"), ("fingerprint", type)])
    with pq.ParquetWriter(place / SKETCHED, made, compression="zstd") as out:
        for batch in source:
            hashes = pa.array(fpstore.simhash(batch[str(plan.text)], **plan.options))
            out.write_batch(pa.record_batch([batch[plan.id], hashes], schema=made))


def _records(plan: Plan, task: int) -> Iterator[Any]:
    """The records of a task: batches of `id` and `fingerprint`."""
    if plan.text is None:
        files, columns = plan.inputs, [plan.id, plan.fingerprint]
        pieces = _inputs.share(files, task, plan.tasks)
    else:
        files, columns = [str(plan.result("sketch", task) / SKETCHED)], ["id", "fingerprint"]
        pieces = [(files[0], None)]
    for ids, values in (batch.columns for batch in _inputs.batches(pieces, columns, _inputs.schema(files))):
        yield pa.record_batch([ids, unsigned(values, plan.width)], names=["id", "fingerprint"])


def partition(plan: Plan, task: int, place: pathlib.Path) -> None:
    """Stores of the groups of a share, and a file of the records that are equal within it."""
    batches = _records(plan, task)
    first = next(batches, None)
    if first is None:
        return
    all_of_share = place / "all"
    with fpstore.create(
        all_of_share,
        width=plan.width,
        max_distance=plan.distance,
        ids=plan.ids,
        plan="tables-1",
        hasher=plan.hasher,
        memory=plan.memory,
    ) as store:
        store.load(pa.RecordBatchReader.from_batches(first.schema, itertools.chain([first], batches)))
        write(place / EQUAL, store.clusters(0, min_size=2, memory=plan.memory), _is_no_label)
        store.deal(place, groups=plan.groups, k=plan.distance)
    shutil.rmtree(all_of_share)


def _is_no_label(batch: Any) -> Any:
    return pc.not_equal(batch["id"], batch["cluster"])


def join(plan: Plan, task: int, place: pathlib.Path) -> None:
    """The near pairs of a group or, for single linkage, a spanning forest of them; and its equal records."""
    part, group = divmod(task, plan.groups)
    paths = [plan.result("partition", number) / f"part-{part}-group-{group}" for number in range(plan.tasks)]
    with contextlib.ExitStack() as opened:
        stores: list[fpstore.Store] = []
        for path in filter(pathlib.Path.exists, paths):
            store = opened.enter_context(fpstore.open(path, read_only=True, filters="off"))
            assert isinstance(store, fpstore.Store)
            stores.append(store)
        if stores:
            _join(plan, part, stores, place)


def _join(plan: Plan, part: int, stores: list[fpstore.Store], place: pathlib.Path) -> None:
    first, more = stores[0], stores[1:]
    k, memory = plan.distance, plan.memory
    if plan.linkage == "single":
        found = first.clusters(k, part=part, more=more, min_size=2, memory=memory)
        write(place / NEAR, found, _is_no_label)
    else:
        found = first.pairs(k, part=part, more=more, distinct=True, memory=memory)
        write(place / NEAR, _without_fingerprints(found))
        if part == 0 and more:
            write(place / EQUAL, first.clusters(0, more=more, min_size=2, memory=memory), _is_no_label)


def _without_fingerprints(found: Any) -> Any:
    reader = pa.RecordBatchReader.from_stream(found)
    wanted = ["id_a", "id_b", "distance"]
    schema = pa.schema([reader.schema.field(name) for name in wanted])
    return pa.RecordBatchReader.from_batches(schema, (batch.select(wanted) for batch in reader))


def describe(files: list[str], id: str, fingerprint: str | None, text: str | None) -> tuple[str, int]:
    """The kind of ids and, of fingerprints, their width, in the first file."""
    schema = _inputs.schema(files)
    for name in filter(None, (id, fingerprint, text)):
        if name not in schema.names:
            found = ", ".join(schema.names)
            raise fpstore.errors.InvalidInputError(f"{files[0]}: there is no column {name!r}; there are {found}")
    type = schema.field(id).type
    is_text = _inputs.is_text(type)
    if not is_text and not pa.types.is_integer(type):
        message = f"{files[0]}: the ids in {id!r} are {type}; expected integers or strings"
        raise fpstore.errors.InvalidInputError(message)
    return "text" if is_text else "u64", 64 if fingerprint is None else _width(files, schema, fingerprint)


def _width(files: list[str], schema: Any, column: str) -> int:
    """Bits of the fingerprints of a column: binary values, whose type does not tell, have the length of the first."""
    type = schema.field(column).type
    if pa.types.is_uint64(type) or pa.types.is_int64(type):
        return 64
    length = 0
    if pa.types.is_fixed_size_binary(type):
        length = type.byte_width
    elif pa.types.is_binary(type) or pa.types.is_large_binary(type):
        every = _inputs.batches([(file, None) for file in files], [column], schema)
        length = next((len(value) for batch in every for value in batch[column].to_pylist() if value is not None), 16)
    if length not in (16, 32):
        wanted = "uint64, int64, or binary of 16 or 32 bytes"
        message = f"{files[0]}: the fingerprints in {column!r} are {type}; expected {wanted}"
        raise fpstore.errors.InvalidInputError(message)
    return 8 * length


def hasher_of_texts(options: dict[str, Any]) -> tuple[str | None, int]:
    """The hasher of the fingerprints that these options make of texts, and their width."""
    made = fpstore.simhash(["a text to see the hasher"], **options)
    return made.hasher, 64 if made.type == "uint64" else 128
