"""The stage that makes fingerprints, or keys, of texts."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

from fpstore._arrow import pa
from fpstore.errors import InvalidInputError
from fpstore.stages import _files, _inputs
from fpstore.stages._plan import METHODS, Plan, check_method

SKETCHED = "sketched.parquet"


def sketch(plan: Plan, task: int, place: pathlib.Path) -> None:
    """Fingerprints, or the keys of bands, of the texts of a share."""
    schema, text = _inputs.schema(plan.inputs), str(plan.text)
    source = _inputs.batches(_inputs.share(plan.inputs, task, plan.tasks), [plan.id, text], schema)
    type = type_of(plan.method, plan.width)
    made = pa.schema([schema.field(plan.id).with_name("id"), ("sketch", type)])
    with _files.writer(place / SKETCHED, made) as out:
        for batch in source:
            values = sketches(batch[text], plan.method, plan.options, type)
            out.write_batch(pa.record_batch([batch[plan.id], values], schema=made))


def type_of(method: str, width: int) -> Any:
    """The type of what a method makes of texts, given the bits of a fingerprint."""
    if method == "minhash":
        return pa.list_(pa.uint64())
    return pa.uint64() if width == 64 else pa.binary(width // 8)


def sketches(texts: Any, method: str, options: dict[str, Any], type: Any) -> Any:
    """Fingerprints, or the keys of bands, of an array of texts; null, or no keys, for one that is null or too short."""
    return pa.array(METHODS[method](texts, **options)).cast(type)


def column_of(method: str, options: dict[str, Any], name: str | None) -> tuple[str, Any]:
    """The name and the type of a column of sketches."""
    check_method(method)
    _, width = hasher_of_texts(method, options)
    return name or ("keys" if method == "minhash" else "fingerprint"), type_of(method, width)


def check_new(name: str, columns: list[str]) -> None:
    """Refuses a column that is there already."""
    if name in columns:
        raise InvalidInputError(f"there is a column {name!r} already; give the sketches another name: column=")


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
