"""Results that are there whole or not at all."""

from __future__ import annotations

import os
import pathlib
import shutil
import uuid
from collections.abc import Callable

from fpstore.errors import DamagedError

ASIDE = ".making-"
AGAIN = "remove the directory that it is in, and run its task again"
"""The remedy for a damaged result."""


def _sync(path: pathlib.Path) -> None:
    """Makes a file, or the names in a directory, durable."""
    if path.is_dir() and os.name == "nt":
        # Windows opens no directories.
        return
    opened = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def write_text(path: pathlib.Path, text: str) -> None:
    """Writes a file that is there whole or not at all."""
    aside = path.with_name(f"{ASIDE}{path.name}-{uuid.uuid4().hex}")
    aside.write_text(text, "utf-8")
    _sync(aside)
    aside.replace(path)
    _sync(path.parent)


def read_number(path: pathlib.Path, least: int = 0, remedy: str = AGAIN) -> int:
    """The number in a file, which ends with its line."""
    text = path.read_text("utf-8", "replace")
    if not (text.isascii() and text.endswith("\n") and text[:-1].isdecimal() and len(text) < 20 and int(text) >= least):
        raise DamagedError(f"{path}: expected a number from {least} on, found {text[:20]!r}; {remedy}", path)
    return int(text)


def make(target: pathlib.Path, work: Callable[[pathlib.Path], None]) -> None:
    """Calls ``work`` with a new directory and renames that to ``target``, unless there is one already: then the result
    of an earlier or a faster attempt stays."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    aside = target.with_name(f"{ASIDE}{target.name}-{uuid.uuid4().hex}")
    aside.mkdir()
    try:
        work(aside)
        for directory, _, files in os.walk(aside):
            for name in files:
                _sync(pathlib.Path(directory, name))
            _sync(pathlib.Path(directory))
        try:
            aside.rename(target)
        except OSError:
            if not target.exists():
                raise
        _sync(target.parent)
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def clean(folder: pathlib.Path) -> int:
    """Removes the directories and files of interrupted attempts below ``folder``; returns their number."""
    left = [*folder.glob(f"{ASIDE}*"), *folder.glob(f"*/{ASIDE}*")]
    for path in left:
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return len(left)
