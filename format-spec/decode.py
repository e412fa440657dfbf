#!/usr/bin/env python3
"""A second implementation of the file formats of fpstore, written from the specification beside it alone.

    python3 decode.py PATH

PATH is a store (a directory) or one segment file. Everything that the specification calls invalid is looked for, also
what only a verifying program has to notice. If all is well, the records are printed, `FINGERPRINT<TAB>ID`, sorted, each
once; where there are no ids, `FINGERPRINT<TAB>COUNT`. Exit code 0: sound; 1: invalid,
one line on standard error says what and where; 2: wrong use, nothing to read.

The program is meant to be read beside the specification: clear before fast, though it takes no more time and memory
than the bytes that are there justify. Python 3.9 or later; for text ids the package zstandard, for nothing else.
"""

import heapq
import itertools
import math
import os
import struct
import sys
from array import array
from collections import namedtuple

from blocks import ADAPTIVE, KINDS, ROWS_KIND, XOR, read_block, read_codes
from conventions import LIMIT, Bits, Invalid, Section, ceil_div, check_checksum, pieces, read_at, require, xxh64
from text_ids import read_text_ids

# conventions.md: the only version that is known, and what placed checksums begin with; that of table t's blocks is t.
VERSION = struct.pack("<I", 3)
INDEX_STREAM, ID_STREAM, ID_INDEX_STREAM = 0x200, 0x300, 0x400

# ---- plan.md ---------------------------------------------------------------------------------------------------------

FIELDS = struct.Struct("<HHBBBBBBIH")
Parameters = namedtuple("Parameters", "width distance design first second codec id_kind reserved block_size hasher")
TABLES, CHOOSE, NESTED = 0, 1, 2
NUMBERS, TEXTS, NO_IDS = 1, 2, 3
# Characters that the name of a hasher does not have: controls and blanks.
BLANKS = [*range(0x21), *range(0x7F, 0xA1), 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]

def read_parameters(data, offset):
    """Parameters: from `offset` of the file on, and how many bytes they have; `data` may go on behind them."""
    require(len(data) >= FIELDS.size, "the file ends too early", offset + len(data))
    *fields, length = FIELDS.unpack_from(data)
    hasher, end = data[FIELDS.size : FIELDS.size + length], FIELDS.size + length
    require(len(hasher) == length, "the file ends within the name of the hasher", offset + len(data))
    try:
        parameters = Parameters(*fields, hasher.decode("utf-8"))
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
    require(parameters.reserved == 0, "unsupported use of a reserved byte", offset + 9)
    require(parameters.block_size in [2**n for n in range(7, 17)], "block size out of range", offset + 10)
    require(length <= 1024, "name of a hasher of more than 1,024 bytes", offset + 14)
    sound = not any(ord(character) in BLANKS for character in parameters.hasher)
    require(sound, "name of a hasher with blanks or controls", offset + FIELDS.size)
    return parameters, end

def cut(bits, m):
    """Cutting bits into parts."""
    size, longer = divmod(len(bits), m)
    ends = [i * size + min(i, longer) for i in range(m + 1)]
    return [bits[start:end] for start, end in zip(ends, ends[1:])]

def table_orders(parameters):
    """Tables: for each table, the bit numbers (0 = most significant) in its order, and how many of them lead."""
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
    """Tables: the keys of a table behind the first, ascending."""
    if width == 64:
        return sorted(take_bits(fingerprints, order, width))
    # Narrow keys: so many leading bits, and the number of the row.
    row = (len(fingerprints) - 1).bit_length() if fingerprints else 0
    heads = take_bits(fingerprints, order[: min(leading, row + 6, 64 - row)], width)
    return sorted(head << row | number for number, head in enumerate(heads))

def take_bits(fingerprints, order, width):
    """The bits of some numbers in this order. Bits that stay neighbours, (first, how many), are moved together."""
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

# ---- segment.md: data and index of a table ---------------------------------------------------------------------------

Entry = namedtuple("Entry", "key count length kind base")

def read_table(file, number, table, parameters):
    """Data section: pages. Yields the keys of each block, and where it is in the file."""
    code = read_codes(Section(file, table.codes), number, parameters.codec)
    index = read_index(Section(file, table.index), number, table.blocks, KINDS[parameters.codec], 1)
    data = Section(file, table.data)
    page_size = max(4096, parameters.block_size)
    in_page = page_size // parameters.block_size
    pages = ceil_div(table.blocks, in_page)
    for page_number in range(pages):
        entries = list(itertools.islice(index, in_page))
        used = sum(entry.length for entry in entries)
        require(used <= page_size - 4, "blocks that do not fit their page", data.offset)
        page, offset = data.take(page_size if page_number < pages - 1 else used + 4, "a page")
        check_checksum(page, offset, number, page_number)
        require(not any(page[used:-4]), "padding of a page is not zero", offset + used)
        start = 0
        for entry in entries:
            block = page[start : start + entry.length]
            yield read_block(block, offset + start, code, entry), offset + start
            start += entry.length
    data.finish()
    require(next(index, None) is None, "more blocks than the footer says")

def read_rows(file, table, width):
    """Pages of rows. Yields the fingerprints of each page of table 0, and where it is in the file."""
    read_codes(Section(file, table.codes), 0, ADAPTIVE)
    size, previous, data = width // 8, -1, Section(file, table.data)
    full = 4092 // size
    for page_number, entry in enumerate(read_index(Section(file, table.index), 0, table.blocks, [ROWS_KIND], 0)):
        is_last = page_number + 1 == table.blocks
        require(entry.count == full or is_last and entry.count < full, "a wrong number of rows in a page", data.offset)
        require(entry.length == entry.count * size, "a length that is not that of the rows", data.offset)
        page, offset = data.take(entry.length + 4 if is_last else 4096, "a page of rows")
        check_checksum(page, offset, 0, page_number)
        require(not any(page[entry.length : -4]), "padding of a page is not zero", offset + entry.length)
        rows = [int.from_bytes(page[at : at + size], "little") for at in range(0, entry.length, size)]
        for row in rows:
            require(previous < row, "rows that do not ascend", offset)
            previous = row
        require(previous >> (width - 64) == entry.key, "a last row that is not that of the index", offset)
        yield rows, offset
    data.finish()

def read_index(section, number, blocks, allowed, step):
    """Index section: block index. Yields the entry of each block; each key is at least `step` above the one before."""
    base, chunk_number = 0, 0
    while blocks > 0:
        fields, offset = section.take(19, "an index chunk")
        n, g, c, l, k, least_gap, least_count, least_length, least_kind = struct.unpack("<HBBBBQHHB", fields)
        require(1 <= n <= min(256, blocks), "number of blocks in an index chunk out of range", offset)
        sound = g <= 64 and c <= 16 and l <= 16 and k <= 6
        require(sound, "number of bits in an index chunk out of range", offset + 2)
        packed, packed_offset = section.take(ceil_div(n * (g + c + l + k), 8), "an index chunk")
        chunk = fields + packed + section.take(4, "an index chunk")[0]
        check_checksum(chunk, offset, INDEX_STREAM + number, chunk_number)
        bits = Bits(packed, packed_offset)
        gaps = [least_gap + bits.forward(g) for _ in range(n)]
        counts = [least_count + bits.forward(c) for _ in range(n)]
        lengths = [least_length + bits.forward(l) for _ in range(n)]
        kinds = [least_kind + bits.forward(k) for _ in range(n)]
        bits.finish()
        for gap, count, length, kind in zip(gaps, counts, lengths, kinds):
            entry = Entry(base + gap, count, length, kind, base)
            require(entry.key < LIMIT, "a block key above 2^64 - 1", offset)
            require(1 <= count <= 65535 and length <= 65535, "count or length of a block out of range", offset)
            require(kind in allowed, "a kind of block that the table does not have", offset)
            yield entry
            base = entry.key + step
        blocks -= n
        chunk_number += 1
    section.finish()

# ---- ids.md ----------------------------------------------------------------------------------------------------------

ID_PAGE, ID_PAGE_FIELDS = 4096, struct.Struct("<HBBBQQ")

def read_ids(file, footer, fingerprints):
    """Ids section: all records, as two arrays, of fingerprints and of ids; where there are none, of counts."""
    section, index_section = Section(file, footer.ids), Section(file, footer.id_index)
    pages = ceil_div(footer.ids[1], ID_PAGE)
    if footer.parameters.id_kind == TEXTS:
        return read_texts(file, footer, fingerprints)
    records, ids, rank, counted = fingerprints[:0], array("Q"), -1, footer.parameters.id_kind == NO_IDS
    for page_number, indexed in enumerate(read_id_index(index_section, pages)):
        page, offset = section.take(min(ID_PAGE, section.end - section.offset), "a page of ids")
        require(len(page) >= ID_PAGE_FIELDS.size + 4, "a page of ids that is too short", offset)
        check_checksum(page, offset, ID_STREAM, page_number)
        page_begins, page_ids = read_id_page(page, offset, page_number + 1 == pages)
        require(sum(page_begins) == indexed, "a page of ids that does not agree with the id index", offset)
        for begins, id_ in zip(page_begins, page_ids):
            require(not counted or begins and id_ > 0, "a fingerprint without one count of at least 1", offset)
            if begins:
                rank += 1
                require(rank < len(fingerprints), "more fingerprints in the ids than in the tables", offset)
            else:
                require(rank >= 0, "a first record that does not begin a fingerprint", offset)
                require(ids[-1] < id_, "ids that do not ascend", offset)
            records.append(fingerprints[rank])
            ids.append(id_)
    index_section.finish()
    require(rank + 1 == len(fingerprints), "fewer fingerprints in the ids than in the tables", section.end)
    found = sum(ids) if counted else len(ids)
    require(found == footer.records, "not as many records as the footer says", section.end)
    return records, ids

def read_texts(file, footer, fingerprints):
    """The same for ids that are texts."""
    sections = [read_at(file, *place) for place in (footer.ids, footer.id_index, footer.dictionary)]
    records, ids, rank = [], [], -1
    try:
        for begins, text in read_text_ids(*sections):
            rank += begins
            require(rank < len(fingerprints), "ids of more fingerprints than there are", footer.ids[0])
            records.append(fingerprints[rank])
            ids.append(text)
    except Invalid as error:
        raise Invalid("in the sections of ids: %s" % error) from None
    require(rank == len(fingerprints) - 1, "ids of another number of fingerprints", footer.ids[0])
    require(len(ids) == footer.records, "ids of another number of records than the footer says", footer.ids[0])
    return records, ids

def read_id_index(section, pages):
    """Id index section. Yields how many fingerprints begin in each page."""
    for chunk_number, first in enumerate(range(0, pages, 1024)):
        n = min(1024, pages - first)
        data, offset = section.take(2 * n + 4, "a chunk of the id index")
        check_checksum(data, offset, ID_INDEX_STREAM, chunk_number)
        yield from struct.unpack("<%dH" % n, data[:-4])

def read_id_page(data, offset, last):
    """Ids section: for each record of a page, whether it begins a fingerprint; and the ids."""
    n, joined, width, flags, least, span = ID_PAGE_FIELDS.unpack_from(data)
    require(n > 0, "a page of ids without records", offset)
    require((joined, width) == packing(span), "packing of ids that does not follow from the span", offset + 2)
    require(flags <= 1, "flags of a page of ids above 1", offset + 4)
    require(least + span < LIMIT, "ids above 2^64 - 1", offset + 5)
    start = ID_PAGE_FIELDS.size
    bitmap_end = start + ceil_div(n, 8) * flags
    ids_end = bitmap_end + ceil_div(ceil_div(n, joined) * width, 8)
    require(ids_end <= len(data) - 4, "more ids than fit their page", offset)
    require(not any(data[ids_end:-4]), "padding of a page of ids is not zero", offset + ids_end)
    require(not last or ids_end == len(data) - 4, "the last page of ids is longer than its ids", offset + ids_end)
    bitmap, begins = Bits(data[start:bitmap_end], offset + start), [True] * n
    if flags == 1:
        begins = [bitmap.forward(1) == 1 for _ in range(n)]
    bitmap.finish()
    excesses = unpack_ids(Bits(data[bitmap_end:ids_end], offset + bitmap_end), n, joined, width, span + 1)
    return begins, [least + excess for excess in excesses]

def packing(span):
    """Packing of ids: J and b, how many ids are joined into a number of how many bits."""
    best = (1, span.bit_length())
    for j in range(2, 6):
        b = ((span + 1) ** j - 1).bit_length()
        if b <= 128 and b * best[0] < best[1] * j:
            best = (j, b)
    return best

def unpack_ids(bits, n, joined, width, radix):
    """Packing of ids: n excesses."""
    excesses = []
    for first in range(0, n, joined):
        present = min(joined, n - first)
        number = bits.forward(width)
        require(number < radix**present, "a number of ids out of range", bits.offset)
        for _ in range(present):
            number, excess = divmod(number, radix)
            excesses.append(excess)
    bits.finish()
    return excesses

# ---- segment.md: header, footer, the whole ---------------------------------------------------------------------------

HEADER, TRAILER = 16, 16
Footer = namedtuple("Footer", "parameters records fingerprints content_hash tables ids id_index dictionary checksum")
Table = namedtuple("Table", "blocks data codes index")

def read_segment(path, parameters=None, entry=None):
    """A segment file: its parameters, and its records, as two arrays. `parameters` and `entry` are the manifest's."""
    with open(path, "rb") as file:
        size = os.fstat(file.fileno()).st_size
        require(size >= HEADER + TRAILER, "shorter than header and trailer")
        header = read_at(file, 0, HEADER)
        require(header[:8] == b"fpsegmnt", "wrong magic bytes", 0)
        require(header[8:12] == VERSION, "unsupported version", 8)
        check_checksum(header, 12)
        footer = read_footer(file, size - TRAILER)
        if entry is not None:
            found = (size, footer.records, footer.fingerprints, footer.checksum)
            require(found == entry[1:], "not the segment that the manifest describes")
            require(footer.parameters == parameters, "parameters that are not the manifest's")
        records = read_ids(file, footer, read_fingerprints(file, footer))
        # Last, so that a fault is told where it is.
        content = sum(footer.dictionary)
        hash_found = xxh64(pieces(file, content))
        require(hash_found == footer.content_hash, "the hash of the content does not hold", content)
        return footer.parameters, records

def read_footer(file, trailer_offset):
    """Trailer and footer."""
    length, checksum, magic = struct.unpack("<II8s", read_at(file, trailer_offset, TRAILER))
    require(magic == b"fpsegend", "wrong magic bytes", trailer_offset + 8)
    require(144 <= length <= min(65536, trailer_offset - HEADER), "footer length out of range", trailer_offset)
    offset = trailer_offset - length
    check_checksum(read_at(file, offset, length + 8), trailer_offset + 4)
    data = read_at(file, offset, length)
    parameters, behind = read_parameters(data, offset)
    tables = len(table_orders(parameters))
    require(length == behind + 72 + 56 * tables, "footer length that does not fit what it has to hold", trailer_offset)
    records, fingerprints, content_hash, *numbers = struct.unpack("<%dQ" % (9 + 7 * tables), data[behind:])
    sound = records >= fingerprints and (records == 0) == (fingerprints == 0)
    require(sound, "numbers of records and fingerprints that contradict each other", offset + behind)
    blocks, places = numbers[:tables], list(zip(numbers[tables::2], numbers[tables + 1 :: 2]))
    sound = all(n <= fingerprints and (n == 0) == (fingerprints == 0) for n in blocks)
    require(sound, "number of blocks out of range", offset + behind + 24)
    sound = places[-1][1] == 0 or parameters.id_kind == TEXTS
    require(sound, "a dictionary of ids that are no texts", trailer_offset - 8)
    check_places(file, places, offset)
    table_list = [Table(n, *places[3 * t : 3 * t + 3]) for t, n in enumerate(blocks)]
    return Footer(parameters, records, fingerprints, content_hash, table_list, *places[-3:], checksum)

def check_places(file, places, footer_offset):
    """Trailer and footer: the sections follow one another up to the footer; only those of pages may be aligned."""
    end = HEADER
    for number, (offset, length) in enumerate(places):
        # Data, codes and index of each table, then ids, id index and id dictionary.
        aligned = number % 3 == 0 and offset == ceil_div(end, 4096) * 4096
        require(offset == end or aligned, "section %d is out of place" % number, footer_offset)
        require(offset + length <= footer_offset, "section %d goes beyond the footer" % number, footer_offset)
        require(not any(read_at(file, end, offset - end)), "padding between sections is not zero", end)
        end = offset + length
    require(end == footer_offset, "the footer is not where the last section ends", footer_offset)

def read_fingerprints(file, footer):
    """The fingerprints of table 0, its keys or rows. All other tables have to hold the same ones."""
    width, tables = footer.parameters.width, footer.tables
    fingerprints = array("Q") if width == 64 else []
    for number, (order, leading) in enumerate(table_orders(footer.parameters)):
        expected, found = make_keys(fingerprints, order, leading, width), 0
        if number == 0 and width > 64:
            blocks = read_rows(file, tables[0], width)
        else:
            blocks = read_table(file, number, tables[number], footer.parameters)
        for keys, offset in blocks:
            if number == 0:
                fingerprints.extend(keys)
            else:
                require(keys == expected[found : found + len(keys)], "keys that table 0 does not have", offset)
            found += len(keys)
        require(found == footer.fingerprints, "table %d has another number of keys than the footer says" % number)
    return fingerprints

# ---- manifest.md, store.md -------------------------------------------------------------------------------------------

def read_manifest(path):
    """The manifest: parameters, and entries (segment number, file length, records, fingerprints, footer checksum)."""
    with open(path, "rb") as file:
        require(os.fstat(file.fileno()).st_size <= 2**26, "longer than 64 MiB")
        data = file.read()
    require(data[:8] == b"fpstore\0", "wrong magic bytes", 0)
    require(len(data) >= 12, "the file ends too early", len(data))
    require(data[8:12] == VERSION, "unsupported version", 8)
    require(len(data) >= 53, "the file ends too early", len(data))
    check_checksum(data, len(data) - 4)
    parameters, behind = read_parameters(data[12:-4], 12)
    start = 12 + behind
    require(len(data) >= start + 25, "the file ends too early", len(data))
    numbering, _, next_segment, n = struct.unpack_from("<BQQI", data, start)
    require(len(data) == start + 25 + 36 * n, "a length that does not fit the number of segments", start + 17)
    require(numbering <= 2, "numbering above 2", start)
    entries = list(struct.iter_unpack("<QQQQI", data[start + 21 : -4]))
    numbers = [0] + [entry[0] for entry in entries] + [next_segment]
    require(all(a < b for a, b in zip(numbers, numbers[1:])), "segment numbers that do not ascend", start + 9)
    return parameters, entries

def read_store(directory, files):
    """Files: parameters, and the records of each segment. The last element of `files` is the file at hand."""
    files.append(os.path.join(directory, "MANIFEST"))
    parameters, entries = read_manifest(files[-1])
    segments = []
    for entry in entries:
        files.append(os.path.join(directory, "%08d.segment" % entry[0]))
        require(os.path.isfile(files[-1]), "no such file, but the manifest names it")
        segments.append(read_segment(files[-1], parameters, entry)[1])
    return parameters, segments

def merge(parameters, segments):
    """Contents: the union of the segments' records; where there are no ids, their counts of a fingerprint add up."""
    records = heapq.merge(*(zip(*segment) for segment in segments))
    if parameters.id_kind != NO_IDS:
        return (record for record, _ in itertools.groupby(records))
    groups = itertools.groupby(records, lambda record: record[0])
    return ((fingerprint, sum(count for _, count in group)) for fingerprint, group in groups)

def main(arguments):
    """Prints the records of a store or segment; returns the exit code."""
    if len(arguments) != 1:
        print("usage: decode.py STORE|SEGMENT", file=sys.stderr)
        return 2
    path, files = arguments[0], arguments[:]
    is_store = os.path.isfile(os.path.join(path, "MANIFEST"))
    try:
        if not is_store and not os.path.isfile(path):
            raise OSError("neither a store nor a file")
        parameters, segments = read_store(path, files) if is_store else read_segment(path)
    except (Invalid, OSError) as error:
        print("decode.py: %s: %s" % (files[-1], error), file=sys.stderr)
        return 1 if isinstance(error, Invalid) else 2
    records = merge(parameters, segments if is_store else [segments])
    try:
        sys.stdout.writelines("%0*x\t%s\n" % (parameters.width // 4, *record) for record in records)
        sys.stdout.flush()
    except OSError as error:  # the disk is full, or nobody reads on, as in `decode.py STORE | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        print("decode.py: standard output: %s" % error, file=sys.stderr)
        return 2
    return 0

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
