"""text-ids.md: text ids. Used by decode.py.

Dictionaries and compressed frames need the package `zstandard`, 0.22 or later; frames stored uncompressed do not.
"""

import struct

from conventions import Bits, Invalid, ceil_div, check_checksum, require

FRAME_STREAM, INDEX_STREAM, DICTIONARY_STREAM = 0x300, 0x400, 0x500
LONGEST, ROOM, MOST_RECORDS, MOST_PAYLOAD, MOST_DICTIONARY = 4096, 4097, 2048, 4355, 2**20
CHUNK, FEWEST_BYTES = 1024, 10
MAGIC = bytes.fromhex("28b52ffd")

def load_zstandard():
    """Imports the package on first use: numeric ids do not need it."""
    try:
        import zstandard
    except ImportError:
        raise SystemExit("text ids need the Python package zstandard: pip install zstandard")
    return zstandard

def read_text_ids(ids, index, dictionary):
    """All records in order, from the bytes of the three sections: yields (begins a fingerprint, text).

    Offsets in messages count from the beginning of the section.
    """
    frames = read_text_index(index, len(ids))
    decompressor = make_decompressor(dictionary) if dictionary else None
    offset, before = 0, None
    for number, (length, begun) in enumerate(frames):
        frame = ids[offset : offset + length]
        check_checksum(frame, offset, FRAME_STREAM, number)
        records = read_payload(unpack(decompressor, frame[:-4], offset), offset)
        require(sum(begins for begins, _ in records) == begun, "a frame that does not agree with the index", offset)
        for begins, text in records:
            require(begins or before is not None, "a first record that does not begin a fingerprint", offset)
            require(begins or before < text, "ids that do not ascend", offset)
            before = text
            yield begins, text.decode()
        offset += length

def read_text_index(data, ids_length):
    """Id index section: (length, number of fingerprints that begin) of each frame."""
    frames, offset, total, last = [], 0, 0, False
    while offset < len(data):
        require(not last, "a chunk that is not full is not the last one", offset)
        require(offset + 8 <= len(data), "a chunk goes beyond its section", offset)
        c, l, b, least_length, least_begun = struct.unpack_from("<HBBHH", data, offset)
        require(1 <= c <= CHUNK and l <= 16 and b <= 16, "a chunk that is not possible", offset)
        end = offset + 8 + ceil_div(c * (l + b), 8)
        require(end + 4 <= len(data), "a chunk goes beyond its section", offset)
        check_checksum(data[offset : end + 4], offset, INDEX_STREAM, len(frames) // CHUNK)
        bits = Bits(data[offset + 8 : end], offset + 8)
        lengths = [least_length + bits.forward(l) for _ in range(c)]
        begun = [least_begun + bits.forward(b) for _ in range(c)]
        bits.finish()
        require(max(lengths + begun) <= 65535 and min(lengths) >= FEWEST_BYTES, "a frame out of range", offset)
        total += sum(lengths)
        require(total <= ids_length, "frames that exceed their section", offset)
        frames += zip(lengths, begun)
        offset, last = end + 4, c < CHUNK
    require(total == ids_length, "an index that does not describe all frames", offset)
    return frames

def make_decompressor(section):
    """Id dictionary section: a decompressor with the dictionary."""
    zstandard = load_zstandard()
    require(len(section) >= 4, "a dictionary that is too short", 0)
    check_checksum(section, 0, DICTIONARY_STREAM, 0)
    packed = section[:-4]
    try:
        size = zstandard.frame_content_size(packed)
        require(1 <= size <= MOST_DICTIONARY, "a dictionary of impossible size", 0)
        dictionary = zstandard.ZstdDecompressor().decompress(packed, allow_extra_data=False)
        prepared = zstandard.ZstdCompressionDict(dictionary)
        return zstandard.ZstdDecompressor(dict_data=prepared)
    except zstandard.ZstdError as error:
        raise Invalid("a dictionary that is not one: %s" % error)

def unpack(decompressor, frame, offset):
    """Ids section: the payload of a frame without its checksum."""
    if frame[0] == 0x20:
        size = frame[1]
    else:
        require(frame[0] == 0x60, "a descriptor that is not possible", offset)
        size = int.from_bytes(frame[1:3], "little") + 256
    require(size <= MOST_PAYLOAD, "a payload that is too long", offset)
    payload = stored(frame, 2 if frame[0] == 0x20 else 3)
    if payload is None:
        payload = decompress(decompressor, frame, offset)
    require(len(payload) == size, "a payload that is not as long as its frame says", offset)
    return payload

def stored(frame, at):
    """The content of a frame that is one Raw_Block from `at` on, and so needs no decompressor; otherwise None."""
    header = int.from_bytes(frame[at : at + 3], "little")
    # Last_Block is 1, and Block_Type is 0.
    return frame[at + 3 :] if header & 7 == 1 and header >> 3 == len(frame) - at - 3 else None

def decompress(decompressor, frame, offset):
    """The content of any other frame."""
    zstandard = load_zstandard()
    try:
        return (decompressor or zstandard.ZstdDecompressor()).decompress(MAGIC + frame, allow_extra_data=False)
    except zstandard.ZstdError as error:
        raise Invalid("a frame that cannot be decompressed, at byte %d: %s" % (offset, error)) from None

def read_payload(payload, offset):
    """Payload: for each record whether it begins a fingerprint, and its bytes."""
    require(len(payload) >= 2, "a payload that is too short", offset)
    n, f = divmod(int.from_bytes(payload[:2], "little"), 2)
    require(1 <= n <= MOST_RECORDS, "number of records out of range", offset)
    start = 2 + ceil_div(n, 8) * f
    require(len(payload) >= start, "a payload that ends within its bitmap", offset)
    begins = [True] * n
    if f == 1:
        bits = Bits(payload[2:start], offset)
        begins = [bits.forward(1) == 1 for _ in range(n)]
        bits.finish()
        require(not all(begins), "a bitmap without a 0", offset)
    require(len(payload) - start <= ROOM, "too many bytes of ids", offset)
    texts = payload[start:].split(b"\n")
    require(texts.pop() == b"" and len(texts) == n, "not as many ids as the head says", offset)
    for text in texts:
        check_text(text, offset)
    return list(zip(begins, texts))

def check_text(text, offset):
    """Checks that the bytes are a valid id."""
    require(1 <= len(text) <= LONGEST, "an id that is empty or too long", offset)
    require(not any(byte in text for byte in b"\0\t\n\r"), "an id with a forbidden byte", offset)
    try:
        text.decode()
    except UnicodeDecodeError:
        raise Invalid("an id that is not UTF-8, at byte %d" % offset) from None
