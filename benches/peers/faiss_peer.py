#!/usr/bin/env python3
"""FAISS as a peer: the arguments and the line of JSON of the program in search/, see there and search.py.

    faiss_peer.py PEER DATA QUERIES WARM-UP DISTINCT [K]

IndexBinaryMultiHash cuts a fingerprint into equal parts and hashes each; it looks within `nflip` flips of a query's
part. If two fingerprints differ in at most k bits, one of m parts differs in at most k / m of them, so nflip = k // m
finds everything. One call runs all queries, on one thread, so single latencies are unknown.
"""
import ctypes
import json
import os
import sys
import time

from common import mix

PACKAGE = "faiss-cpu==1.15.1"
# Name: number of parts, and bits of a part.
PEERS = {"faiss-2x32": (2, 32), "faiss-4x16": (4, 16)}


def anonymous_bytes():
    """Anonymous memory of this process, after the allocator has returned free memory."""
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:"))


def read(file):
    """The file's fingerprints as rows of bytes. Allocates one row more: the hash of the last part of the last row reads
    eight bytes from its beginning, beyond the row's end."""
    import numpy as np

    count = os.path.getsize(file) // 8
    values = np.zeros(count + 1, dtype="<u8")[:count]
    with open(file, "rb") as source:
        source.readinto(values)
    return values.view(np.uint8).reshape(-1, 8)


def main(name, data, queries, warm_up, distinct, k=3):
    import faiss
    import numpy as np

    k, distinct = int(k), int(distinct)
    parts, bits = PEERS[name]
    queries, warm_up = read(queries), read(warm_up)
    before = anonymous_bytes()
    rows = read(data)
    faiss.omp_set_num_threads(os.cpu_count())
    start = time.perf_counter()
    index = faiss.IndexBinaryMultiHash(64, parts, bits)
    index.nflip = k // parts
    index.add(rows)
    build = time.perf_counter() - start
    del rows
    resident = anonymous_bytes() - before

    faiss.omp_set_num_threads(1)
    # Its radius is exclusive.
    index.range_search(warm_up, k + 1)
    start, core = time.perf_counter(), time.process_time()
    limits, _, found = index.range_search(queries, k + 1)
    mean = (time.perf_counter() - start) * 1e6 / len(queries)
    core = (time.process_time() - core) * 1e6 / len(queries)

    # The same sum of hashes as in search/src/measure.rs. Equal pairs come from records with equal fingerprints.
    fingerprints = np.memmap(data, dtype="<u8", mode="r")[found]
    asked = np.repeat(queries.view("<u8").ravel(), np.diff(limits).astype(np.int64))
    pairs = np.unique(mix(mix(asked) + fingerprints))
    per_fingerprint = resident / distinct
    print(json.dumps({
        "peer": name, "build_s": build, "resident": per_fingerprint, "file": 0.0, "both": per_fingerprint,
        "rss_anon": per_fingerprint, "mean_us": mean, "core_us": core, "p50_us": None, "p99_us": None,
        "matches": len(pairs), "hash": f"{int(pairs.sum(dtype=np.uint64)):016x}",
    }))


if __name__ == "__main__":
    if len(sys.argv) not in (6, 7):
        sys.exit(__doc__)
    main(*sys.argv[1:])
