"""Types of arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Literal, Protocol, Union


class ArrowStream(Protocol):
    """Has an Arrow stream: tables, chunked arrays and readers of many packages."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...


class ArrowArray(Protocol):
    """Has an Arrow array: arrays and record batches."""

    def __arrow_c_array__(self, requested_schema: object | None = None) -> object: ...


Column = Union[ArrowStream, ArrowArray, Iterable[object]]
"""Many values: Arrow, a buffer such as an array of NumPy, or anything that iterates over Python values."""
Fingerprint = Union[int, bytes, str]
"""One fingerprint: an integer, bytes with the most significant first, or hexadecimal digits."""
Id = Union[int, str]
Path = Union[str, "os.PathLike[str]"]
Size = Union[int, str]
"""Bytes, or a text such as "4GiB"."""
Progress = Union[bool, Callable[[int], object], None]
Keep = Union[Literal["smallest", "largest"], Column, None]
