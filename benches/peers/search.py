#!/usr/bin/env python3
"""Queries beside other systems, on the same fingerprints and the same queries in the same run.

    benches/peers/search.py uniform 20000000
    benches/peers/search.py tests/data/real_simhash64.u64 --peers fpstore,mih-rs --rounds 1

Builds the program in search/, installs numpy and faiss-cpu into target/peers and, if apt-get exists, librocksdb-dev.
Builds and queries every peer in a separate process, round by round, so that other load affects all of them; the table
has the medians. One thread runs the queries; a build may use all cores, which FAISS and mih-rs do not. For uniform data
half of the queries are uniform too, half a stored value with up to three bits flipped; for a file all are such
neighbours. `on a core` is the processor time within the mean time. If it is much less, the machine had other load, and
it is the better figure; ratios use it. Exits with 1 if the peers' answers differ or one of them failed. TMPDIR selects
the disk of the stores.
"""
import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib

import faiss_peer
from common import NUMPY, ROOT, TARGET, fingerprints, inside_environment, splitmix64

PROGRAM = TARGET / "release" / "fpstore-peers"
PACKAGE = ROOT / "benches" / "peers" / "search"
# Columns of the table: key in a peer's JSON, heading, decimals.
COLUMNS = [
    ("build_s", "build s", 2),
    ("resident", "resident B/fp", 3),
    ("file", "file B/fp", 3),
    ("both", "both", 3),
    ("mean_us", "mean us", 2),
    ("core_us", "on a core", 2),
    ("p50_us", "p50 us", 2),
    ("p99_us", "p99 us", 2),
]
# The divisor of a row's mean processor time is that of the fastest peer with this prefix.
RIVALS = ["mih-rs", "faiss"]
# By default glibc raises this limit over time, and then keeps part of the memory freed by building. A random amount of
# memory outside the index would count.
ENVIRONMENT = {**os.environ, "MALLOC_MMAP_THRESHOLD_": str(128 * 1024)}


def say(message):
    print(message, file=sys.stderr, flush=True)


def have_rocksdb():
    """Whether the library can be linked; installs Debian's package if it cannot."""

    def links():
        probe = ["cc", "-x", "c", "-", "-o", os.devnull, "-lrocksdb"]
        return subprocess.run(probe, input=b"int main(void) { return 0; }", capture_output=True).returncode == 0

    if links():
        return True
    apt_get = ["apt-get"] if os.getuid() == 0 else ["sudo", "apt-get"]
    if all(map(shutil.which, apt_get)):
        say("installing librocksdb-dev")
        for command in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", "librocksdb-dev"]):
            subprocess.run([*apt_get, *command], stdout=sys.stderr)
    return links()


def build_program(wanted):
    """Builds the program with the parts for the selected peers; returns the names of all peers."""
    rocksdb = not wanted or "rocksdb" in wanted
    if rocksdb and not have_rocksdb():
        say("librocksdb is not there and could not be installed: without rocksdb")
        rocksdb = False
    command = ["cargo", "build", "--quiet", "--release", "--target-dir", TARGET]
    subprocess.run([*command, *(["--features", "rocksdb"] if rocksdb else [])], cwd=PACKAGE, check=True)
    listed = subprocess.run([PROGRAM, "--list"], check=True, capture_output=True, text=True).stdout.split()
    known = listed + list(faiss_peer.PEERS)
    missing = set(wanted) - set(known) - {"rocksdb"}
    if missing:
        sys.exit(f"no such peers: {', '.join(sorted(missing))}; there are {', '.join(known)}")
    return [name for name in known if not wanted or name in wanted]


def make_queries(values, count, uniform):
    """`count` queries and as many for the warm-up, all distinct."""
    import numpy as np

    drawn = 2 * count + count // 2
    random = splitmix64(5 * drawn, seed=99).reshape(5, drawn)
    near = values[random[0] % np.uint64(len(values))]
    flips = random[1] % np.uint64(4)
    for number, row in enumerate(random[2:]):
        near ^= np.where(flips > number, np.uint64(1) << (row % np.uint64(64)), np.uint64(0))
    if uniform:
        near[::2] = random[0][::2]
    _, first = np.unique(near, return_index=True)
    queries = near[np.sort(first)][: 2 * count]
    if len(queries) < 2 * count:
        sys.exit(f"too few fingerprints for {2 * count} different queries")
    return queries[:count], queries[count:]


def run(name, arguments):
    """A peer's figures; None if it failed."""
    program = [sys.executable, faiss_peer.__file__] if name in faiss_peer.PEERS else [PROGRAM]
    finished = subprocess.run([*program, name, *arguments], env=ENVIRONMENT, stdout=subprocess.PIPE)
    if finished.returncode != 0:
        say(f"{name} failed ({finished.returncode})")
        return None
    return json.loads(finished.stdout)


def machine_and_versions(names):
    with open("/proc/cpuinfo") as file:
        model = next((line.split(":")[1].strip() for line in file if line.startswith("model name")), platform.machine())
    lock = tomllib.loads((PACKAGE / "Cargo.lock").read_text())["package"]
    packages = ("fpstore", "mih-rs", "redb", "rdst")
    versions = [f"{package['name']} {package['version']}" for package in lock if package["name"] in packages]
    versions.append(faiss_peer.PACKAGE.replace("==", " "))
    if "rocksdb" in names and shutil.which("dpkg-query"):
        query = ["dpkg-query", "--show", "--showformat=RocksDB ${Version}", "librocksdb-dev"]
        versions.append(subprocess.run(query, capture_output=True, text=True).stdout or "RocksDB")
    return f"{os.cpu_count()} cores ({model}); {', '.join(versions)}"


def print_table(results):
    """A row per peer, with the medians of its rounds."""

    def median(rounds, key):
        values = [one[key] for one in rounds]
        return None if None in values else statistics.median(values)

    def cell(value, decimals):
        return "–" if value is None else f"{value:.{decimals}f}"

    means = {name: median(rounds, "core_us") for name, rounds in results.items()}
    best = [min((mean for name, mean in means.items() if name.startswith(rival)), default=None) for rival in RIVALS]
    headings = [heading for _, heading, _ in COLUMNS] + [f"beside best {rival}" for rival in RIVALS]
    print("| |", " | ".join(headings), "|")
    print("|---" * (1 + len(headings)) + "|")
    for name, rounds in results.items():
        cells = [cell(median(rounds, key), decimals) for key, _, decimals in COLUMNS]
        cells += [cell(other and means[name] / other, 2) for other in best]
        print(f"| {name} |", " | ".join(cells), "|")
    grown = {name: median(rounds, "rss_anon") for name, rounds in results.items()}
    own = [f"{name} {grown[name]:.3f}" for name, rounds in results.items() if grown[name] != median(rounds, "resident")]
    if own:
        print(f"\nFor these, resident is the store's own count; their process grew by (B/fp): {', '.join(own)}.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="+", metavar="uniform COUNT | FILE")
    parser.add_argument("--peers", default="", help="comma-separated; default: all")
    parser.add_argument("--queries", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--distance", type=int, default=3)
    options = parser.parse_args()
    uniform = options.source[0] == "uniform"
    if len(options.source) != 1 + uniform:
        parser.error("the data are `uniform COUNT` or one FILE")
    inside_environment([NUMPY, faiss_peer.PACKAGE])
    import numpy as np

    names = build_program([name for name in options.peers.split(",") if name])
    with tempfile.TemporaryDirectory() as folder:
        files = [pathlib.Path(folder) / name for name in ("data", "queries", "warm-up")]
        values = fingerprints(options.source)
        for file, array in zip(files, [values, *make_queries(values, options.queries, uniform)]):
            array.tofile(file)
        # Not np.unique: it keeps several times the memory of the values, which the largest peers need.
        values.sort()
        records, distinct = len(values), 1 + int(np.count_nonzero(values[1:] != values[:-1]))
        del values
        arguments = [*map(str, files), str(distinct), str(options.distance)]
        results, failed = {}, set()
        for number in range(options.rounds):
            for name in (name for name in names if name not in failed):
                say(f"round {number + 1} of {options.rounds}: {name}")
                figures = run(name, arguments)
                if figures is None:
                    failed.add(name)
                else:
                    results.setdefault(name, []).append(figures)
    if not results:
        sys.exit("every peer failed")
    data = f"{records} records, {distinct} distinct"
    print(f"{data}, k = {options.distance}, {options.queries} queries, medians of {options.rounds} rounds")
    print(f"{machine_and_versions(names)}\n")
    print_table(results)
    answers = {name: {(one["matches"], one["hash"]) for one in rounds} for name, rounds in results.items()}
    if len(set().union(*answers.values())) != 1:
        say("the answers differ:")
        for name, found in answers.items():
            say(f"  {name}: {sorted(found)}")
        sys.exit(1)
    matches = next(iter(results.values()))[0]["matches"]
    print(f"\nEvery peer found the same {matches} pairs.")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
