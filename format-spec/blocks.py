"""codes.md and blocks.md: the code of a table, and the keys of a block. Used by decode.py."""

import math
import struct

from conventions import LIMIT, Bits, check_checksum, require

XOR, ADAPTIVE = 0, 1
# The stream number of the placed checksum of the codes of table 0.
CODES_STREAM = 0x100

# ---- codes.md --------------------------------------------------------------------------------------------------------

LONGEST_WORD = 12
# Flips: the limits of the alphabet, and its rows (first symbol, number of symbols).
LENGTHS, GROUPS, BACKS, MOST_FLIPS, MOST_SYMBOLS = 27, 32, 16, 8, 1536
FIRST_FLIPS = LENGTHS + LENGTHS * GROUPS
ROWS = [(0, LENGTHS)]
ROWS += [(LENGTHS + GROUPS * length, GROUPS) for length in range(LENGTHS)]
ROWS += [(FIRST_FLIPS + 64 * row, 64) for row in range(BACKS * MOST_FLIPS)]

def read_codes(section, number, codec):
    """The section: the code of a table; for codec adaptive with the biased bits, or None without flips blocks."""
    data, offset = section.take(section.end - section.offset, "the code")
    require(len(data) >= (36 if codec == XOR else 6), "a codes section that is too short", offset)
    check_checksum(data, offset, CODES_STREAM + number, 0)
    data = data[:-4]
    if codec == XOR:
        require(len(data) == 32, "a codes section of a wrong length", offset)
        bits = Bits(data, offset)
        lengths = {symbol: bits.forward(4) for symbol in range(64)}
        require(0 not in lengths.values(), "a symbol without a code word", offset)
        return make_code(lengths, offset)
    size = struct.unpack_from("<H", data)[0]
    require(len(data) == 2 + size, "a codes section of a wrong length", offset)
    return read_flips_code(Bits(data[2:], offset + 2)) if size > 0 else None

def read_flips_code(bits):
    """The code of flips blocks: biased bits, as a mask, and code."""
    biased, lengths = bits.forward(32), {}
    for start, n in ROWS:
        if bits.forward(1) == 1:
            first, last = bits.forward(6), bits.forward(6)
            require(first <= last < n, "a row of code lengths out of range", bits.offset)
            row = [bits.forward(4) for _ in range(first, last + 1)]
            require(row[0] > 0 and row[-1] > 0, "a row of code lengths that begins or ends with 0", bits.offset)
            lengths.update((start + first + i, length) for i, length in enumerate(row) if length > 0)
    bits.finish()
    require(bin(biased).count("1") <= 5, "too many biased bits", bits.offset)
    require(all(length in lengths for length in range(LENGTHS)), "a symbol without a code word", bits.offset)
    require(len(lengths) <= MOST_SYMBOLS, "too many symbols with a code word", bits.offset)
    for symbol in lengths:
        if LENGTHS <= symbol < FIRST_FLIPS:
            group = (symbol - LENGTHS) % GROUPS
            require(biased > 0 and group < 2 ** bin(biased).count("1"), "a symbol that cannot occur", bits.offset)
        elif symbol >= FIRST_FLIPS:
            row, t = divmod(symbol - FIRST_FLIPS, 64)
            require(t >= row % MOST_FLIPS, "a symbol that cannot occur", bits.offset)
    return biased, make_code(lengths, bits.offset)

def make_code(lengths, offset):
    """From lengths to words: for each value of the next 12 bits, the symbol and the length of its word."""
    require(max(lengths.values()) <= LONGEST_WORD, "a code length above 12", offset)
    total = sum(2 ** (LONGEST_WORD - length) for length in lengths.values())
    require(total == 2**LONGEST_WORD, "a code that is not complete, or oversubscribed", offset)
    code, word = [None] * 2**LONGEST_WORD, 0
    for length in range(1, LONGEST_WORD + 1):
        word *= 2
        for symbol in sorted(s for s in lengths if lengths[s] == length):
            value = int(format(word, "0%db" % length)[::-1], 2)
            for entry in range(value, len(code), 2**length):
                code[entry] = (symbol, length)
            word += 1
    return code

# ---- blocks.md -------------------------------------------------------------------------------------------------------

# The kinds 0 to 56 are gap with that low width.
WIDEST_GAP, ROWS_KIND, FLIPS_KIND, XOR_KIND = 56, 61, 62, 63
KINDS = {XOR: [XOR_KIND], ADAPTIVE: [*range(WIDEST_GAP + 1), FLIPS_KIND]}

def read_block(data, offset, code, entry):
    """Index and block: all keys of a block; `entry` is its entry in the index."""
    bits, least = Bits(data, offset), entry.base
    if entry.kind <= WIDEST_GAP:
        found = gap_keys(bits, entry)
    elif entry.kind == FLIPS_KIND:
        found = flips_keys(bits, code, entry)
    else:
        found = xor_keys(bits, code, entry)
    keys = []
    for key in found:
        # Block keys are at most 2^64 - 1, so this check also rejects keys that are too large.
        require(least <= key < entry.key, "a key out of order", offset)
        keys.append(key)
        least = key + 1
    bits.finish()
    return keys + [entry.key]

def gap_keys(bits, entry):
    """Kinds 0 to 56: gap. Yields all keys but the last."""
    n, low_width, following = entry.count - 1, entry.kind, entry.base
    bits.p = n * low_width
    bits.check()
    for i in range(n):
        high = 0
        while bits.forward(1) == 0:
            high += 1
        key = following + high * 2**low_width + bits.at(i * low_width, low_width)
        yield key
        following = key + 1

def xor_keys(bits, code, entry):
    """Kind 63: xor. Yields all keys but the last."""
    previous = (entry.base - 1) % LIMIT
    for _ in range(entry.count - 1):
        w = 63 - bits.symbol(code)
        previous ^= 2**w + bits.forward(w)
        yield previous

def flips_keys(bits, code, entry):
    """Kind 62: flips. Yields all keys but the last."""
    require(code is not None, "a flips block in a table without a code for it", bits.offset)
    n, (biased, words) = entry.count - 1, code
    # Before key i of the block: i + 1 keys. The first one precedes the block.
    keys, head = [(entry.base - 1) % LIMIT], 0 if n == 0 else 1 if n <= 340 else 2
    odd = 8 * (head + bits.forward(8 * head))
    lanes = [8 * head, odd]
    for i in range(n):
        # The lane's reader uses p while it reads its symbol.
        bits.p = lanes[i % 2]
        s = bits.symbol(words)
        lanes[i % 2] = bits.p
        if s < FIRST_FLIPS:
            key = far_key(bits, keys[-1], s, biased)
        else:
            row, t = divmod(s - FIRST_FLIPS, 64)
            back, others = divmod(row, MOST_FLIPS)
            require(back <= i, "a flip of a key before the block", bits.offset)
            key = (keys[-1 - back] + 2**t) % LIMIT ^ read_others(bits, t, others)
        yield key
        keys.append(key)
    require(0 <= odd - lanes[0] < 8, "an even lane that does not fill its bytes", bits.offset)
    require(bits.at(lanes[0], odd - lanes[0]) == 0, "padding bits are not zero", bits.offset)
    bits.p = lanes[1]

def far_key(bits, previous, s, biased):
    """Far: the key of a symbol that gives the length of the gap of the upper halves."""
    length, group, mask = s, 0, 0
    if s >= LENGTHS:
        (length, group), mask = divmod(s - LENGTHS, GROUPS), biased
    told, places = [b for b in range(32) if mask >> b & 1], [b for b in range(32) if not mask >> b & 1]
    value = bits.backward(len(places) + max(length - 1, 0))
    low = sum((value >> j & 1) << b for j, b in enumerate(places))
    low += sum((group >> j & 1) << b for j, b in enumerate(told))
    gap = (2 ** (length - 1) if length > 0 else 0) + (value >> len(places))
    return ((previous >> 32) + gap) % 2**32 * 2**32 + low

def read_others(bits, t, k):
    """Flips: the k flipped bits below the topmost one, t, from their rank."""
    rank, x = bits.backward((math.comb(t, k) - 1).bit_length()), 0
    require(rank < math.comb(t, k), "a rank out of range", bits.offset)
    for k in range(k, 0, -1):
        c = max(c for c in range(t) if math.comb(c, k) <= rank)
        rank, x = rank - math.comb(c, k), x + 2**c
    return x
