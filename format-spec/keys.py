"""keys.md: key indexes. Used by decode.py."""

import json

from conventions import Section, ceil_div, check_checksum, require

SKETCH_STREAM = 0x600

def read_sketches(file, footer):
    """Sketches: the rows of the section, in the order of the run's records."""
    size, section, sketches = ceil_div(footer.parameters.keys.sketch_bits, 8), Section(file, footer.sketches), []
    if size == 0:
        section.finish()
        return None
    full, page_number = 4092 // size * size, 0
    while section.offset < section.end:
        is_last = section.end - section.offset <= full + 4
        page, offset = section.take(section.end - section.offset if is_last else 4096, "a page of sketches")
        check_checksum(page, offset, SKETCH_STREAM, page_number)
        used = len(page) - 4 if is_last else full
        require(0 < used and used % size == 0, "a page that has no whole number of sketches", offset)
        require(not any(page[used:-4]), "padding of a page is not zero", offset + used)
        sketches += [page[at : at + size] for at in range(0, used, size)]
        page_number += 1
    return sketches

def check_keys(key_format, records, keys, sketches):
    """The segment of keys: its keys have K bits, its numbers are those of records, each of which has a sketch."""
    known = set(records[0])
    require(all(key >> key_format.bits == 0 for key in keys[0]), "a key of too many bits")
    require(all(number in known for number in keys[1]), "a key of a record that the run does not have")
    require(sketches is None or len(sketches) == len(known), "another number of sketches than of records")

def with_keys(key_format, existing, runs):
    """Records: a line of JSON for each existing record, with its keys and its sketch, in the order of the numbers."""
    keys_of, sketch_of = {}, {}
    for records, keys, sketches in runs:
        for key, number in zip(*keys):
            keys_of.setdefault(number, []).append(key << (64 - key_format.bits))
        sketch_of.update(zip(records[0], sketches or ()))
    for number, id_ in existing:
        record = {"id": id_, "keys": keys_of.get(number, [])}
        if number in sketch_of:
            record["sketch"] = sketch_of[number].hex()
        yield json.dumps(record, ensure_ascii=False, separators=(",", ":"))
