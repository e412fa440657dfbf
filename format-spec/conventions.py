"""conventions.md: bit strings, checksums, the hash, and the report of invalid input. Used by decode.py."""

import struct
import zlib

LIMIT = 2**64
# Versions: the only known one.
VERSION = struct.pack("<I", 6)

class Invalid(Exception):
    """Invalid input, damaged or unsupported: the fault, and its place in the file, if known."""

def require(condition, what, offset=None):
    """Invalid input: raises `Invalid` unless the condition holds."""
    if not condition:
        raise Invalid(what if offset is None else "%s, at byte %d" % (what, offset))

def ceil_div(a, b):
    """Numbers and notation: ceil(a / b)."""
    return -(-a // b)

class Bits:
    """Bit strings: the bytes `data` from `offset` of the file, with a forward reader at p and a backward one at q."""

    def __init__(self, data, offset):
        self.data, self.offset = data, offset
        self.p, self.q = 0, 8 * len(data)

    def at(self, position, n):
        """The value of n bits at a position. Bits after the end are zeros."""
        run = self.data[position >> 3 : (position + n + 7) >> 3]
        return int.from_bytes(run, "little") >> (position & 7) & ((1 << n) - 1)

    def forward(self, n):
        """The next value of n bits, forward."""
        position, self.p = self.p, self.p + n
        self.check()
        return self.at(position, n)

    def backward(self, n):
        """The next value of n bits, backward."""
        self.q -= n
        self.check()
        return self.at(self.q, n)

    def symbol(self, code):
        """The next symbol, forward (codes.md, From lengths to words)."""
        symbol, length = code[self.at(self.p, 12)]
        self.p += length
        self.check()
        return symbol

    def byte(self):
        """Skips padding up to the end of a byte, forward."""
        require(self.forward(-self.p % 8) == 0, "padding bits are not zero", self.offset)

    def check(self):
        """The readers neither leave the string nor pass each other."""
        if self.p > self.q:
            raise Invalid("too few bits, at byte %d" % self.offset)

    def finish(self):
        """The remaining bits are padding: less than a byte, and zero."""
        self.check()
        require(self.q - self.p <= 7, "too many bits", self.offset)
        require(self.at(self.p, self.q - self.p) == 0, "padding bits are not zero", self.offset)

def check_checksum(data, offset, *place):
    """Checksums: `data` ends with its own; it is a placed one if stream and number are given."""
    front = struct.pack("<IQ", *place) if place else b""
    require(zlib.crc32(front + data[:-4]) == int.from_bytes(data[-4:], "little"), "wrong checksum", offset)

def pieces(file, length):
    """The first `length` bytes of an open file, in pieces."""
    for offset in range(0, length, 1 << 20):
        yield read_at(file, offset, min(1 << 20, length - offset))

def read_at(file, offset, length):
    """Exactly `length` bytes of an open file."""
    file.seek(offset)
    data = file.read(length)
    require(len(data) == length, "the file ends too early", offset + len(data))
    return data

class Section:
    """A part of a file, read from front to back (segment.md, Trailer and footer)."""

    def __init__(self, file, place):
        self.file, self.offset, self.end = file, place[0], sum(place)

    def take(self, length, what):
        """The next bytes of the section, and their offset in the file."""
        offset = self.offset
        require(offset + length <= self.end, what + " goes beyond its section", offset)
        self.offset += length
        return read_at(self.file, offset, length), offset

    def finish(self):
        """No bytes may remain."""
        require(self.offset == self.end, "bytes are left over at the end of a section", self.offset)

PRIMES = [11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261]

def rotate(value, n):
    """A 64-bit value rotated to the left."""
    return (value << n | value >> (64 - n)) % LIMIT

def mix_round(lane, value):
    """One step of a lane of XXH64."""
    return rotate((lane + value * PRIMES[1]) % LIMIT, 31) * PRIMES[0] % LIMIT

def xxh64(pieces):
    """The hash: XXH64 with seed 0 over consecutive pieces."""
    lanes, total, rest = [(PRIMES[0] + PRIMES[1]) % LIMIT, PRIMES[1], 0, LIMIT - PRIMES[0]], 0, b""
    for piece in pieces:
        total += len(piece)
        data = rest + piece
        whole = len(data) // 32 * 32
        for stripe in struct.iter_unpack("<4Q", data[:whole]):
            lanes = [mix_round(lane, value) for lane, value in zip(lanes, stripe)]
        rest = data[whole:]
    if total >= 32:
        h = sum(rotate(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18))) % LIMIT
        for lane in lanes:
            h = ((h ^ mix_round(0, lane)) * PRIMES[0] + PRIMES[3]) % LIMIT
    else:
        h = PRIMES[4]
    h = (h + total) % LIMIT
    while len(rest) >= 8:
        h = (rotate(h ^ mix_round(0, int.from_bytes(rest[:8], "little")), 27) * PRIMES[0] + PRIMES[3]) % LIMIT
        rest = rest[8:]
    if len(rest) >= 4:
        h = (rotate(h ^ int.from_bytes(rest[:4], "little") * PRIMES[0] % LIMIT, 23) * PRIMES[1] + PRIMES[2]) % LIMIT
        rest = rest[4:]
    for byte in rest:
        h = rotate(h ^ byte * PRIMES[4] % LIMIT, 11) * PRIMES[0] % LIMIT
    h = (h ^ h >> 33) * PRIMES[1] % LIMIT
    h = (h ^ h >> 29) * PRIMES[2] % LIMIT
    return h ^ h >> 32
