#!/usr/bin/env python3
"""Bytes a document of key indexes, beside the information in the keys and other forms of them, of the same documents.

    benches/peers/key_sizes.py
    benches/peers/key_sizes.py --documents 20000 --bands 14

Makes documents as documents.py does, near and exact copies among them, and loads their bands of 8 rows (`--features
words:5`, keys of 48 bits, no sketches, numbers as ids). Beside the index stand, in bytes of files:

* RocksDB (rocksdict) with the index's own keys: 6 bytes of the key and 4 of the document's number, no value, compacted,
  without filters. So a prefix finds the documents of a key.
* datatrove's signature files, of its own hashes, as its first stage writes them: of the first eighth of the documents,
  because it takes the same bytes for each.
* LSHBloom (datasketch.lsh_bloom): a Bloom filter for each band. Its size follows from the number of documents and the
  rate of errors, whatever it holds. It tells whether any earlier document shares a band, not which one.

There are two bounds. That of the distinct keys is log2 of the number of sets of as many numbers of 48 bits. That of
their documents is log2 of the number of ways to divide as many entries among the keys, and, for each key, to choose so
many documents. So they know how often keys repeat. "Random keys" is the bound of fpdump stats, of as many keys that are
all different.
"""
import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

import documents
from common import inside_environment, size
from minhash import HELPER, PACKAGES as PEERS, build
from minhash_peers import ROWS

PACKAGES = [*PEERS, "pybloomfilter3==0.7.3", "rocksdict==0.3.29"]
ERRORS = 1e-5


def choices(count, chosen):
    """log2 of the number of sets of `chosen` of `count`."""
    if chosen < 1000:
        # Differences of lgamma have no precision where count is large.
        return sum(math.log2((count - at) / (at + 1)) for at in range(chosen))
    # Stirling's approximation; its relative error is far below a millionth.
    rest = count - chosen
    whole = chosen * math.log2(count / chosen) - (rest * math.log1p(-chosen / count) / math.log(2) if rest else 0)
    return whole + (math.log2(count / (2 * math.pi * chosen * rest)) / 2 if rest else 0)


def bounds(rows, count):
    """Bytes of the distinct keys and of their documents; `rows` are sorted pairs."""
    import numpy as np

    _, times = np.unique(rows["key"], return_counts=True)
    sizes, often = np.unique(times, return_counts=True)
    sets = sum(int(number) * choices(count, int(size)) for size, number in zip(sizes, often))
    return choices(2**48, len(times)) / 8, (sets + choices(len(rows) - 1, len(times) - 1)) / 8


def keys(fpdump, store):
    """Sorted pairs of a key and a document."""
    import numpy as np

    scan = subprocess.Popen([fpdump, "scan", store], stdout=subprocess.PIPE, text=True)
    records = (json.loads(line) for line in scan.stdout if not line.startswith("#"))
    # The stored 48 bits are the leading ones of 64; the others are zero.
    pairs = [(key >> 16, record["id"]) for record in records for key in record["keys"]]
    if scan.wait():
        raise SystemExit("fpdump scan failed")
    rows = np.array(pairs, dtype=[("key", "<u8"), ("document", "<u8")])
    rows.sort()
    return rows


def rocksdb(rows, folder, compression):
    """Bytes of the tables of a RocksDB of the rows."""
    from rocksdict import DBCompressionType, Options, Rdict, WriteBatch

    options = Options(raw_mode=True)
    if compression:
        options.set_compression_type(getattr(DBCompressionType, compression)())
    database = Rdict(str(folder), options)
    for start in range(0, len(rows), 100_000):
        batch = WriteBatch(raw_mode=True)
        for key, document in rows[start:start + 100_000].tolist():
            batch.put(key.to_bytes(6, "big") + document.to_bytes(4, "big"), b"")
        database.write(batch)
    database.flush()
    database.compact_range(None, None)
    database.close()
    return sum(file.stat().st_size for file in folder.glob("*.sst"))


def bloom(count, bands, folder):
    """Bytes of LSHBloom's filters."""
    from datasketch.lsh_bloom import MinHashLSHBloom

    index = MinHashLSHBloom(num_perm=bands * ROWS, params=(bands, ROWS), n=count, fp=ERRORS, save_dir=str(folder))
    for table in index.hashtables:
        table.sync()
    return size(folder)


def compared(options, folder, parts, bands):
    """Rows of the table: name, bytes, and bytes of its bound."""
    fpload, fpdump = (pathlib.Path(options.programs) / name for name in ("fpload", "fpdump"))
    store = folder / "store"
    load = [fpload, "--quiet", "--create", "--kind", "keys", "--text", "--features", "words:5", "--bands", bands,
            "--rows", ROWS, "--memory", options.memory, store, parts]
    subprocess.run(list(map(str, load)), check=True)
    stats = json.loads(subprocess.run([fpdump, "stats", "--json", store], check=True, stdout=subprocess.PIPE).stdout)
    rows = keys(fpdump, store)
    if len(rows) != stats["keys"]:
        raise SystemExit("fpdump scan lists other keys than fpdump stats counts")
    of_keys, of_documents = bounds(rows, options.documents)
    yield "fpstore: distinct keys", stats["key_bytes"], of_keys
    yield "fpstore: their documents", stats["row_bytes"], of_documents
    yield "fpstore: both", stats["key_bytes"] + stats["row_bytes"], of_keys + of_documents
    yield "fpstore: all files", stats["file_bytes"], of_keys + of_documents
    yield "RocksDB, zstd", rocksdb(rows, folder / "zstd", "zstd"), of_keys + of_documents
    yield "RocksDB, default", rocksdb(rows, folder / "default", None), of_keys + of_documents
    (folder / "part").mkdir()
    shutil.copy(parts / "0.parquet", folder / "part")
    stage = [sys.executable, HELPER, "signatures", folder / "part", folder, 1, bands]
    with open(folder / "log", "w") as log:
        subprocess.run(list(map(str, stage)), check=True, stdout=log, stderr=log)
    yield "datatrove 0.10.1, signature files", size(folder / "signatures") * documents.PARTS, None
    yield f"LSHBloom, {ERRORS} a band", bloom(options.documents, bands, folder / "bloom"), None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--bands", default="14,26", help="numbers of bands")
    parser.add_argument("--memory", default="1GiB", help="limit of our programs")
    parser.add_argument("--programs", help="directory of the programs; they are built without it")
    options = parser.parse_args()
    inside_environment(PACKAGES, "minhash-peers")
    build(options)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        _, _, originals = documents.write(folder, options.documents)
        copies = sum(original is not None for original in originals)
        print(f"{options.documents:,} documents, {copies:,} of them made as copies; bands of {ROWS}\n")
        print("| bands | | bytes a document | bound | beside the bound |\n|---|---|---|---|---|")
        for bands in map(int, options.bands.split(",")):
            (folder / str(bands)).mkdir()
            for name, taken, bound in compared(options, folder / str(bands), folder / "parts", bands):
                beside = f"{bound / options.documents:.2f} | {taken / bound:.3f}" if bound else " | "
                print(f"| {bands} | {name} | {taken / options.documents:.2f} | {beside} |", flush=True)


if __name__ == "__main__":
    main()
