"""Steps of the stage `components`, where records are divided into shares: all tasks of a step, one a share, end before
the next step begins, and send rows to those of later ones."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fpstore.errors import DamagedError
from fpstore.stages import _files, _places
from fpstore.stages._exchange import received, sent
from fpstore.stages._plan import Plan

STAGE = "components"
_UNSETTLED = "unsettled"
"""The file with the number of decisions that a task has left open."""


@dataclass(frozen=True)
class Rounds:
    """The results of all steps."""

    plan: Plan
    shares: int
    step: Callable[[Rounds, int], Step | None]
    """The work of the step with a number, given the results of all before it; None after the last one."""
    most: int
    """At least as many steps as any records take. Files of which a number is wrong could make rounds that never
    end."""

    def result(self, step: int, share: int) -> pathlib.Path:
        return self.plan.result(STAGE, step * self.shares + share)

    def read(self, step: int, share: int, name: str) -> Any:
        """A table that a task has written."""
        return _files.read(self.result(step, share) / name)

    def sent(self, step: int, name: str, to: int, schema: Any) -> Any:
        """The rows that all tasks of a step have sent to a share."""
        return received(sent(self.result(step, share) / name for share in range(self.shares)), to, schema)

    def unsettled(self, step: int, share: int) -> int:
        """The number that a task has written by :func:`write_unsettled`."""
        return _places.read_number(self.result(step, share) / _UNSETTLED)

    def is_settled(self, step: int) -> bool:
        """Whether the tasks of a step have left nothing open."""
        return not any(self.unsettled(step, share) for share in range(self.shares))

    def count(self) -> int:
        """The number of steps that are done, and the next one unless the rounds have ended."""
        folder = self.plan.folder / STAGE
        done = {path.name for path in folder.iterdir()} if folder.exists() else set[str]()
        every, last = range(self.shares), 0
        while any(self.result(last + 1, share).name in done for share in every):
            last += 1
        if last + 1 > self.most:
            message = f"the rounds have not ended after {self.most} steps; remove its directory, and run it again"
            raise DamagedError(f"{folder}: {message}", self.plan.folder)
        for step in range(last + 1):
            # A damaged result, which was removed, is made again before later ones, which may read those of any step.
            if not all(self.result(step, share).name in done for share in every):
                return step + 1
        return last + 1 if self.step(self, last + 1) is None else last + 2


Step = Callable[[Rounds, int, int, pathlib.Path], None]
"""The work of a task, given its step, its share, and the directory of its result."""


def write_unsettled(place: pathlib.Path, number: int) -> None:
    """Writes how many decisions a task has left open."""
    (place / _UNSETTLED).write_text(f"{number}\n", "utf-8")
