#!/usr/bin/env python3
"""Wide fingerprints beside FAISS, on the same data and queries in the same run, with the programs as users run them.

    benches/peers/wide.py 256 1000000
    benches/peers/wide.py 128 10000000 --peers fpstore,multihash

Builds fpload and fpquery, installs numpy and faiss-cpu into target/peers. Data: half of the fingerprints are uniform;
the others form families like near-duplicate images: a random centre and 1 to 15 copies of it with up to `distance`
random bits flipped. Half of the queries are uniform, half a stored value with none to `distance` bits flipped.
Distances: 31 for 256 bits, 6 for 128. FAISS: IndexBinaryMultiHash with 16 parts of 16 bits within one flip (256 bits),
or 4 of 32 within one flip (128 bits), and IndexBinaryFlat. One thread runs the queries. Bytes are those of the files
and of resident memory, without ids (FAISS has none of its own). Exits with 1 if the numbers of matches differ.
"""
import argparse
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from common import NUMPY, ROOT, TARGET, inside_environment, splitmix64

FAISS = "faiss-cpu==1.15.1"
# Distance, parts of the multi-hash index and their bits, flips.
SHAPES = {256: (31, 16, 16, 1), 128: (6, 4, 32, 1)}


def random_rows(count, words, seed):
    return splitmix64(count * words, seed=seed).reshape(count, words)


def flip(rows, most, seed):
    """Flips up to `most` random bits of each row, in place."""
    import numpy as np

    width = rows.shape[1] * 64
    wanted = splitmix64(len(rows), seed=seed) % np.uint64(most + 1)
    lines = np.arange(len(rows))
    for turn in range(most):
        bit = splitmix64(len(rows), seed=seed + 1 + turn) % np.uint64(width)
        mask = np.where(wanted > turn, np.uint64(1) << (bit % np.uint64(64)), np.uint64(0))
        rows[lines, (bit // np.uint64(64)).astype(np.int64)] ^= mask
    return rows


def make(width, count, queries, distance):
    import numpy as np

    words = width // 64
    even = random_rows(count // 2, words, 1)
    centres = random_rows(count // 16 + 1, words, 2)
    sizes = 1 + splitmix64(len(centres), seed=3) % np.uint64(15)
    family = np.repeat(centres, sizes.astype(np.int64), axis=0)[: count - len(even)]
    more = random_rows(count - len(even) - len(family), words, 4)
    data = np.unique(np.concatenate([even, flip(family, distance, 5), more]), axis=0)
    data = data[np.argsort(splitmix64(len(data), seed=7))]
    near = data[(splitmix64(queries, seed=8) % np.uint64(len(data))).astype(np.int64)].copy()
    flip(near, distance, 9)
    near[::2] = random_rows(queries, words, 11)[::2]
    return data, near


def anonymous_bytes():
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:"))


def faiss_peer(name, width, data, queries, distance):
    """Runs in a separate process: prints a line of JSON."""
    import faiss
    import numpy as np

    queries = np.fromfile(queries, dtype=np.uint8).reshape(-1, width // 8)
    before = anonymous_bytes()
    rows = np.fromfile(data, dtype=np.uint8).reshape(-1, width // 8)
    count = len(rows)
    _, parts, bits, flips = SHAPES[width]
    if name == "flat":
        index = faiss.IndexBinaryFlat(width)
    else:
        index = faiss.IndexBinaryMultiHash(width, parts, bits)
        index.nflip = flips
    start = time.perf_counter()
    index.add(rows)
    build = time.perf_counter() - start
    del rows
    resident = anonymous_bytes() - before
    faiss.omp_set_num_threads(1)
    queries = queries[: len(queries) if name != "flat" else min(len(queries), 200)]
    index.range_search(queries[:50], distance + 1)
    start = time.perf_counter()
    limits, _, _ = index.range_search(queries, distance + 1)
    mean = (time.perf_counter() - start) * 1e6 / len(queries)
    print(json.dumps({"build_s": build, "memory": resident / count, "files": 0.0, "mean_us": mean,
                      "matches": int(limits[-1]), "queries": len(queries)}))


def fpstore_peer(folder, width, data, queries, distance, count, filters):
    store = folder / "store"
    programs = TARGET / "release"
    if not store.exists():
        start = time.perf_counter()
        subprocess.run([programs / "fpload", "--quiet", "--create", "--ids", "none", "--width", str(width),
                        "--max-distance", str(distance), store, data], check=True)
        fpstore_peer.build = time.perf_counter() - start
    stats = json.loads(subprocess.run([programs / "fpdump", "stats", "--json", store], check=True,
                                      stdout=subprocess.PIPE).stdout)
    info = json.loads(subprocess.run([programs / "fpdump", "info", "--json", store], check=True,
                                     stdout=subprocess.PIPE).stdout)
    def ask(file):
        asked = [programs / "fpquery", "--threads", "1", "--stats", "--json", "--count", "--filter",
                 "on" if filters else "off", "--input", file, store]
        finished = subprocess.run(asked, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
        counts = [json.loads(line)["count"] for line in finished.stdout.splitlines()]
        return json.loads(finished.stderr.splitlines()[-1]), counts
    # A first pass checks pages and loads them into memory.
    ask(queries)
    figures, counts = ask(queries)
    memory = stats["resident_bytes"] + (stats["filter_bytes"] if filters else 0)
    return {"build_s": fpstore_peer.build, "memory": memory / count, "plan": info["plan"],
            "files": (stats["file_bytes"] - stats["id_bytes"]) / count,
            "mean_us": figures["latency_us"]["mean"], "p50_us": figures["latency_us"]["p50"],
            "p99_us": figures["latency_us"]["p99"], "matches": sum(counts), "matches_200": sum(counts[:200]),
            "queries": len(counts)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("width", type=int, choices=sorted(SHAPES))
    parser.add_argument("count", type=int)
    parser.add_argument("--queries", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--peers", default="fpstore,fpstore-no-filters,multihash,flat")
    options = parser.parse_args()
    inside_environment([NUMPY, FAISS])
    distance = SHAPES[options.width][0]
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "fpstore-tools", "--target-dir", TARGET],
                   cwd=ROOT, check=True)
    names = options.peers.split(",")
    results = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        suffix = f".u{options.width}"
        data, queries = folder / f"data{suffix}", folder / f"queries{suffix}"
        values, asked = make(options.width, options.count, options.queries, distance)
        count = len(values)
        # The file's numbers are little-endian; random values may have any order of words.
        values.tofile(data)
        asked.tofile(queries)
        del values, asked
        for number in range(options.rounds):
            for name in names:
                print(f"round {number + 1} of {options.rounds}: {name}", file=sys.stderr, flush=True)
                if name.startswith("fpstore"):
                    one = fpstore_peer(folder, options.width, data, queries, distance, count, name == "fpstore")
                else:
                    command = [sys.executable, __file__, "--faiss", name, str(options.width), data, queries]
                    command.append(str(distance))
                    one = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
                results[name].append(one)
    print(f"{count} fingerprints of {options.width} bits, within {distance}, {options.queries} queries, "
          f"{os.cpu_count()} cores, {FAISS.replace('==', ' ')}\n")
    print("| | build s | files B/fp | memory B/fp | both | mean us | p50 us | p99 us | matches |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, rounds in results.items():
        best = min(rounds, key=lambda one: one["mean_us"])
        plan = f" ({best['plan']})" if "plan" in best else ""
        p50, p99 = (f"{best[key]:.0f}" if key in best else "–" for key in ("p50_us", "p99_us"))
        print(f"| {name}{plan} | {best['build_s']:.1f} | {best['files']:.1f} | {best['memory']:.1f} | "
              f"{best['files'] + best['memory']:.1f} | {best['mean_us']:.1f} | {p50} | {p99} | "
              f"{best['matches']} of {best['queries']} queries |")
    whole = {rounds[0]["matches"] for name, rounds in results.items() if name != "flat"}
    firsts = [rounds[0] for name, rounds in results.items() if name != "multihash"]
    part = {first.get("matches_200", first["matches"]) for first in firsts}
    sys.exit(0 if len(whole) <= 1 and ("flat" not in results or len(part) <= 1) else 1)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--faiss"]:
        faiss_peer(sys.argv[2], int(sys.argv[3]), sys.argv[4], sys.argv[5], int(sys.argv[6]))
    else:
        main()
