"""filters.md: the saved filters of a segment. Used by decode.py."""

import os
import struct

from conventions import LIMIT, VERSION, check_checksum, read_at, require, xxh64

FIXED, ENTRY = struct.Struct("<8s4sIH"), struct.Struct("<BB3BQQ")
LINES, BLOOM, SKEWED = 0, 1, 2

def read_filters(path, segment, keys_of_tables):
    """Reads a file of filters: they must be of this segment, given by its checksum, and what the keys make.

    The keys of each table have 64 bits; those that are narrower are followed by zeros."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        magic, version, found, n = FIXED.unpack(read_at(file, 0, FIXED.size))
        require(magic == b"fpfilter", "wrong magic bytes", 0)
        require(version == VERSION, "unsupported version", 8)
        offset = FIXED.size + n * ENTRY.size + 4
        head = read_at(file, 0, offset)
        check_checksum(head, offset - 4)
        require(found == segment, "filters of another segment", 12)
        last = -1
        for number in range(n):
            place = FIXED.size + number * ENTRY.size
            table, kind, *numbers, words, hash_found = ENTRY.unpack_from(head, place)
            require(last < table < len(keys_of_tables), "a table out of range, or twice there", place)
            require(kind <= SKEWED, "unsupported kind of filter", place + 1)
            require(words > 0 and words % 8 == 0 and offset + 8 * words <= size, "words out of range", place + 5)
            data = read_at(file, offset, 8 * words)
            require(xxh64([data]) == hash_found, "the hash of the words does not hold", offset)
            made = (lines if kind == LINES else bloom)(keys_of_tables[table], numbers, words, place + 2)
            require(struct.pack("<%dQ" % words, *made) == data, "words that the keys do not make", offset)
            last, offset = table, offset + 8 * words
        require(offset == size, "bytes after the last filter", offset)

def first_bits(key, n):
    """The n most significant bits of a key, followed by zeros."""
    return key >> 64 - n << 64 - n if n else 0

def fold(value):
    """Bloom filters: h."""
    product = (value ^ 0xA0761D6478BD642F) * 0x9E3779B97F4A7C15
    return product % LIMIT ^ product >> 64

def bloom(keys, numbers, words, place):
    """Bloom filters: the words."""
    prefix, sharing, ones = numbers
    require(1 <= prefix <= 64 and 2 <= ones <= 4, "numbers of a Bloom filter out of range", place)
    made = [0] * words
    for key in keys:
        common = fold(first_bits(key, max(prefix - sharing, 0)))
        own = fold(first_bits(key, prefix) ^ common)
        word = 8 * (common * (words // 8) >> 64) + (own >> 24) % 8
        for i in range(ones):
            made[word] |= 1 << (own >> 6 * i) % 64
    return made

def lines(keys, numbers, words, place):
    """Lines: the words."""
    flipped, _, zero = numbers
    require(1 <= flipped <= 64 and zero == 0, "numbers of lines out of range", place)
    count, missing = words // 8, 0
    told = min(count.bit_length() - 1 + 16, 64)
    entries = [[] for _ in range(count)]
    for prefix in sorted({key >> 64 - told for key in keys}):
        key = prefix << 64 - told
        entries[first_bits(key, flipped) * count >> 64].append(prefix % 2**16)
    made = []
    for line in entries:
        missing += max(len(line) - 31, 0)
        lanes = [min(len(line), 32), *line[:31], *[0] * (31 - len(line))]
        made += [sum(lane << 16 * i for i, lane in enumerate(lanes[at : at + 4])) for at in range(0, 32, 4)]
    require(missing <= 2 * count, "too many entries without a place", place)
    return made
