"""segment.md: a segment file. Used by decode.py."""

import itertools
import os
import struct
from array import array
from collections import namedtuple

from blocks import ADAPTIVE, KINDS, ROWS_KIND, read_block, read_codes
from conventions import LIMIT, VERSION, Bits, Section, ceil_div, check_checksum, pieces, read_at, require, xxh64
from ids import read_ids
from keys import read_sketches
from plan import TEXTS, make_keys, read_parameters, table_orders

# The stream number of the placed checksums of the block index of table 0; that of its data is 0.
INDEX_STREAM = 0x200
# That of the directory of this index.
DIRECTORY_STREAM = 0x700

# ---- data and index of a table ---------------------------------------------------------------------------------------

Entry = namedtuple("Entry", "key count length kind base")

def read_table(file, number, table, parameters):
    """Data section: pages. Yields the keys of each block, and its offset in the file."""
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
    """Data section: rows. Yields the fingerprints of each page of table 0, and its offset in the file."""
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
    base, last, described, counts_of_bits, start = 0, None, None, [0] * 64, section.offset
    chunks = ceil_div(blocks, 256)
    if chunks > 1:
        described, boundaries = read_directory(section, number, chunks, step)
    for chunk_number in range(chunks):
        offset, place = section.offset, (INDEX_STREAM + number, chunk_number)
        widths = (64, 16, 16, 6)
        gaps, counts, lengths, kinds = read_columns(section, "<HBBBBQHHB", min(256, blocks), widths, place)
        for gap, count, length, kind in zip(gaps, counts, lengths, kinds):
            entry = Entry(base + gap, count, length, kind, base)
            require(entry.key < LIMIT, "a block key above 2^64 - 1", offset)
            require(1 <= count <= 65535 and length <= 65535, "count or length of a block out of range", offset)
            require(kind in allowed, "a kind of block that the table does not have", offset)
            yield entry
            base = entry.key + step
            if last is not None and last != entry.key:
                counts_of_bits[64 - (last ^ entry.key).bit_length()] += 1
            last = entry.key
        blocks -= len(gaps)
        if described:
            found = (last, sum(counts), section.offset - offset)
            require(found == described[chunk_number], "an index chunk that its directory does not describe", offset)
    require(chunks <= 1 or counts_of_bits == boundaries, "boundaries that are not those of the keys", start)
    section.finish()

def read_directory(section, number, chunks, step):
    """Index section: directory. Last key, keys and length of each chunk, and the boundaries."""
    described, base = [], 0
    for directory_chunk in range(ceil_div(chunks, 256)):
        offset, place = section.offset, (DIRECTORY_STREAM + number, directory_chunk)
        gaps, keys, lengths = read_columns(section, "<HBBBQQH", min(256, chunks), (64, 24, 16), place)
        for gap, keys_of_chunk, length in zip(gaps, keys, lengths):
            last = base + gap
            require(last < LIMIT, "a last key above 2^64 - 1", offset)
            described.append((last, keys_of_chunk, length))
            base = last + step
        chunks -= len(gaps)
    place = (DIRECTORY_STREAM + number, ceil_div(len(described), 256))
    [boundaries] = read_columns(section, "<HBQ", 64, (64,), place)
    return described, boundaries

def read_columns(section, header, rows, widths, place):
    """Index section: a chunk of this many rows, with columns of at most these widths, and its placed checksum."""
    fields, offset = section.take(struct.calcsize(header), "a chunk of an index")
    n, *numbers = struct.unpack(header, fields)
    bits_of, leasts = numbers[: len(widths)], numbers[len(widths) :]
    require(n == rows, "number of rows in a chunk of an index out of range", offset)
    sound = all(bits <= width for bits, width in zip(bits_of, widths))
    require(sound, "number of bits in a chunk of an index out of range", offset + 2)
    packed, packed_offset = section.take(ceil_div(n * sum(bits_of), 8), "a chunk of an index")
    check_checksum(fields + packed + section.take(4, "a chunk of an index")[0], offset, *place)
    bits = Bits(packed, packed_offset)
    columns = [[least + bits.forward(width) for _ in range(n)] for least, width in zip(leasts, bits_of)]
    bits.finish()
    return columns

# ---- header, footer, the whole ---------------------------------------------------------------------------------------

HEADER, TRAILER = 16, 16
Footer = namedtuple(
    "Footer", "parameters records fingerprints content_hash tables ids id_index dictionary sketches checksum"
)
Table = namedtuple("Table", "blocks data codes index")

def read_segment(path, parameters=None, entry=None):
    """Reads a segment file: its parameters, its records as two arrays, and the sketches of a segment of keys.

    The manifest has `parameters` and `entry`."""
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
        sketches = read_sketches(file, footer) if footer.sketches else None
        # Last, so that the other checks report the place of a fault.
        content = sum(footer.sketches or footer.dictionary)
        hash_found = xxh64(pieces(file, content))
        require(hash_found == footer.content_hash, "the hash of the content does not hold", content)
        return footer.parameters, records, sketches

def read_footer(file, trailer_offset):
    """Trailer and footer."""
    length, checksum, magic = struct.unpack("<II8s", read_at(file, trailer_offset, TRAILER))
    require(magic == b"fpsegend", "wrong magic bytes", trailer_offset + 8)
    require(144 <= length <= min(65536, trailer_offset - HEADER), "footer length out of range", trailer_offset)
    offset = trailer_offset - length
    check_checksum(read_at(file, offset, length + 8), trailer_offset + 4)
    data = read_at(file, offset, length)
    parameters, after = read_parameters(data, offset)
    tables = len(table_orders(parameters))
    extra = 2 if parameters.keys else 0
    require(length == after + 72 + 56 * tables + 8 * extra, "footer length that does not fit what it has to hold", trailer_offset)
    records, fingerprints, content_hash, *numbers = struct.unpack("<%dQ" % (9 + 7 * tables + extra), data[after:])
    sound = records >= fingerprints and (records == 0) == (fingerprints == 0)
    require(sound, "numbers of records and fingerprints that contradict each other", offset + after)
    blocks, places = numbers[:tables], list(zip(numbers[tables::2], numbers[tables + 1 :: 2]))
    sound = all(n <= fingerprints and (n == 0) == (fingerprints == 0) for n in blocks)
    require(sound, "number of blocks out of range", offset + after + 24)
    sketches = places[-1] if parameters.keys else None
    ids = places[3 * tables : 3 * tables + 3]
    sound = ids[2][1] == 0 or parameters.id_kind == TEXTS
    require(sound, "a dictionary of ids that are no texts", trailer_offset - 8 - 8 * extra)
    check_places(file, places, offset)
    table_list = [Table(n, *places[3 * t : 3 * t + 3]) for t, n in enumerate(blocks)]
    return Footer(parameters, records, fingerprints, content_hash, table_list, *ids, sketches, checksum)

def check_places(file, places, footer_offset):
    """Trailer and footer: the sections follow one another up to the footer; only those of pages may be aligned."""
    end = HEADER
    for number, (offset, length) in enumerate(places):
        # Data, codes and index of each table, then ids, id index and id dictionary; of keys, then sketches.
        aligned = number % 3 == 0 and offset == ceil_div(end, 4096) * 4096
        require(offset == end or aligned, "section %d is out of place" % number, footer_offset)
        require(offset + length <= footer_offset, "section %d goes beyond the footer" % number, footer_offset)
        require(not any(read_at(file, end, offset - end)), "padding between sections is not zero", end)
        end = offset + length
    require(end == footer_offset, "the footer is not where the last section ends", footer_offset)

def read_fingerprints(file, footer):
    """The fingerprints of table 0, its keys or rows. All other tables must hold the same ones."""
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
