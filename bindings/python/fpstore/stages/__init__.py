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

============ ================ ====================================================================================
stage        tasks            result of a task
============ ================ ====================================================================================
`sketch`     n, of texts      fingerprints, or keys, of a share of the input
`digest`     n, of keys       40 bits of each key of a share, for the groups of the keys
`common`     groups, of keys  of one group, the digests that come up several times
`partition`  n                stores of a share of the fingerprints: one for each part of the join and each group; or
                              a file of the keys in common with others, in the order of their groups
`join`       (k + 1) groups   the near pairs, or a spanning forest of them, of one group of fingerprints; one task for
                              all parts if that is little work
             groups, of keys  the records that share a key of one group of keys, or a spanning forest of them
`components` 0 or more        a step of the rounds that find connected components or, of star linkage, the keepers
`decide`     1 or more        which records are removed, and why, of some components or of a share of the records
`keep`       n                the rows of a share of the input that stay
============ ================ ====================================================================================

Records have fingerprints, and are near within a distance, or keys (such as the bands of MinHash), and are near if they
share one.

Guaranteed:

* The result is that of one store, or one key index, with all records, for any number of tasks.
* A task writes beside its result and renames it at the end. So a task that was killed is run again, one that is done
  does nothing, and two at the same time do no harm.
* A pair belongs to the first part in which its fingerprints agree (:meth:`fpstore.Store.deal`), so each is found once,
  and no task has to know what others find.

Memory of a task is `memory` and some batches of rows, of 32 MiB each as they are stored; in `digest` and `partition` of
keys it is some 400 MiB, and in `partition` 8 bytes more for each key of the share that has a digest in common with
another key. In `common` it is some 70 bytes for each key of each record of the group, and in `join` of keys some 100
bytes for each of those in common.

`decide` takes memory for each link: a near pair, a record that is equal to another one, or, of keys, a key that a
record shares (with single linkage, all of these are links of forests). That is some 160 bytes with single linkage and
some 240 with the others if ids are numbers; if they are texts, 4 and 7 times their length, and 130 and 180 bytes more.
If the links of all records fit in `memory`, `components` has no tasks and `decide` has one. Otherwise it is done by as
many tasks as have the memory together, in steps that all of them have to end before the next one begins:
`missing("components")` lists the tasks of the current step, and is empty when the last step is done. With single
linkage, no record or component has to fit, and all steps together write some 160 bytes for each link. With star
linkage, each task decides on a range of ids, and only the links of one record have to fit. A task takes some 650 bytes
for each of its links then, and all steps write some 50. With complete linkage, each task decides on some components,
and the links of one have to fit.

`keep` holds the ids of some rows, and of the removed records of one share.

The number of files grows with the tasks: each task of `partition` makes a store for each task of `join`, but one for
all if there is one group; or with keys one file.
"""

from __future__ import annotations

from fpstore.stages._job import STAGES, Job, create, open

__all__ = ["STAGES", "Job", "create", "open"]
