"""The keys of the records, one row for each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fpstore._arrow import pa, pc
from fpstore.errors import InvalidInputError
from fpstore.stages._plan import Plan
from fpstore.stages._sketch import rows
from fpstore.stages._tables import id_type

GOLDEN = pa.scalar(0x9E37_79B9_7F4A_7C15, pa.uint64())
"""2^64 divided by the golden ratio: multiplying by it spreads keys that are small numbers (Knuth, The Art of Computer
Programming 3, 6.4)."""
BITS = 40
"""Bits of a digest. Of 10^11 keys, one in eleven has the digest of another key by chance, and is sent for nothing. The
differences between the digests of a share, in order, take some three bytes."""


def memberships(plan: Plan, task: int) -> Iterator[Any]:
    """Batches `group`, `digest`, `key` and `id` of a share: a row for each key of a record. A group has a range of
    digests."""
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
        digest = _shifted(pc.multiply(flat, GOLDEN), 64 - BITS)
        group = _shifted(pc.multiply(_shifted(digest, BITS - 32), pa.scalar(plan.groups, pa.uint64())), 32)
        yield pa.record_batch([group, digest, flat, ids], names=["group", "digest", "key", "id"])


def _shifted(values: Any, bits: int) -> Any:
    return pc.shift_right(values, pa.scalar(bits, pa.uint64()))
