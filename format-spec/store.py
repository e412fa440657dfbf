"""manifest.md and store.md: the files of a store, and its records. Used by decode.py."""

import heapq
import itertools
import os
import re
import struct
from collections import namedtuple

from conventions import VERSION, check_checksum, require, xxh64
from filters import read_filters
from logs import MOST_NUMBER, read_log
from keys import check_keys, with_keys
from plan import ID_INDEX as HAS_ID_INDEX, KEYS as HAS_KEYS, NO_IDS, NUMBERS, TABLES
from plan import make_heads, read_parameters, table_orders
from segment import read_segment

# ---- manifest.md -----------------------------------------------------------------------------------------------------

FIELDS, RUN, ENTRY = struct.Struct("<BQQQQQQQI"), struct.Struct("<QQB"), struct.Struct("<QQQQI")
NET_RECORDS = struct.Struct("<q")
REMOVALS, RECORDS, ID_INDEX, NET, KEYS = 1, 2, 4, 8, 16
Manifest = namedtuple("Manifest", "parameters first_log flushed runs")
# First and last sequence number; the entries of the segments, (number, file length, records, fingerprints, checksum).
Run = namedtuple("Run", "first last removals records id_index keys")

def read_manifest(path):
    """Reads the manifest."""
    with open(path, "rb") as file:
        require(os.fstat(file.fileno()).st_size <= 2**26, "longer than 64 MiB")
        data = file.read()
    require(data[:8] == b"fpstore\0", "wrong magic bytes", 0)
    require(len(data) >= 12, "the file ends too early", len(data))
    require(data[8:12] == VERSION, "unsupported version", 8)
    require(len(data) >= 16, "the file ends too early", len(data))
    check_checksum(data, len(data) - 4)
    end = len(data) - 4
    parameters, after = read_parameters(data[12:end], 12)
    at = 12 + after
    require(at + FIELDS.size <= end, "the file ends too early", end)
    numbering, _, next_segment, first_log, flushed, _, _, _, n = FIELDS.unpack_from(data, at)
    require(numbering <= 2, "numbering above 2", at)
    require(1 <= next_segment <= MOST_NUMBER, "number of the next segment out of range", at + 9)
    require(1 <= first_log <= MOST_NUMBER, "number of the first log out of range", at + 17)
    require(flushed <= MOST_NUMBER, "sequence number out of range", at + 25)
    at += FIELDS.size
    runs, numbers, last = [], set(), 0
    for _ in range(n):
        run, after = read_run(data, at, end)
        require(last < run.first <= run.last <= flushed, "sequence numbers of runs that do not ascend", at)
        indexed = run.records is not None and parameters.has & HAS_ID_INDEX != 0
        require((run.id_index is not None) == indexed, "an id index that is missing, or too many", at + 16)
        keyed = run.records is not None and parameters.keys is not None
        require(run.keys is None or keyed, "keys of no records", at + 16)
        for entry in run[2:]:
            sound = entry is None or 1 <= entry[0] < next_segment and entry[0] not in numbers
            require(sound, "a number of a segment that is out of range, or twice there", at)
            numbers.update(entry[:1] if entry else ())
        runs.append(run)
        last, at = run.last, after
    require(at == end, "bytes after the last run", at)
    return Manifest(parameters, first_log, flushed, runs)

def read_run(data, at, end):
    """The entry of a run, and its end."""
    require(at + RUN.size <= end, "the file ends within a run", end)
    first, last, has = RUN.unpack_from(data, at)
    require(has & (REMOVALS | RECORDS) and has < 32, "segments that no run has", at + 16)
    at, net, entries = at + RUN.size, None, []
    if has & NET:
        require(at + NET_RECORDS.size <= end, "the file ends within a run", end)
        (net,), at = NET_RECORDS.unpack_from(data, at), at + NET_RECORDS.size
    for bit in (REMOVALS, RECORDS, ID_INDEX, KEYS):
        if has & bit == 0:
            entries.append(None)
            continue
        require(at + ENTRY.size <= end, "the file ends within a run", end)
        entries.append(ENTRY.unpack_from(data, at))
        at += ENTRY.size
    if net is not None:
        least, most = (entry[2] if entry else 0 for entry in entries[:2])
        require(-least <= net <= most, "net records that the segments of the run do not allow", at)
    return Run(first, last, *entries), at

# ---- store.md --------------------------------------------------------------------------------------------------------

def of_records(parameters):
    """Runs: the parameters of a segment of records."""
    return parameters._replace(has=parameters.has & ~HAS_KEYS, keys=None)

def of_keys(parameters):
    """Runs: the parameters of a segment of keys."""
    return of_id_index(parameters)._replace(has=HAS_KEYS, keys=parameters.keys)

def of_removals(parameters):
    """Runs: the parameters of a segment of tombstones."""
    return parameters._replace(distance=0, design=TABLES, first=1, second=0, has=0, keys=None)

def of_id_index(parameters):
    """Runs: the parameters of an id index."""
    return of_removals(parameters)._replace(width=64, id_kind=NUMBERS, hasher="")

def read_store(directory, files, note):
    """Parameters and records of a store, of a key index as lines. The last element of `files` is the current file."""
    files.append(os.path.join(directory, "MANIFEST"))
    manifest = read_manifest(files[-1])
    parameters, layers, keyed = manifest.parameters, [], []
    def segment(entry, parameters):
        files.append(os.path.join(directory, "%08d.segment" % entry[0]))
        require(os.path.isfile(files[-1]), "no such file, but the manifest names it")
        parts = read_segment(files[-1], parameters, entry)[1:]
        check_filters(directory, files, parameters, entry, parts[0][0])
        return parts
    # Oldest first.
    for run in manifest.runs:
        if run.removals:
            layers.append((True, segment(run.removals, of_removals(parameters))[0]))
        if run.records:
            records = segment(run.records, of_records(parameters))[0]
            layers.append((False, records))
        if run.id_index:
            check_id_index(records, segment(run.id_index, of_id_index(parameters))[0])
        if run.keys:
            keys, sketches = segment(run.keys, of_keys(parameters))
            check_keys(parameters.keys, records, keys, sketches)
            keyed.append((records, keys, sketches))
    operations = read_logs(directory, files, manifest, note)
    existing = what_is_there(parameters, layers, operations)
    if parameters.keys:
        return parameters, with_keys(parameters.keys, existing, keyed)
    return parameters, existing

def check_filters(directory, files, parameters, entry, fingerprints):
    """Saved filters of a segment, if there are any: they must be those of its tables."""
    path = os.path.join(directory, "%08d.filters" % entry[0])
    if not os.path.isfile(path):
        return
    files.append(path)
    distinct, width = sorted(set(fingerprints)), parameters.width
    keys = []
    for number, (order, leading) in enumerate(table_orders(parameters)):
        if number == 0:
            keys.append([fingerprint >> width - 64 for fingerprint in distinct])
        else:
            keys.append(make_heads(distinct, order, leading, width))
    read_filters(path, entry[4], keys)

def check_id_index(records, found):
    """Id index: it must have each pair of a hash and a rank once, and no other."""
    fingerprints, ids = records
    bits = min((len(ids) - 1).bit_length() + 8, 64) if len(ids) else 0
    pairs, rank = set(), -1
    for i, id_ in enumerate(ids):
        rank += i == 0 or fingerprints[i] != fingerprints[i - 1]
        data = id_.encode() if isinstance(id_, str) else struct.pack("<Q", id_)
        pairs.add((xxh64([data]) >> (64 - bits), rank))
    require(sorted(pairs) == list(zip(*found)), "an id index that is not that of the records")

def read_logs(directory, files, manifest, note):
    """Logs: the operations that are in no run, in order."""
    operations, least, most = [], 1, manifest.flushed + 1
    for number in log_numbers(directory, manifest.first_log):
        files.append(os.path.join(directory, "%08d.wal" % number))
        require(os.path.isfile(files[-1]), "no such file, but there are later logs")
        log = read_log(files[-1], number, manifest.parameters)
        require(least <= log.first <= most, "writes are missing in front of this log")
        least = log.first + len(log.batches)
        most = max(least, most)
        for own, batch in enumerate(log.batches, log.first):
            if own > manifest.flushed:
                require(own <= MOST_NUMBER, "a sequence number that no store reaches")
                operations += batch
        if manifest.parameters.id_kind == NO_IDS:
            require(sum(n for _, n, _ in operations) <= MOST_NUMBER, "counts that no store reaches")
        if log.torn > 0:
            note(files[-1], "%d bytes from byte %d on were cut short by a crash" % (log.torn, log.end))
    return operations

def log_numbers(directory, first):
    """The numbers of the logs from the first to the last existing one."""
    names = (re.fullmatch(r"([0-9]{8,})\.wal", name) for name in os.listdir(directory))
    numbers = [int(name[1]) for name in names if name and "%08d.wal" % int(name[1]) == name[0]]
    last = max(numbers, default=0)
    # The caller stops at the first missing log, so it tries at most one number more than there are logs.
    return itertools.takewhile(lambda number: number <= last, itertools.count(first))

def what_is_there(parameters, layers, operations):
    """Contents: the newest entry of a record decides; counts add up. Yields records in order."""
    if parameters.id_kind == NO_IDS:
        return counts(layers, operations)
    said = {(fingerprint, id_): removed for fingerprint, id_, removed in operations}
    mentions = [sorted((*record, 0, removed) for record, removed in said.items())]
    # The newest entry of a record comes first.
    for age, (removed, records) in enumerate(layers[::-1], 1):
        mentions.append([(*record, age, removed) for record in zip(*records)])
    groups = itertools.groupby(heapq.merge(*mentions), lambda mention: mention[:2])
    words = ((record, next(mentions)) for record, mentions in groups)
    return (record for record, (_, _, _, removed) in words if not removed)

def counts(layers, operations):
    """Contents: without ids, the sum of the insertions less the sum of the removals."""
    changes = [sorted((fingerprint, -n if removed else n) for fingerprint, n, removed in operations)]
    for removed, records in layers:
        changes.append([(fingerprint, -n if removed else n) for fingerprint, n in zip(*records)])
    groups = itertools.groupby(heapq.merge(*changes), lambda change: change[0])
    sums = ((fingerprint, sum(n for _, n in changes)) for fingerprint, changes in groups)
    return (record for record in sums if record[1] > 0)
