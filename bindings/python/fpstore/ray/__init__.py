"""fpstore on Ray: stages as tasks, sketches of texts, and queries by actors that hold a store open. It needs ray and
pyarrow.

    import fpstore.ray
    hashed = fpstore.ray.sketch(ray.data.read_parquet("/shared/texts"), "text")
    kept = fpstore.ray.dedup(ray.data.read_parquet("/shared/pages"), "/shared/job", id="url", distance=3)
    found = fpstore.ray.query(ray.data.read_parquet("/shared/new"), "/shared/pages.store", k=3)

Stores and jobs are directories that all nodes see. A task or an actor that dies is started again by Ray, and changes
nothing: a task's result is there whole or not at all (:mod:`fpstore.stages`), and stores are read only.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from fpstore import _queries, stages
from fpstore._arrow import pa
from fpstore.stages import _sketch
from fpstore.stages._job import new_rows, run_task

ray: Any = importlib.import_module("ray")


def run(job: stages.Job, *, retries: int = 3, **options: Any) -> None:
    """Runs all tasks of a job that are left, stage by stage, as tasks of Ray.

    ``options`` are those of ``ray.remote``, such as ``num_cpus`` (1) and ``memory``. Ray starts a task again whose
    process or node has died, up to ``retries`` times.
    """
    task = ray.remote(**{"num_cpus": 1, "max_retries": retries} | options)(run_task)
    for stage, missing in job.remaining():
        ray.get([task.remote(str(job.folder), stage, number) for number in missing])


def dedup(dataset: Any, folder: str | os.PathLike[str], /, *, options: dict[str, Any] | None = None, **how: Any) -> Any:
    """The rows of a dataset without near-duplicates, a dataset.

    ``dataset`` may also be the path of a Parquet file, or a list of paths, that all nodes see. Otherwise the rows are
    written beside ``folder`` first. The job runs in ``folder``, a new directory that all nodes see. ``how`` are the
    arguments of :func:`fpstore.stages.create`, ``options`` those of :func:`run`. The job stays:
    ``stages.open(folder).removed()`` returns the files with the evidence.
    """
    place, rows = new_rows(folder)
    files: Any = dataset
    if not isinstance(dataset, (str, os.PathLike, list, tuple)):
        dataset.write_parquet(str(rows))
        files = sorted(rows.glob("*.parquet"))
        if not files:
            # Ray writes no file of no rows.
            return dataset
    job = stages.create(place, files, **how)
    run(job, **options or {})
    return ray.data.read_parquet([str(path) for path in job.kept()])


def sketch(
    dataset: Any,
    /,
    text: str = "text",
    method: str = "simhash",
    *,
    column: str | None = None,
    map_options: dict[str, Any] | None = None,
    **options: Any,
) -> Any:
    """A dataset with the fingerprint of each text of a column, or with the method "minhash" the keys of its bands, in
    one more column: `fingerprint` or `keys`, unless ``column`` is another name. A text that is null or too short has a
    null, or no keys. ``options`` are those of :func:`fpstore.simhash` or :func:`fpstore.bands`, ``map_options`` those
    of ``Dataset.map_batches``, such as ``num_cpus`` and ``batch_size``.
    """
    name, type = _sketch.column_of(method, options, column)

    def work(rows: Any) -> Any:
        _sketch.check_new(name, rows.column_names)
        texts = rows[text].combine_chunks()
        return rows.append_column(name, _sketch.sketches(texts, method, options, type))

    return dataset.map_batches(work, batch_format="pyarrow", zero_copy_batch=True, **map_options or {})


class _Querier:
    """Answers batches of queries, in an actor."""

    def __init__(self, path: str, k: int | None, column: str) -> None:
        self.store, self.k, self.column = _queries.opened(path), k, column

    def __call__(self, rows: Any) -> Any:
        made = [_queries.matches(batch, self.column, self.store, self.k) for batch in rows.to_batches()]
        return pa.concat_tables(made) if made else rows


def query(
    dataset: Any,
    path: str | os.PathLike[str],
    k: int | None = None,
    *,
    column: str = "fingerprint",
    actors: int = 2,
    **options: Any,
) -> Any:
    """The matches of a dataset of queries in a store, a dataset: the columns of the query, and `match_fingerprint`,
    `match_distance` and `match_id`, or `match_count` where there are no ids.

    ``actors`` hold the store at ``path`` open for reading. ``options`` are those of ``Dataset.map_batches``, such as
    ``num_cpus`` and ``batch_size``.
    """
    return dataset.map_batches(
        _Querier,
        fn_constructor_args=(os.path.abspath(os.fspath(path)), k, column),
        batch_format="pyarrow",
        zero_copy_batch=True,
        concurrency=actors,
        **options,
    )
