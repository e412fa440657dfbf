"""Which documents are removed, and why: links between equal bands, a forest of them, and the evidence."""

from __future__ import annotations

import array
import importlib
import itertools
import json
import pathlib
import zlib
from collections.abc import Iterator
from typing import Any

from fpstore._arrow import pa, pq
from fpstore.datatrove._signatures import Rank

np: Any = importlib.import_module("numpy")

REMOVED, CLUSTERS, ABOUT = "removed.parquet", "clusters", "about.json"
CHUNK = 1 << 18
"""Links, or documents, that are looked at together."""


def _pieces(length: int) -> Iterator[slice]:
    return (slice(begin, min(begin + CHUNK, length)) for begin in range(0, length, CHUNK))


def _cuts(ranks: list[Rank], bucket: int, most: int) -> Any:
    """Rows at which to cut the files of a bucket, so that equal bands stay together, and the rows between two cuts of
    all files are at most `most` where not more are equal."""
    # A stretch of n samples has at most n steps of rows and, of each file, another step.
    step = max(1, most // (2 * len(ranks)))
    # Copies, so that the rows between samples go.
    columns = [rank.bucket(bucket)[0][::step].copy() for rank in ranks]
    starts = np.unique(np.sort(np.concatenate(columns))[:: len(ranks)][1:])
    inner = (np.searchsorted(rank.bucket(bucket)[0], starts) for rank in ranks)
    return [[0, *found.tolist(), rank.signatures] for rank, found in zip(ranks, inner)]


def _links(ranks: list[Rank], bucket: int, most: int) -> Iterator[Any]:
    """The pairs of neighbours with equal bands in the order of bands, ranks and documents, as datatrove has them."""
    cuts = _cuts(ranks, bucket, most)
    for part in range(len(cuts[0]) - 1):
        read = [rank.rows(bucket, *cut[part : part + 2]) for rank, cut in zip(ranks, cuts)]
        bands = np.concatenate([bands for bands, _ in read])
        docs = np.concatenate([docs + np.uint64(rank.rank << 32) for rank, (_, docs) in zip(ranks, read)])
        order = np.argsort(bands, kind="stable")
        bands, docs = bands[order], docs[order]
        equal = np.flatnonzero(bands[1:] == bands[:-1])
        yield np.stack([docs[equal], docs[equal + 1]], axis=1)


def _chunks(path: pathlib.Path) -> Iterator[Any]:
    """The links in a file."""
    for begin in itertools.count(0, CHUNK):
        links = np.fromfile(path, np.uint64, 2 * CHUNK, offset=16 * begin)
        if not len(links):
            return
        yield links.reshape(-1, 2)


def _distinct(values: Any) -> Any:
    """The values in order, each once. numpy.unique takes several times as long."""
    values = np.sort(values, axis=None)
    return values[np.flatnonzero(np.diff(values, prepend=values[:1] ^ np.uint64(1)))]


def _linked(path: pathlib.Path) -> Any:
    """The documents of all links, in order, each once."""
    found = [np.empty(0, np.uint64)]
    for links in _chunks(path):
        found.append(_distinct(links))
        # Each merge follows as many links as it merges documents.
        if sum(map(len, found[1:])) > len(found[0]):
            found = [_distinct(np.concatenate(found))]
    return _distinct(np.concatenate(found))


def _roots(parents: Any, nodes: Any) -> Any:
    while True:
        above = parents[nodes]
        if (above == nodes).all():
            return nodes
        nodes = above


def _unite(parents: array.array[int], sizes: array.array[int], links: list[list[int]]) -> None:
    """datatrove's union by size: the root of the larger tree stays, of equal ones the first. The document that is kept
    of a cluster depends on the order of the links."""
    for a, b in links:
        while (above := parents[a]) != a:
            parents[a] = a = parents[above]
        while (above := parents[b]) != b:
            parents[b] = b = parents[above]
        if a != b:
            if sizes[a] < sizes[b]:
                a, b = b, a
            parents[b] = a
            sizes[a] += sizes[b]


def _forest(path: pathlib.Path, nodes: Any) -> Any:
    """The root of each document, as a place among them."""
    parents, sizes = array.array("q", range(len(nodes))), array.array("q", [1]) * len(nodes)
    view = np.frombuffer(parents, np.int64)
    for links in _chunks(path):
        # A link whose ends have the same root changes nothing, so the loop sees few of those that many buckets share.
        ends = _roots(view, np.searchsorted(nodes, links))
        _unite(parents, sizes, ends[ends[:, 0] != ends[:, 1]].tolist())
    return _roots(view, np.arange(len(nodes)))


def _of_rank(nodes: Any, rank: Rank) -> slice:
    bounds = np.array([rank.rank << 32, (rank.rank + 1) << 32], np.uint64)
    return slice(*np.searchsorted(nodes, bounds).tolist())


def _bands(ranks: list[Rank], bucket: int, nodes: Any) -> Any:
    """The hashes of all nodes in a bucket."""
    kind = ranks[0].kind
    found = np.empty(len(nodes), kind.row["band"])
    for rank in ranks:
        own = _of_rank(nodes, rank)
        if own.start < own.stop:
            wanted = nodes[own].astype(np.uint32)
            bands, docs = rank.bucket(bucket)
            places = np.minimum(np.searchsorted(wanted, docs), len(wanted) - 1)
            hits = np.flatnonzero(wanted[places] == docs)
            found[own.start + places[hits]] = bands[hits]
    return found.view(f"u{kind.hash_bytes}").reshape(len(nodes), kind.hashes_per_bucket)


def _alike(ranks: list[Rank], nodes: Any, removed: Any, keepers: Any) -> tuple[Any, Any]:
    """The number of equal buckets and of equal hashes of each removed document and its keeper."""
    buckets, hashes = np.zeros(len(removed), np.uint32), np.zeros(len(removed), np.uint32)
    for bucket in range(ranks[0].kind.num_buckets):
        bands = _bands(ranks, bucket, nodes)
        for piece in _pieces(len(removed)):
            equal = bands[removed[piece]] == bands[keepers[piece]]
            buckets[piece] += equal.all(axis=1)
            hashes[piece] += equal.sum(axis=1, dtype=np.uint32)
    return buckets, hashes


def _write(path: pathlib.Path, columns: dict[str, Any]) -> None:
    pq.write_table(pa.table(columns), path, compression="zstd", row_group_size=CHUNK)


def file_of(rank: int) -> str:
    """The file of the members of clusters of a rank."""
    return f"{CLUSTERS}/{rank:05d}.parquet"


def decide(ranks: list[Rank], memory: int, place: pathlib.Path) -> None:
    """Writes the removed documents with their keepers, and all members of clusters."""
    kind, path = ranks[0].kind, place / "links"
    with open(path, "wb") as out:
        for bucket in range(kind.num_buckets):
            # Of a row there are the band and the document, both again in order, and the order.
            for pairs in _links(ranks, bucket, max(1, memory // (2 * kind.row["band"].itemsize + 24))):
                out.write(pairs.tobytes())
    nodes = _linked(path)
    roots = _forest(path, nodes)
    path.unlink()
    ranks = sorted(ranks, key=lambda rank: rank.rank)
    number, doc = (nodes >> np.uint64(32)).astype(np.uint32), nodes.astype(np.uint32)
    ids = pa.concat_arrays([rank.ids(doc[_of_rank(nodes, rank)]) for rank in ranks])
    _, first, cluster, size = np.unique(roots, return_index=True, return_inverse=True, return_counts=True)
    # Clusters are numbered in the order of their first documents.
    names = np.argsort(np.argsort(first)).astype(np.uint32)
    kept = roots == np.arange(len(nodes))
    columns = {"rank": number, "doc": doc, "id": ids, "cluster": names[cluster], "size": size[cluster], "kept": kept}
    (place / CLUSTERS).mkdir()
    about: list[dict[str, int]] = []
    for rank in ranks:
        own, file = _of_rank(nodes, rank), place / file_of(rank.rank)
        _write(file, {name: values[own] for name, values in columns.items()})
        about.append({"sketch": rank.checksum, "clusters": zlib.crc32(file.read_bytes())})
    removed = np.flatnonzero(~kept)
    keepers = roots[removed]
    evidence = {"rank": number[removed], "doc": doc[removed], "id": ids.take(pa.array(removed))}
    evidence |= {"keeper_rank": number[keepers], "keeper_doc": doc[keepers], "keeper_id": ids.take(pa.array(keepers))}
    evidence["shared_keys"], hashes = _alike(ranks, nodes, removed, keepers)
    _write(place / REMOVED, evidence | {"jaccard": hashes / (kind.num_buckets * kind.hashes_per_bucket)})
    (place / ABOUT).write_text(json.dumps(about) + "\n", "utf-8")
