"""A compressed, on-disk store of similarity fingerprints, and of MinHash keys.

>>> import fpstore as fp, tempfile
>>> pages = ["A crawler has seen this page before.", "A crawler has seen that page before!", "Something else."]
>>> hashes = fp.simhash(pages)
>>> store = fp.create(tempfile.mkdtemp() + "/store", max_distance=20, hasher=hashes.hasher)
>>> store.load(hashes, ids=[0, 1, 2])["added"]
3
>>> store.pairs().to_pydict()["id_b"]
[1]

* :func:`create`, :func:`open`: a :class:`Store` of fingerprints, or a :class:`KeyIndex`.
* :func:`simhash`, :func:`minhash`, :func:`bands`, :func:`lucene_min_hash`: fingerprints and keys of texts.
* :func:`compare`: two texts by their sketches; :func:`health`: the bits of fingerprints.
* :func:`dedup`: a table without near-duplicates, in one call.
* :mod:`fpstore.errors`: exceptions; :mod:`fpstore.plot`: pictures, with matplotlib.
* Events, such as loads, backups and recovery after a crash, go to the logger "fpstore" of :mod:`logging`.

Columns come in and go out as Arrow, by its PyCapsule interface: pyarrow, polars, pandas, DuckDB and others take and
give them without copies, and none of them is needed.
"""

from __future__ import annotations

from typing import Any

from fpstore import errors, plot
from fpstore._dedup import Deduplicated, dedup
from fpstore._native import (
    Answers,
    Array,
    BaseSnapshot,
    BaseStore,
    Batch,
    KeyIndex,
    KeyMatch,
    KeySnapshot,
    Match,
    Snapshot,
    Store,
    Table,
    __version__,
    bands,
    compare,
    create,
    health,
    lucene_min_hash,
    minhash,
    open,
    repair,
    simhash,
    verify,
)
from fpstore._writer import Writer
from fpstore.errors import FpstoreError

__all__ = [
    "Answers",
    "Array",
    "BaseSnapshot",
    "BaseStore",
    "Batch",
    "Deduplicated",
    "FpstoreError",
    "KeyIndex",
    "KeyMatch",
    "KeySnapshot",
    "Match",
    "Snapshot",
    "Store",
    "Table",
    "Writer",
    "__version__",
    "bands",
    "compare",
    "create",
    "dedup",
    "errors",
    "health",
    "lucene_min_hash",
    "minhash",
    "open",
    "plot",
    "repair",
    "simhash",
    "verify",
]


def _open_read_only(  # pyright: ignore[reportUnusedFunction]
    path: str, options: dict[str, Any]
) -> Store | KeyIndex:
    """Opens a store for reading: what pickle calls."""
    return open(path, read_only=True, **options)
