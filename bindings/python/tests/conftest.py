"""What tests share. They need pytest alone; those that need another package are skipped without it."""

import os
import random

import pytest


@pytest.fixture
def path(tmp_path):
    """Where a store can be created."""
    return tmp_path / "store"


@pytest.fixture
def other(tmp_path):
    """Where another one can be."""
    return tmp_path / "other"


class Model:
    """What a store has to answer, by comparing everything with everything."""

    def __init__(self, records):
        self.records = list(records)

    def query(self, query, k):
        found = [((query ^ fp).bit_count(), fp, id) for fp, id in self.records]
        return sorted(one for one in found if one[0] <= k)

    def pairs(self, k):
        found = set()
        for at, (a, id_a) in enumerate(self.records):
            for b, id_b in self.records[at + 1 :]:
                distance = (a ^ b).bit_count()
                if distance <= k:
                    found.add((*sorted((id_a, id_b)), distance))
        return found


def clustered(count, width, seed):
    """Fingerprints of which many are near others, with ids."""
    rng = random.Random(seed)
    centres = [rng.getrandbits(width) for _ in range(max(1, count // 4))]
    records = []
    for id in range(count):
        fingerprint = rng.choice(centres)
        for _ in range(rng.randrange(5)):
            fingerprint ^= 1 << rng.randrange(width)
        records.append((fingerprint, id))
    return records


@pytest.fixture
def model():
    return Model


@pytest.fixture
def near():
    return clustered


@pytest.fixture
def programs():
    """The directory of fpload, fpquery and the others."""
    found = os.environ.get("FPSTORE_PROGRAMS")
    if not found:
        pytest.skip("FPSTORE_PROGRAMS does not name the directory of the programs")
    return found
