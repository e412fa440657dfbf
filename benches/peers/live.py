#!/usr/bin/env python3
"""Live writes beside another store, on the same fingerprints in the same order in the same run.

    benches/peers/live.py uniform 20000000
    benches/peers/live.py enlarged tests/data/real_simhash64.u64 20000000
    benches/peers/live.py uniform 1000000 --contestants fjall --rounds 3

Builds the program in live/ and runs its measures, each contestant in a separate process, alternating, round by round;
the table has the medians. Durable batches and single inserts begin with an empty store. Then the contestant loads all
fingerprints by its fastest method and compacts; it answers queries, inserts records unless they are near a stored one,
and answers queries again beside one inserting thread. Half of the queries and of those records are one to three bits
from a stored value. NAME=NUMBER are those of live/src/main.rs. The rows `disk` give the time of the same disk, just
before, to append as many bytes to a plain file and sync them. Milliseconds there mean other load on the machine, and
make the durable inserts of that run unreliable. fjall-grouped shares a sync among threads, as an application might;
only its single inserts differ. TMPDIR selects the disk of the stores. Exits with 1 if contestants found or inserted
different numbers of records in equally many operations.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import tomllib

from common import NUMPY, ROOT, TARGET, fingerprints, inside_environment

PACKAGE = ROOT / "benches" / "peers" / "live"
PROGRAM = TARGET / "live-peers" / "release" / "fpstore-live-peers"
MEASURES = ["batches", "singles", "stored"]
# Contestants with this suffix differ only in single inserts.
GROUPED = "-grouped"
# A row of the table: its name; result, field and divisor of its value.
ROWS = [
    ("disk: append and sync a batch, p50 us", "durable batches", "disk_sync_p50_us", 1),
    ("durable batches, records/s", "durable batches", "records_per_s", 1),
    ("a batch, p50 ms", "durable batches", "batch_p50_us", 1e3),
    ("a batch, p99 ms", "durable batches", "batch_p99_us", 1e3),
    ("disk: append and sync a record, p50 us", "durable singles", "disk_sync_p50_us", 1),
    ("durable single inserts, inserts/s", "durable singles", "inserts_per_s", 1),
    ("a single insert, p50 ms", "durable singles", "insert_p50_us", 1e3),
    ("a single insert, p99 ms", "durable singles", "insert_p99_us", 1e3),
    ("load, s", "load", "seconds", 1),
    ("compacted, B/record", "size after load", "bytes_per_record", 1),
    ("query, idle, p50 us", "queries, idle", "query_p50_us", 1),
    ("query, idle, p99 us", "queries, idle", "query_p99_us", 1),
    ("anonymous memory, MiB", "queries, idle", "anonymous_bytes", 2**20),
    ("insert if new, operations/s", "insert if new", "operations_per_s", 1),
    ("one near a stored one, p50 us", "insert if new", "near_p50_us", 1),
    ("one that is new, p50 us", "insert if new", "new_p50_us", 1),
    ("query beside paced inserts, p50 us", "queries, paced inserts", "query_p50_us", 1),
    ("query beside paced inserts, p99 us", "queries, paced inserts", "query_p99_us", 1),
    ("those inserts, records/s", "queries, paced inserts", "inserts_per_s", 1),
    ("query beside inserts at full speed, p50 us", "queries, inserts at full speed", "query_p50_us", 1),
    ("query beside inserts at full speed, p99 us", "queries, inserts at full speed", "query_p99_us", 1),
    ("those inserts, records/s", "queries, inserts at full speed", "inserts_per_s", 1),
    ("compacted after all inserts, B/record", "size after inserts", "bytes_per_record", 1),
    ("that compaction, s", "size after inserts", "compact_s", 1),
]
# Answers that must agree between contestants with equally many operations.
ANSWERS = [("queries, idle", "queries", "matches"), ("insert if new", "operations", "inserted")]


def say(message):
    print(message, file=sys.stderr, flush=True)


def build():
    """Builds the program; returns the names of all contestants."""
    command = ["cargo", "build", "--quiet", "--release", "--locked", "--target-dir", TARGET / "live-peers"]
    subprocess.run(command, cwd=PACKAGE, check=True)
    return subprocess.run([PROGRAM, "--list"], check=True, capture_output=True, text=True).stdout.split()


def run(contestant, measure, data, numbers):
    """The output lines of a process, by result."""
    with tempfile.TemporaryDirectory() as folder:
        command = [PROGRAM, contestant, measure, data, pathlib.Path(folder) / "store", *numbers]
        finished = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    lines = [json.loads(line) for line in finished.stdout.splitlines()]
    for line in lines:
        say("  " + json.dumps(line))
    return {line["result"]: line for line in lines}


def measured(names, measures, data, options):
    """The output lines of each contestant and result."""
    results = {name: {} for name in names}
    for measure in measures:
        for number in range(options.stored_rounds if measure == "stored" else options.rounds):
            for name in names:
                if name.endswith(GROUPED) and measure != "singles":
                    continue
                say(f"{measure}, round {number + 1}: {name}")
                for result, line in run(name, measure, data, options.numbers).items():
                    results[name].setdefault(result, []).append(line)
    return results


def print_table(results):
    """A row per figure, a column per contestant, and the ratios to the first."""
    first, *others = results

    def value(name, result, field, divisor):
        lines = results[name].get(result)
        return statistics.median(line[field] for line in lines) / divisor if lines else None

    def cell(number):
        if number is None:
            return "–"
        return f"{number:,.0f}" if number >= 1000 else f"{number:.{1 if number >= 100 else 2}f}"

    print("| |", " | ".join([*results, *(f"{name} beside {first}" for name in others)]), "|")
    print("|---" * (1 + len(results) + len(others)) + "|")
    for heading, *what in ROWS:
        values = [value(name, *what) for name in results]
        if any(number is not None for number in values):
            ratios = [number / values[0] if number is not None and values[0] else None for number in values[1:]]
            print(f"| {heading} |", " | ".join(cell(number) for number in [*values, *ratios]), "|")
    for name, lines in results.items():
        for choice in sorted({line["choice"] for line in lines.get("tune", [])}):
            print(f"\n{name}: {choice}.")


def answers_differ(results):
    """Whether contestants gave different answers to equally many operations."""
    differ = False
    for result, asked, found in ANSWERS:
        seen = {}
        for lines in results.values():
            for line in lines.get(result, []):
                seen.setdefault(line[asked], set()).add(line[found])
        for count, numbers in seen.items():
            if len(numbers) > 1:
                say(f"{result}: of {count}, {sorted(numbers)} {found}")
                differ = True
    return differ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", nargs="+", metavar="uniform COUNT | enlarged FILE COUNT | FILE")
    parser.add_argument("--contestants", default="", help="comma-separated; default: all")
    parser.add_argument("--measures", default=",".join(MEASURES), help="[default: %(default)s]")
    parser.add_argument("--rounds", type=int, default=3, help="of batches and singles [default: 3]")
    parser.add_argument("--stored-rounds", type=int, default=1, help="of what is loaded first [default: 1]")
    parser.add_argument("--numbers", nargs="*", default=[], metavar="NAME=NUMBER")
    options = parser.parse_args()
    inside_environment([NUMPY])
    import numpy as np

    known = build()
    names = [name for name in options.contestants.split(",") if name] or known
    if set(names) - set(known):
        parser.error(f"the contestants are {', '.join(known)}")
    with tempfile.TemporaryDirectory() as folder:
        data = pathlib.Path(folder) / "data.u64"
        values = fingerprints(options.source)
        values.tofile(data)
        count, distinct = len(values), len(np.unique(values))
        del values
        results = measured(names, options.measures.split(","), data, options)
    lock = tomllib.loads((PACKAGE / "Cargo.lock").read_text())["package"]
    shown = [package for package in lock if package["name"] in ("fpstore", "fjall")]
    versions = [f"{package['name']} {package['version']}" for package in shown]
    print(f"{count:,} records, {distinct:,} distinct; {os.cpu_count()} cores; {', '.join(versions)}\n")
    print_table(results)
    sys.exit(1 if answers_differ(results) else 0)


if __name__ == "__main__":
    main()
