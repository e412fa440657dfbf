#!/usr/bin/env python3
"""Near fingerprints from Python, beside the packages that people use for it, on the same data in the same run.

    cargo xtask python                                  # builds the wheel in target/python/wheels
    benches/peers/python_joins.py [--records 1000000] [--rounds 3] [--peers hammingbird,faiss]
    benches/peers/python_joins.py --data clustered
    benches/peers/python_joins.py --data FILE.u64       # little-endian integers
    benches/peers/python_joins.py --records 100000 --peers lance,lance256

The data are NumPy arrays of 64 bits (all pairs within 3 bits) and of 256 bits (within 2): uniform, with one record in a
hundred a near copy of another; clustered, in families of one to 64 that differ from a common centre in a bit or two; or
those of a file, of 64 bits. Each contestant is a process of its own in every round: it builds its index, finds all
pairs, answers 100,000 queries in one call, and 10,000 one by one. fpstore and Lance write to disk, the others hold
everything in memory: hammingbird (find_pairs_self, Index), and FAISS's IndexBinaryMultiHash with as many parts as find
everything (range_search). Lance compares all pairs of a partition of its index (find_duplicate_pairs): with one
partition it finds everything in quadratic time, with 256 it leaves the pairs between partitions out. It answers only
the nearest neighbours of a query, not all within a distance, so its columns of queries are empty. Prints medians, and
the peak of memory above the data; exits with 1 if they find different numbers of pairs or matches, unless they are
known to leave some out.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile

from common import NUMPY, inside_environment, mix, package, resident, splitmix64, watched

LANCE = "pylance==14.0.2 tqdm==4.70.1"
PACKAGES = {"hammingbird": "hammingbird==0.5.0", "faiss": "faiss-cpu==1.15.1", "lance": LANCE, "lance256": LANCE}
TITLES = {"fpstore": "fpstore", "hammingbird": "hammingbird 0.5.0", "faiss": "FAISS 1.15.1 MultiHash",
          "lance": "Lance 14.0.2, one partition", "lance256": "Lance 14.0.2, 256 partitions"}
DISTANCE = {64: 3, 256: 2}
BATCH, SINGLE = 100_000, 10_000


class Fpstore:
    def __init__(self, values, k):
        import fpstore
        import numpy as np

        self.k, self.folder = k, tempfile.TemporaryDirectory()
        given = values.view("<u8").ravel() if values.shape[1] == 8 else values
        self.store = fpstore.create(self.folder.name + "/store", width=8 * values.shape[1], max_distance=k)
        self.store.load(given, ids=np.arange(len(values), dtype="u8"))

    def pairs(self):
        return sum(len(batch) for batch in self.store.pairs(self.k))

    def batch(self, queries):
        given = queries.view("<u8").ravel() if queries.shape[1] == 8 else queries
        return sum(len(batch) for batch in self.store.query(given, self.k))

    def prepare(self, queries):
        return [query[::-1].tobytes() if len(query) == 8 else query.tobytes() for query in queries]

    def one(self, query):
        return len(self.store.query(query, self.k))


class Hammingbird:
    def __init__(self, values, k):
        import hammingbird

        self.values, self.k = values, k
        self.find = hammingbird.find_pairs_self
        self.index = hammingbird.Index(d_bytes=values.shape[1], k=k)
        self.index.add_batch(values)

    def pairs(self):
        return len(self.find(self.values, self.k))

    def batch(self, queries):
        return sum(map(len, self.index.query_batch(queries)))

    def prepare(self, queries):
        return list(queries)

    def one(self, query):
        return len(self.index.query(query))


class Faiss:
    def __init__(self, values, k):
        import faiss

        self.values, self.k = values, k
        parts = k + 1
        faiss.omp_set_num_threads(os.cpu_count())
        # With a part more than bits may differ, one part of two near values is equal.
        self.index = faiss.IndexBinaryMultiHash(8 * values.shape[1], parts, min(8 * values.shape[1] // parts, 32))
        self.index.add(values)

    def pairs(self):
        limits, _, _ = self.index.range_search(self.values, self.k + 1)
        return int(limits[-1] - len(self.values)) // 2

    def batch(self, queries):
        return int(self.index.range_search(queries, self.k + 1)[0][-1])

    def prepare(self, queries):
        return [query[None] for query in queries]

    def one(self, query):
        return int(self.index.range_search(query, self.k + 1)[0][-1])


class Lance:
    partitions = 1

    def __init__(self, values, k):
        import lance
        import pyarrow

        self.k, self.folder = k, tempfile.TemporaryDirectory()
        column = pyarrow.FixedSizeListArray.from_arrays(values.ravel(), values.shape[1])
        self.rows = lance.write_dataset(pyarrow.table({"hash": column}), self.folder.name + "/rows")
        self.rows.create_index("hash", "IVF_FLAT", metric="hamming", num_partitions=self.partitions)

    def pairs(self):
        from lance.vector import find_duplicate_pairs

        with find_duplicate_pairs(self.rows, "hash", float(self.k)) as pairs:
            return sum(batch.num_rows for batch in pairs)


class Lance256(Lance):
    partitions = 256


CONTESTANTS = {"fpstore": Fpstore, "hammingbird": Hammingbird, "faiss": Faiss, "lance": Lance, "lance256": Lance256}
# Those that leave pairs out.
INCOMPLETE = {"lance256"}


def clustered(count, width):
    """Families of one to 64, in turn by powers of two; each member differs from the centre in up to two bits."""
    import numpy as np

    sizes = np.tile(np.left_shift(1, np.arange(7)), count // 127 + 1)
    family = np.repeat(np.arange(len(sizes)), sizes)[:count]
    values = splitmix64((family[-1] + 1) * (width // 64)).view(np.uint8).reshape(-1, width // 8)[family]
    for flip in range(2):
        chosen = mix(np.arange(count, dtype=np.uint64) + np.uint64(flip << 40))
        place, does = chosen % np.uint64(width), (chosen >> np.uint64(32)) % np.uint64(2)
        values[np.arange(count), place // 8] ^= np.left_shift(does, place % 8).astype(np.uint8)
    return values[np.argsort(mix(np.arange(count, dtype=np.uint64)))]


def data(count, width, kind):
    """Rows of bytes."""
    import numpy as np

    if kind == "clustered":
        return clustered(count, width)
    if kind != "uniform":
        return np.fromfile(kind, dtype=np.uint8).reshape(-1, 8)[:count]
    words = width // 64
    values = splitmix64(count * words).view(np.uint8).reshape(count, width // 8).copy()
    near = count // 100
    values[-near:] = values[:near]
    for flip in range(DISTANCE[width]):
        place = mix(np.arange(near, dtype=np.uint64) + np.uint64(flip << 40)) % np.uint64(width)
        values[np.arange(count - near, count), place // 8] ^= np.left_shift(1, place % 8).astype(np.uint8)
    return values


def measure(name, file):
    """What a process does: prints its times."""
    import time

    import numpy as np

    values = np.load(file)
    k = DISTANCE[8 * values.shape[1]]
    queries = values[:: max(1, len(values) // BATCH)][:BATCH].copy()
    queries[:, 0] ^= 1
    made = {"before": resident("self")}

    def timed(what, work):
        begun = time.perf_counter()
        result = work()
        made[what] = time.perf_counter() - begun
        return result

    index = timed("build", lambda: CONTESTANTS[name](values, k))
    pairs = timed("pairs", index.pairs)
    if not hasattr(index, "one"):
        return print(json.dumps(made | {"batch": math.nan, "single": math.nan, "found": [pairs]}))
    batch = timed("batch", lambda: index.batch(queries))
    singles = index.prepare(queries[:SINGLE])
    single = timed("single", lambda: sum(map(index.one, singles)))
    made["single"] *= 1e6 / len(singles)
    print(json.dumps(made | {"found": [pairs, batch, single]}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default="hammingbird,faiss")
    parser.add_argument("--data", default="uniform", help="uniform, clustered, or a file [default: uniform]")
    parser.add_argument("--package", help="a wheel, or a directory with the package [default: target/python/wheels]")
    parser.add_argument("--measure", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        return measure(*options.measure)
    peers = [peer for peer in options.peers.split(",") if peer]
    inside_environment([NUMPY, *(one for peer in peers for one in PACKAGES[peer].split())], "peers-python")
    package(options.package)
    problems = []
    widths = DISTANCE if options.data in ("uniform", "clustered") else {64: DISTANCE[64]}
    if options.data not in ("uniform", "clustered"):
        options.records = min(options.records, pathlib.Path(options.data).stat().st_size // 8)
    for width, k in widths.items():
        print(f"\n{options.data}, {options.records:,} fingerprints of {width} bits, distance {k}, {os.cpu_count()} "
              f"cores, medians of {options.rounds} rounds\n")
        print("| | build, s | pairs, s | build and pairs, s | batch, s | single, us | peak MiB |")
        print("|---|---|---|---|---|---|---|", flush=True)
        with tempfile.TemporaryDirectory() as folder:
            problems += table(options, ["fpstore", *peers], width, pathlib.Path(folder) / "values.npy")
    if problems:
        raise SystemExit("\n".join(problems))


def table(options, contestants, width, file):
    """Prints the lines of a width; returns where contestants differ from the first."""
    import numpy as np

    np.save(file, data(options.records, width, options.data))
    rounds = {name: [] for name in contestants}
    for _ in range(options.rounds):
        for name, made in rounds.items():
            with tempfile.TemporaryFile() as out:
                _, peak = watched([sys.executable, __file__, "--measure", name, file], stdout=out)
                out.seek(0)
                one = json.loads(out.read())
            one["peak"] = (peak - one["before"]) / 2**20
            one["both"] = one["build"] + one["pairs"]
            made.append(one)
    first = rounds[contestants[0]][0]["found"]
    for name, made in rounds.items():
        columns = ("build", "pairs", "both", "batch", "single", "peak")
        build, pairs, both, batch, single, peak = (statistics.median(one[what] for one in made) for what in columns)
        line = f"| {TITLES[name]} | {build:.2f} | {pairs:.2f} | {both:.2f} | {batch:.3f} | {single:.1f} | {peak:.0f} |"
        print(line.replace("nan", ""))
    print(f"\n{first[0]:,} pairs, {first[1]:,} matches", flush=True)
    for name in INCOMPLETE & rounds.keys():
        print(f"{TITLES[name]} finds {rounds[name][0]['found'][0] / first[0]:.1%} of the pairs", flush=True)
    return [f"{name}, {width} bits: {one['found']} instead of {first}"
            for name, made in rounds.items() if name not in INCOMPLETE
            for one in made if one["found"] != first[:len(one["found"])]]


if __name__ == "__main__":
    main()
