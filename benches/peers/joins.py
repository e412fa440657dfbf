#!/usr/bin/env python3
"""All pairs of near fingerprints beside other systems, on the same data in the same run: seconds and peak memory.

    benches/peers/joins.py uniform 20000000 --peers faiss
    benches/peers/joins.py uniform 5000000 --peers all-pairs-hamming,mih-rs --memory 64MiB
    benches/peers/joins.py uniform 100000000 --memory 4GiB --memory 512MiB
    benches/peers/joins.py FILE.u64 --records --clusters

Loads the fingerprints into a store, and times `fpdedup pairs --distinct --output FILE` from a store on disk (in the
page cache) to the pairs in a file, `--rounds` times for each `--memory`; with --records also all pairs of records to a
pipe, with --clusters also `fpdedup clusters`. Peers: all-pairs-hamming (one thread, unmodified), mih-rs (a query for
every fingerprint, on all threads; for large sets a sample, scaled up), FAISS's IndexBinaryMultiHash and IndexBinaryHash
(range_search of a sample, on all threads, scaled up; the better one counts). Peak memory is anonymous and shared memory
(RssAnon + RssShmem), sampled every few milliseconds. Exits with 1 if complete peers find a different number of pairs.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from common import NUMPY, ROOT, TARGET, fingerprints, inside_environment, watched

FAISS = "faiss-cpu==1.15.1"
PROGRAMS = TARGET / "release"
# Number of queries to FAISS and, for larger sets, to mih-rs.
SAMPLE = 20_000
WHOLE = 6_000_000
# Exit codes of fpdedup that are no failure.
NOTHING_FOUND = (0, 1)


def row(name, seconds, peak, pairs, first):
    print(f"| {name} | {seconds:.2f} | {peak / 2**20:.0f} | {pairs:,.0f} | {seconds / first:.1f} |", flush=True)


def own(store, folder, options):
    """fpdedup, for each memory limit; returns seconds and pairs of the first one."""
    first = None
    for memory in options.memory or ["1GiB"]:
        times, peaks = [], []
        for _ in range(options.rounds):
            out = folder / "pairs.tsv"
            seconds, peak = watched(
                [PROGRAMS / "fpdedup", "pairs", "--quiet", "--distinct", "-k", options.distance, "--memory", memory,
                 "--output", out, store], accept=NOTHING_FOUND)
            times.append(seconds)
            peaks.append(peak)
        with open(out, "rb") as file:
            pairs = sum(piece.count(b"\n") for piece in iter(lambda: file.read(1 << 22), b""))
        out.unlink()
        first = first or (statistics.median(times), pairs)
        row(f"fpdedup pairs --distinct, {memory}", statistics.median(times), max(peaks), pairs, first[0])
        if options.records:
            count = [PROGRAMS / "fpdedup", "pairs", "--quiet", "-k", options.distance, "--memory", memory, store]
            with subprocess.Popen(["wc", "-l"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as counter:
                seconds, peak = watched(count, stdout=counter.stdin, accept=NOTHING_FOUND)
                counter.stdin.close()
                row(f"fpdedup pairs, {memory}", seconds, peak, int(counter.stdout.read()), first[0])
        if options.clusters:
            out = folder / "labels.tsv"
            seconds, peak = watched(
                [PROGRAMS / "fpdedup", "clusters", "--quiet", "-k", options.distance, "--memory", memory,
                 "--output", out, store], accept=NOTHING_FOUND)
            out.unlink()
            row(f"fpdedup clusters, {memory}", seconds, peak, pairs, first[0])
    return first


def library(name, data, options, first):
    program = TARGET / "join-peers" / "release" / "fpstore-join-peers"
    few = [] if options.count <= WHOLE else [str(SAMPLE)]
    with tempfile.TemporaryFile() as out:
        seconds, peak = watched([program, name, data, options.distance, *few], stdout=out)
        out.seek(0)
        found = json.loads(out.read())
    seconds = found["build"] + found["join"]
    row(name + (", of a sample" if few else ""), seconds, peak, found["pairs"], first[0])
    return found["pairs"] if not few else first[1]


def faiss_peer(data, options, first):
    import faiss
    import numpy as np

    values = np.unique(data).view(np.uint8).reshape(-1, 8)
    sample = values[np.random.default_rng(1).choice(len(values), min(SAMPLE, len(values)), replace=False)]
    faiss.omp_set_num_threads(os.cpu_count())

    def hashed():
        index = faiss.IndexBinaryMultiHash(64, 2, 32)
        index.nflip = 1
        return index

    def one():
        index = faiss.IndexBinaryHash(64, 28)
        index.nflip = options.distance
        return index

    for name, make in (("FAISS MultiHash 2 x 32", hashed), ("FAISS Hash 28", one)):
        index = make()
        start = time.perf_counter()
        index.add(values)
        build = time.perf_counter() - start
        start = time.perf_counter()
        limits, _, _ = index.range_search(sample, options.distance + 1)
        asking = (time.perf_counter() - start) * len(values) / len(sample)
        pairs = (limits[-1] - len(sample)) / 2 * len(values) / len(sample)
        with open("/proc/self/status") as status:
            peak = next(int(line.split()[1]) * 1024 for line in status if line.startswith("RssAnon:"))
        row(f"{name}, of a sample (without building, {build:.0f} s)", asking, peak, pairs, first[0])
        del index


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", help="uniform COUNT, paired COUNT PAIRS, or FILE.u64")
    parser.add_argument("-k", "--distance", type=int, default=3)
    parser.add_argument("--memory", action="append", help="SIZE for fpdedup; may be repeated [default: 1GiB]")
    parser.add_argument("--peers", default="")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--records", action="store_true")
    parser.add_argument("--clusters", action="store_true")
    options = parser.parse_args()
    peers = [peer for peer in options.peers.split(",") if peer]
    inside_environment([NUMPY, *([FAISS] if "faiss" in peers else [])])
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "fpstore-tools", "--target-dir", TARGET],
                   cwd=ROOT, check=True)
    if set(peers) - {"faiss"}:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--target-dir", TARGET / "join-peers"],
                       cwd=ROOT / "benches/peers/joins", check=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        data = fingerprints(options.data)
        options.count = len(data)
        data.tofile(folder / "data.u64")
        subprocess.run([PROGRAMS / "fpload", "--quiet", "--create", folder / "store", folder / "data.u64"], check=True)
        print(f"{options.count:,} fingerprints, distance {options.distance}, {os.cpu_count()} cores\n")
        print("| | s | peak MiB | pairs | times the first |\n|---|---|---|---|---|")
        first = own(folder / "store", folder, options)
        complete = [library(peer, folder / "data.u64", options, first) for peer in peers if peer != "faiss"]
        if "faiss" in peers:
            faiss_peer(data, options, first)
    if any(pairs != first[1] for pairs in complete):
        raise SystemExit("they do not find the same")


if __name__ == "__main__":
    main()
