"""The real documents and fingerprints of the repository: tests/data/README.md describes them."""

import array
import functools
import gzip
import json
import pathlib

import pytest

DATA = pathlib.Path(__file__).parents[3] / "tests" / "data"


@functools.cache
def documents(count):
    """Texts of pages of the Rust book, of which many are versions of each other."""
    with gzip.open(present("rust-book-documents.ndjson.gz"), "rt", encoding="utf-8") as lines:
        return [json.loads(line)["text"] for _, line in zip(range(count), lines)]


def records():
    """Fingerprints and numbers of all of these pages."""
    with open(present("rust-book.ndjson"), encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    return [int(row["fingerprint"], 16) for row in rows], [row["id"] for row in rows]


def fingerprints():
    """Fingerprints of many documents, each once."""
    return array.array("Q", present("real_simhash64.u64").read_bytes())


def pairs(name):
    """The near pairs of a file, which another program has found."""
    with gzip.open(present(name), "rt", encoding="utf-8") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]


def present(name):
    if not (DATA / name).is_file():
        pytest.skip(f"{DATA} is not there")
    return DATA / name
