"""Ray, on a real cluster of several processes on this machine."""

import glob
import os
import signal
import threading
import time

import pytest

ray = pytest.importorskip("ray")
import fpstore as fp  # noqa: E402
import fpstore.ray  # noqa: E402, after the check for ray
from fpstore import stages  # noqa: E402
from jobs import divide, rounds  # noqa: E402
from pages import MINHASH, Pages, pa, removed, texts  # noqa: E402


@pytest.fixture(scope="module")
def cluster():
    # Without what would look beyond this machine.
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    ray.init(num_cpus=4, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False)
    yield
    ray.shutdown()


@pytest.fixture
def rows(tmp_path):
    return Pages(tmp_path)


def test_a_dataset_without_near_duplicates(cluster, rows, tmp_path):
    dataset = ray.data.read_parquet(str(rows.folder))
    kept = fpstore.ray.dedup(dataset, tmp_path / "job", distance=3, tasks=4)
    assert sorted(row["id"] for row in kept.take_all()) == rows.kept
    assert removed(stages.open(tmp_path / "job")) == rows.removed
    files = sorted(rows.folder.glob("*.parquet"))
    kept = fpstore.ray.dedup(files, tmp_path / "of-files", distance=3, tasks=4)
    assert sorted(row["id"] for row in kept.take_all()) == rows.kept and not (tmp_path / "of-files-rows").exists()
    few = fpstore.ray.dedup(files[0], tmp_path / "of-one", distance=3, tasks=4)
    assert few.count() == fpstore.ray.dedup([str(files[0])], tmp_path / "of-list", distance=3, tasks=4).count() > 0


def test_texts_that_share_a_band(cluster, tmp_path):
    table, stay = texts()
    kept = fpstore.ray.dedup(ray.data.from_arrow(table), tmp_path / "job", tasks=3, **MINHASH)
    assert sorted(row["id"] for row in kept.take_all()) == stay and len(stay) < 290


def test_sketches_of_texts(cluster):
    table, _ = texts()
    table = pa.concat_tables([table, pa.table({"id": [300, 301], "text": [None, ""]}, table.schema)])
    dataset = ray.data.from_arrow(table).repartition(3)
    made = {row["id"]: row["fingerprint"] for row in fpstore.ray.sketch(dataset).take_all()}
    assert [made[id] for id in range(302)] == pa.array(fp.simhash(table["text"])).to_pylist()
    keyed = fpstore.ray.sketch(dataset, "text", "minhash", map_options={"batch_size": 50}, bands=14, rows=8)
    made = {row["id"]: list(row["keys"]) for row in keyed.take_all()}
    expected = pa.array(fp.bands(table["text"], bands=14, rows=8)).to_pylist()
    assert [made[id] for id in range(302)] == expected and expected[300:] == [[], []]
    with pytest.raises(Exception, match="a column 'id' already"):
        fpstore.ray.sketch(dataset, column="id").take_all()


def test_components_in_rounds(cluster, rows, tmp_path):
    job = divide(stages.create(tmp_path / "job", sorted(rows.folder.glob("*.parquet")), distance=3, tasks=2), 3)
    fpstore.ray.run(job)
    assert removed(job) == rows.removed and rounds(job) > 2


def test_a_folder_that_is_taken_and_no_rows(cluster, rows, tmp_path):
    dataset = ray.data.from_arrow(pa.table({"id": [1, 2], "fingerprint": pa.array([7, 7], pa.uint64())}))
    assert [row["id"] for row in fpstore.ray.dedup(dataset, tmp_path / "job", tasks=1).take_all()] == [1]
    for _ in range(2):
        with pytest.raises(fp.errors.AlreadyExistsError, match="job: the folder is not empty"):
            fpstore.ray.dedup(dataset, tmp_path / "job", tasks=1)
    assert len(list((tmp_path / "job-rows").glob("*.parquet"))) == 1
    empty = ray.data.from_arrow(pa.table({"id": pa.array([], pa.int64()), "fingerprint": pa.array([], pa.uint64())}))
    assert fpstore.ray.dedup(empty, tmp_path / "none", tasks=1).take_all() == []


def test_queries_may_have_the_same_bits_with_a_sign(cluster, rows):
    queries = [value for value in rows.values if value >= 2**63][:5]
    signed = pa.array(queries, pa.uint64()).view(pa.int64())
    dataset = ray.data.from_arrow(pa.table({"fingerprint": signed}))
    found = fpstore.ray.query(dataset, rows.store, 3, actors=1).take_all()
    made = sorted((row["fingerprint"] % 2**64, row["match_id"], row["match_distance"]) for row in found)
    assert made == rows.matches(queries) and made


def processes(name):
    """The processes whose title begins with `ray::` and this name."""
    found = []
    for path in glob.glob("/proc/[0-9]*/cmdline"):
        try:
            with open(path, "rb") as line:
                if line.read().startswith(f"ray::{name}".encode()):
                    found.append(int(path.split("/")[2]))
        except OSError:
            continue
    return found


class Killer(threading.Thread):
    """Kills some processes of Ray while the test runs."""

    def __init__(self, name, count):
        super().__init__(daemon=True)
        self.prefix, self.left, self.ended = name, count, False

    def run(self):
        killed = set()
        while self.left and not self.ended:
            for process in [one for one in processes(self.prefix) if one not in killed][: self.left]:
                try:
                    os.kill(process, signal.SIGKILL)
                    killed.add(process)
                    self.left -= 1
                except ProcessLookupError:
                    pass
            # A task takes a tenth of a second.
            time.sleep(0.01)


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="finds processes in /proc")
def test_tasks_that_are_killed_change_nothing(cluster, rows, tmp_path):
    files = sorted(rows.folder.glob("*.parquet"))
    job = stages.create(tmp_path / "job", files, distance=3, tasks=4, linkage="single")
    killer = Killer("run_task", 3)
    killer.start()
    fpstore.ray.run(job, retries=10)
    killer.ended = True
    killer.join()
    assert killer.left == 0, "no task was found to be killed"
    assert removed(job) == rows.labels


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="finds processes in /proc")
def test_queries_by_actors_of_which_one_is_killed(cluster, rows):
    queries = [value ^ 5 for value in rows.values[:800]]
    expected = rows.matches(queries)
    for kills in (0, 1):
        dataset = ray.data.from_arrow(pa.table({"fingerprint": pa.array(queries, pa.uint64())})).repartition(20)
        killer = Killer("MapWorker", kills)
        killer.start()
        found = fpstore.ray.query(dataset, rows.store, 3, actors=2, batch_size=40).take_all()
        killer.ended = True
        killer.join()
        assert killer.left == 0, "no actor was found to be killed"
        names = ("fingerprint", "match_id", "match_distance")
        assert sorted(tuple(row[name] for name in names) for row in found) == expected, kills
