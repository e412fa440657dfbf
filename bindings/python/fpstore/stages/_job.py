"""A job: its folder, its stages and their tasks."""

from __future__ import annotations

import os
import pathlib
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from fpstore import errors
from fpstore.stages import _decide, _fingerprints, _places, _plan
from fpstore.stages._plan import Plan

_Work = Callable[[Plan, int, pathlib.Path], None]
_WORK: dict[str, _Work] = {
    "sketch": _fingerprints.sketch,
    "partition": _fingerprints.partition,
    "join": _fingerprints.join,
    "decide": _decide.decide,
    "keep": _decide.keep,
}
STAGES = tuple(_WORK)
"""The names of the stages, in their order."""


class Job:
    """A job in a folder: :func:`create` makes it, :func:`open` finds it.

    >>> import pyarrow as pa, pyarrow.parquet as pq, tempfile
    >>> from fpstore import stages
    >>> folder = tempfile.mkdtemp()
    >>> pq.write_table(pa.table({"id": [1, 2], "fingerprint": pa.array([7, 7], pa.uint64())}), folder + "/all.parquet")
    >>> job = stages.create(folder + "/job", [folder + "/all.parquet"], tasks=2)
    >>> job.tasks("partition"), job.missing("partition")
    (2, [0, 1])
    >>> job.run("partition", 1)
    >>> stages.open(folder + "/job").missing("partition")
    [0]
    """

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    @property
    def folder(self) -> pathlib.Path:
        """Its folder.

        >>> job.folder.name
        'job'
        """
        return self.plan.folder

    def tasks(self, stage: str) -> int:
        """Number of tasks of a stage.

        >>> [job.tasks(stage) for stage in stages.STAGES]
        [0, 2, 4, 1, 2]
        """
        if stage not in _WORK:
            raise errors.InvalidInputError(f"there is no stage {stage!r}; expected one of {', '.join(STAGES)}")
        if stage == "sketch" and self.plan.text is None:
            return 0
        return {"join": self.plan.join_tasks, "decide": 1}.get(stage, self.plan.tasks)

    def missing(self, stage: str) -> list[int]:
        """The numbers of the tasks of a stage that are not done.

        >>> job.missing("decide")
        [0]
        """
        return [task for task in range(self.tasks(stage)) if not self.plan.result(stage, task).exists()]

    def run(self, stage: str, task: int) -> None:
        """Runs a task, unless it is done. All tasks of the stages before have to be.

        >>> job.run("keep", 0)
        Traceback (most recent call last):
        ...
        fpstore.errors.InvalidInputError: ...job: keep needs all of partition; not done: 0. Run these first
        """
        if not 0 <= task < self.tasks(stage):
            raise errors.InvalidInputError(f"{stage} has the tasks 0 to {self.tasks(stage) - 1}, and no task {task}")
        for earlier in STAGES[: STAGES.index(stage)]:
            if missing := self.missing(earlier):
                numbers = ", ".join(map(str, missing[:5])) + (", ..." if len(missing) > 5 else "")
                message = f"{self.folder}: {stage} needs all of {earlier}; not done: {numbers}. Run these first"
                raise errors.InvalidInputError(message, self.folder)
        _places.make(self.plan.result(stage, task), lambda place: _WORK[stage](self.plan, task, place))

    def run_all(self, workers: int = 1) -> None:
        """Runs all tasks that are not done, stage by stage, in this process or in several.

        >>> job.run_all()
        >>> job.missing("keep")
        []
        """
        if workers < 1:
            raise errors.InvalidInputError(f"workers={workers}: expected at least one")
        for stage in STAGES:
            missing = self.missing(stage)
            if workers == 1 or len(missing) < 2:
                for task in missing:
                    self.run(stage, task)
                continue
            with ProcessPoolExecutor(min(workers, len(missing)), get_context("spawn")) as pool:
                for done in [pool.submit(_run, str(self.folder), stage, task) for task in missing]:
                    done.result()

    def clean(self) -> int:
        """Removes what interrupted attempts left, while no task runs; returns the number of these attempts.

        >>> job.clean()
        0
        """
        return _places.clean(self.folder)

    def kept(self) -> list[pathlib.Path]:
        """The files with the rows that stay, in the order of the input.

        >>> [path.name for path in job.kept()]
        ['kept.parquet', 'kept.parquet']
        """
        return [self.plan.result("keep", task) / _decide.KEPT for task in range(self.tasks("keep"))]

    def removed(self) -> pathlib.Path:
        """The file with a row for each removed record: `id`, `keeper` and `distance` or, with single linkage, `id` and
        `cluster`, the smallest id of its cluster.

        >>> job.run_all()
        >>> pq.read_table(job.removed()).to_pylist()
        [{'id': 2, 'keeper': 1, 'distance': 0}]
        """
        return self.plan.result("decide", 0) / _decide.REMOVED

    def __repr__(self) -> str:
        plan = self.plan
        return f"<fpstore.stages.Job {plan.folder}, distance={plan.distance}, linkage={plan.linkage!r}>"


def _run(folder: str, stage: str, task: int) -> None:
    open(folder).run(stage, task)


def create(
    folder: str | os.PathLike[str],
    inputs: Iterable[str | os.PathLike[str]],
    *,
    distance: int = 3,
    tasks: int = 16,
    id: str = "id",
    fingerprint: str | None = None,
    text: str | None = None,
    linkage: str = "star",
    groups: int | None = None,
    memory: int | str = "1GiB",
    **options: Any,
) -> Job:
    """Creates a job in a new folder.

    Parameters
    ----------
    folder : a directory that does not exist, or is empty, and that all machines see under this name
    inputs : Parquet files, seen by all machines, with the same columns
    distance : bits in which near fingerprints may differ
    tasks : number of tasks of all stages but `join` and `decide`
    id : the column with the id of a row, a whole number or a string. No two rows have the same one
    fingerprint : the column with fingerprints ("fingerprint"): uint64, or int64 with the same bits, or binary of 16 or
        32 bytes
    text : the column with texts, of which the stage `sketch` makes fingerprints, in place of `fingerprint`
    linkage : "star" or "complete", where a removed record is near its keeper, or "single", where the keeper of a
        connected component stays; of records that are near, that with the smallest id stays
    groups : number of groups of each part of the join; by default so that `join` has about `tasks` tasks
    memory : bytes of memory of a task that loads or joins
    options : of :func:`fpstore.simhash`, for texts

    Rows without a fingerprint, or with a text that is null or too short for one, stay.

    >>> from fpstore import stages
    >>> stages.create("/tmp/new", [])
    Traceback (most recent call last):
    ...
    fpstore.errors.InvalidInputError: there are no inputs
    """
    files = sorted({os.path.abspath(os.fspath(file)) for file in inputs})
    if not files:
        raise errors.InvalidInputError("there are no inputs")
    if linkage not in ("single", "star", "complete"):
        raise errors.InvalidInputError(f"linkage={linkage!r}: expected one of single, star, complete")
    if tasks < 1 or distance < 0 or (groups is not None and groups < 1):
        raise errors.InvalidInputError(f"tasks={tasks}, groups={groups}, distance={distance}: tasks and groups are at "
                                       "least 1, distances at least 0")
    if text is not None and fingerprint is not None:
        raise errors.InvalidInputError("give text, of which fingerprints are made, or fingerprint, not both")
    if text is None and options:
        raise errors.InvalidInputError(f"{next(iter(options))} is for fingerprints of texts; name their column: text=")
    column = None if text is not None else fingerprint or "fingerprint"
    ids, width = _fingerprints.describe(files, id, column, text)
    hasher = None
    if text is not None:
        hasher, width = _fingerprints.hasher_of_texts(options)
    if distance > width:
        raise errors.InvalidInputError(f"distance={distance}: fingerprints have {width} bits")
    place = pathlib.Path(os.path.abspath(os.fspath(folder)))
    plan = Plan(
        inputs=files,
        id=id,
        fingerprint=column or "fingerprint",
        text=text,
        options=options,
        distance=distance,
        linkage=linkage,
        tasks=tasks,
        groups=groups or -(-tasks // (distance + 1)),
        memory=memory,
        ids=ids,
        width=width,
        hasher=hasher,
        folder=place,
    )
    place.mkdir(parents=True, exist_ok=True)
    if any(place.iterdir()):
        raise errors.AlreadyExistsError(f"{place}: the folder is not empty; choose another one", place)
    aside = place / f".{_plan.NAME}-{uuid.uuid4().hex}"
    aside.write_text(_fingerprints.as_json(plan), "utf-8")
    aside.replace(place / _plan.NAME)
    return Job(plan)


def open(folder: str | os.PathLike[str]) -> Job:
    """The job in a folder.

    >>> from fpstore import stages
    >>> stages.open("/no/such/folder")
    Traceback (most recent call last):
    ...
    fpstore.errors.NotFoundError: /no/such/folder: there is no job here; create it first
    """
    return Job(_plan.read(pathlib.Path(os.path.abspath(os.fspath(folder)))))
