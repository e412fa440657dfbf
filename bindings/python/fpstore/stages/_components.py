"""The stage that finds connected components whose links do not fit in the memory of one task, in rounds.

Records are divided into shares by the hashes of their ids. A link goes to the share of its larger record. All steps of
a round are tasks, one a share, that send rows to those of the next step:

* `ask`: the parent of a record is the smallest one that it is linked to. Each share asks for the parents of all records
  that its own are linked to.
* `answer`: each share answers with the parents of its records.
* `link`: a link to a record with a parent becomes one to this parent. Then every link of a record to another one than
  its parent becomes a link from that one to the parent.

Each step keeps the components. Links never become more, and as long as a link leads to a record with a parent, or a
record has two links, a step replaces a record of some link by a smaller one. So the rounds end, and then all records
are linked to the smallest of their component. About log2 of the longest path is how many rounds it takes.

The steps are those of Kiveris et al., Connected Components in MapReduce and Beyond (SoCC 2014): `link` is their small
star after their large star. There a record receives all of its links; here its share is asked once by each other share,
so that a record that a million are linked to costs no more than others.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fpstore._arrow import pa, pc
from fpstore.errors import DamagedError
from fpstore.stages import _files, _places, _shares
from fpstore.stages._exchange import Sender, received, sent
from fpstore.stages._links import Forest, link_schema, row_schema, tables
from fpstore.stages._plan import Plan
from fpstore.stages._tables import first_of_run, found, id_type, is_repeated, ordered

STAGE = "components"
MOST_STEPS = 3 * 100
"""More steps than any number of records takes. Files of which a number is wrong could make rounds that never end."""
FOREST = 4 << 20
"""Links of a forest that is sent, so that the next one begins anew."""
_LINKS, _ROWS, _EDGES, _ASKED, _ANSWERS, _LABELED = (
    f"{name}.parquet" for name in ("links", "rows", "edges", "asked", "answers", "labeled")
)
_UNSETTLED = "unsettled"
"""The file of `answer` with the number of links that do not lead to a smallest record."""


@dataclass(frozen=True)
class _Rounds:
    """The results of all steps."""

    plan: Plan
    shares: int

    def result(self, step: int, share: int) -> pathlib.Path:
        return self.plan.result(STAGE, step * self.shares + share)

    def edges(self, step: int, share: int) -> Any:
        """The links of a share, in order, as of the step `ask`."""
        return _files.read(self.result(step, share) / _EDGES)

    def sent(self, step: int, name: str, to: int, schema: Any) -> Any:
        """The rows that all tasks of a step have sent to a share."""
        return received(sent(self.result(step, share) / name for share in range(self.shares)), to, schema)

    def step(self, number: int) -> _Step:
        """What the tasks of a step do, all of whose earlier ones are done."""
        if number == 0:
            return _begin
        step = (_ask, _answer, _link)[(number - 1) % 3]
        return _label if step is _link and self._is_settled(number - 1) else step

    def count(self) -> int:
        """The number of steps that are done, and the next one unless the rounds have ended."""
        last, every = 0, range(self.shares)
        while any(self.result(last + 1, share).exists() for share in every):
            last += 1
        if last > MOST_STEPS:
            message = f"the components are not found after {MOST_STEPS} steps; remove its directory, and run it again"
            raise DamagedError(f"{self.plan.folder / STAGE}: {message}", self.plan.folder)
        for step in (last - 1, last):
            # A damaged result, which was removed, is made again before later ones are read.
            if step >= 0 and not all(self.result(step, share).exists() for share in every):
                return step + 1
        step = self.step(last)
        is_end = step is _label or (step is _answer and self.plan.linkage == "single" and self._is_settled(last))
        return last + 1 if is_end else last + 2

    def _is_settled(self, step: int) -> bool:
        """Whether all links lead to smallest records, by a step `answer`."""
        files = (self.result(step, share) / _UNSETTLED for share in range(self.shares))
        return not any(_places.read_number(file) for file in files)


def _begin(of: _Rounds, _: int, share: int, place: pathlib.Path) -> None:
    """Sends a forest of the links of some results, and the rows to decide by, which are labeled at the end."""
    plan, forest = of.plan, Forest(of.plan)
    with contextlib.ExitStack() as opened:
        links, rows = opened.enter_context(Sender(place / _LINKS, link_schema(plan))), None
        if plan.linkage != "single":
            rows = opened.enter_context(Sender(place / _ROWS, row_schema(plan)))
        for table in tables(plan, share, of.shares):
            forest.add(table)
            if len(forest) > FOREST:
                links.send(forest.table(), "id", of.shares)
                forest = Forest(plan)
            if rows is not None:
                rows.send(table, "id", of.shares)
        links.send(forest.table(), "id", of.shares)


def _ask(of: _Rounds, step: int, share: int, place: pathlib.Path) -> None:
    edges = ordered(of.sent(step - 1, _LINKS, share, link_schema(of.plan)), "id", "near")
    if pc.any(pc.less_equal(edges["id"], edges["near"])).as_py():
        raise DamagedError(f"{place.parent}: step {step - 1} has sent links to larger records", of.plan.folder)
    _files.write(place / _EDGES, edges)
    asked = edges["near"].combine_chunks().unique()
    asked = pa.table({"id": asked, "by": pa.repeat(pa.scalar(share, pa.uint32()), len(asked))})
    with Sender(place / _ASKED, asked.schema) as out:
        out.send(asked, "id", of.shares)


def _answer(of: _Rounds, step: int, share: int, place: pathlib.Path) -> None:
    edges = of.edges(step - 1, share)
    repeated = is_repeated(edges["id"])
    schema = pa.schema([("id", id_type(of.plan)), ("by", pa.uint32())])
    asked = of.sent(step - 1, _ASKED, share, schema)
    answers = asked.append_column("near", found(asked["id"], edges.filter(pc.invert(repeated))))
    answers = answers.filter(pc.is_valid(answers["near"])).sort_by("by").combine_chunks()
    with Sender(place / _ANSWERS, link_schema(of.plan)) as out:
        out.write(answers["by"].combine_chunks(), answers)
    (place / _UNSETTLED).write_text(f"{len(answers) + repeated.true_count}\n", "utf-8")


def _link(of: _Rounds, step: int, share: int, place: pathlib.Path) -> None:
    edges = of.edges(step - 2, share)
    answers = of.sent(step - 1, _ANSWERS, share, link_schema(of.plan))
    near = pc.coalesce(found(edges["near"], answers), edges["near"].combine_chunks())
    edges = ordered(pa.table({"id": edges["id"], "near": near}), "id", "near")
    repeated = is_repeated(edges["id"])
    larger = pc.if_else(repeated, edges["near"].combine_chunks(), edges["id"].combine_chunks())
    with Sender(place / _LINKS, link_schema(of.plan)) as out:
        links = pa.table({"id": larger, "near": first_of_run(edges["near"], repeated)})
        out.send(links, "id", of.shares)


def _label(of: _Rounds, step: int, share: int, place: pathlib.Path) -> None:
    """Sends the rows to decide by to the shares of the smallest records of their components."""
    rows = of.sent(0, _ROWS, share, row_schema(of.plan))
    component = pc.coalesce(found(rows["id"], of.edges(step - 2, share)), rows["id"].combine_chunks())
    with Sender(place / _LABELED, row_schema(of.plan)) as out:
        out.send(rows.append_column("component", component), "component", of.shares)


_Step = Callable[[_Rounds, int, int, pathlib.Path], None]


def tasks(plan: Plan) -> int:
    """Number of tasks so far. All tasks of `join` have to be done."""
    of = _Rounds(plan, _shares.count(plan))
    return of.shares * of.count() if of.shares > 1 else 0


def components(plan: Plan, task: int, place: pathlib.Path) -> None:
    """A task of a step."""
    of = _Rounds(plan, _shares.fix(plan))
    step, share = divmod(task, of.shares)
    of.step(step)(of, step, share, place)


def labels(plan: Plan, share: int) -> Any:
    """A table `id` and `near` of the records of a share and the smallest of their components, without those that are
    the smallest."""
    of = _Rounds(plan, _shares.count(plan))
    return of.edges(of.count() - 2, share)


def labeled(plan: Plan, share: int) -> Any:
    """The rows to decide by of the components of a share."""
    of = _Rounds(plan, _shares.count(plan))
    return of.sent(of.count() - 1, _LABELED, share, row_schema(plan))
