#!/usr/bin/env python3
"""Sizes beside general compressors, of the same sorted, distinct fingerprints in the same run.

    benches/peers/sizes.py uniform 20000000
    benches/peers/sizes.py tests/data/real_simhash64.u64

Installs numpy, pyarrow and zstandard into target/peers if they are missing, builds fpload and fpdump, and prints the
first table in benches/results/sizes.md: bits per fingerprint of one whole table (data, index, checksums, code tables)
for both codecs, and of zstd -19 and Parquet for the same values.
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time

from common import NUMPY, ROOT, TARGET, fingerprints, inside_environment

PACKAGES = [NUMPY, "pyarrow==26.0.1", "zstandard==0.25.0"]


def peers(values, folder):
    """(name, bytes, seconds) of each peer's file of the sorted values."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zstandard

    deltas = np.diff(values, prepend=np.uint64(0)).astype("<u8")
    compressor = zstandard.ZstdCompressor(level=19)
    transposed = deltas.view(np.uint8).reshape(-1, 8).T.copy()
    for name, array in [("zstd -19, raw deltas", deltas), ("zstd -19, byte-transposed deltas", transposed)]:
        raw = array.tobytes()
        start = time.perf_counter()
        size = len(compressor.compress(raw))
        yield name, size, time.perf_counter() - start
    for name in ("Parquet DELTA_BINARY_PACKED", "Parquet DELTA_BINARY_PACKED + zstd -19"):
        table = pa.table({"fingerprint": pa.array(values.view("<i8"), pa.int64())})
        zstd = name.endswith("19")
        start = time.perf_counter()
        pq.write_table(
            table,
            folder / "peer.parquet",
            use_dictionary=False,
            column_encoding={"fingerprint": "DELTA_BINARY_PACKED"},
            compression="zstd" if zstd else "none",
            compression_level=19 if zstd else None,
        )
        yield name, (folder / "peer.parquet").stat().st_size, time.perf_counter() - start


def ours(source, folder):
    """(name, bits per fingerprint, seconds) of the first table with each codec and some block sizes."""
    for codec in ["adaptive", "xor"]:
        for block_size in [512, 16384]:
            store = folder / f"{codec}-{block_size}"
            start = time.perf_counter()
            options = ["--create", "--quiet", "--codec", codec, "--block-size", str(block_size)]
            subprocess.run([TARGET / "release/fpload", *options, store, source], check=True)
            seconds = time.perf_counter() - start
            command = [TARGET / "release/fpdump", "stats", "--json", store]
            report = subprocess.run(command, check=True, capture_output=True)
            table = json.loads(report.stdout)["tables"][0]
            name = f"fpstore {codec}, {block_size}-byte blocks (load of two tables)"
            yield name, table["bits_per_fingerprint"], seconds


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    inside_environment(PACKAGES)
    import numpy as np

    command = ["cargo", "build", "--quiet", "--release", "--locked", "--package", "fpstore-tools"]
    subprocess.run(command, cwd=ROOT, check=True)
    values = fingerprints(sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        values.tofile(folder / "values.u64")
        rows = list(ours(folder / "values.u64", folder))
        distinct = np.unique(values)
        count = len(distinct)
        rows += [(name, size * 8 / count, seconds) for name, size, seconds in peers(distinct, folder)]
    bound = 64 - math.log2(count) + math.log2(math.e)
    print(f"{len(values)} records, {count} distinct, information bound {bound:.3f} bits, {os.cpu_count()} cores")
    print("| | bits a fingerprint | beside the bound | seconds |\n|---|---|---|---|")
    for name, bits, seconds in rows:
        print(f"| {name} | {bits:.3f} | {bits / bound:.4f} | {seconds:.2f} |")


if __name__ == "__main__":
    main()
