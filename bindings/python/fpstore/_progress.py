"""The bar of progress=True: that of tqdm if it is installed, else a line of logging now and then."""

from __future__ import annotations

import logging
import time
from typing import Protocol

_LOG = logging.getLogger("fpstore")
_SECONDS = 10.0


class Bar(Protocol):
    """Shows a number."""

    def update(self, total: int) -> None:
        """Shows the number so far."""
        ...

    def close(self) -> None:
        """Ends."""
        ...


class _Tqdm:
    def __init__(self, unit: str) -> None:
        from tqdm.auto import tqdm  # pyright: ignore

        self._bar = tqdm(unit=f" {unit}", unit_scale=True)

    def update(self, total: int) -> None:
        self._bar.update(total - self._bar.n)

    def close(self) -> None:
        self._bar.close()


class _Logged:
    def __init__(self, unit: str) -> None:
        self._unit = unit
        self._next = time.monotonic() + _SECONDS

    def update(self, total: int) -> None:
        if time.monotonic() >= self._next:
            self._next += _SECONDS
            _LOG.info("%s %s", f"{total:,}", self._unit)

    def close(self) -> None:
        pass


def bar(unit: str) -> Bar:
    """A bar that counts things of this name."""
    try:
        return _Tqdm(unit)
    except ImportError:
        return _Logged(unit)
