"""Any sequence of writes gives the answers of a model, whatever the width, the ids and the kind of columns."""

import shutil
import tempfile
from collections import Counter

import pytest

import fpstore as fp

for package in ("hypothesis", "numpy", "polars", "pyarrow"):
    pytest.importorskip(package)
from hypothesis import strategies as st  # noqa: E402
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule  # noqa: E402

import columns  # noqa: E402
from brute import Model, flipped  # noqa: E402
from columns import rows  # noqa: E402
from examples import examples  # noqa: E402

NAMES = st.integers(0, 12)
# The bits that differ from a common centre: so there are near and equal fingerprints.
BITS = st.lists(st.integers(0, 255), max_size=4)
SOME = st.lists(st.tuples(BITS, NAMES, st.sampled_from([False] * 7 + [True])), min_size=1, max_size=7)
DISTANCES = st.sampled_from([0, 1, 3, 5, 9])
DURABILITIES = st.sampled_from(["buffered", "sync", "sync-all"])
LINKAGES = st.sampled_from(["single", "star", "complete"])


class Histories(RuleBasedStateMachine):
    """One store of any kind beside a model."""

    @initialize(
        width=st.sampled_from([64, 128, 256]),
        ids=st.sampled_from(["u64", "text", "none", "numbered"]),
        # The library makes such designs for any width.
        plan=st.sampled_from(["auto", "auto:space", "auto:latency", "auto:disk"]),
        codec=st.sampled_from(["adaptive", "xor"]),
        id_index=st.booleans(),
        centre=st.integers(0, 2**256 - 1),
    )
    def create(self, width, ids, plan, codec, id_index, centre):
        self.directory = tempfile.mkdtemp()
        self.path, self.width, self.ids = self.directory + "/store", width, ids
        self.centre, self.next = centre >> 256 - width, 0
        self.id_index = id_index and ids != "none"
        self.records, self.snapshots = Counter(), []
        options = {"plan": plan, "codec": codec, "id_index": self.id_index}
        kind = "u64" if ids == "numbered" else ids
        self.store = fp.create(self.path, width=width, max_distance=3, ids=kind, **options)

    def teardown(self):
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.directory)

    # What the model says.

    @property
    def has_ids(self):
        return self.ids in ("u64", "text")

    def model(self, records=None):
        records = self.records if records is None else records
        if self.ids != "none":
            return Model(records)
        return Model([fp for (fp, _), count in records.items() for _ in range(count)], counts=True)

    def one(self, bits):
        return flipped(self.centre, [bit % self.width for bit in bits])

    def named(self, number):
        return f"page/{number}" if self.ids == "text" else number if self.ids == "u64" else None

    def several(self, some, nulls=True):
        """Fingerprints of which some are null, and ids."""
        fingerprints = [None if is_null and nulls else self.one(bits) for bits, _, is_null in some]
        return fingerprints, [self.named(name) for _, name, _ in some]

    def given_columns(self, data, fingerprints, ids):
        kinds = columns.kinds(self.width, nulls=None in fingerprints)
        column = columns.fingerprints(fingerprints, self.width, data.draw(st.sampled_from(kinds), label="kind"))
        if not self.has_ids:
            return column, None
        return column, columns.ids(ids, data.draw(st.sampled_from(columns.ID_KINDS), label="kind of ids"))

    def numbers(self, fingerprints, ids):
        """Records, with the numbers that the store gives them."""
        if self.ids != "numbered":
            return [(fp, id) for fp, id in zip(fingerprints, ids) if fp is not None]
        records = list(zip((fp for fp in fingerprints if fp is not None), range(self.next, self.next + len(ids))))
        self.next += len(records)
        return records

    def add(self, records):
        """Adds records to the model; how many are new."""
        before = self.records.total()
        for record in records:
            self.records[record] += self.ids == "none" or record not in self.records
        return self.records.total() - before

    def drop(self, records):
        before = self.records.total()
        self.records.subtract(Counter(record for record in records if record in self.records))
        self.records = +self.records
        return before - self.records.total()

    # Writes.

    @rule(data=st.data(), some=SOME)
    def load(self, data, some):
        fingerprints, ids = self.several(some)
        report = self.store.load(*self.given_columns(data, fingerprints, ids))
        records = self.numbers(fingerprints, ids)
        nulls = fingerprints.count(None)
        assert report == {"records": len(some), "added": self.add(records), "removed": 0, "nulls": nulls}

    @precondition(lambda self: self.has_ids and self.id_index)
    @rule(data=st.data(), some=SOME)
    def load_replace(self, data, some):
        fingerprints, ids = self.several(some)
        report = self.store.load_replace(*self.given_columns(data, fingerprints, ids))
        records = self.numbers(fingerprints, ids)
        replaced = {id for _, id in records}
        old = [record for record in self.records if record[1] in replaced and record not in records]
        assert (report["removed"], report["added"]) == (self.drop(old), self.add(records))

    @precondition(lambda self: self.ids != "numbered")
    @rule(data=st.data(), some=SOME, durability=DURABILITIES, way=st.sampled_from(["remove", "load_remove"]))
    def remove(self, data, some, durability, way):
        fingerprints, ids = self.several(some)
        given = self.given_columns(data, fingerprints, ids)
        if way == "remove":
            removed = self.store.remove(*given, durability=durability)
        else:
            removed = self.store.load_remove(*given)["removed"]
        assert removed == self.drop(self.numbers(fingerprints, ids))

    @precondition(lambda self: self.has_ids)
    @rule(bits=BITS, name=NAMES)
    def remove_one(self, bits, name):
        record = self.one(bits), self.named(name)
        assert self.store.remove(*record, durability="buffered") == self.drop([record])

    @rule(data=st.data(), some=SOME, durability=DURABILITIES)
    def insert(self, data, some, durability):
        fingerprints, ids = self.several(some)
        self.store.insert(*self.given_columns(data, fingerprints, ids), durability=durability)
        self.add(self.numbers(fingerprints, ids))

    @rule(bits=BITS, name=NAMES, as_bytes=st.booleans())
    def insert_one(self, bits, name, as_bytes):
        one, id = self.one(bits), self.named(name)
        with self.store.writer(durability="buffered") as writer:
            writer.insert(columns.to_bytes(one, self.width) if as_bytes else one, id)
        self.add(self.numbers([one], [id]))

    @rule(bits=BITS, name=NAMES, k=DISTANCES)
    def insert_one_if_new(self, bits, name, k):
        one, id = self.one(bits), self.named(name)
        is_new = self.is_new(one, id, k)
        assert self.store.insert_if_new(one, id, k=k, durability="buffered") == is_new
        if is_new:
            self.add(self.numbers([one], [id]))

    @rule(data=st.data(), some=SOME, k=DISTANCES, durability=DURABILITIES)
    def insert_if_new(self, data, some, k, durability):
        fingerprints, ids = self.several(some)
        column, names = self.given_columns(data, fingerprints, ids)
        told = self.store.insert_if_new(column, ids=names, k=k, durability=durability).to_pylist()
        assert len(told) == len(some)
        for one, id, row in zip(fingerprints, ids, told):
            is_new = one is not None and self.is_new(one, id, k)
            number = self.next if is_new and self.ids == "numbered" else None
            reasons = [(None, None)] if one is None or is_new else self.reasons(one, id, k)
            assert list(row.values())[:2] == [is_new, number] and tuple(row.values())[2:] in reasons, (one, id)
            if is_new:
                self.add(self.numbers([one], [id]))

    def is_new(self, one, id, k):
        """Whether there is neither the same record nor one with another id that is near."""
        return (one, id) not in self.records and not self.others(one, id, k)

    def others(self, one, id, k):
        return [near for near in self.model().query(one, k) if not self.has_ids or near[2] != id]

    def reasons(self, one, id, k):
        """Ids and distances of the records for which another one is not inserted: itself, or one of the nearest."""
        if self.has_ids and (one, id) in self.records:
            return [(id, 0)]
        others = self.others(one, id, k)
        return [(near[2], near[0]) for near in others if near[0] == others[0][0]]

    @precondition(lambda self: self.has_ids and self.id_index)
    @rule(bits=BITS, name=NAMES)
    def replace(self, bits, name):
        record = self.one(bits), self.named(name)
        old = [other for other in self.records if other[1] == record[1] and other != record]
        assert self.store.replace(*record, durability="buffered") == self.drop(old)
        self.add([record])

    @precondition(lambda self: self.ids != "none")
    @rule(data=st.data(), names=st.lists(NAMES, min_size=1, max_size=3))
    def remove_ids(self, data, names):
        ids = [self.named(name) if self.has_ids else name for name in names]
        old = [record for record in self.records if record[1] in ids]
        if self.id_index and len(ids) == 1:
            assert self.store.remove_id(ids[0], durability="buffered") == self.drop(old)
        else:
            column = columns.ids(ids, data.draw(st.sampled_from(columns.ID_KINDS)))
            assert self.store.remove_ids(column) == self.drop(old)

    # What leaves the records as they are.

    @rule()
    def compact(self):
        self.store.compact()
        assert self.store.compact() is False

    @rule(read_mode=st.sampled_from(["mmap", "pread"]), filters=st.sampled_from(["background", "at-open", "off"]))
    def reopen(self, read_mode, filters):
        self.store.close()
        self.store = fp.open(self.path, read_mode=read_mode, filters=filters)

    @rule()
    def take_snapshot(self):
        self.snapshots = [*self.snapshots[-2:], (self.store.snapshot(), Counter(self.records))]

    @rule()
    def verify(self):
        assert self.store.verify()["damages"] == []

    @rule(bits=BITS)
    def follow(self, bits):
        """A reader of the same directory has all that was written."""
        with fp.open(self.path, read_only=True) as reader:
            assert len(reader) == self.records.total()
            assert [tuple(one) for one in reader.query(self.one(bits), 3)] == self.model().query(self.one(bits), 3)

    # Answers of the store, or of an earlier state.

    def state(self, data):
        """The store or a snapshot, with its model."""
        states = [(self.store, self.records), *self.snapshots]
        state, records = states[data.draw(st.integers(0, len(states) - 1), label="state")]
        return state, self.model(records)

    @invariant()
    def counts(self):
        if hasattr(self, "store"):
            assert len(self.store) == self.records.total()

    @rule(bits=BITS, k=DISTANCES, count=st.integers(1, 5))
    def ask_one(self, bits, k, count):
        query, model = self.one(bits), self.model()
        near = model.query(query, k)
        for asked in (query, columns.to_bytes(query, self.width), f"{query:0{self.width // 4}x}"):
            assert [tuple(match) for match in self.store.query(asked, k)] == near
        assert [tuple(match) for match in self.store.nearest(query, count)] == model.query(query, self.width)[:count]
        assert [tuple(match) for match in self.store.nearest(query, count, k=k)] == near[:count]
        assert self.store.contains_near(query, k) == bool(near)
        same = [id for fp, id in model.records if fp == query]
        assert self.store.get(query) == same and (query in self.store) == bool(same)

    @precondition(lambda self: self.id_index)
    @rule(name=NAMES)
    def ask_id(self, name):
        id = self.named(name) if self.has_ids else name
        assert self.store.get_id(id) == [fp for fp, known in self.model().records if known == id]

    @rule(data=st.data(), some=SOME, k=DISTANCES, count=st.integers(1, 5))
    def ask_many(self, data, some, k, count):
        state, model = self.state(data)
        queries, _ = self.several(some)
        kinds = columns.kinds(self.width, nulls=None in queries)
        column = lambda: columns.fingerprints(queries, self.width, data.draw(st.sampled_from(kinds)))  # noqa: E731
        near = [[] if query is None else model.query(query, k) for query in queries]
        nearest = [[] if query is None else model.query(query, self.width)[:count] for query in queries]
        names = ("query_row", "distance", "fingerprint", "id", "count")
        for answers, expected in (
            (state.query(column(), k), near),
            (state.nearest(column(), count), nearest),
            (state.nearest(column(), count, k=k), [one[:count] for one in near]),
        ):
            assert rows(answers, *names) == [(row, *match) for row, matches in enumerate(expected) for match in matches]
        assert state.contains_near(column(), k).to_pylist() == [bool(matches) for matches in near]

    @rule(data=st.data())
    def ask_records(self, data):
        state, model = self.state(data)
        assert rows(state.records()) == model.records
        expected = sum(id for _, id in model.records) if self.ids == "none" else len(model.records)
        assert state.stats()["records"] == expected

    @rule(data=st.data(), k=DISTANCES)
    def ask_pairs(self, data, k):
        state, model = self.state(data)
        assert Counter(rows(state.pairs(k))) == model.pairs(k)

    @rule(data=st.data(), k=DISTANCES)
    def ask_join(self, data, k):
        state, model = self.state(data)
        now = self.store.snapshot()
        if state is self.store:
            state = self.store.snapshot()
        assert Counter(rows(state.join(now, k))) == model.join(self.model(), k)

    @rule(data=st.data(), k=DISTANCES, linkage=LINKAGES, ranks=st.lists(NAMES, max_size=4))
    def ask_clusters(self, data, k, linkage, ranks):
        state, model = self.state(data)
        keep = data.draw(st.sampled_from(["smallest", "largest"] + [["ranked"]] * (self.ids != "none")))
        if keep == ["ranked"]:
            keep = [self.named(name) if self.has_ids else name for name in ranks]
        how = {"linkage": linkage, "keep": keep}
        kept, evidence = model.keep(k, **how)
        assert Counter(rows(state.clusters(k, **how))) == model.clusters(k, **how)
        assert Counter(one for one, in rows(state.keep(k, **how))) == kept
        found = state.keep(k, evidence=True, **how)
        assert Counter(rows(found)) == evidence
        assert linkage == "single" or all(row[3] <= k for row in evidence)


TestHistories = Histories.TestCase
TestHistories.settings = examples(40, stateful_step_count=30)
