"""The index for py-tx answers as its own flat index does."""

import io
import random

import pytest

pytest.importorskip("threatexchange")

from threatexchange.signal_type.pdq.pdq_index2 import PDQIndex2  # noqa: E402

from fpstore.threatexchange import PDQIndex  # noqa: E402


def hashes(count, seed):
    rng = random.Random(seed)
    centres = [rng.getrandbits(256) for _ in range(count // 3)]
    for number in range(count):
        one = rng.choice(centres)
        for _ in range(rng.randrange(40)):
            one ^= 1 << rng.randrange(256)
        yield f"{one:064x}", {"number": number}


def answers(index, query):
    found = index.query(query)
    return sorted((int(one.similarity_info.distance), one.metadata["number"]) for one in found)


def test_answers_are_those_of_its_own_index(tmp_path):
    entries = list(hashes(2000, seed=1))
    entries += [(entries[0][0], {"number": 2000})]
    theirs = PDQIndex2(entries=entries)
    ours = PDQIndex.build(entries[:1500])
    for hash, entry in entries[1500:1510]:
        ours.add(hash, entry)
    ours.add_all(entries[1510:])
    assert len(ours) == len(entries)
    file = io.BytesIO()
    ours.serialize(file)
    file.seek(0)
    again = PDQIndex.deserialize(file)
    ours.save(tmp_path / "index")
    worker = PDQIndex.open(tmp_path / "index")
    for query, _ in entries[::37]:
        expected = answers(theirs, query)
        assert answers(ours, query) == answers(again, query) == answers(worker, query) == expected
    assert [one.similarity_info.distance for one in ours.query(entries[0][0])] == sorted(
        one.similarity_info.distance for one in ours.query(entries[0][0])
    )
    with pytest.raises(ValueError):
        ours.add("00", {"number": 0})
    again.dispose()
    worker.dispose()
