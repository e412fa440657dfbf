"""What a job does: the parameters that its folder holds."""

from __future__ import annotations

import json
import pathlib
from dataclasses import asdict, dataclass
from typing import Any

from fpstore.errors import DamagedError, NotFoundError

FORMAT, VERSION = "fpstore-stages", 1
NAME = "job.json"


@dataclass(frozen=True)
class Plan:
    """Parameters of a job, as in its file `job.json`."""

    inputs: list[str]
    id: str
    fingerprint: str
    text: str | None
    options: dict[str, Any]
    distance: int
    linkage: str
    tasks: int
    groups: int
    memory: int | str
    ids: str
    width: int
    hasher: str | None
    folder: pathlib.Path

    def result(self, stage: str, task: int) -> pathlib.Path:
        """The directory of a task's result, which is there when the task is done."""
        return self.folder / stage / f"task-{task}"

    @property
    def join_tasks(self) -> int:
        """Tasks of the stage `join`: one for each part and group."""
        return (self.distance + 1) * self.groups

    def written(self) -> dict[str, Any]:
        """What the file holds."""
        values = asdict(self)
        del values["folder"]
        return {"format": FORMAT, "version": VERSION} | values


def read(folder: pathlib.Path) -> Plan:
    path = folder / NAME
    try:
        values: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise NotFoundError(f"{folder}: there is no job here; create it first", folder) from None
    except ValueError as error:
        raise DamagedError(f"{path}: {error}", path) from None
    given: dict[str, Any] = dict(values) if isinstance(values, dict) else {}  # pyright: ignore
    if (given.pop("format", None), given.pop("version", None)) != (FORMAT, VERSION):
        raise DamagedError(f"{path}: no job of this version; create it again", path)
    try:
        return Plan(folder=folder, **given)
    except TypeError as error:
        raise DamagedError(f"{path}: {error}", path) from None
