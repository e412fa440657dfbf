"""A table without near-duplicates, in one call."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, NamedTuple

from fpstore._native import Array, Batch, Table, bands, create, renamed, simhash
from fpstore._types import ArrowArray, ArrowStream, Column
from fpstore.errors import InvalidInputError


class Deduplicated(NamedTuple):
    """What :func:`dedup` returns: ``table``, the rows that are kept, and ``evidence``, a row for each of the others.

    >>> import fpstore as fp
    >>> done = fp.dedup({"text": ["a b c d e f g", "a b c d e f g"]}, method="simhash")
    >>> len(done.table), len(done.evidence)
    (1, 1)
    """

    table: Table
    """The rows that are kept, in their order, with all columns."""
    evidence: Batch
    """A row for each of the others: ``id``, ``keeper``, ``cluster``, and how near it is: ``distance``, or
    ``shared_keys`` and ``jaccard``."""


class _How(NamedTuple):
    """How kept rows are chosen, and what that may take."""

    linkage: str
    keep: str
    memory: int | str | None
    tmp_dir: str | os.PathLike[str] | None


@contextmanager
def _directory(parent: str | os.PathLike[str] | None) -> Generator[str, None, None]:
    """A temporary directory that goes even when Ctrl-C comes while it is removed, unlike that of ``tempfile``."""
    made = tempfile.mkdtemp(prefix="fpstore-", dir=parent)
    try:
        yield made
    finally:
        try:
            shutil.rmtree(made)
        except BaseException:
            shutil.rmtree(made, ignore_errors=True)
            raise


def dedup(
    table: ArrowStream | ArrowArray | dict[str, Column],
    *,
    text: str = "text",
    id: str | None = None,
    method: str = "minhash",
    threshold: float | None = None,
    k: int | None = None,
    linkage: str = "star",
    keep: str = "smallest",
    min_jaccard: float | None = None,
    memory: int | str | None = None,
    tmp_dir: str | os.PathLike[str] | None = None,
    **options: Any,
) -> Deduplicated:
    """Returns a table without near-duplicates, and why rows are left out.

    Parameters
    ----------
    table : an object with an Arrow stream or array: of polars, pyarrow, pandas, DuckDB or this package
    text : the column that is compared: strings, or lists of tokens
    id : the column that names rows in the evidence; without it, row numbers
    method : "minhash" (texts that share a band) or "simhash" (fingerprints within distance ``k``)
    k : for simhash, the distance in bits (3)
    threshold : for minhash, the Jaccard similarity that bands and rows are chosen for (0.8, unless ``bands`` and
        ``rows`` or a preset say something else)
    linkage : "star", "single" or "complete", as of ``Store.keep``
    keep : of similar rows "smallest" keeps the first one, "largest" the last one
    min_jaccard : for minhash, the least similarity that the signatures of two texts have to show; without it the
        threshold, and with ``bands`` and ``rows`` none, so that a shared band decides
    memory : bytes of memory of the search, such as "2GiB"
    tmp_dir : directory of temporary files
    options : those of :func:`fpstore.bands` or :func:`fpstore.simhash`

    Rows without a text, or with too few features, are kept.

    >>> import fpstore as fp
    >>> table = fp.Table({"url": ["a", "b", "c"], "text": ["a b c d e f g", "a b c d e f g", "h i j k l m n"]})
    >>> kept, evidence = fp.dedup(table, id="url", threshold=0.7)
    >>> kept.to_pydict()["url"], evidence.to_pydict()["keeper"]
    (['a', 'c'], ['a'])
    """
    rows = Table(table)
    names = None if id is None else rows[id]
    texts = rows[text]
    with _directory(tmp_dir) as directory:
        path = os.path.join(directory, "store")
        numbers, how = range(len(rows)), _How(linkage, keep, memory, tmp_dir)
        if method == "minhash":
            if k is not None:
                raise InvalidInputError("k goes with method='simhash'; minhash takes threshold and min_jaccard")
            found = _by_keys(path, texts, numbers, threshold, min_jaccard, how, options)
        elif method == "simhash":
            if threshold is not None or min_jaccard is not None:
                raise InvalidInputError("threshold and min_jaccard go with method='minhash'; simhash takes k")
            found = _by_fingerprints(path, texts, numbers, 3 if k is None else k, how, options)
        else:
            raise InvalidInputError(f"method={method!r}: expected minhash or simhash")
    kept = rows.without(found["id"])
    if names is not None:
        found = renamed(found, ["id", "keeper", "cluster"], names)
    return Deduplicated(kept, found)


def _by_keys(
    path: str,
    texts: Array,
    numbers: range,
    threshold: float | None,
    min_jaccard: float | None,
    how: _How,
    options: dict[str, Any],
) -> Batch:
    if min_jaccard is None and "bands" not in options and (threshold is not None or "preset" not in options):
        min_jaccard = 0.8 if threshold is None else threshold
    sketched: str | int = options.pop("sketch", "full")
    if sketched in (0, "0"):
        raise InvalidInputError("sketch=0: candidates are verified by sketches; say how many bits, or leave it out")
    keys: Batch = bands(texts, sketch=sketched, threshold=threshold, **options)
    sketch = 8 * keys["sketch"].width
    sample_bits = keys.sample_bits or 1
    index = create(
        path, kind="keys", key_bits=64, sketch=sketch, sample_bits=sample_bits, memory=how.memory, tmp_dir=how.tmp_dir
    )
    with index:
        index.load(keys, ids=numbers)
        found = index.keep(
            linkage=how.linkage,
            evidence=True,
            keep=how.keep,
            min_jaccard=min_jaccard,
            memory=how.memory,
            tmp_dir=how.tmp_dir,
        )
        return found.read_all()


def _by_fingerprints(
    path: str,
    texts: Array,
    numbers: range,
    k: int,
    how: _How,
    options: dict[str, Any],
) -> Batch:
    hashes = simhash(texts, **options)
    width = 64 if hashes.type == "uint64" else 128
    store = create(path, width=width, max_distance=k, ids="u64", memory=how.memory, tmp_dir=how.tmp_dir)
    with store:
        store.load(hashes, ids=numbers)
        found = store.keep(k, linkage=how.linkage, evidence=True, keep=how.keep, memory=how.memory, tmp_dir=how.tmp_dir)
        return found.read_all()
