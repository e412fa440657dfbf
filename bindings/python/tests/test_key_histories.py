"""Any sequence of loads and removals of a key index gives the answers of a model, whatever the ids, sketches and kind
of columns."""

import shutil
import tempfile
from collections import Counter

import pytest

import fpstore as fp

for package in ("hypothesis", "numpy", "polars", "pyarrow"):
    pytest.importorskip(package)
import polars as pl  # noqa: E402
import pyarrow as pa  # noqa: E402
from hypothesis import strategies as st  # noqa: E402
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule  # noqa: E402

import columns  # noqa: E402
from brute import KeyModel  # noqa: E402
from columns import rows  # noqa: E402
from examples import examples  # noqa: E402

NAMES = st.integers(0, 15)
# Few keys, so that records share them; some differ in their last bits alone, which a short key does not have.
KEY = st.tuples(st.integers(1, 7), st.sampled_from([0, 0, 1])).map(lambda key: (key[0] << 56) + key[1])
KEYS = st.lists(KEY, max_size=5)
SKETCHES = st.lists(st.sampled_from([0, 0, 7, 300]), min_size=4, max_size=4)
SOME = st.lists(st.tuples(NAMES, KEYS, SKETCHES), min_size=1, max_size=8)
LEAST = st.sampled_from([1, 1, 2, 3])
LINKAGES = st.sampled_from(["single", "star", "complete"])


def key_column(lists, kind):
    """Lists of keys in a column of this kind."""
    made = pa.array(lists, pa.list_(pa.uint64()))
    if kind == "list":
        return lists
    if kind == "large":
        return pa.array(lists, pa.large_list(pa.uint64()))
    if kind == "int64":
        return pa.array([[key - (key >> 63 << 64) for key in keys] for keys in lists], pa.list_(pa.int64()))
    filler = pa.array([[5], None], made.type)
    whole = pa.concat_arrays([filler, made, filler])
    if kind == "polars":
        return pl.Series(pa.chunked_array([made]))
    if kind == "own":
        return fp.Table({"keys": made})["keys"]
    cut = whole.slice(2, len(lists))
    return pa.chunked_array([cut.slice(0, 1), cut.slice(1)]) if kind == "chunked" else cut


KEY_KINDS = ("list", "large", "int64", "sliced", "chunked", "polars", "own")


class KeyHistories(RuleBasedStateMachine):
    """One key index of any kind beside a model."""

    @initialize(
        ids=st.sampled_from(["u64", "text"]),
        key_bits=st.sampled_from([16, 48, 64]),
        sample_bits=st.sampled_from([None, 8, 16]),
    )
    def create(self, ids, key_bits, sample_bits):
        self.directory = tempfile.mkdtemp()
        self.path, self.ids, self.key_bits, self.sample_bits = self.directory + "/index", ids, key_bits, sample_bits
        self.records, self.number = {}, 0
        self.index = self.new(self.path)

    def new(self, path):
        sketch = {"sketch": 4 * self.sample_bits, "sample_bits": self.sample_bits} if self.sample_bits else {}
        return fp.create(path, kind="keys", ids=self.ids, key_bits=self.key_bits, **sketch)

    def teardown(self):
        if hasattr(self, "index"):
            self.index.close()
            shutil.rmtree(self.directory)

    def model(self, records=None):
        return KeyModel(self.records if records is None else records, self.key_bits, self.sample_bits)

    def named(self, number):
        return f"page/{number}" if self.ids == "text" else number

    def sketch(self, samples):
        if self.sample_bits is None:
            return None
        size = self.sample_bits // 8
        return b"".join((sample % 256**size).to_bytes(size, "little") for sample in samples)

    def given_columns(self, data, some):
        names, lists, sketches = zip(*some)
        keys = key_column(list(lists), data.draw(st.sampled_from(KEY_KINDS), label="kind"))
        ids = columns.ids([self.named(name) for name in names], data.draw(st.sampled_from(columns.ID_KINDS)))
        if self.sample_bits is None:
            return keys, ids, None
        sketches = [self.sketch(samples) for samples in sketches]
        kinds = [pa.binary(), pa.large_binary(), pa.binary(len(sketches[0])), pa.binary_view()]
        made = pa.array(sketches, data.draw(st.sampled_from(kinds)))
        return keys, ids, data.draw(st.sampled_from([sketches, made]))

    def given_records(self, some):
        """By id; of the same id the first one counts."""
        return {self.named(name): (keys, self.sketch(samples)) for name, keys, samples in reversed(some)}

    @rule(data=st.data(), some=SOME, replace=st.booleans())
    def load(self, data, some, replace):
        keys, ids, sketches = self.given_columns(data, some)
        report = self.index.load(keys, ids, sketches, replace=replace)
        given = self.given_records(some)
        old = given.keys() & self.records.keys()
        assert report["records"] == len(some) and report["removed"] == (len(old) if replace else 0)
        assert report["added"] == len(given) - (0 if replace else len(old))
        self.records = {**self.records, **given} if replace else {**given, **self.records}

    @rule(data=st.data(), names=st.lists(NAMES, min_size=1, max_size=4))
    def remove_ids(self, data, names):
        ids = [self.named(name) for name in names]
        gone = set(ids) & self.records.keys()
        assert self.index.remove_ids(columns.ids(ids, data.draw(st.sampled_from(columns.ID_KINDS)))) == len(gone)
        self.records = {id: record for id, record in self.records.items() if id not in gone}

    @rule()
    def compact(self):
        self.index.compact()

    @rule(filters=st.sampled_from(["background", "off"]))
    def reopen(self, filters):
        self.index.close()
        assert fp.verify(self.path)["damages"] == []
        self.index = fp.open(self.path, filters=filters)

    @rule()
    def back_up(self):
        self.number += 1
        assert self.index.backup(f"{self.directory}/{self.number}") == len(self.records)
        with fp.open(f"{self.directory}/{self.number}", read_only=True) as copy:
            assert Counter(rows(copy.pairs())) == self.model().pairs()

    @invariant()
    def counts(self):
        if hasattr(self, "index"):
            assert len(self.index) == len(self.records)

    def similar(self, data):
        return data.draw(st.sampled_from([None, 0.2, 0.5, 1.0])) if self.sample_bits else None

    @rule(keys=KEYS, samples=SKETCHES, least=LEAST, nearest=st.sampled_from([None, 1, 3]), data=st.data())
    def ask_one(self, keys, samples, least, nearest, data):
        similar, sketch = self.similar(data), self.sketch(samples)
        found = self.index.query(keys, sketch, min_shared=least, min_jaccard=similar, nearest=nearest)
        assert [tuple(one) for one in found] == self.model().query(keys, sketch, least, similar or 0.0, nearest)

    @rule(data=st.data(), some=SOME, least=LEAST, nearest=st.sampled_from([None, 1, 3]))
    def ask_many(self, data, some, least, nearest):
        (keys, _, sketches), similar, model = self.given_columns(data, some), self.similar(data), self.model()
        found = self.index.query(keys, sketches, min_shared=least, min_jaccard=similar, nearest=nearest)
        expected = [model.query(one, self.sketch(samples), least, similar or 0.0, nearest) for _, one, samples in some]
        assert rows(found) == [(row, *match) for row, matches in enumerate(expected) for match in matches]

    @rule(least=LEAST, data=st.data())
    def ask_pairs(self, least, data):
        similar = self.similar(data)
        found = self.index.pairs(min_shared=least, min_jaccard=similar)
        assert Counter(rows(found)) == self.model().pairs(least, similar or 0.0)

    @rule(data=st.data(), some=SOME, least=LEAST)
    def ask_join(self, data, some, least):
        similar, self.number = self.similar(data), self.number + 1
        keys, ids, sketches = self.given_columns(data, some)
        with self.new(f"{self.directory}/{self.number}") as other:
            other.load(keys, ids, sketches)
            found = self.index.join(other, min_shared=least, min_jaccard=similar)
            expected = self.model().join(self.model(self.given_records(some)), least, similar or 0.0)
            assert Counter(rows(found)) == expected

    @rule(data=st.data(), least=LEAST, linkage=LINKAGES, ranks=st.lists(NAMES, max_size=4))
    def ask_clusters(self, data, least, linkage, ranks):
        similar = self.similar(data)
        keep = data.draw(st.sampled_from(["smallest", "largest", [self.named(name) for name in ranks]]))
        how = {"linkage": linkage, "keep": keep}
        asked, told = {"min_shared": least, "min_jaccard": similar, **how}, (least, similar or 0.0)
        kept, evidence = self.model().keep(*told, **how)
        assert Counter(rows(self.index.clusters(**asked))) == self.model().clusters(*told, **how)
        assert Counter(id for id, in rows(self.index.keep(**asked))) == kept
        assert Counter(rows(self.index.keep(evidence=True, **asked))) == evidence

    @rule(most=st.integers(1, 4))
    def leave_out_frequent_keys(self, most):
        """A key of more than so many records counts as if no record had it."""
        model = self.model()
        times = Counter(key for keys, _ in model.records.values() for key in keys)
        rare = {key for key, count in times.items() if count <= most}
        model.records = {id: (keys & rare, sketch) for id, (keys, sketch) in model.records.items()}
        found = self.index.pairs(max_key_frequency=most)
        assert Counter(rows(found)) == model.pairs() and found.skipped_keys == len(times) - len(rare)
        clusters = self.index.clusters(max_key_frequency=most)
        assert Counter(rows(clusters)) == model.clusters()


TestKeyHistories = KeyHistories.TestCase
TestKeyHistories.settings = examples(30, stateful_step_count=25)
