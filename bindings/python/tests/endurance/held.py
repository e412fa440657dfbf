"""What a process holds: memory, descriptors, threads, temporary files."""

from __future__ import annotations

import ctypes
import gc
import os
import pathlib
import time
import tracemalloc
from collections.abc import Callable

MIB = 1 << 20


def resident() -> int:
    """Bytes of memory that the process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


class Watch:
    """Looks at what the process holds after each round of the same work: after the first rounds it must not grow."""

    def __init__(self, temporary: pathlib.Path, memory_slack: int) -> None:
        self.temporary = temporary
        self.memory_slack = memory_slack
        self.samples: list[tuple[int, int]] = []
        self.files = self.threads = 0

    def begin(self) -> None:
        """Call it when all is warm: threads that stay have started."""
        gc.collect()
        self.files, self.threads = descriptors(), threads()

    def sample(self, calls: int) -> None:
        """After this many calls since the beginning."""
        self._settle()
        # What is free but not given back is no leak; only the C library of GNU can be told to give it back.
        if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
            trim(0)
        self.samples.append((calls, resident()))

    def _settle(self) -> None:
        # Work that was dropped ends a moment later.
        until = time.monotonic() + 60
        while True:
            gc.collect()
            faults = []
            if descriptors() > self.files:
                faults.append(f"{descriptors()} descriptors after {self.files}")
            if threads() > self.threads:
                faults.append(f"{threads()} threads after {self.threads}")
            if left := sorted(str(one.relative_to(self.temporary)) for one in self.temporary.rglob("*")):
                faults.append(f"temporary files: {left}")
            if not faults:
                return
            assert time.monotonic() < until, "; ".join(faults)
            time.sleep(0.02)

    def report(self) -> dict[str, object]:
        """The growth of memory. The second quarter of the samples is compared with the last one."""
        quarter = max(1, len(self.samples) // 4)
        early, late = self.samples[quarter : 2 * quarter] or self.samples, self.samples[-quarter:]
        growth = sum(memory for _, memory in late) / len(late) - sum(memory for _, memory in early) / len(early)
        calls = sum(calls for calls, _ in late) / len(late) - sum(calls for calls, _ in early) / len(early)
        assert growth < self.memory_slack, f"memory grew by {growth / MIB:.1f} MiB: {self.samples}"
        return {
            "resident_mib": round(late[-1][1] / MIB, 1),
            "growth_mib": round(growth / MIB, 2),
            "growth_bytes_per_call": round(growth / calls, 3) if calls else None,
            "descriptors": self.files,
            "threads": self.threads,
        }


def python_growth(work: Callable[[], None]) -> int:
    """Bytes that Python's own objects grow by during the work, which was done before. tracemalloc makes it slow."""
    tracemalloc.start()
    work()
    gc.collect()
    before, _ = tracemalloc.get_traced_memory()
    work()
    gc.collect()
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return after - before
