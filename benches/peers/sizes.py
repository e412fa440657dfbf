#!/usr/bin/env python3
"""Sizes beside general compressors, of the same sorted, distinct fingerprints in the same run.

    benches/peers/sizes.py uniform 20000000
    benches/peers/sizes.py tests/data/real_simhash64.u64

Installs numpy, pyarrow and zstandard into target/peers if they are missing, builds fpload and fpdump, and prints the
table that stands in BENCHMARKS.md: bits a fingerprint of one whole table (data, index, checksums, code tables) for both
codecs, and of zstd -19 and Parquet for the same values.
"""
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PACKAGES = ["numpy==2.4.6", "pyarrow==26.0.1", "zstandard==0.25.0"]


def inside_environment():
    """Runs this script again with an interpreter that has the packages."""
    home = TARGET / "peers"
    python = home / "bin" / "python"
    if pathlib.Path(sys.prefix) == home:
        return
    if not python.exists():
        venv.create(home, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES], check=True)
    os.execv(python, [str(python), __file__, *sys.argv[1:]])


def splitmix64(count, seed=20070508):
    """The values of `cargo bench --bench figures -- uniform COUNT`."""
    import numpy as np

    with np.errstate(over="ignore"):
        z = np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return z ^ (z >> np.uint64(31))


def peers(values, folder):
    """(name, bytes, seconds) of each peer's file of the sorted values."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    import zstandard

    deltas = np.diff(values, prepend=np.uint64(0)).astype("<u8")
    compressor = zstandard.ZstdCompressor(level=19)
    transposed = deltas.view(np.uint8).reshape(-1, 8).T.copy()
    for name, raw in [("zstd -19, raw deltas", deltas.tobytes()), ("zstd -19, byte-transposed deltas", transposed.tobytes())]:
        start = time.perf_counter()
        size = len(compressor.compress(raw))
        yield name, size, time.perf_counter() - start
    for name, kind in [("Parquet DELTA_BINARY_PACKED", pa.int64()), ("Parquet DELTA_BINARY_PACKED + zstd -19", pa.int64())]:
        table = pa.table({"fingerprint": pa.array(values.view("<i8"), kind)})
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
    """(name, bits a fingerprint, seconds) of the first table with each codec and some block sizes."""
    for codec in ["adaptive", "xor"]:
        for block_size in [512, 16384]:
            store = folder / f"{codec}-{block_size}"
            start = time.perf_counter()
            options = ["--create", "--quiet", "--codec", codec, "--block-size", str(block_size)]
            subprocess.run([TARGET / "release/fpload", *options, store, source], check=True)
            seconds = time.perf_counter() - start
            report = subprocess.run([TARGET / "release/fpdump", "stats", "--json", store], check=True, capture_output=True)
            table = json.loads(report.stdout)["tables"][0]
            yield f"fpstore {codec}, {block_size}-byte blocks (load of two tables)", table["bits_per_fingerprint"], seconds


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    inside_environment()
    import numpy as np

    subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "--package", "fpstore-tools"], cwd=ROOT, check=True)
    values = splitmix64(int(sys.argv[2])) if sys.argv[1] == "uniform" else np.fromfile(sys.argv[1], dtype="<u8")
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
