"""Any values in one file that processes map, so that they share its memory."""

from __future__ import annotations

import mmap
import os
import pickle
from array import array
from collections.abc import Iterable, Iterator
from typing import Any


def write_entries(path: str | os.PathLike[str], values: Iterable[Any]) -> None:
    """Writes a file for :class:`SavedEntries`: the pickled values, where each of them ends, and their number, both as
    integers of 64 bits in the byte order of the machine."""
    ends = array("Q")
    end = 0
    with open(path, "wb") as file:
        for value in values:
            end += file.write(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL))
            ends.append(end)
        ends.append(len(ends))
        ends.tofile(file)


class SavedEntries:
    """Values that :func:`write_entries` wrote. A value is read each time it is asked for."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with open(path, "rb") as file:
            mapped = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        self._count: int = mapped[-8:].cast("Q")[0]
        self._ends = mapped[-8 * (self._count + 1) : -8].cast("Q")
        self._values = mapped

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, at: int) -> Any:
        begin = self._ends[at - 1] if at else 0
        return pickle.loads(self._values[begin : self._ends[at]])

    def __iter__(self) -> Iterator[Any]:
        return map(self.__getitem__, range(self._count))
