"""Records whose neighbours are known."""

from __future__ import annotations

import array
import random

MASK = (1 << 64) - 1


def mixed(number: int) -> int:
    """A number spread over 64 bits, another one for each number."""
    number = (number + 0x9E3779B97F4A7C15) & MASK
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9 & MASK
    number = (number ^ number >> 27) * 0x94D049BB133111EB & MASK
    return number ^ number >> 31


def clustered(count: int, seed: int) -> array.array[int]:
    """Fingerprints, each near three others."""
    rng = random.Random(seed)
    made = array.array("Q")
    while len(made) < count:
        centre = rng.getrandbits(64)
        for _ in range(4):
            made.append(centre ^ 1 << rng.randrange(64))
    return made[:count]


def texts(count: int, seed: int) -> list[str]:
    rng = random.Random(seed)
    words = [f"word{number}" for number in range(500)]
    return [" ".join(rng.choices(words, k=60)) for _ in range(count)]


def key_lists(count: int, seed: int) -> list[list[int]]:
    """Lists of keys; many share some."""
    rng = random.Random(seed)
    return [[mixed(rng.randrange(count * 2)) for _ in range(8)] for _ in range(count)]
