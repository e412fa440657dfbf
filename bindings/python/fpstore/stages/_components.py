"""Connected components whose links do not fit in the memory of one task, in rounds.

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
from typing import Any

from fpstore._arrow import pa, pc
from fpstore.errors import DamagedError
from fpstore.stages import _files
from fpstore.stages._exchange import Sender
from fpstore.stages._links import Forest, link_schema, row_schema, tables
from fpstore.stages._plan import Plan
from fpstore.stages._rounds import Rounds, Step, write_unsettled
from fpstore.stages._tables import first_of_run, found, id_type, is_repeated, ordered

FOREST = 4 << 20
"""Links of a forest that is sent, so that the next one begins anew."""
_LINKS, _ROWS, _EDGES, _ASKED, _ANSWERS, _LABELED = (
    f"{name}.parquet" for name in ("links", "rows", "edges", "asked", "answers", "labeled")
)


def rounds(plan: Plan, shares: int) -> Rounds:
    """The rounds of a job."""
    # More than any number of records takes.
    return Rounds(plan, shares, _step, most=3 * 100)


def _step(of: Rounds, number: int) -> Step | None:
    if number == 0:
        return _begin
    step = (_ask, _answer, _link)[(number - 1) % 3]
    if step is _ask and number > 1 and of.is_settled(number - 2):
        return None
    if step is _link and of.is_settled(number - 1):
        return None if of.plan.linkage == "single" else _label
    return step


def _begin(of: Rounds, _: int, share: int, place: pathlib.Path) -> None:
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


def _ask(of: Rounds, step: int, share: int, place: pathlib.Path) -> None:
    edges = ordered(of.sent(step - 1, _LINKS, share, link_schema(of.plan)), "id", "near")
    if pc.any(pc.less_equal(edges["id"], edges["near"])).as_py():
        raise DamagedError(f"{place.parent}: step {step - 1} has sent links to larger records", of.plan.folder)
    _files.write(place / _EDGES, edges)
    asked = edges["near"].combine_chunks().unique()
    asked = pa.table({"id": asked, "by": pa.repeat(pa.scalar(share, pa.uint32()), len(asked))})
    with Sender(place / _ASKED, asked.schema) as out:
        out.send(asked, "id", of.shares)


def _answer(of: Rounds, step: int, share: int, place: pathlib.Path) -> None:
    edges = of.read(step - 1, share, _EDGES)
    repeated = is_repeated(edges["id"])
    schema = pa.schema([("id", id_type(of.plan)), ("by", pa.uint32())])
    asked = of.sent(step - 1, _ASKED, share, schema)
    answers = asked.append_column("near", found(asked["id"], edges.filter(pc.invert(repeated))))
    answers = answers.filter(pc.is_valid(answers["near"])).sort_by("by").combine_chunks()
    with Sender(place / _ANSWERS, link_schema(of.plan)) as out:
        out.write(answers["by"].combine_chunks(), answers)
    write_unsettled(place, len(answers) + repeated.true_count)


def _link(of: Rounds, step: int, share: int, place: pathlib.Path) -> None:
    edges = of.read(step - 2, share, _EDGES)
    answers = of.sent(step - 1, _ANSWERS, share, link_schema(of.plan))
    near = pc.coalesce(found(edges["near"], answers), edges["near"].combine_chunks())
    edges = ordered(pa.table({"id": edges["id"], "near": near}), "id", "near")
    repeated = is_repeated(edges["id"])
    larger = pc.if_else(repeated, edges["near"].combine_chunks(), edges["id"].combine_chunks())
    with Sender(place / _LINKS, link_schema(of.plan)) as out:
        links = pa.table({"id": larger, "near": first_of_run(edges["near"], repeated)})
        out.send(links, "id", of.shares)


def _label(of: Rounds, step: int, share: int, place: pathlib.Path) -> None:
    """Sends the rows to decide by to the shares of the smallest records of their components."""
    rows = of.sent(0, _ROWS, share, row_schema(of.plan))
    component = pc.coalesce(found(rows["id"], of.read(step - 2, share, _EDGES)), rows["id"].combine_chunks())
    with Sender(place / _LABELED, row_schema(of.plan)) as out:
        out.send(rows.append_column("component", component), "component", of.shares)


def labels(of: Rounds, share: int) -> Any:
    """A table `id` and `near` of the records of a share and the smallest of their components, without those that are
    the smallest."""
    return of.read(of.count() - 2, share, _EDGES)


def labeled(of: Rounds, share: int) -> Any:
    """The rows to decide by of the components of a share."""
    return of.sent(of.count() - 1, _LABELED, share, row_schema(of.plan))
