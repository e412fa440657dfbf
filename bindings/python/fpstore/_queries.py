"""Batches of rows of Ray and Spark: queries and their matches, and texts and their sketches."""

from __future__ import annotations

from typing import Any

from fpstore._arrow import pa
from fpstore._native import Store
from fpstore._native import open as _open
from fpstore._types import Path
from fpstore.errors import InvalidInputError, UnsupportedError

NAMES = ("match_fingerprint", "match_distance", "match_id")


def opened(path: Path) -> Store:
    """A store of fingerprints, for reading."""
    found = _open(path, read_only=True)
    if not isinstance(found, Store):
        raise UnsupportedError(f"{path}: a key index; queries are fingerprints", path)
    return found


def unsigned(values: Any, width: int) -> Any:
    """Fingerprints of the types that engines have, as those that a store takes: signed numbers have the same bits."""
    if pa.types.is_int64(values.type):
        return values.view(pa.uint64())
    if pa.types.is_binary(values.type) or pa.types.is_large_binary(values.type):
        try:
            return values.cast(pa.binary(width // 8))
        except ValueError as error:
            raise InvalidInputError(f"fingerprints have {width // 8} bytes: {error}") from None
    return values


def check_names(names: list[str], store_ids: str) -> list[str]:
    """The names of the columns of matches, which the rows of queries must not have."""
    added = [*NAMES[:2], "match_count" if store_ids == "none" else NAMES[2]]
    if taken := set(added) & set(names):
        names = sorted(taken)
        raise InvalidInputError(f"queries have the columns {', '.join(names)}, which the matches get; rename them")
    return added


def matches(rows: Any, column: str, store: Store, k: int | None) -> Any:
    """The rows of a record batch with each of their matches: a table."""
    added = check_names(rows.schema.names, store.ids)
    found = pa.table(store.query(unsigned(rows[column], store.width), k))
    made = pa.Table.from_batches([rows]).take(found["query_row"])
    for name in added:
        made = made.append_column(name, found[name.removeprefix("match_")])
    return made
