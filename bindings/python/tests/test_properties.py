"""Any sequence of writes gives the answers of a model, whatever the width, the ids and the way in."""

import tempfile

import pytest

import fpstore as fp

hypothesis = pytest.importorskip("hypothesis")
from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis import strategies as st  # noqa: E402


@st.composite
def histories(draw):
    """A width, a kind of ids, and writes of few fingerprints near each other."""
    width = draw(st.sampled_from([64, 128, 256]))
    text = draw(st.booleans())
    centre = draw(st.integers(0, 2**width - 1))
    near = st.lists(st.integers(0, width - 1), max_size=4).map(lambda bits: flipped(centre, bits))
    id = st.integers(0, 40).map(str) if text else st.integers(0, 40)
    records = st.lists(st.tuples(near, id), min_size=1, max_size=8)
    deeds = st.sampled_from(["load", "insert", "insert_one", "remove", "load_remove", "compact", "reopen"])
    return width, text, draw(st.lists(st.tuples(deeds, records), max_size=8)), draw(records)


def flipped(fingerprint, bits):
    for bit in bits:
        fingerprint ^= 1 << bit
    return fingerprint


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(histories())
def test_any_history(model, history):
    width, text, deeds, queries = history
    expected = set()

    def column(fingerprints):
        return list(fingerprints) if width == 64 else [one.to_bytes(width // 8, "big") for one in fingerprints]

    with tempfile.TemporaryDirectory() as directory:
        path = directory + "/store"
        store = fp.create(path, width=width, max_distance=3, ids="text" if text else "u64")
        for deed, records in deeds:
            fingerprints, ids = zip(*records)
            if deed == "load":
                assert store.load(column(fingerprints), ids=ids)["added"] == len(set(records) - expected)
            elif deed == "insert":
                store.insert(column(fingerprints), ids, durability="buffered")
            elif deed == "insert_one":
                [store.insert(one, id, durability="buffered") for one, id in records]
            elif deed == "remove":
                assert store.remove(column(fingerprints), ids, durability="buffered") == len(set(records) & expected)
            elif deed == "load_remove":
                assert store.load_remove(column(fingerprints), ids=ids)["removed"] == len(set(records) & expected)
            elif deed == "compact":
                store.compact()
            else:
                store.close()
                store = fp.open(path)
            if deed in ("load", "insert", "insert_one"):
                expected |= set(records)
            elif deed in ("remove", "load_remove"):
                expected -= set(records)
        answers = model(expected)
        asked = [one for one, _ in queries]
        for k in (0, 3, 5):
            found = [[tuple(match) for match in store.query(one, k)] for one in asked]
            assert found == [answers.query(one, k) for one in asked]
            many = store.query(column(asked), k).to_pydict()
            assert list(zip(many["query_row"], many["id"])) == [
                (row, match[2]) for row, matches in enumerate(found) for match in matches
            ]
            assert store.contains_near(column(asked), k).to_pylist() == [bool(matches) for matches in found]
        assert len(store) == len(expected)
        store.close()
