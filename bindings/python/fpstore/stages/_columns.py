"""The columns of the input that a job reads, and their types."""

from __future__ import annotations

from typing import Any

from fpstore._arrow import pa
from fpstore.errors import InvalidInputError
from fpstore.stages import _inputs


def find(files: list[str], *names: str) -> list[Any]:
    """The types of columns in the first file."""
    schema = _inputs.schema(files)
    for name in names:
        if name not in schema.names:
            found = ", ".join(schema.names)
            raise InvalidInputError(f"{files[0]}: there is no column {name!r}; there are {found}")
    return [schema.field(name).type for name in names]


def kind_of_ids(files: list[str], column: str) -> str:
    """The kind of ids of a store with these ids."""
    [type] = find(files, column)
    if not (is_text := _inputs.is_text(type)) and not pa.types.is_integer(type):
        raise InvalidInputError(f"{files[0]}: the ids in {column!r} are {type}; expected integers or strings")
    return "text" if is_text else "u64"


def check_texts(files: list[str], column: str) -> None:
    """Refuses a column without texts, or lists of tokens."""
    [type], types = find(files, column), pa.types
    of = type.value_type if types.is_list(type) or types.is_large_list(type) else type
    if not _inputs.is_text(of):
        raise InvalidInputError(f"{files[0]}: the texts in {column!r} are {type}; expected strings or lists of strings")


def check_keys(files: list[str], column: str) -> None:
    """Refuses a column without lists of keys."""
    [type], types = find(files, column), pa.types
    is_list = types.is_list(type) or types.is_large_list(type) or types.is_fixed_size_list(type)
    if not is_list or not (types.is_uint64(type.value_type) or types.is_int64(type.value_type)):
        raise InvalidInputError(f"{files[0]}: the keys in {column!r} are {type}; expected lists of uint64 or int64")


def width(files: list[str], column: str) -> int:
    """Bits of the fingerprints of a column: binary values, whose type does not tell, have the length of the first."""
    [type] = find(files, column)
    if pa.types.is_uint64(type) or pa.types.is_int64(type):
        return 64
    length = 0
    if pa.types.is_fixed_size_binary(type):
        length = type.byte_width
    elif pa.types.is_binary(type) or pa.types.is_large_binary(type):
        every = _inputs.batches([(file, None) for file in files], [column], _inputs.schema(files))
        length = next((len(value) for batch in every for value in batch[column].to_pylist() if value is not None), 16)
    if length not in (16, 32):
        wanted = "uint64, int64, or binary of 16 or 32 bytes"
        message = f"{files[0]}: the fingerprints in {column!r} are {type}; expected {wanted}"
        raise InvalidInputError(message)
    return 8 * length
