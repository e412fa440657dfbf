"""The same values in every kind of column that the package takes, and columns of answers as values again."""

import array

import numpy as np
import polars as pl
import pyarrow as pa

import fpstore as fp

# Kinds of columns of fingerprints. Those of the second group have no nulls, those of the third are of 64 bits alone.
WITH_NULLS = ("list", "bytes", "hex", "generator", "binary", "view", "arrow", "sliced", "chunked", "stream", "polars")
WITH_NULLS += ("own",)
WITHOUT_NULLS = ("numpy", "strided", "uint8 lists")
OF_64_BITS = ("int64", "array", "numpy of int64")
ID_KINDS = ("list", "generator", "arrow", "sliced", "chunked", "stream", "polars", "numpy", "small", "own")


def kinds(width, nulls=False):
    """The kinds of columns that can have such fingerprints."""
    of_width = OF_64_BITS if width == 64 else ()
    return WITH_NULLS + (of_width[:1] if nulls else WITHOUT_NULLS + of_width)


def to_bytes(fingerprint, width):
    return None if fingerprint is None else fingerprint.to_bytes(width // 8, "big")


def _cut(made, filler):
    """A slice of an array with something before and behind it."""
    return pa.concat_arrays([filler, made, filler]).slice(len(filler), len(made))


def _chunks(made, filler):
    """Two chunks that are slices, and an empty one."""
    whole, half = _cut(made, filler), len(made) // 2
    return pa.chunked_array([whole.slice(0, half), made.slice(0, 0), whole.slice(half)], type=made.type)


class _Stream:
    """An Arrow stream that nothing else is known of."""

    def __init__(self, chunks):
        self.chunks = chunks

    def __arrow_c_stream__(self, requested_schema=None):
        return self.chunks.__arrow_c_stream__(requested_schema)


def _arrow(made, filler, kind):
    if kind == "sliced":
        return _cut(made, filler)
    if kind == "chunked":
        return _chunks(made, filler)
    if kind == "stream":
        return _Stream(_chunks(made, filler))
    if kind == "polars":
        return pl.Series(_chunks(made, filler))
    if kind == "own":
        return fp.Table({"x": _cut(made, filler)})["x"]
    return made


def _of_numpy(values, width, kind):
    if width == 64:
        numbers = np.array(values, dtype="u8")
    else:
        rows = b"".join(to_bytes(one, width) for one in values)
        numbers = np.frombuffer(rows, dtype="u1").reshape(len(values), width // 8)
    if kind == "strided":
        wide = np.zeros((2 * len(numbers), *numbers.shape[1:]), dtype=numbers.dtype)
        wide[1::2] = numbers
        return wide[1::2]
    return numbers.view("i8") if kind == "numpy of int64" else numbers


def fingerprints(values, width, kind):
    """A column of this kind; values are integers or None."""
    values = list(values)
    rows = [to_bytes(one, width) for one in values]
    if kind in ("numpy", "strided", "numpy of int64"):
        return _of_numpy(values, width, kind)
    if kind == "list":
        return values
    if kind == "generator":
        return (one for one in values)
    if kind == "bytes":
        return rows
    if kind == "hex":
        return [None if one is None else one.hex() for one in rows]
    if kind == "array":
        return array.array("Q", values)
    if kind == "int64":
        return pa.array([one if one is None else one - (one >> 63 << 64) for one in values], pa.int64())
    if kind == "uint8 lists":
        return pa.FixedSizeListArray.from_arrays(pa.array(b"".join(rows), pa.uint8()), width // 8)
    if kind in ("binary", "view"):
        return pa.array(rows, pa.large_binary() if kind == "binary" else pa.binary_view())
    if width == 64:
        return _arrow(pa.array(values, pa.uint64()), pa.array([7, None, 9], pa.uint64()), kind)
    of_width = pa.binary() if kind == "polars" else pa.binary(width // 8)
    return _arrow(pa.array(rows, of_width), pa.array([b"7" * (width // 8), None], of_width), kind)


def ids(values, kind):
    """A column of ids of this kind; None for records without ids."""
    if values is None:
        return None
    values = list(values)
    is_text = bool(values) and isinstance(values[0], str)
    if kind == "list":
        return values
    if kind == "generator":
        return iter(values)
    if kind == "numpy":
        return np.array(values, dtype="U" if is_text else "u8")
    if kind == "small":
        return pa.array(values, pa.large_string() if is_text else pa.int32())
    of_kind = pa.string() if is_text else pa.uint64()
    return _arrow(pa.array(values, of_kind), pa.array(["no id", None] if is_text else [77, None], of_kind), kind)


def as_ints(values):
    """Fingerprints of an answer as integers."""
    return [value if isinstance(value, int) else int.from_bytes(value, "big") for value in values]


def rows(answers, *names):
    """The rows of an answer as tuples; fingerprints are integers."""
    columns = answers.to_pydict()
    wanted = [name for name in names if name in columns] or list(columns)
    values = (columns[name] for name in wanted)
    return list(zip(*(as_ints(column) if column and isinstance(column[0], bytes) else column for column in values)))
