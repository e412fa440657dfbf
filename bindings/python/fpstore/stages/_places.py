"""Results that are there whole or not at all."""

from __future__ import annotations

import os
import pathlib
import shutil
import uuid
from collections.abc import Callable

ASIDE = ".making-"


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
    """Removes the directories of interrupted attempts below ``folder``; returns their number."""
    left = [path for path in folder.glob(f"*/{ASIDE}*") if path.is_dir()]
    for path in left:
        shutil.rmtree(path)
    return len(left)
