"""MinHash de-duplication in pipelines of datatrove: two steps in place of its four. It needs datatrove and pyarrow.

    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import ParquetReader
    from datatrove.pipeline.writers import ParquetWriter
    from fpstore.datatrove import MinhashFilter, MinhashSketch

    if __name__ == "__main__":
        sketch = LocalPipelineExecutor([ParquetReader("pages"), MinhashSketch("/shared/job")], tasks=8)
        kept = [ParquetReader("pages"), MinhashFilter("/shared/job"), ParquetWriter("kept")]
        LocalPipelineExecutor(kept, tasks=8, depends=sketch).run()

:func:`decide` returns the folder with the evidence, Parquet files in the order of ranks and documents. `rank` and
`doc` are the task and the place of a document in what its reader gives, from 0 on:

* `removed.parquet`: for each removed document `rank`, `doc`, `id`; `keeper_rank`, `keeper_doc`, `keeper_id` of the
  document that stays in its place; `shared_keys`, the number of buckets in which both are equal, which may be 0 because
  clusters are linked by chains; and `jaccard`, estimated from all hashes of the signatures.
* `clusters`, a file for each rank: `rank`, `doc`, `id`, `cluster`, `size`, `kept` of each document with a duplicate.

Guaranteed:

* The signatures are those of datatrove 0.10.1 for English with the same configuration, and the removed documents,
  clusters and sizes are those of its four stages. A document without shingles stays. (datatrove gives no cluster to
  documents of a rank that loses none; :class:`MinhashFilter` does.)
* The result of a rank, and the decisions, are there whole or not at all. A rank that was killed is run again, one that
  is done does nothing, and several at the same time do no harm. A killed one leaves a folder `.making-...` beside its
  result, which may be removed when nothing runs.
* Missing or damaged files, other parameters, and readers that give other documents than before are errors.

The folder is a directory that all machines see. The first rank of :class:`MinhashFilter` decides, under a lock, and the
others wait for it. On a file system without locks each rank that comes before the end decides, and the first result
stays; call :func:`decide` between the two pipelines there. Memory, with 14 buckets of 8 hashes:

* :class:`MinhashSketch`: a batch of 10,000 documents or 16 Mi characters, and one bucket of its rank, 210 bytes a
  document.
* :func:`decide`: `memory`, or 150 bytes for each document with one and the same signature if that is more; a bucket of
  one rank; then some 150 bytes and the id for each document with a duplicate. It reads the signatures four times,
  bucket by bucket, and writes 16 bytes for each link between two equal bands, which it removes at the end.
* :class:`MinhashFilter`: the file of the clusters of its rank.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pathlib
from collections.abc import Generator, Iterator
from typing import Any

from fpstore._arrow import pa, pq
from fpstore.datatrove import _decisions, _signatures
from fpstore.datatrove._signatures import Kind
from fpstore.errors import DamagedError, InvalidInputError
from fpstore.stages import _places

__all__ = ["MinhashFilter", "MinhashSketch", "decide"]

_PipelineStep: Any = importlib.import_module("datatrove.pipeline.base").PipelineStep
MEMORY = 1 << 30


def _place(folder: str | os.PathLike[str]) -> pathlib.Path:
    if "://" in (path := os.fspath(folder)):
        raise InvalidInputError(f"{path}: expected a directory that all machines see")
    return pathlib.Path(os.path.abspath(path))


def _kind(config: Any, language: str) -> Kind:
    """The signatures of a configuration of datatrove, or of its defaults."""
    norm, hashes = getattr(config, "norm_config", None), getattr(config, "hash_config", None)
    if language != "eng":
        raise InvalidInputError(f"language={language!r}: only Languages.english is supported")
    if norm is not None and norm != type(norm)():
        raise InvalidInputError(f"norm_config={norm}: only the default TextNormConfig() is supported")
    function, precision = getattr(hashes, "hash_fc", "xxhash"), getattr(hashes, "precision", 64)
    if function not in ("xxhash", "sha1") or precision not in (32, 64):
        raise InvalidInputError(f"hash_config={hashes}: expected xxhash or sha1, and a precision of 32 or 64")
    buckets, rows = getattr(config, "num_buckets", 14), getattr(config, "hashes_per_bucket", 8)
    if buckets < 1 or rows < 1:
        raise InvalidInputError(f"num_buckets={buckets}, hashes_per_bucket={rows}: expected at least 1")
    preset = "datatrove" + ("-sha1" if function == "sha1" else "") + ("-32" if precision == 32 else "")
    kind = Kind(preset, getattr(config, "seed", 1), f"datatrove:{getattr(config, 'n_grams', 5)}", buckets, rows)
    # Refuses numbers that are out of range.
    kind.sign([])
    return kind


class MinhashSketch(_PipelineStep):
    """The first step, after any reader: writes the signatures of the documents of its rank into a folder. It forwards
    no documents, as datatrove's own stage.

    Parameters
    ----------
    folder : a directory that all machines see
    config : datatrove's MinhashConfig, or any object with some of its attributes; by default 14 buckets of 8 hashes.
        All of it but norm_config is supported
    language : of the words, `Languages.english`

    >>> from datatrove.data import Document
    >>> from fpstore.datatrove import MinhashFilter, MinhashSketch, decide
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> text = "a page of a site that a crawler has seen before"
    >>> pages = [Document(text, "a"), Document("something else that is on another page", "b"), Document(text, "c")]
    >>> MinhashSketch(folder).run(pages)
    """

    type = "🫂 - DEDUP"
    name = "🎯 MinHash signatures (fpstore)"

    def __init__(self, folder: str | os.PathLike[str], config: Any = None, language: str = "eng") -> None:
        _PipelineStep.__init__(self)
        self.folder, self.kind = _place(folder), _kind(config, language)

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> None:
        """Writes the signatures of a rank, unless they are there.

        >>> MinhashSketch(folder).run(None)
        """
        place = _signatures.folder_of(self.folder, rank)
        if place.exists():
            _signatures.check_same(_signatures.read(self.folder, rank), self.kind, world_size)
            return
        counted = map(self._counted, data or ())
        with self.track_time("task"):
            _places.make(place, lambda aside: _signatures.write(aside, self.kind, rank, world_size, counted))

    def _counted(self, document: Any) -> Any:
        self.stat_update("total")
        return document


class MinhashFilter(_PipelineStep):
    """The second step, between any reader and any writer: forwards the documents that stay. It needs as many tasks as
    :class:`MinhashSketch`, and a reader that gives the same documents.

    Parameters
    ----------
    folder : that of the first step
    exclusion_writer : a writer of datatrove for the removed documents
    load_cluster_ids, load_cluster_sizes : whether documents get the metadata `minhash_cluster_id`, -1 without a
        duplicate, and `minhash_cluster_size`, 1 without a duplicate
    config, language : if given, those of the first step have to be the same
    check_ids : whether documents with a duplicate have to have the ids of the first step
    memory : as of :func:`decide`

    >>> [page.id for page in MinhashFilter(folder).run(pages)]
    ['a', 'b']
    """

    type = "🫂 - DEDUP"
    name = "🎯 MinHash filter (fpstore)"

    def __init__(
        self,
        folder: str | os.PathLike[str],
        exclusion_writer: Any = None,
        load_cluster_ids: bool = False,
        load_cluster_sizes: bool = False,
        *,
        config: Any = None,
        language: str = "eng",
        check_ids: bool = True,
        memory: int = MEMORY,
    ) -> None:
        _PipelineStep.__init__(self)
        self.folder, self.memory = _place(folder), memory
        self.kind = None if config is None else _kind(config, language)
        self.exclusion_writer, self.check_ids = exclusion_writer, check_ids
        self.load_cluster_ids, self.load_cluster_sizes = load_cluster_ids, load_cluster_sizes

    def run(self, data: Any, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """The documents of a rank that stay.

        >>> [page.metadata for page in MinhashFilter(folder, None, True, True).run(pages)][0]
        {'minhash_cluster_id': 0, 'minhash_cluster_size': 2}
        """
        own = _signatures.read(self.folder, rank)
        _signatures.check_same(own, self.kind, world_size)
        with self.track_time("task"):
            members = _members(decide(self.folder, self.memory), own)
        count, member = 0, next(members, None)
        with self.exclusion_writer or contextlib.nullcontext():
            for document in data or ():
                found = member if member and member["doc"] == count else None
                count += 1
                if count > own.documents:
                    break
                if found:
                    self._check_id(document, found, own)
                    member = next(members, None)
                if self.load_cluster_ids:
                    document.metadata["minhash_cluster_id"] = found["cluster"] if found else -1
                if self.load_cluster_sizes:
                    document.metadata["minhash_cluster_size"] = found["size"] if found else 1
                self.stat_update("total", "forwarded" if not found or found["kept"] else "dropped")
                if not found or found["kept"]:
                    yield document
                elif self.exclusion_writer:
                    self.exclusion_writer.write(document, rank)
        if count != own.documents:
            counts = f"{'more than ' if count > own.documents else ''}{min(count, own.documents)}"
            message = f"rank {rank} had {own.documents} documents in MinhashSketch and has {counts} here"
            raise InvalidInputError(f"{own.folder}: {message}; use the same reader", own.folder)

    def _check_id(self, document: Any, found: Any, own: _signatures.Rank) -> None:
        id = None if document.id is None else str(document.id)
        if self.check_ids and id != found["id"]:
            message = f"document {found['doc']} of rank {own.rank} was {found['id']!r} in MinhashSketch and is {id!r}"
            remedy = "use the same reader, or check_ids=False if ids change"
            raise InvalidInputError(f"{own.folder}: {message} here; {remedy}", own.folder)


def _members(place: pathlib.Path, own: _signatures.Rank) -> Iterator[Any]:
    """The documents of a rank that have a duplicate, in order."""
    path, remedy = place / _decisions.ABOUT, f"remove {place} to decide again"
    try:
        about = json.loads(path.read_text("utf-8"))[own.rank]
        is_same, checksum = about["sketch"] == own.checksum, about["clusters"]
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise DamagedError(f"{path}: {error}; {remedy}", path) from error
    if not is_same:
        raise DamagedError(f"{own.folder}: its signatures are not those of the decisions; {remedy}", own.folder)
    content = _signatures.read_checked(place / _decisions.file_of(own.rank), checksum, remedy)
    for batch in pq.ParquetFile(pa.BufferReader(content)).iter_batches(4096):
        yield from batch.to_pylist()


@contextlib.contextmanager
def _alone(path: pathlib.Path) -> Generator[None]:
    """Keeps other processes and machines out, if the system and the file system can. The lock goes with the process."""
    with open(path, "ab") as file:
        with contextlib.suppress(ImportError, OSError):
            fcntl: Any = importlib.import_module("fcntl")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def decide(folder: str | os.PathLike[str], memory: int = MEMORY) -> pathlib.Path:
    """Decides which documents are removed, unless that is done, and returns the folder of the result. All ranks of
    :class:`MinhashSketch` have to be done. :class:`MinhashFilter` calls it; a scheduler can do so before, in a job
    of its own, so that no machines are held by ranks that wait.

    >>> import pyarrow.parquet as pq
    >>> removed = pq.read_table(decide(folder) / "removed.parquet")
    >>> removed.select(["id", "keeper_id", "shared_keys", "jaccard"]).to_pylist()
    [{'id': 'c', 'keeper_id': 'a', 'shared_keys': 14, 'jaccard': 1.0}]
    """
    if not isinstance(memory, int) or memory < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidInputError(f"memory={memory!r}: expected a number of bytes")
    root = _place(folder)
    target = root / "decide" / "all"
    if not target.exists():
        ranks = _signatures.read_all(root)
        target.parent.mkdir(exist_ok=True)
        with _alone(target.with_name("lock")):
            if not target.exists():
                _places.make(target, lambda place: _decisions.decide(ranks, memory, place))
    return target
