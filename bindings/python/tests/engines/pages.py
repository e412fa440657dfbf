"""Rows of which many are near others, and what one store says of them."""

import random

import pytest

import brute
import fpstore as fp
import real

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
K = 3


class Pages:
    """Rows with fingerprints of 64 bits: unsigned, or with the same bits as signed numbers."""

    def __init__(self, folder, signed=False):
        records = brute.clustered(3000, 64, seed=9)
        records += [(value, 3000 + number) for number, (value, _) in enumerate(records[::5])]
        random.Random(2).shuffle(records)
        self.values, ids = map(list, zip(*records, strict=True))
        self.ids = [f"page-{id}" for id in ids]
        column = pa.array(self.values, pa.uint64())
        self.table = pa.table({"id": self.ids, "fingerprint": column.view(pa.int64()) if signed else column})
        self.folder = folder / "pages"
        self.folder.mkdir()
        for number in range(3):
            rows = self.table.slice(number * 1200, 1200)
            pq.write_table(rows, self.folder / f"{number}.parquet", row_group_size=300)
        self.store = folder / "pages.store"
        with fp.create(self.store, max_distance=K, ids="text") as store:
            store.load(column, ids=self.ids)
            evidence = store.keep(K, evidence=True).to_pylist()
            labels = store.clusters(K).to_pylist()
        self.labels = sorted((one["id"], one["cluster"]) for one in labels if one["id"] != one["cluster"])
        self.removed = sorted((one["id"], one["keeper"], one["distance"]) for one in evidence)
        self.kept = sorted(set(self.ids) - {id for id, *_ in self.removed})

    def matches(self, queries):
        """The query, the match's id and its distance, of every match."""
        with fp.open(self.store, read_only=True) as store:
            return sorted((query, one.id, one.distance) for query in queries for one in store.query(query, K))


MINHASH = {"text": "text", "method": "minhash", "bands": 14, "rows": 8}


def texts():
    """Rows with texts, and the ids of those that stay of the ones that share a band of `MINHASH`."""
    table = pa.table({"id": range(300), "text": real.documents(300)})
    return table, fp.dedup(table, id="id", bands=14, rows=8).table.to_pydict()["id"]


def removed(job):
    """What a job removes, and why."""
    return sorted(tuple(one.values()) for one in pq.read_table(job.removed()).to_pylist())
