#!/usr/bin/env python3
"""What each linkage removes from the real documents, judged by their texts.

    benches/linkage.py [--distance 6]

Fingerprints of the two corpora of tests/data (the definition `native`, 64 bits) are clustered by each linkage. A removed
document is *right* if its set of shingles of five consecutive tokens has a Jaccard similarity of at least one half with
that of the document that is kept in its place (benches/results/quality.md). Recall is the share of the
documents that exact similarities would remove by the same rule of stars: each document in turn stays, unless it is
removed, and removes all later ones that are similar to it. Sets are compared here, without any code of fpstore.
"""
import argparse
import collections
import gzip
import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
CORPORA = {"book": "rust-book-documents.ndjson.gz", "manuals": "manuals.ndjson.gz"}
RIGHT = 0.5
SHINGLE = 5
CHARACTERS = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


def shingles(text):
    """The shingles of a text; in a Chinese or Japanese text every character is a token."""
    tokens = text.split()
    if tokens and len(CHARACTERS.findall(text)) > len(text) / 5:
        tokens = [character for character in text if not character.isspace()]
    if len(tokens) < SHINGLE:
        return {tuple(tokens)} if tokens else set()
    return {tuple(tokens[place:place + SHINGLE]) for place in range(len(tokens) - SHINGLE + 1)}


def jaccard(a, b):
    shared = len(a & b)
    return shared / (len(a) + len(b) - shared) if a or b else 1.0


def by_texts(sets):
    """The documents that exact similarities remove."""
    holders = collections.defaultdict(list)
    removed = set()
    for number, own in enumerate(sets):
        shared = collections.Counter(other for shingle in own for other in holders[shingle])
        if any(count >= RIGHT * (len(own) + len(sets[other]) - count) for other, count in shared.items()):
            removed.add(number)
        else:
            # Only documents that stay remove others.
            for shingle in own:
                holders[shingle].append(number)
    return removed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--distance", type=int, default=6)
    options = parser.parse_args()
    programs = TARGET / "release"
    subprocess.run(["cargo", "build", "--release", "-p", "fpstore-tools"], cwd=ROOT, check=True)
    print("| corpus | linkage | removed | farther than k bits | right | precision | recall |")
    print("|---|---|---|---|---|---|---|")
    for corpus, name in CORPORA.items():
        path = ROOT / "tests" / "data" / name
        with gzip.open(path, "rt") as lines:
            sets = [shingles(json.loads(line)["text"]) for line in lines]
        expected = by_texts(sets)
        with tempfile.TemporaryDirectory() as folder:
            store, gone = pathlib.Path(folder) / "store", pathlib.Path(folder) / "gone.tsv"
            load = ["fpload", "--create", "--text", "--quiet", "--id-column", "n", "--max-distance", options.distance]
            subprocess.run([str(word) for word in [programs / load[0], *load[1:], store, path]], check=True)
            for linkage in ["single", "star", "complete"]:
                keep = [programs / "fpdedup", "keep", "--quiet", "--linkage", linkage, "--evidence", gone, store]
                subprocess.run(keep, check=True, stdout=subprocess.DEVNULL)
                rows = [tuple(map(int, line.split("\t"))) for line in gone.read_text().splitlines()]
                right = sum(jaccard(sets[removed], sets[keeper]) >= RIGHT for removed, keeper, _, _ in rows)
                far = sum(distance > options.distance for *_, distance in rows)
                found = len(expected & {removed for removed, *_ in rows})
                print(f"| {corpus} | {linkage} | {len(rows):,} | {far:,} | {right:,} | {right / len(rows):.1%} | "
                      f"{found / len(expected):.1%} |", flush=True)


if __name__ == "__main__":
    main()
