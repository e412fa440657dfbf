"""The number of tasks whose memory together holds the links between all records."""

from __future__ import annotations

import pathlib
from typing import Any

from fpstore._arrow import pa, pc
from fpstore._native import bytes_of
from fpstore.errors import DamagedError, InvalidInputError
from fpstore.stages import _files, _places
from fpstore.stages._links import results
from fpstore.stages._plan import Plan

MOST = 4096
"""Most shares: each task opens a file of every other one."""
SAMPLE = 1000
"""Ids whose lengths are looked at."""
_TOGETHER = {"single": (130, 4), "star": (180, 7), "complete": (180, 7)}
"""Bytes that a link takes in a task that decides on all records, and bytes for each byte of an id: measured with
600,000 links by chance between as many records, whose ids were numbers, or texts of 20 or 80 bytes."""
_DIVIDED = _TOGETHER | {"star": (620, 4)}
"""The same in a task of a share: measured with 150,000 and 600,000 links a share, ids of 8 and of 40 bytes."""


def _file(plan: Plan) -> pathlib.Path:
    return plan.folder / "components" / "shares"


def count(plan: Plan) -> int:
    """The number of shares into which records are divided: 1 if one task has memory for all links. All tasks of `join`
    have to be done."""
    if (known := _file(plan)).exists():
        remedy = f"remove {known.parent} and the directories beside it of later stages, and run these again"
        if (found := _places.read_number(known, 1, remedy)) > MOST:
            raise DamagedError(f"{known}: {found} is more than {MOST}; {remedy}", known)
        return found
    links, memory, length = sum(map(_files.rows, results(plan))), max(1, bytes_of(plan.memory)), _length_of_ids(plan)
    together, divided = (fixed + factor * length for fixed, factor in (_TOGETHER[plan.linkage], _DIVIDED[plan.linkage]))
    if links * together <= memory:
        return 1
    found = max(2, -(-links * divided // memory))
    if found > MOST:
        need = -(-links * divided // MOST)
        message = f"memory={plan.memory!r}: the links of all records take more than {MOST} tasks have with that"
        raise InvalidInputError(f"{plan.folder}: {message}; create the job again with {need} bytes", plan.folder)
    return found


def fix(plan: Plan) -> int:
    """As :func:`count`; later tasks find the same number, whatever becomes of the results."""
    found, known = count(plan), _file(plan)
    if not known.exists():
        known.parent.mkdir(exist_ok=True)
        _places.write_text(known, f"{found}\n")
    return found


def _length_of_ids(plan: Plan) -> int:
    """The mean bytes of some ids."""
    if plan.ids != "text":
        return 8
    for file in results(plan):
        with _files.opened(file) as opened:
            for batch in opened.iter_batches(batch_size=SAMPLE, columns=[_id_column(opened)]):
                lengths: Any = pc.binary_length(batch.column(0).cast(pa.large_string()))
                return max(8, round(pc.mean(lengths).as_py() or 0))
    return 8


def _id_column(opened: Any) -> str:
    names = opened.schema_arrow.names
    return "id" if "id" in names else names[0]
