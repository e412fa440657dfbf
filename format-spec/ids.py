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
    require(flags <= 3, "flags of a page of ids above 3", offset + 4)
    require(least + span < LIMIT, "ids above 2^64 - 1", offset + 5)
    bits = Bits(data[ID_PAGE_FIELDS.size : -4], offset + ID_PAGE_FIELDS.size)
    if flags >= 2:
        begins, excesses = read_groups(bits, n, span, flags == 3)
    else:
        begins = [flags == 0 or bits.forward(1) == 1 for _ in range(n)]
        bits.byte()
        excesses = unpack_ids(bits, n, span)
    bits.byte()
    require(not any(data[ID_PAGE_FIELDS.size + bits.p // 8 : -4]), "padding of a page of ids is not zero", offset)
    require(not last or bits.p == bits.q, "the last page of ids is longer than its ids", offset)
    return begins, [least + excess for excess in excesses]

def read_groups(bits, n, span, continues):
    """Groups: for each record whether it begins a fingerprint, and its excess."""
    g, *counts = [bits.forward(16) for _ in range(6)]
    k = bits.forward(8)
    require(0 < g <= n and k < 64, "impossible groups", bits.offset)
    starts = unpack_ids(bits, g, span)
    any_of_two = [bits.forward(1) for _ in range(ceil_div(g, 2))]
    first = [any_ and bits.forward(1) for any_ in any_of_two]
    second = [bits.forward(1) if one else any_ for any_, one in zip(any_of_two, first)]
    several = [one for two in zip(first, second) for one in two]
    require(g % 2 == 0 or not several.pop(), "a group that is not there has several records", bits.offset)
    sizes = [2 + unary(bits) if is_several else 1 for is_several in several]
    require(max(sizes) <= 17, "a size of more than 15 zeros", bits.offset)
    found = [sum(any_of_two), sum(first), sum(size - 1 for size in sizes), sizes.count(17), sizes.count(2)]
    require(counts == found, "a header of other groups", bits.offset)
    sizes = [size + bits.forward(16) if size == 17 else size for size in sizes]
    require(sum(sizes) == n, "sizes of groups that do not add up", bits.offset)
    require(span > 0 or n == g, "several equal ids of a fingerprint", bits.offset)
    distances = iter(unpack_ids(bits, sizes.count(2), (span + 1) // 2 - 1)) if 2 in sizes else None
    gaps = sum(size - 1 for size in sizes if size > 2)
    low = [bits.forward(k) for _ in range(gaps)]
    gap = iter([part + (unary(bits) << k) for part in low])
    begins, excesses = [], []
    for start, size in zip(starts, sizes):
        group = [start]
        if size == 2:
            group = sorted([start, (start + 1 + next(distances)) % (span + 1)])
        while len(group) < size:
            group.append(group[-1] + 1 + next(gap))
        require(group[-1] <= span, "an id above the span", bits.offset)
        begins += [len(excesses) > 0 or not continues] + [False] * (size - 1)
        excesses += group
    return begins, excesses

def unary(bits):
    """The number of zeros before the next one, which is taken too."""
    zeros = 0
    while bits.forward(1) == 0:
        zeros += 1
    return zeros

def packing(span):
    """Packing of ids: J and b, the ids in a number and its bits."""
    best = (1, span.bit_length())
    for j in range(2, 6):
        b = ((span + 1) ** j - 1).bit_length()
        if b <= 128 and b * best[0] < best[1] * j:
            best = (j, b)
    return best

def unpack_ids(bits, n, span):
    """Packing of ids: n excesses."""
    excesses, radix, (joined, width) = [], span + 1, packing(span)
    for first in range(0, n, joined):
        present = min(joined, n - first)
        number = bits.forward(width)
        require(number < radix**present, "a number of ids out of range", bits.offset)
        for _ in range(present):
            number, excess = divmod(number, radix)
            excesses.append(excess)
    return excesses
