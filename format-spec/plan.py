"""plan.md: the parameters, the tables of a design, and their keys. Used by decode.py."""

import itertools
import math
import struct
from collections import namedtuple

from blocks import ADAPTIVE, XOR
from conventions import Invalid, ceil_div, require

FIELDS = struct.Struct("<HHBBBBBBIH")
KEY_FORMAT = struct.Struct("<BBH")
Parameters = namedtuple("Parameters", "width distance design first second codec id_kind has block_size hasher keys")
Keys = namedtuple("Keys", "bits sample_bits sketch_bits")
ID_INDEX, KEYS = 1, 2
TABLES, CHOOSE, NESTED = 0, 1, 2
NUMBERS, TEXTS, NO_IDS = 1, 2, 3
# Characters that a hasher's name must not have: controls and white space.
BLANKS = [*range(0x21), *range(0x7F, 0xA1), 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]

def read_parameters(data, offset):
    """Parameters: those from `offset` of the file on, and their length; `data` may have more bytes after them."""
    require(len(data) >= FIELDS.size, "the file ends too early", offset + len(data))
    *fields, length = FIELDS.unpack_from(data)
    hasher, end = data[FIELDS.size : FIELDS.size + length], FIELDS.size + length
    require(len(hasher) == length, "the file ends within the name of the hasher", offset + len(data))
    try:
        parameters = Parameters(*fields, hasher.decode("utf-8"), None)
    except UnicodeDecodeError:
        raise Invalid("name of a hasher that is not UTF-8, at byte %d" % (offset + FIELDS.size)) from None
    width, first, second = parameters.width, parameters.first, parameters.second
    require(width in (64, 128, 256), "unsupported width", offset)
    require(parameters.distance <= width, "maximum distance above the width", offset + 2)
    require(parameters.design in (TABLES, CHOOSE, NESTED), "unsupported design", offset + 4)
    if parameters.design == TABLES:
        require(second == 0, "unsupported second number of the design", offset + 6)
        sound = 1 <= first <= width
    elif parameters.design == CHOOSE:
        sound = 1 <= first <= second <= width and math.comb(second, first) <= 256
    else:
        sound = 2 <= first <= width and 1 <= second <= width - ceil_div(width, first) and first * second <= 256
    require(sound, "numbers of the design out of range", offset + 5)
    require(parameters.codec in (XOR, ADAPTIVE), "unsupported codec", offset + 7)
    require(parameters.id_kind in (NUMBERS, TEXTS, NO_IDS), "unsupported id kind", offset + 8)
    require(parameters.has <= ID_INDEX | KEYS, "unsupported parts of runs", offset + 9)
    require(parameters.has == 0 or parameters.id_kind != NO_IDS, "an id index where there are no ids", offset + 9)
    require(parameters.block_size in [2**n for n in range(7, 17)], "block size out of range", offset + 10)
    require(length <= 1024, "name of a hasher of more than 1,024 bytes", offset + 14)
    sound = not any(ord(character) in BLANKS for character in parameters.hasher)
    require(sound, "name of a hasher with blanks or controls", offset + FIELDS.size)
    if parameters.has & KEYS:
        require(len(data) >= end + KEY_FORMAT.size, "the file ends within the key format", offset + len(data))
        keys = Keys(*KEY_FORMAT.unpack_from(data, end))
        sound = 1 <= keys.bits <= 64 and keys.sample_bits in (1, 2, 4, 8, 16) and keys.sketch_bits <= 8192
        require(sound and keys.sketch_bits % keys.sample_bits == 0, "a key format that is not possible", offset + end)
        plain = (width, parameters.distance, parameters.design, first) == (64, 0, TABLES, 1)
        require(plain, "a key index of other tables than one of numbers", offset)
        parameters, end = parameters._replace(keys=keys), end + KEY_FORMAT.size
    return parameters, end

def cut(bits, m):
    """Cutting bits into parts."""
    size, longer = divmod(len(bits), m)
    ends = [i * size + min(i, longer) for i in range(m + 1)]
    return [bits[start:end] for start, end in zip(ends, ends[1:])]

def table_orders(parameters):
    """Tables: for each table, the bit numbers (0 = most significant) in its order, and the number of leading ones."""
    bits, leading = list(range(parameters.width)), []
    if parameters.design == TABLES:
        leading = cut(bits, parameters.first)
    elif parameters.design == CHOOSE:
        for choice in itertools.combinations(cut(bits, parameters.second), parameters.first):
            leading.append(sum(choice, []))
    else:
        for outer in cut(bits, parameters.first):
            others = [bit for bit in bits if bit not in outer]
            leading += [outer + inner for inner in cut(others, parameters.second)]
    return [(front + [bit for bit in bits if bit not in front], len(front)) for front in leading]

def make_keys(fingerprints, order, leading, width):
    """Tables: the keys of a table after the first, ascending."""
    if width == 64:
        return sorted(take_bits(fingerprints, order, width))
    # Narrow keys: leading bits, and the number of the row.
    lead, row = narrow_bits(fingerprints, leading)
    heads = take_bits(fingerprints, order[:lead], width)
    return sorted(head << row | number for number, head in enumerate(heads))

def make_heads(fingerprints, order, leading, width):
    """Tables: the keys of a table after the first, ascending and followed by zeros up to 64 bits."""
    keys = make_keys(fingerprints, order, leading, width)
    if width == 64:
        return keys
    lead, row = narrow_bits(fingerprints, leading)
    return [key << 64 - lead - row for key in keys]

def narrow_bits(fingerprints, leading):
    """Tables: of narrow keys, the number of leading bits, and of bits of a row's number."""
    row = (len(fingerprints) - 1).bit_length() if fingerprints else 0
    return min(leading, row + 6, 64 - row), row

def take_bits(fingerprints, order, width):
    """The bits of some numbers in this order. Bits that stay neighbours, (first, number of bits), move together."""
    runs = []
    for bit in order:
        if runs and sum(runs[-1]) == bit:
            runs[-1] = (runs[-1][0], runs[-1][1] + 1)
        else:
            runs.append((bit, 1))
    keys = [0] * len(fingerprints)
    for first, n in runs:
        shift, mask = width - first - n, 2**n - 1
        keys = [key << n | fingerprint >> shift & mask for key, fingerprint in zip(keys, fingerprints)]
    return keys
