"""The stage that finds connected components whose links do not fit in the memory of one task, in rounds.

Records are divided into shares by the hashes of their ids. A link goes to the share of its larger record. All steps of
a round are tasks, one a share, that send rows to those of the next step:

* `ask`: the parent of a record is the smallest one that it is linked to. Each share asks for the parents of all records
  that its own are linked to.
* `answer`: the shares of these tell them.
* `link`: a link to a record with a parent becomes one to this parent. Then each link of a record to another one than
  its parent becomes one between these two.

No step connects or separates components, and links become no more and lead to smaller records. When no record that is
asked for has a parent, and none is linked to two, all records are linked to the smallest of their component.

The steps are those of Kiveris et al., Connected Components in MapReduce and Beyond (SoCC 2014): `link` is their small
star after their large star. There a record receives all of its links; here its share is asked once by each other share,
so that a record that a million are linked to costs no more than others. The way to the smallest record is halved in a
round.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Callable
from typing import Any

from fpstore._arrow import pa, pc, pq
from fpstore._native import bytes_of
from fpstore.stages import _places
from fpstore.stages._exchange import Outbox, received
from fpstore.stages._links import Forest, link_schema, read, results, row_schema
from fpstore.stages._plan import Plan
from fpstore.stages._tables import first_of_run, found, id_type, is_repeated, ordered

STAGE = "components"
A_LINK = 100
"""Bytes of memory that a link takes in a task that decides."""
_LINKS, _ROWS, _EDGES, _ASKED, _ANSWERS, _LABELED = (
    f"{name}.parquet" for name in ("links", "rows", "edges", "asked", "answers", "labeled")
)
_OPEN = "open"
"""The file of `answer` with the number of links that do not lead to a smallest record."""
_Step = Callable[[Plan, int, int, pathlib.Path], None]


def shares(plan: Plan) -> int:
    """The number of shares: 1, for which there are no rounds, if one task has memory for all links. All tasks of `join`
    have to be done."""
    known = plan.folder / STAGE / "shares"
    if not known.exists():
        links = sum(pq.read_metadata(file).num_rows for file in results(plan))
        known.parent.mkdir(exist_ok=True)
        _places.write_text(known, f"{max(1, -(-links * A_LINK // max(1, bytes_of(plan.memory))))}\n")
    return int(known.read_text("utf-8"))


def _result(plan: Plan, step: int, share: int) -> pathlib.Path:
    return plan.result(STAGE, step * shares(plan) + share)


def _sent(plan: Plan, step: int, name: str, to: int, schema: Any) -> Any:
    """The rows that all tasks of a step have sent to a share."""
    return received((_result(plan, step, share) / name for share in range(shares(plan))), to, schema)


def _begin(plan: Plan, _: int, share: int, place: pathlib.Path) -> None:
    """Sends a forest of the links of some results, and the rows to decide by, which are labeled at the end."""
    count, forest = shares(plan), Forest(plan)
    with contextlib.ExitStack() as opened:
        rows = None
        if plan.linkage != "single":
            rows = opened.enter_context(Outbox(place / _ROWS, row_schema(plan)))
        for file in results(plan, share, count):
            for table in read(plan, file):
                forest.add(table)
                if rows is not None:
                    rows.send(table, "id", count)
        opened.enter_context(Outbox(place / _LINKS, link_schema(plan))).send(forest.table(), "id", count)


def _ask(plan: Plan, step: int, share: int, place: pathlib.Path) -> None:
    edges = ordered(_sent(plan, step - 1, _LINKS, share, link_schema(plan)), "id", "near")
    pq.write_table(edges, place / _EDGES, compression="zstd")
    asked = edges["near"].combine_chunks().unique()
    asked = pa.table({"id": asked, "by": pa.repeat(pa.scalar(share, pa.uint32()), len(asked))})
    with Outbox(place / _ASKED, asked.schema) as out:
        out.send(asked, "id", shares(plan))


def _answer(plan: Plan, step: int, share: int, place: pathlib.Path) -> None:
    edges = pq.read_table(_result(plan, step - 1, share) / _EDGES)
    later = is_repeated(edges["id"])
    schema = pa.schema([("id", id_type(plan)), ("by", pa.uint32())])
    asked = _sent(plan, step - 1, _ASKED, share, schema)
    answers = asked.append_column("near", found(asked["id"], edges.filter(pc.invert(later))))
    answers = answers.filter(pc.is_valid(answers["near"])).sort_by("by").combine_chunks()
    with Outbox(place / _ANSWERS, link_schema(plan)) as out:
        out.write(answers["by"].combine_chunks(), answers)
    (place / _OPEN).write_text(f"{len(answers) + later.true_count}\n", "utf-8")


def _link(plan: Plan, step: int, share: int, place: pathlib.Path) -> None:
    edges = pq.read_table(_result(plan, step - 2, share) / _EDGES)
    answers = _sent(plan, step - 1, _ANSWERS, share, link_schema(plan))
    near = pc.coalesce(found(edges["near"], answers), edges["near"].combine_chunks())
    edges = ordered(pa.table({"id": edges["id"], "near": near}), "id", "near")
    later = is_repeated(edges["id"])
    larger = pc.if_else(later, edges["near"].combine_chunks(), edges["id"].combine_chunks())
    with Outbox(place / _LINKS, link_schema(plan)) as out:
        links = pa.table({"id": larger, "near": first_of_run(edges["near"], later)})
        out.send(links, "id", shares(plan))


def _label(plan: Plan, step: int, share: int, place: pathlib.Path) -> None:
    """Sends the rows to decide by to the shares of the smallest records of their components."""
    rows = _sent(plan, 0, _ROWS, share, row_schema(plan))
    edges = pq.read_table(_result(plan, step - 2, share) / _EDGES)
    component = pc.coalesce(found(rows["id"], edges), rows["id"].combine_chunks())
    with Outbox(place / _LABELED, row_schema(plan)) as out:
        out.send(rows.append_column("component", component), "component", shares(plan))


_NEXT: dict[_Step, _Step] = {_begin: _ask, _ask: _answer, _answer: _link, _link: _ask}


def _steps(plan: Plan) -> list[_Step]:
    """All steps so far: those that are done and one that is not, unless it is the end."""
    steps: list[_Step] = [_begin]
    every = range(shares(plan))
    while all(_result(plan, len(steps) - 1, share).exists() for share in every):
        if steps[-1] is _answer and not any(_open(plan, len(steps) - 1, share) for share in every):
            if plan.linkage == "single":
                break
            steps.append(_label)
        elif steps[-1] is _label:
            break
        else:
            steps.append(_NEXT[steps[-1]])
    return steps


def _open(plan: Plan, step: int, share: int) -> int:
    return int((_result(plan, step, share) / _OPEN).read_text("utf-8"))


def tasks(plan: Plan) -> int:
    """Number of tasks so far. All tasks of `join` have to be done."""
    return shares(plan) * len(_steps(plan)) if shares(plan) > 1 else 0


def components(plan: Plan, task: int, place: pathlib.Path) -> None:
    """A task of a step."""
    step, share = divmod(task, shares(plan))
    _steps(plan)[step](plan, step, share, place)


def labels(plan: Plan, share: int) -> Any:
    """A table `id` and `near` of the records of a share and the smallest of their components, without those that are
    the smallest."""
    return pq.read_table(_result(plan, len(_steps(plan)) - 2, share) / _EDGES)


def labeled(plan: Plan, share: int) -> Any:
    """The rows to decide by of the components of a share."""
    return _sent(plan, len(_steps(plan)) - 1, _LABELED, share, row_schema(plan))
