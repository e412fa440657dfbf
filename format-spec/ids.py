"""ids.md: the numeric ids of a segment, or its counts. Used by decode.py."""

import struct
from array import array

from conventions import LIMIT, Bits, Invalid, Section, ceil_div, check_checksum, read_at, require
from plan import NO_IDS, TEXTS
from text_ids import read_text_ids

# Stream numbers of placed checksums.
ID_STREAM, ID_INDEX_STREAM = 0x300, 0x400
ID_PAGE, ID_PAGE_FIELDS = 4096, struct.Struct("<HBBBQQ")

def read_ids(file, footer, fingerprints):
    """Ids section: all records, as two arrays, of fingerprints and of ids; without ids, of counts."""
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
    """The same for text ids."""
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
    """Id index section. Yields the number of fingerprints that begin in each page."""
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
    """Packing of ids: J and b, the ids in a number and its bits."""
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
