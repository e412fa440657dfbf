"""De-duplication of files by numbered tasks over a shared folder.

A *job* is a folder that all machines see. Its work is divided into stages, and each stage into tasks that any scheduler
can start: `python -m fpstore.stages run FOLDER STAGE TASK`, an array job of Slurm, a function of Ray or Spark. It reads
Parquet files and writes Parquet files, with pyarrow.

>>> import fpstore as fp, pyarrow as pa, pyarrow.parquet as pq, tempfile
>>> from fpstore import stages
>>> folder = tempfile.mkdtemp()
>>> pages = pa.table({"url": ["a", "b", "c"], "fingerprint": pa.array([0b0000, 0b0111, 2**64 - 1], pa.uint64())})
>>> pq.write_table(pages, folder + "/pages.parquet")
>>> job = stages.create(folder + "/job", [folder + "/pages.parquet"], id="url", distance=3, tasks=2)
>>> job.run_all()
>>> pq.read_table(job.kept()).to_pydict()["url"]
['a', 'c']
>>> pq.read_table(job.removed()).to_pylist()
[{'id': 'b', 'keeper': 'a', 'distance': 3}]

Stages, each of which needs all tasks of those before it:

=========== ================ =====================================================================================
stage       tasks            result of a task
=========== ================ =====================================================================================
`sketch`    n, of texts      fingerprints, or keys, of a share of the input
`partition` n                stores of a share of the fingerprints: one for each part of the join and each group; or
                             a file of its keys, in the order of their groups
`join`      (k + 1) groups   the near pairs, or a spanning forest of them, of one group of fingerprints
            groups           the records that share a key of one group of keys, or a spanning forest of them
`decide`    1                which records are removed, and why
`keep`      n                the rows of a share of the input that stay
=========== ================ =====================================================================================

Records have fingerprints, and are near within a distance, or keys (such as the bands of MinHash), and are near if they
share one.

Guaranteed:

* The result is that of one store, or one key index, with all records, for any number of tasks.
* A task writes beside its result and renames it at the end. So a task that was killed is run again, one that is done
  does nothing, and two at the same time do no harm.
* A pair belongs to the first part in which its fingerprints agree (:meth:`fpstore.Store.deal`), so each is found once,
  and no task has to know what others find.

Memory of a task is `memory` and some batches of rows, of 32 MiB each as they are stored; in `partition` of keys it is
some 400 MiB. In `decide` it is some 100 bytes a near pair and a removed record instead, and with keys some 100 bytes
for each key that a record shares, as in `join` for each key of each record of its group; with single linkage a key
counts once for each 64 MiB of keys of a share. `keep` holds the ids of all removed records. The number of files grows
with the tasks: each task of `partition` makes a store for each task of `join`, or with keys one file.
"""

from __future__ import annotations

from fpstore.stages._job import STAGES, Job, create, open

__all__ = ["STAGES", "Job", "create", "open"]
