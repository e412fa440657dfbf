#!/usr/bin/env python3
"""Loads that exceed their memory limit: seconds, peak memory, temporary space.

    benches/peers/larger_than_memory.py 100000000 --memory 1GiB

Makes uniform 64-bit fingerprints as .u64 (numbered by the store) and as Parquet with ids, in row groups of a million,
loads each with `fpload --create --memory`, and samples /proc every few milliseconds: anonymous and shared memory of the
process (RssAnon + RssShmem), and the size of its unnamed temporary files. Before that, it measures the cost and the
savings of compressing temporary files, on one sorted run of records in the format of fpload.
"""
import argparse
import os
import pathlib
import subprocess
import tempfile
import time

from common import NUMPY, ROOT, TARGET, inside_environment, resident, splitmix64, watched

PYARROW = "pyarrow==22.0.0"
ZSTANDARD = "zstandard==0.25.0"
PIECE = 1_000_000


def write(folder, count):
    """Writes the two inputs, in pieces."""
    import numpy as np
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([("fingerprint", pyarrow.uint64()), ("id", pyarrow.uint64())])
    plain, columns = folder / "data.u64", folder / "data.parquet"
    with open(plain, "wb") as file, pyarrow.parquet.ParquetWriter(columns, schema, compression="snappy") as writer:
        for start in range(0, count, PIECE):
            length = min(PIECE, count - start)
            values = splitmix64(length, seed=(start * 0x9E3779B97F4A7C15 + 20070508) % 2**64)
            values.tofile(file)
            ids = np.arange(start, start + length, dtype=np.uint64)
            writer.write_table(pyarrow.table([values, ids], schema=schema))
    return [plain, columns]


def temporary(pid):
    """Bytes of open files without a name."""
    total = 0
    for entry in os.scandir(f"/proc/{pid}/fd"):
        try:
            if os.readlink(entry.path).endswith(" (deleted)"):
                total += os.stat(entry.path).st_blocks * 512
        except OSError:
            pass
    return total


def load(source, memory, folder):
    command = [TARGET / "release" / "fpload", "--quiet", "--create", "--memory", memory, folder / "store", source]
    return watched(command, lambda pid: (resident(pid), temporary(pid)), pause=0.005)


def compressing(folder):
    """A run of four million records of 16 bytes: raw to the disk and back, and through zstd."""
    import numpy as np
    import zstandard

    records = np.empty((4 * PIECE, 2), dtype=np.uint64)
    records[:, 0] = np.sort(splitmix64(len(records), seed=3))
    records[:, 1] = splitmix64(len(records), seed=4) % np.uint64(100_000_000)
    run = records.tobytes()
    # The form that a sorter could compress: differences of fingerprints, transposed by bytes.
    records[1:, 0] = np.diff(records[:, 0])
    shuffled = records.view(np.uint8).reshape(len(records), 16).T.tobytes()

    def timed(work):
        start = time.perf_counter()
        result = work()
        return result, len(run) / 2**20 / (time.perf_counter() - start)

    def write():
        with open(folder / "run", "wb") as file:
            file.write(run)
            os.fsync(file.fileno())

    print("| temporary data | part left | in MiB/s | out MiB/s |\n|---|---|---|---|")
    _, speed = timed(write)
    print(f"| raw, written and synced | 1 | {speed:.0f} | |")
    for level in (-5, 1, 3):
        for name, data in (("as they are", run), ("differences, transposed", shuffled)):
            packed, into = timed(lambda: zstandard.ZstdCompressor(level=level).compress(data))
            _, out = timed(lambda: zstandard.ZstdDecompressor().decompress(packed))
            print(f"| zstd {level}, {name} | {len(packed) / len(run):.2f} | {into:.0f} | {out:.0f} |")
    print(flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int)
    parser.add_argument("--memory", default="1GiB")
    options = parser.parse_args()
    inside_environment([NUMPY, PYARROW, ZSTANDARD])
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "fpstore-tools", "--target-dir", TARGET],
                   cwd=ROOT, check=True)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        compressing(folder)
        sources = write(folder, options.count)
        print(f"{options.count} records, --memory {options.memory}, {os.cpu_count()} cores\n")
        print("| | s | records a second | peak RssAnon + RssShmem MiB | temporary MiB | store MiB |")
        print("|---|---|---|---|---|---|")
        for source in sources:
            seconds, most, space = load(source, options.memory, folder)
            size = sum(file.stat().st_size for file in (folder / "store").iterdir())
            print(f"| {source.suffix} | {seconds:.1f} | {options.count / seconds:,.0f} | {most / 2**20:.0f} | "
                  f"{space / 2**20:.0f} | {size / 2**20:.0f} |", flush=True)
            for file in (folder / "store").iterdir():
                file.unlink()
            (folder / "store").rmdir()


if __name__ == "__main__":
    main()
