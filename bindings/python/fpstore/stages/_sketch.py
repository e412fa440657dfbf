"""The stage that makes fingerprints, or keys, of texts."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from fpstore._arrow import pa
from fpstore.stages import _files, _inputs
from fpstore.stages._plan import METHODS, Plan

SKETCHED = "sketched.parquet"


def sketch(plan: Plan, task: int, place: pathlib.Path) -> None:
    """Fingerprints, or the keys of bands, of the texts of a share."""
    schema, text = _inputs.schema(plan.inputs), str(plan.text)
    source = _inputs.batches(_inputs.share(plan.inputs, task, plan.tasks), [plan.id, text], schema)
    type = pa.uint64() if plan.width == 64 else pa.binary(plan.width // 8)
    if plan.has_keys:
        type = pa.list_(pa.uint64())
    made = pa.schema([schema.field(plan.id).with_name("id"), ("sketch", type)])
    with _files.writer(place / SKETCHED, made) as out:
        for batch in source:
            values = pa.array(METHODS[plan.method](batch[text], **plan.options)).cast(type)
            out.write_batch(pa.record_batch([batch[plan.id], values], schema=made))


def rows(plan: Plan, task: int) -> Iterator[Any]:
    """Batches of two columns of a share: the ids, and the fingerprints or keys that the input or `sketch` has."""
    if plan.text is None:
        files, columns = plan.inputs, [plan.id, str(plan.keys or plan.fingerprint)]
        return _inputs.batches(_inputs.share(files, task, plan.tasks), columns, _inputs.schema(files))
    file = str(plan.result("sketch", task) / SKETCHED)
    return _inputs.batches([(file, None)], ["id", "sketch"], _inputs.schema([file]))


def hasher_of_texts(method: str, options: dict[str, Any]) -> tuple[str | None, int]:
    """The hasher of what these options make of texts, and the bits of a fingerprint or a key."""
    made = METHODS[method](["a text to see the hasher"], **options)
    return made.hasher, 128 if method == "simhash" and made.type != "uint64" else 64
