"""A job: its folder, its stages and their tasks."""

from __future__ import annotations

import contextlib
import os
import pathlib
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from typing import Any

from fpstore import errors
from fpstore._arrow import pa
from fpstore.stages import _columns, _decide, _digests, _fingerprints, _inputs, _keys, _places, _plan
from fpstore.stages import _shares, _sketch
from fpstore.stages._plan import Plan

_Work = Callable[[Plan, int, pathlib.Path], None]
_OF_FINGERPRINTS: dict[str, _Work] = {
    "sketch": _sketch.sketch,
    "digest": _digests.digest,
    "common": _digests.common,
    "partition": _fingerprints.partition,
    "join": _fingerprints.join,
    "components": _decide.components,
    "decide": _decide.decide,
    "keep": _decide.keep,
}
_OF_KEYS = _OF_FINGERPRINTS | {"partition": _keys.partition, "join": _keys.join}
PATIENCE = 60.0
"""Seconds for which results are waited for that tasks on other machines have made."""
ROWS_OF_GROUP = 1 << 26
"""Rows, counted once for each part, for which the join of fingerprints has another group: some seven core-seconds."""
STAGES = tuple(_OF_FINGERPRINTS)
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
        """Number of tasks of a stage. Those of `components` and `decide` depend on the results of `join`; before these
        are there, they are 0 and 1. For `components`, counts the finished steps and the next one.

        Raises a DamagedError for results that are damaged.

        >>> [job.tasks(stage) for stage in stages.STAGES]
        [0, 0, 0, 2, 1, 0, 1, 2]
        """
        _check_name(stage)
        if stage == "sketch" and self.plan.text is None or stage in ("digest", "common") and not self.plan.has_keys:
            return 0
        if stage in ("components", "decide"):
            is_open = bool(self.missing("join"))
            if stage == "components":
                return 0 if is_open else _decide.tasks_of_rounds(self.plan)
            return 1 if is_open else _shares.count(self.plan)
        if stage == "common":
            return self.plan.groups
        return self.plan.join_tasks if stage == "join" else self.plan.tasks

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
        self.check_earlier(stage)
        if not 0 <= task < (count := self.tasks(stage)):
            has = f"the tasks 0 to {count - 1}, and no task {task}" if count else "no tasks in this job"
            raise errors.InvalidInputError(f"{stage} has {has}")
        _places.make(self.plan.result(stage, task), lambda place: self._work(stage, task, place))

    def check_earlier(self, stage: str) -> None:
        """Raises an InvalidInputError if tasks of the stages before this one are not done.

        >>> job.check_earlier("join")
        Traceback (most recent call last):
        ...
        fpstore.errors.InvalidInputError: ...job: join needs all of partition; not done: 0. Run these first
        """
        _check_name(stage)
        for earlier in STAGES[: STAGES.index(stage)]:
            if missing := self.missing(earlier):
                message = f"{stage} needs all of {earlier}; not done: {_listed(missing)}. Run these first"
                raise errors.InvalidInputError(f"{self.folder}: {message}", self.folder)

    def _work(self, stage: str, task: int, place: pathlib.Path) -> None:
        """Makes the result of a task. Errors name it, and the files that it reads."""
        plan = self.plan
        try:
            (_OF_KEYS if plan.has_keys else _OF_FINGERPRINTS)[stage](plan, task, place)
        except (errors.InvalidInputError, pa.ArrowException) as error:
            named = f"task {task} of {stage}"
            if stage in ("sketch", "digest", "partition", "keep"):
                files = dict.fromkeys(file for file, _ in _inputs.share(plan.inputs, task, plan.tasks))
                named += f", of the rows of {', '.join(files)}"
            message, row = f"{named}: {error}", getattr(error, "row", None)
            raise errors.InvalidInputError(message, self.folder, row=row) from error

    def run_all(self, workers: int = 1) -> None:
        """Runs all tasks that are not done, stage by stage, in this process or in several. These are started anew, so
        a script that calls this needs ``if __name__ == "__main__":``.

        >>> job.run_all()
        >>> job.missing("keep")
        []
        """
        if workers < 1:
            raise errors.InvalidInputError(f"workers={workers}: expected at least one")
        with contextlib.ExitStack() as opened:
            pool = None
            for stage, missing in self.remaining():
                if workers == 1 or len(missing) < 2:
                    for task in missing:
                        self.run(stage, task)
                    continue
                if pool is None:
                    most = max(len(missing), self.plan.tasks, self.plan.join_tasks)
                    pool = opened.enter_context(ProcessPoolExecutor(min(workers, most), get_context("spawn")))
                for done in [pool.submit(run_task, str(self.folder), stage, task) for task in missing]:
                    done.result()
        self.kept()

    def remaining(self) -> Iterator[tuple[str, list[int]]]:
        """Each stage, or step of `components`, with the numbers of its tasks that are not done. Run all of these before
        the iterator goes on: it waits some time for results that another machine has made, then raises an IoError.

        >>> for stage, missing in job.remaining():
        ...     for task in missing:
        ...         job.run(stage, task)
        """
        for stage in STAGES:
            while missing := self.missing(stage):
                yield stage, missing
                self._wait(stage, missing)

    def _wait(self, stage: str, tasks: list[int]) -> None:
        """Waits until results are seen here: network file systems may show them later."""
        end = time.monotonic() + PATIENCE
        while left := [task for task in tasks if not self.plan.result(stage, task).exists()]:
            if time.monotonic() > end:
                message = f"{self.folder}: {stage} has left no result of {_listed(left)} that this machine sees"
                raise errors.IoError(f"{message}; run these, in a folder that all machines see", self.folder)
            time.sleep(0.1)

    def clean(self) -> int:
        """Removes the unfinished results of interrupted tasks; returns their number. Call it while no task runs.

        >>> job.clean()
        0
        """
        return _places.clean(self.folder)

    def kept(self) -> list[pathlib.Path]:
        """The files with the rows that stay, in the order of the input. Once all tasks are done, an
        :class:`fpstore.errors.InvalidInputError` if rows share an id, because a removed row takes the other with it.

        >>> [path.name for path in job.kept()]
        ['kept.parquet', 'kept.parquet']
        """
        if not self.missing("keep"):
            _decide.check_ids(self.plan)
        return [self.plan.result("keep", task) / _decide.KEPT for task in range(self.tasks("keep"))]

    def removed(self) -> list[pathlib.Path]:
        """The files, one for each task of `decide`, with a row for each removed record: `id`, `keeper` and `distance`,
        or `shared_keys` of records with keys; with single linkage, `id` and `cluster`, the smallest id of its cluster.
        There are several, each with an order of its own, where one task has no memory for all links. How many there are
        is known once `join` is done.

        >>> job.run_all()
        >>> pq.read_table(job.removed()).to_pylist()
        [{'id': 2, 'keeper': 1, 'distance': 0}]
        """
        return _decide.removed_files(self.plan, self.tasks("decide"))

    def __repr__(self) -> str:
        plan = self.plan
        near = "keys" if plan.has_keys else f"distance={plan.distance}"
        return f"<fpstore.stages.Job {plan.folder}, {near}, linkage={plan.linkage!r}>"


def _check_name(stage: str) -> None:
    """Refuses stages that there are not."""
    if stage not in STAGES:
        raise errors.InvalidInputError(f"there is no stage {stage!r}; expected one of {', '.join(STAGES)}")


def _listed(numbers: list[int]) -> str:
    """The first few of some numbers."""
    return ", ".join(map(str, numbers[:5])) + (", ..." if len(numbers) > 5 else "")


def run_task(folder: str, stage: str, task: int) -> None:
    """Runs a task of the job in a folder: the function that engines call in their processes."""
    open(folder).run(stage, task)


def new_rows(folder: str | os.PathLike[str]) -> tuple[pathlib.Path, pathlib.Path]:
    """The folder of a job to be created, and the one beside it for its input, neither of which may have anything."""
    place = pathlib.Path(os.path.abspath(os.fspath(folder)))
    rows = place.with_name(f"{place.name}-rows")
    for path in (place, rows):
        if path.exists() and any(path.iterdir()):
            remedy = "remove it if it is of an interrupted run, or choose another one"
            raise errors.AlreadyExistsError(f"{path}: the folder is not empty; {remedy}", path)
    return place, rows


def create(
    folder: str | os.PathLike[str],
    inputs: Iterable[str | os.PathLike[str]] | str | os.PathLike[str],
    *,
    distance: int | None = None,
    tasks: int = 16,
    id: str = "id",
    fingerprint: str | None = None,
    keys: str | None = None,
    text: str | None = None,
    method: str = "simhash",
    linkage: str = "star",
    groups: int | None = None,
    memory: int | str = "1GiB",
    **options: Any,
) -> Job:
    """Creates a job in a new folder.

    Parameters
    ----------
    folder : a directory that does not exist, or is empty, and that all machines see under this name
    inputs : Parquet files, or one, seen by all machines, with the same columns
    distance : bits in which near fingerprints may differ (3)
    tasks : number of tasks of all stages but `common`, `join`, `components` and `decide`
    id : the column with the id of a row, a whole number or a string. No two rows have the same one
    fingerprint : the column with fingerprints ("fingerprint"): uint64, or int64 with the same bits, or binary of 16 or
        32 bytes
    keys : the column with keys, in place of `fingerprint`: lists of uint64, or int64 with the same bits, such as the
        bands of MinHash (:func:`fpstore.bands`). Records that share a key are near
    text : the column with texts, of which the stage `sketch` makes fingerprints or keys, in place of a column of these
    method : of texts "simhash" makes fingerprints and "minhash" keys
    linkage : "star" or "complete", where a removed record is near its keeper, or "single", where the keeper of a
        connected component stays; of records that are near, that with the smallest id stays
    groups : number of groups of keys, or of each of the `distance` + 1 parts of the join; by default so that `join` has
        about `tasks` tasks, but of fingerprints one group for each 64 Mi rows, counted once for each part, and one task
        if they are less
    memory : bytes of memory of a task that loads, joins or decides. The less it is, the more tasks decide
    options : of :func:`fpstore.simhash` or :func:`fpstore.bands`, for texts

    Rows without a fingerprint or keys, or with a text that is null or too short for one, stay.

    >>> from fpstore import stages
    >>> stages.create("/tmp/new", [])
    Traceback (most recent call last):
    ...
    fpstore.errors.InvalidInputError: there are no inputs
    """
    given = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    files = list(dict.fromkeys(os.path.abspath(os.fspath(file)) for file in given))
    if not files:
        raise errors.InvalidInputError("there are no inputs")
    if sum(column is not None for column in (fingerprint, keys, text)) > 1:
        raise errors.InvalidInputError("give the column of fingerprints, of keys or of texts, not several")
    if text is None and (options or method != "simhash"):
        named = next(iter(options), "method")
        raise errors.InvalidInputError(f"{named} is for texts, of which sketches are made; name their column: text=")
    _plan.check_method(method)
    if keys is None and text is None and fingerprint is None:
        fingerprint = "fingerprint"
    of_keys = _plan.has_keys(keys, method)
    if of_keys and distance is not None:
        raise errors.InvalidInputError("distance is of fingerprints; records are near that share a key")
    distance = 0 if of_keys else 3 if distance is None else distance
    rows = _inputs.check_same(files)
    ids, width, hasher = _columns.kind_of_ids(files, id), 64, None
    if text is not None:
        _columns.check_texts(files, text)
        hasher, width = _sketch.hasher_of_texts(method, options)
    elif keys is not None:
        _columns.check_keys(files, keys)
    else:
        width = _columns.width(files, str(fingerprint))
    place = pathlib.Path(os.path.abspath(os.fspath(folder)))
    parts = max(distance, 0) + 1
    # As many as give `join` the tasks, or a few more; and as many as it needs.
    most, needed = -(-tasks // parts), -(-rows * parts // ROWS_OF_GROUP)
    plan = Plan(
        inputs=files,
        id=id,
        fingerprint=fingerprint,
        keys=keys,
        text=text,
        method=method,
        options=options,
        distance=distance,
        linkage=linkage,
        tasks=tasks,
        groups=(most if of_keys else max(1, min(most, needed))) if groups is None else groups,
        is_small=groups is None and not of_keys and needed < 2,
        memory=memory,
        ids=ids,
        width=width,
        hasher=hasher,
        folder=place,
    )
    plan.check()
    content = plan.text_of_file()
    place.mkdir(parents=True, exist_ok=True)
    if any(not path.name.startswith(_places.ASIDE) for path in place.iterdir()):
        raise errors.AlreadyExistsError(f"{place}: the folder is not empty; choose another one", place)
    _places.write_text(place / _plan.NAME, content)
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
