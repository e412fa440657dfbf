"""Pictures show what the data say."""

import pytest

import fpstore as fp

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")

from fpstore import plot  # noqa: E402


def test_pictures(path, near, tmp_path):
    fingerprints, ids = zip(*near(800, 64, seed=3))
    with fp.create(path, max_distance=4) as store:
        store.load(fingerprints, ids=ids)
        ax = plot.distances(store, 4)
        pairs = store.pairs(4).to_pydict()["distance"]
        assert [bar.get_height() for bar in ax.patches] == [pairs.count(distance) for distance in range(5)]
        ax.figure.savefig(tmp_path / "distances.png")
        ax = plot.cluster_sizes(store, k=4)
        assert "clusters of 8" in ax.get_title()
        before = store.snapshot()
        assert plot.distances(before).get_title() == plot.distances(store, 4).get_title()
        assert plot.cluster_sizes(before, k=4).get_title() == plot.cluster_sizes(store, k=4).get_title()
    with fp.create(tmp_path / "counts", ids="none") as store:
        store.insert([7, 7, 7, 6, 1 << 60])
        assert plot.cluster_sizes(store, k=1).get_title() == "2 clusters of 3 fingerprints, the largest of 2"
    index = fp.create(tmp_path / "index", kind="keys")
    with pytest.raises(TypeError, match="expected a Store or a Snapshot"):
        plot.distances(index)
    ax = plot.bits(fp.health(fingerprints))
    assert len(ax.patches) == 64
    ax = plot.s_curve(14, 8)
    (curve,) = (line for line in ax.lines if len(line.get_xdata()) == 201)
    assert curve.get_ydata()[160] == pytest.approx(1 - (1 - 0.8**8) ** 14)
    axes = matplotlib.pyplot.figure().add_subplot()
    assert plot.s_curve(2, 2, ax=axes) is axes
