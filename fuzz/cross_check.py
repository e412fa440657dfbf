#!/usr/bin/env python3
"""Compares format-spec/decode.py with the library, through fpdump, on whole segment files and on stores.

    fuzz/cross_check.py [--mutants N] [--seed S] [--fpdump PROGRAM] [FILE...]

By default the files are those of the golden stores of this format version and the inputs of the target `segment`
(without their first byte). The program tries each file unchanged, and N times with changes in a few places and with
corrected checksums, as far as its parts can be located: a segment alone, a manifest or a log with the rest of its
store. Both decoders must accept the file, with the same records, or both must refuse it.

Exit code 0: they agree; 1: they disagree, and fuzz/artifacts/cross_check/ has the files; 2: wrong use.
"""

import argparse
import glob
import itertools
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
SPEC = os.path.join(ROOT, "format-spec")
sys.path.insert(0, SPEC)
sys.dont_write_bytecode = True

from conventions import Invalid, xxh64  # noqa: E402
from plan import read_parameters, table_orders  # noqa: E402


def seal_unit(data, start, end, *place):
    """Writes the checksum at the end of a unit."""
    if end - start >= 4:
        front = struct.pack("<IQ", *place) if place else b""
        data[end - 4 : end] = struct.pack("<I", zlib.crc32(front + bytes(data[start : end - 4])))


def seal_pages(data, start, end, size, stream):
    for number, at in enumerate(range(start, end, size)):
        seal_unit(data, at, min(at + size, end), stream, number)


def seal_chunks(data, start, end, head, widths, stream):
    """Chunks of an index; their header gives the bits of each column at the bytes `widths`."""
    number = 0
    while start + head + 4 <= end:
        n = struct.unpack_from("<H", data, start)[0]
        stop = start + head + 4 + (n * sum(data[start + at] for at in widths) + 7) // 8
        if stop > end:
            return
        seal_unit(data, start, stop, stream, number)
        start, number = stop, number + 1


def seal(data, chance):
    """Corrects the checksums of a file."""
    if data[:8] == b"fpstore\0":
        seal_unit(data, 0, len(data))
    elif data[:8] == b"fpstrwal":
        # Often leaves one frame unchanged, so that the frames after it decide whether it was durable.
        seal_log(data, chance.randrange(4))
    else:
        seal_segment(data)


def seal_log(data, spared):
    """Corrects header and frames of a log, except the frame with this number."""
    if len(data) < 28:
        return
    at, number = 28 + struct.unpack_from("<H", data, 26)[0] + 20, 0
    if at > len(data):
        return
    seal_unit(data, 0, at)
    log = data[at - 20 : at - 12]
    at = (at + 7) // 8 * 8
    while at + 24 <= len(data):
        length = struct.unpack_from("<I", data, at)[0]
        if length == 0 or at + 24 + length > len(data):
            return
        if number != spared:
            place = bytes(log) + struct.pack("<QQ", at, length)
            found = zlib.crc32(place + bytes(data[at + 8 : at + 24 + length]))
            struct.pack_into("<I", data, at + 4, found)
        at, number = (at + 24 + length + 7) // 8 * 8, number + 1


def seal_segment(data):
    """Corrects the checksums of a segment."""
    if len(data) < 32:
        return
    length = struct.unpack_from("<I", data, len(data) - 16)[0]
    at = len(data) - 16 - length
    if at < 16:
        return
    seal_unit(data, 0, 16)
    try:
        parameters, after = read_parameters(bytes(data[at : at + length]), at)
        tables = len(table_orders(parameters))
        numbers = struct.unpack_from("<%dQ" % (6 * tables + 6), data, at + after + 24 + 8 * tables)
    except (Invalid, struct.error):
        seal_unit(data, at, len(data) - 8)
        return
    places = [(a, a + b) for a, b in zip(numbers[::2], numbers[1::2])]
    if all(a <= b <= at for a, b in places):
        for table in range(tables):
            page = 4096 if table == 0 and parameters.width > 64 else max(4096, parameters.block_size)
            seal_pages(data, *places[3 * table], page, table)
            seal_unit(data, *places[3 * table + 1], 0x100 + table, 0)
            seal_chunks(data, *places[3 * table + 2], 19, (2, 3, 4, 5), 0x200 + table)
        if parameters.id_kind == 2:
            seal_chunks(data, *places[-2], 8, (2, 3), 0x400)
            seal_unit(data, *places[-1], 0x500, 0)
        else:
            seal_pages(data, *places[-3], 4096, 0x300)
            seal_pages(data, *places[-2], 2052, 0x400)
    struct.pack_into("<Q", data, at + after + 16, xxh64([bytes(data[:at])]))
    seal_unit(data, at, len(data) - 8)


def mutate(data, chance):
    """Changes a few bits, bytes or numbers, or truncates."""
    data = bytearray(data)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        if not data:
            break
        # Most of a log is zero space after its frames.
        used = len(data.rstrip(b"\0")) + 8 if data[:8] == b"fpstrwal" else len(data)
        at, way = chance.randrange(min(used, len(data))), chance.randrange(6)
        if way < 2:
            data[at] ^= 1 << chance.randrange(8)
        elif way == 2:
            data[at] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
        elif way == 3:
            data[at] = (data[at] + chance.choice((-1, 1))) % 256
        elif way == 4 and at + 8 <= len(data):
            data[at : at + 8] = struct.pack("<Q", chance.choice((0, 2**64 - 1, 2**63, 4096)))
        elif way == 5 and chance.randrange(8) == 0:
            del data[at:]
    if chance.randrange(8):
        seal(data, chance)
    return bytes(data)


def run(*command):
    result = subprocess.run(command, capture_output=True, timeout=120)
    return result.returncode, result.stdout, result.stderr.decode(errors="replace").strip()


def without_ids(path):
    """Whether a sound segment or store has counts instead of ids."""
    with open(os.path.join(path, "MANIFEST") if os.path.isdir(path) else path, "rb") as file:
        data = file.read()
    start = 12 if data[:8] == b"fpstore\0" else len(data) - 16 - struct.unpack_from("<I", data, len(data) - 16)[0]
    return data[start + 8] == 3


def counted(records):
    """The number of records in the output of decode.py."""
    return sum(int(line.rsplit(b"\t", 1)[1]) for line in records.splitlines())


def compare(data, fpdump, path, name):
    """None if both agree on a segment, or on a store with this file instead of its own; otherwise both results."""
    with open(os.path.join(path, name), "wb") as file:
        file.write(data)
    if name.endswith(".segment"):
        path = os.path.join(path, name)
    theirs, records, message = run(sys.executable, os.path.join(SPEC, "decode.py"), path)
    ours, _, report = run(fpdump, "verify", path)
    if "zstandard" in message:
        return None  # decode.py does not read these ids here
    if ours not in (0, 1) or theirs not in (0, 1):
        return "exit codes %d and %d: %s %s" % (ours, theirs, report, message)
    if ours != theirs:
        return "verify says %d %s; decode.py says %d %s" % (ours, report, theirs, message)
    if ours == 0 and without_ids(path) and counted(records) > 10**5:
        return None  # fpdump prints a fingerprint as often as its count
    if ours == 0:
        code, scanned, report = run(fpdump, "scan", path)
        lines = [line for line in scanned.splitlines() if not line.startswith(b"#")]
        if lines and b"\t" not in lines[0]:
            # Without ids the program prints a fingerprint as often as its count.
            lines = [b"%s\t%d" % (line, len(list(group))) for line, group in itertools.groupby(lines)]
        if code != 0 or lines != records.splitlines():
            return "fpdump scan prints other records than decode.py: %s" % report
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mutants", type=int, default=20, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--fpdump", default=os.path.join(ROOT, "target/release/fpdump"))
    parser.add_argument("files", nargs="*")
    arguments = parser.parse_args()
    files = [(path, 0) for path in arguments.files]
    if not files:
        golden = glob.glob(os.path.join(ROOT, "tests/golden/good/*/*"))
        files = [(path, 0) for path in golden] + [
            (path, 1) for path in glob.glob(os.path.join(ROOT, "fuzz/corpus/segment/*"))
        ]
    chance, differences, compared = random.Random(arguments.seed), 0, 0
    kept = os.path.join(ROOT, "fuzz/artifacts/cross_check")
    for path, skipped in sorted(files):
        with open(path, "rb") as file:
            data = file.read()[skipped:]
        own = os.path.basename(path)
        own = own if own == "MANIFEST" or own.endswith(".wal") else "00000001.segment"
        with tempfile.TemporaryDirectory() as folder:
            if not own.endswith(".segment"):
                shutil.copytree(os.path.dirname(os.path.abspath(path)), folder, dirs_exist_ok=True)
            for number in range(arguments.mutants + 1):
                tried = data if number == 0 else mutate(data, chance)
                found = compare(tried, arguments.fpdump, folder, own)
                compared += 1
                if found is not None:
                    differences += 1
                    os.makedirs(kept, exist_ok=True)
                    name = "%s-%d-%s" % (os.path.basename(os.path.dirname(path)) or "x", differences, own)
                    with open(os.path.join(kept, name), "wb") as file:
                        file.write(tried)
                    print("%s, mutant %d (%s): %s" % (path, number, name, found), flush=True)
    print("%d files compared, %d differences" % (compared, differences))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
