#!/usr/bin/env python3
"""Text ids: bytes per id beside `zstd -3` of the same list in the same order, and their cost in queries.

    benches/peers/texts.py 5000000

Makes URL-like ids (url_grammar.py) for uniform fingerprints, loads them with `--ids text`, and the fingerprints alone
with `--ids none`. zstd -3 compresses the list in the order of the store, one id per line, in one piece. One thread
queries both stores; each query has one answer.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

from common import ROOT, TARGET, inside_environment
from url_grammar import Grammar

ZSTANDARD = "zstandard==0.25.0"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--queries", type=int, default=50_000)
    parser.add_argument("--memory", help="of the load; half of the machine's without it")
    options = parser.parse_args()
    inside_environment([ZSTANDARD])
    import zstandard

    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "fpstore-tools", "--target-dir", TARGET],
                   cwd=ROOT, check=True)
    fpload, fpquery, fpdump = (TARGET / "release" / name for name in ("fpload", "fpquery", "fpdump"))
    draw = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        asked = []
        with open(folder / "urls.tsv", "w") as file:
            for number, url in enumerate(Grammar(3).urls(options.count)):
                fingerprint = draw.getrandbits(64)
                file.write(f"{fingerprint:016x}\t{url}\n")
                if number % max(options.count // options.queries, 1) == 0:
                    asked.append(f"{fingerprint ^ 1 << draw.randrange(64):016x}\n")
        (folder / "queries.hex").write_text("".join(asked))
        start = time.perf_counter()
        memory = ["--memory", options.memory] if options.memory else []
        subprocess.run([fpload, "--quiet", "--create", "--ids", "text", *memory, folder / "texts", folder / "urls.tsv"],
                       check=True)
        seconds = time.perf_counter() - start
        (folder / "bare.hex").write_text("".join(line[:16] + "\n" for line in open(folder / "urls.tsv")))
        command = [fpload, "--quiet", "--create", "--ids", "none", folder / "bare", folder / "bare.hex"]
        subprocess.run(command, check=True)
        stats = json.loads(subprocess.run([fpdump, "stats", "--json", folder / "texts"], check=True,
                                          stdout=subprocess.PIPE).stdout)
        scan = subprocess.Popen([fpdump, "scan", folder / "texts"], stdout=subprocess.PIPE)
        listed = b"".join(line.split(b"\t", 1)[1] for line in scan.stdout)
        scan.wait()
        whole = len(zstandard.ZstdCompressor(level=3).compress(listed))

        def ask(store):
            command = [fpquery, "--threads", "1", "--stats", "--json", "--filter", "on", "--input",
                       folder / "queries.hex", folder / store]
            finished = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
            return json.loads(finished.stderr.splitlines()[-1])["latency_us"]

        times = {store: min((ask(store) for _ in range(3)), key=lambda one: one["mean"]) for store in ("texts", "bare")}
    ids = stats["id_bytes"]
    each = len(listed) / options.count
    print(f"{options.count} ids, {each:.2f} bytes each with the line feed; {os.cpu_count()} cores\n")
    print("| | bytes an id | beside zstd -3 |\n|---|---|---|")
    print(f"| fpstore: frames, index, dictionary | {ids / options.count:.3f} | {ids / whole:.3f} |")
    print(f"| zstd -3, the whole list | {whole / options.count:.3f} | 1 |")
    print(f"\nLoaded in {seconds:.1f} s ({options.count / seconds:,.0f} records a second).", end=" ")
    print(f"{stats['resident_bytes']:,} bytes in memory.\n")
    print("| queries with one answer | mean us | p50 us | p99 us |\n|---|---|---|---|")
    for store, name in (("texts", "with its text id"), ("bare", "without ids: a count")):
        print(f"| {name} | {times[store]['mean']:.1f} | {times[store]['p50']:.1f} | {times[store]['p99']:.1f} |")
    sys.exit(0 if ids <= 1.1 * whole else 1)


if __name__ == "__main__":
    main()
