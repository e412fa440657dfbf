"""The parameters of a job, which its folder holds."""

from __future__ import annotations

import json
import pathlib
from dataclasses import asdict, dataclass
from typing import Any

import fpstore
from fpstore._native import bytes_of
from fpstore.errors import DamagedError, InvalidInputError, NotFoundError

FORMAT, VERSION = "fpstore-stages", 4
LINKAGES = ("single", "star", "complete")
METHODS: dict[str, Any] = {"simhash": fpstore.simhash, "minhash": fpstore.bands}
"""The functions that make fingerprints, or keys, of texts."""
NAME = "job.json"
MOST_GROUPS = 4096
"""The limit of :meth:`fpstore.Store.deal`."""


@dataclass(frozen=True)
class Plan:
    """Parameters of a job, as in its file `job.json`."""

    inputs: list[str]
    id: str
    fingerprint: str | None
    keys: str | None
    text: str | None
    method: str
    options: dict[str, Any]
    distance: int
    linkage: str
    tasks: int
    groups: int
    is_small: bool
    memory: int | str
    ids: str
    width: int
    hasher: str | None
    folder: pathlib.Path

    def result(self, stage: str, task: int) -> pathlib.Path:
        """The directory of a task's result, which is there when the task is done."""
        return self.folder / stage / f"task-{task}"

    @property
    def has_keys(self) -> bool:
        """Whether records have keys, not fingerprints."""
        return has_keys(self.keys, self.method)

    @property
    def join_tasks(self) -> int:
        """Tasks of the stage `join`: one for each group or, of fingerprints, for each part and group; one for all parts
        if that is little work."""
        return self.groups if self.has_keys or self.is_small else (self.distance + 1) * self.groups

    def text_of_file(self) -> str:
        """The content of the file."""
        values = asdict(self)
        del values["folder"]
        try:
            return json.dumps({"format": FORMAT, "version": VERSION} | values, indent=1) + "\n"
        except TypeError as error:
            raise InvalidInputError(f"options={self.options}: {error}; give numbers and texts of Python") from None

    def check(self) -> None:
        """Refuses values that no job has."""
        for name, types in _TYPES.items():
            value = getattr(self, name)
            if not isinstance(value, types) or isinstance(value, bool) != (types == (bool,)):
                raise InvalidInputError(f"{name}={value!r}: expected {' or '.join(type.__name__ for type in types)}")
        for name, least in {"tasks": 1, "groups": 1, "distance": 0}.items():
            if getattr(self, name) < least:
                raise InvalidInputError(f"{name}={getattr(self, name)}: expected at least {least}")
        if not self.inputs:
            raise InvalidInputError("there are no inputs")
        if sum(column is not None for column in (self.fingerprint, self.keys, self.text)) != 1:
            raise InvalidInputError("expected one column: of fingerprints, of keys, or of texts")
        if self.id in (self.fingerprint, self.keys, self.text):
            raise InvalidInputError(f"id={self.id!r}: ids have a column of their own")
        check_method(self.method)
        if self.linkage not in LINKAGES:
            raise InvalidInputError(f"linkage={self.linkage!r}: expected one of {', '.join(LINKAGES)}")
        bytes_of(self.memory)
        if self.groups > MOST_GROUPS and not self.has_keys:
            raise InvalidInputError(f"groups={self.groups}: a part of the join has {MOST_GROUPS} groups at most")
        if self.is_small and self.groups != 1:
            raise InvalidInputError(f"is_small={self.is_small}: there is one group then, not {self.groups}")
        if self.width not in (64, 128, 256) or self.ids not in ("u64", "text"):
            raise InvalidInputError(f"width={self.width}, ids={self.ids!r}: no store has these")
        if self.distance > self.width:
            raise InvalidInputError(f"distance={self.distance}: fingerprints have {self.width} bits")


def has_keys(keys: str | None, method: str) -> bool:
    """Whether records have keys, not fingerprints, given the column of keys and the method for texts."""
    return keys is not None or method == "minhash"


def check_method(method: str) -> None:
    """Refuses methods that there are not."""
    if method not in METHODS:
        raise InvalidInputError(f"method={method!r}: expected one of {', '.join(METHODS)}")


_TYPES: dict[str, tuple[type, ...]] = {
    "inputs": (list,),
    "id": (str,),
    "fingerprint": (str, type(None)),
    "keys": (str, type(None)),
    "text": (str, type(None)),
    "method": (str,),
    "options": (dict,),
    "distance": (int,),
    "linkage": (str,),
    "tasks": (int,),
    "groups": (int,),
    "is_small": (bool,),
    "memory": (int, str),
    "ids": (str,),
    "width": (int,),
    "hasher": (str, type(None)),
}


def read(folder: pathlib.Path) -> Plan:
    path = folder / NAME
    try:
        values: Any = json.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise NotFoundError(f"{folder}: there is no job here; create it first", folder) from None
    except (ValueError, RecursionError) as error:
        raise DamagedError(f"{path}: {error}", path) from None
    given: dict[str, Any] = dict(values) if isinstance(values, dict) else {}  # pyright: ignore
    if (given.pop("format", None), given.pop("version", None)) != (FORMAT, VERSION):
        raise DamagedError(f"{path}: no job of this version; create it again", path)
    try:
        plan = Plan(folder=folder, **given)
        plan.check()
        return plan
    except (TypeError, InvalidInputError) as error:
        raise DamagedError(f"{path}: {error}", path) from None
