"""wal.md: a write-ahead log. Used by decode.py."""

import struct
import zlib
from collections import namedtuple

from conventions import VERSION, ceil_div, check_checksum, require
from plan import NUMBERS, TEXTS, read_parameters
from text_ids import check_text

MAGIC, ALIGNMENT = b"fpstrwal", 8
FRAME_HEADER, LEAST_FRAME, MOST_BYTES = struct.Struct("<IIQQ"), 32, 2**28
INSERT, REMOVE = 1, 2
MOST_NUMBER = 2**63

# The content of a log: the sequence number of its first frame, which may not exist yet; for each frame its operations,
# (fingerprint, id, is a removal); the end of the frames, and the length of the torn tail.
Log = namedtuple("Log", "first batches end torn")

def read_log(path, number, parameters):
    """Reads a log of a store with these parameters."""
    with open(path, "rb") as file:
        data = file.read()
    first, at = read_header(data, number, parameters)
    batches, sequence = [], first
    while True:
        frame = read_frame(data, at, number, sequence, sequence)
        if frame is None:
            break
        length, _, _, _ = frame
        start = at + FRAME_HEADER.size
        batches.append(read_operations(data[start : start + length], start, parameters))
        at, sequence = ceil_div(start + length, ALIGNMENT) * ALIGNMENT, sequence + 1
    return Log(first, batches, at, check_tail(data, at, number, sequence))

def read_header(data, number, parameters):
    """Header: the sequence number of the first frame, and its offset."""
    require(data[:8] == MAGIC, "wrong magic bytes", 0)
    require(len(data) >= 12, "the file ends too early", len(data))
    require(data[8:12] == VERSION, "unsupported version", 8)
    # The length of the hasher's name gives the length of the header. The checksum comes before all other checks.
    require(len(data) >= 28, "the file ends too early", len(data))
    end = 12 + 16 + int.from_bytes(data[26:28], "little") + 16
    require(len(data) >= end + 4, "the file ends too early", len(data))
    check_checksum(data[: end + 4], end)
    found, after = read_parameters(data[12:end], 12)
    own, first = struct.unpack_from("<QQ", data, 12 + after)
    require(1 <= own <= MOST_NUMBER and 1 <= first <= MOST_NUMBER, "numbers out of range", 12 + after)
    at = ceil_div(end + 4, ALIGNMENT) * ALIGNMENT
    require(len(data) >= at, "the file ends too early", len(data))
    require(not any(data[end + 4 : at]), "padding is not zero", end + 4)
    require(own == number, "a log with another number than its name says", 12 + after)
    require(found == parameters, "parameters that are not the manifest's", 12)
    return first, at

def read_frame(data, at, number, least, most):
    """Frames: the header of the frame at this offset, if it holds with a sequence number from `least` to `most`."""
    start = at + FRAME_HEADER.size
    if start > len(data):
        return None
    length, checksum, sequence, durable = FRAME_HEADER.unpack_from(data, at)
    end = ceil_div(start + length, ALIGNMENT) * ALIGNMENT
    if not (1 <= length <= MOST_BYTES and least <= sequence <= most and durable <= at and end <= len(data)):
        return None
    found = zlib.crc32(struct.pack("<QQQQQ", number, at, length, sequence, durable))
    if zlib.crc32(data[start : start + length], found) != checksum or any(data[start + length : end]):
        return None
    return length, checksum, sequence, durable

def check_tail(data, end, number, sequence):
    """A torn tail, and damage: the length of the torn tail after the last frame, in bytes."""
    torn = 0
    for at in range(end, len(data), ALIGNMENT):
        unit = data[at : at + ALIGNMENT]
        if any(unit):
            torn = at + len(unit) - end
            frame = read_frame(data, at, number, sequence, sequence + (at - end) // LEAST_FRAME)
            later = "a frame that does not hold although the one at byte %d knows it durable" % at
            require(frame is None or frame[3] <= end, later, end)
    return torn

def read_operations(data, offset, parameters):
    """Operations: those of a frame that holds, in order: (fingerprint, id or count, is a removal)."""
    operations, at, width = [], 0, parameters.width // 8
    def take(size):
        nonlocal at
        at += size
        require(at <= len(data), "operations that end too early", offset + len(data))
        return data[at - size : at]
    while at < len(data):
        kind = take(1)[0]
        require(kind in (INSERT, REMOVE), "an unknown operation", offset + at - 1)
        count = int.from_bytes(take(4), "little")
        sound = 1 <= count <= (len(data) - at) // (width + 2)
        require(sound, "a number of records out of range", offset + at - 4)
        for _ in range(count):
            fingerprint, start = int.from_bytes(take(width), "little"), at
            if parameters.id_kind == TEXTS:
                found = take(int.from_bytes(take(2), "little"))
                check_text(found, offset + start)
                id_ = found.decode()
            else:
                id_ = int.from_bytes(take(8), "little")
                require(id_ > 0 or parameters.id_kind == NUMBERS, "a count of no records", offset + start)
            operations.append((fingerprint, id_, kind == REMOVE))
    return operations
