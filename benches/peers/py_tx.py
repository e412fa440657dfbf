#!/usr/bin/env python3
"""`fpstore.threatexchange.PDQIndex` beside the FAISS indexes of py-tx, on the same hashes and queries in the same run.

    cargo xtask python                                  # builds the wheel in target/python/wheels
    benches/peers/py_tx.py 150000
    benches/peers/py_tx.py 5000000 --peers fpstore,PDQIndex --queries 1000 --one-by-one 3 --faiss-workers 1

Hashes are like PDQ's: 256 normal coefficients of which the larger half are ones. Half of the hashes are of images of
their own, half of families of 2 to 15, whose coefficients are those of the family with noise, so that the same bits
flip in many variants: 1 to 29 on average. Half of the queries are a variant of a stored hash, half new. Entries are
numbers, as HMA has them, from a generator.

Peers are PDQIndex, which `PdqSignal` uses (IndexBinaryMultiHash, 16 parts of 16 bits), and PDQIndex2 (IndexFlatL2).
Each builds the index in a process of its own, waits for background work, answers one query after the other and
serializes the index; then hashes are added to it. Workers load the serialized index at the same time, as those of HMA
do, and answer 100 queries twice, the second time measured; their memory is the proportional set size beyond that of the
imports. The workers of fpstore deserialize an index of their own, or open the one that was saved. Exits with 1 if
answers differ.
"""
import argparse
import hashlib
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from common import NUMPY, TARGET, inside_environment, proc_bytes

PY_TX = "threatexchange==1.2.17"
WAYS = {
    "fpstore": ["deserialized", "opened", "opened, filters off"],
    "PDQIndex": ["deserialized"],
    "PDQIndex2": ["deserialized"],
}


def hashes(coefficients):
    """Rows of 32 bytes: the larger half of each row's coefficients are ones."""
    import numpy as np

    return np.packbits(coefficients > np.median(coefficients, axis=1)[:, None], axis=1)


def images(random, count):
    import numpy as np

    return random.standard_normal((count, 256), dtype=np.float32)


def variants(random, coefficients):
    """The coefficients with noise of 0.02 to 0.35 of their own size."""
    import numpy as np

    noise = random.uniform(0.02, 0.35, len(coefficients)).astype(np.float32)
    return coefficients + noise[:, None] * images(random, len(coefficients))


def make(count, queries, seed=11):
    """Stored hashes in random order, and queries."""
    import numpy as np

    random = np.random.default_rng(seed)
    stored, near = [], []
    have = 0
    while have < count:
        singles = images(random, 20_000)
        centres = images(random, 20_000 // 8)
        family = np.repeat(centres, random.integers(2, 16, len(centres)), axis=0)
        part = np.concatenate([hashes(singles), hashes(variants(random, family))])
        stored.append(part)
        have += len(part)
        near += [hashes(variants(random, singles[:500])), hashes(variants(random, centres[:500]))]
    stored, near = np.concatenate(stored), np.concatenate(near)
    for rows in (stored, near):
        random.shuffle(rows)
    asked = np.concatenate([near[: queries // 2], hashes(images(random, queries // 2))])
    random.shuffle(asked)
    return stored[:count], asked


def read(path):
    """Hexadecimal hashes of a file."""
    with open(path, "rb") as file:
        while row := file.read(32):
            yield row.hex()


def index_class(peer):
    if peer == "fpstore":
        from fpstore.threatexchange import PDQIndex
        return PDQIndex
    from threatexchange.signal_type.pdq import pdq_index, pdq_index2
    return {"PDQIndex": pdq_index.PDQIndex, "PDQIndex2": pdq_index2.PDQIndex2}[peer]


def settle():
    """Waits until no thread of this process works."""
    used = -1.0
    while time.process_time() - used > 0.02:
        used = time.process_time()
        time.sleep(0.5)


def timed(work):
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def ask(index, queries):
    """Microseconds of each query, the matches, and a digest of all answers."""
    took, digest, matches = [], hashlib.sha256(), 0
    for query in queries:
        begun = time.perf_counter_ns()
        found = index.query(query)
        took.append((time.perf_counter_ns() - begun) / 1e3)
        matches += len(found)
        digest.update(repr(sorted((int(one.similarity_info.distance), one.metadata) for one in found)).encode())
    return took, matches, digest.hexdigest()


def latencies(took):
    took = sorted(took)
    return {"median_us": statistics.median(took), "p99_us": took[len(took) * 99 // 100]}


def peer_main(peer, folder, one_by_one):
    """Builds, asks, adds and serializes; prints a line of JSON."""
    index_of, folder = index_class(peer), pathlib.Path(folder)
    queries = list(read(folder / "queries"))
    before = proc_bytes("self/status", "VmRSS")
    build, index = timed(lambda: index_of.build(zip(read(folder / "stored"), itertools.count())))
    peak = proc_bytes("self/status", "VmHWM") - before
    settle()
    memory = proc_bytes("self/status", "RssAnon", "RssShmem", "RssFile") - before
    ask(index, queries[:50])
    took, matches, digest = ask(index, queries)
    serialize, _ = timed(lambda: write(index, folder / f"{peer}.index"))
    made = {"build_s": build, "peak": peak, "memory": memory, "matches": matches, "digest": digest,
            "serialize_s": serialize, "serialized": (folder / f"{peer}.index").stat().st_size, **latencies(took)}
    if peer == "fpstore":
        made["save_s"], _ = timed(lambda: index.save(folder / "saved"))
        made["saved"] = sum(file.stat().st_size for file in (folder / "saved").rglob("*") if file.is_file())
    more = list(zip(read(folder / "more"), itertools.count(10**9)))
    made["add_many_ms"] = [timed(lambda: index.add_all(more[at : at + 1000]))[0] * 1e3 for at in (0, 1000)]
    some = more[2000 : 2000 + one_by_one]
    made["add_one_us"] = timed(lambda: [index.add(*one) for one in some])[0] * 1e6 / len(some)
    for hash, entry in (more[0], more[1999], some[-1]):
        assert any(one.metadata == entry for one in index.query(hash))
    made["after_adding"] = latencies(ask(index, queries)[0])
    print(json.dumps(made))


def write(index, path):
    with open(path, "wb") as file:
        index.serialize(file)


def worker_main(peer, folder, way):
    """Loads an index and keeps it until standard input ends."""
    index_of, folder = index_class(peer), pathlib.Path(folder)
    queries = list(read(folder / "queries"))
    print("{}", flush=True)
    sys.stdin.readline()
    if way == "deserialized":
        with open(folder / f"{peer}.index", "rb") as file:
            load, index = timed(lambda: index_of.deserialize(file))
    else:
        options = {"filters": "off"} if way.endswith("off") else {}
        load, index = timed(lambda: index_of.open(folder / "saved", **options))
    settle()
    ask(index, queries[:100])
    took, matches, digest = ask(index, queries[:100])
    print(json.dumps({"load_s": load, "matches": matches, "digest": digest, **latencies(took)}), flush=True)
    sys.stdin.readline()


def workers(peer, folder, way, count):
    """Means of the figures of that many workers at the same time."""
    command = [sys.executable, __file__, "--worker", peer, str(folder), way]
    all = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(count)]

    def told():
        found = [json.loads(one.stdout.readline()) for one in all]
        return found, sum(proc_bytes(f"{one.pid}/smaps_rollup", "Pss") for one in all)

    _, before = told()
    for one in all:
        one.stdin.write("\n")
        one.stdin.flush()
    found, after = told()
    for one in all:
        one.communicate("\n")
    mean = {key: statistics.mean(one[key] for one in found) for key in ("load_s", "median_us", "p99_us")}
    digests = [one["digest"] for one in found]
    return {"way": way, "workers": count, "memory": (after - before) / count, "digests": digests, **mean}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--queries", type=int, default=2000)
    parser.add_argument("--peers", default=",".join(WAYS))
    parser.add_argument("--one-by-one", type=int, default=1000, help="hashes that the peers of FAISS add one by one")
    parser.add_argument("--faiss-workers", type=int, default=4)
    options = parser.parse_args()
    wheels = sorted((TARGET / "python" / "wheels").glob("fpstore-*.whl"))
    if not wheels:
        sys.exit("there is no wheel in target/python/wheels; run `cargo xtask python`")
    inside_environment([NUMPY, PY_TX, "--force-reinstall", str(wheels[0])], "peers-py-tx")
    results, loaded = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        stored, asked = make(options.count, options.queries)
        stored.tofile(folder / "stored")
        asked.tofile(folder / "queries")
        make(3000, 2, seed=12)[0].tofile(folder / "more")
        del stored, asked
        for peer in options.peers.split(","):
            print(peer, file=sys.stderr, flush=True)
            one_by_one = 1000 if peer == "fpstore" else options.one_by_one
            command = [sys.executable, __file__, "--peer", peer, folder, str(one_by_one)]
            results[peer] = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
            count = 4 if peer == "fpstore" else options.faiss_workers
            loaded[peer] = [workers(peer, folder, way, count) for way in WAYS[peer]]
            os.remove(folder / f"{peer}.index")
    show(options, results, loaded)
    digests = {made["digest"] for made in results.values()}
    seen = {digest for ways in loaded.values() for way in ways for digest in way["digests"]}
    print(f"\n{next(iter(results.values()))['matches']} matches of {options.queries} queries; answers are "
          f"{'equal' if len(digests) == len(seen) == 1 else 'DIFFERENT'}")
    sys.exit(0 if len(digests) == len(seen) == 1 else 1)


def show(options, results, loaded):
    import importlib.metadata

    mib = 2**20
    rows = [("build, s", lambda made: f"{made['build_s']:.1f}"),
            ("peak RSS of the build, MiB", lambda made: f"{made['peak'] / mib:,.0f}"),
            ("RSS after it, MiB", lambda made: f"{made['memory'] / mib:,.0f}"),
            ("query: median, p99, us", lambda made: f"{made['median_us']:,.0f}, {made['p99_us']:,.0f}"),
            ("add 1,000 in one call, and 1,000 more, ms",
             lambda made: ", ".join(f"{took:,.1f}" for took in made["add_many_ms"])),
            ("add one by one, us each", lambda made: f"{made['add_one_us']:,.0f}"),
            ("query after that: median, p99, us",
             lambda made: "{median_us:,.0f}, {p99_us:,.0f}".format(**made["after_adding"])),
            ("serialize, s", lambda made: f"{made['serialize_s']:.2f}"),
            ("serialized, bytes a hash", lambda made: f"{made['serialized'] / options.count:.1f}")]
    print(f"{options.count:,} hashes, {options.queries:,} queries, {os.cpu_count()} cores, {PY_TX}, "
          f"faiss-cpu {importlib.metadata.version('faiss-cpu')}\n")
    print(f"| | {' | '.join(results)} |\n|---|{'---|' * len(results)}")
    for name, cell in rows:
        print(f"| {name} | {' | '.join(map(cell, results.values()))} |")
    if "fpstore" in results:
        ours = results["fpstore"]
        print(f"\nsave: {ours['save_s']:.2f} s, {ours['saved'] / options.count:.1f} bytes a hash")
    print("\n| | workers | loading, s | memory of each, MiB | query: median, p99, us |\n|---|---|---|---|---|")
    for peer, ways in loaded.items():
        for way in ways:
            print(f"| {peer}, {way['way']} | {way['workers']} | {way['load_s']:.2f} | {way['memory'] / mib:,.0f} | "
                  f"{way['median_us']:,.0f}, {way['p99_us']:,.0f} |")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        peer_main(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    elif sys.argv[1:2] == ["--worker"]:
        worker_main(*sys.argv[2:])
    else:
        main()
