"""Pictures of stores, with matplotlib.

Each function draws on ``ax``, or on axes of its own, and returns them.

>>> import fpstore as fp
>>> fp.plot.s_curve(14, 4).get_ylabel()
'probability of a shared band'
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fpstore._native import KeyIndex, KeySnapshot, Snapshot, Store


def _axes(ax: Any) -> Any:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt  # pyright: ignore

    return plt.figure(figsize=(7, 4), layout="constrained").add_subplot()  # pyright: ignore


def distances(store: Store | Snapshot, k: int | None = None, *, ax: Any = None) -> Any:
    """How many pairs of records there are at each distance up to ``k`` bits.

    Many pairs at small distances are near-duplicates; where the bars begin to grow evenly, pairs are near by chance.

    >>> import fpstore as fp, tempfile
    >>> store = fp.create(tempfile.mkdtemp() + "/store")
    >>> store.load([7, 6, 5], ids=[1, 2, 3])["added"]
    3
    >>> fp.plot.distances(store).get_title()
    '3 pairs within 3 bits'
    """
    if not isinstance(store, (Store, Snapshot)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"store={store!r}: expected a Store or a Snapshot, whose pairs have distances in bits")
    k = store.max_distance if k is None else k
    counts = [0] * (k + 1)
    for batch in store.pairs(k):
        for distance in batch["distance"].to_pylist():
            counts[distance] += 1
    drawn = _axes(ax)
    bars = drawn.bar(range(k + 1), counts, color="#3b6ea8")
    drawn.bar_label(bars, labels=[f"{count:,}" for count in counts], padding=2, fontsize=8)
    drawn.margins(y=0.1)
    drawn.set(xlabel="distance in bits", ylabel="pairs", title=f"{sum(counts):,} pairs within {k} bits")
    drawn.set_xticks(range(k + 1))
    return drawn


def cluster_sizes(store: Store | Snapshot | KeyIndex | KeySnapshot, *, ax: Any = None, **how: Any) -> Any:
    """How many clusters there are of each size; ``how`` are the arguments of ``clusters``. Where there are no ids, the
    size is the number of fingerprints.

    >>> import fpstore as fp, tempfile
    >>> store = fp.create(tempfile.mkdtemp() + "/store")
    >>> store.load([7, 6, 2**64 - 1], ids=[1, 2, 3])["added"]
    3
    >>> fp.plot.cluster_sizes(store, k=3).get_title()
    '2 clusters of 3 records, the largest of 2'
    """
    sizes: dict[Any, int] = {}
    for batch in store.clusters(**how):
        for label in batch["cluster"].to_pylist():
            sizes[label] = sizes.get(label, 0) + 1
    counts: dict[int, int] = {}
    for size in sizes.values():
        counts[size] = counts.get(size, 0) + 1
    drawn = _axes(ax)
    drawn.scatter(list(counts), list(counts.values()), color="#3b6ea8", s=18)
    what = "fingerprints" if store.ids == "none" else "records"
    drawn.set(xscale="log", yscale="log", xlabel=f"{what} of a cluster", ylabel="clusters")
    total = sum(sizes.values())
    drawn.set_title(f"{len(sizes):,} clusters of {total:,} {what}, the largest of {max(counts, default=0):,}")
    return drawn


def bits(health: Mapping[str, Any], *, ax: Any = None) -> Any:
    """The share of fingerprints in which each bit is 1: what :func:`fpstore.health` returns. Even bits are at 0.5;
    those that it calls dead, constant or biased are red.

    >>> import fpstore as fp
    >>> fp.plot.bits(fp.health([1, 2, 3])).get_title()
    '3 fingerprints: too few to tell'
    """
    shares = [bit["share"] for bit in health["bits"]]
    drawn = _axes(ax)
    useless = {bit for kind in ("dead", "constant", "biased") for bit in health[kind]}
    colours = ["#c4532d" if bit in useless else "#3b6ea8" for bit in range(len(shares))]
    drawn.bar(range(len(shares)), shares, color=colours, width=1.0)
    drawn.axhline(0.5, color="black", linewidth=0.8)
    drawn.set(xlabel="bit, 0 is the most significant", ylabel="share of ones")
    drawn.set(xlim=(-0.5, len(shares) - 0.5), ylim=(0, 1))
    verdict = {True: "sound", False: "not sound", None: "too few to tell"}[health["sound"]]
    drawn.set_title(f"{health['records']:,} fingerprints: {verdict}")
    return drawn


def s_curve(bands: int, rows: int, *, ax: Any = None) -> Any:
    """The probability that two documents share a band, by their Jaccard similarity: 1 - (1 - s^rows)^bands.

    >>> import fpstore as fp
    >>> fp.plot.s_curve(14, 4).get_title()
    '14 bands of 4 rows'
    """
    steps = [step / 200 for step in range(201)]
    drawn = _axes(ax)
    drawn.plot(steps, [1 - (1 - s**rows) ** bands for s in steps], color="#3b6ea8")
    drawn.axvline((1 / bands) ** (1 / rows), color="black", linewidth=0.8, linestyle=":")
    drawn.set(xlabel="Jaccard similarity", ylabel="probability of a shared band", xlim=(0, 1), ylim=(0, 1))
    drawn.set_title(f"{bands} bands of {rows} rows")
    return drawn
