"""Components whose links do not fit in the memory of one task: rounds find the same ones, and decide the same."""

import os
import random
import shutil
import subprocess
import sys
import time

import pytest

import fpstore as fp
import real

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
from fpstore import stages  # noqa: E402, after the check for pyarrow
from jobs import divide, results, rounds  # noqa: E402

COUNT = 100_000 if os.environ.get("FPSTORE_LONG") else 2000


def chain(ids):
    return list(zip(ids, ids[1:], strict=False))


def shuffled(seed):
    ids = list(range(COUNT))
    random.Random(seed).shuffle(ids)
    return ids


def by_chance(seed, links):
    rng = random.Random(seed)
    return [(rng.randrange(COUNT), rng.randrange(COUNT)) for _ in range(links)]


GRAPHS = {
    "a chain in order": chain(range(COUNT)),
    "a chain by chance": chain(shuffled(1)),
    # Each is linked to one smaller than half of all, and to one larger.
    "a chain that turns": chain([each for pair in zip(range(COUNT // 2), range(COUNT)[::-1]) for each in pair]),
    "a star around the largest": [(COUNT, other) for other in range(COUNT)],
    "a star around the smallest": [(0, other) for other in range(1, COUNT)],
    "a star around one in the middle": [(COUNT // 2, other) for other in range(COUNT)],
    "a tree of two": [(child, (child - 1) // 2) for child in range(1, COUNT)],
    "few links": by_chance(2, COUNT // 3),
    "about one giant": by_chance(3, COUNT // 2),
    "many links": by_chance(4, COUNT * 4),
    "two that meet at the largest": [*chain(range(0, COUNT, 2)), *chain(range(1, COUNT, 2)), (COUNT - 2, COUNT - 1)],
}


def smallest_of_components(links):
    """The smallest record of the component of each, by walks."""
    near = {}
    for a, b in links:
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    found = {}
    for first in sorted(near):
        if first in found:
            continue
        found[first], waiting = first, [first]
        while waiting:
            for other in near[waiting.pop()]:
                if other not in found:
                    found[other] = first
                    waiting.append(other)
    return found


def job_of_links(folder, links, name=int, **how):
    """A job with a key for each link, which its two records have."""
    keys = {}
    for key, pair in enumerate(links):
        for each in pair:
            keys.setdefault(each, []).append(key)
    ids = list(keys)
    random.Random(7).shuffle(ids)
    lists = pa.array([keys[each] for each in ids], pa.list_(pa.uint64()))
    table = pa.table({"id": [name(each) for each in ids], "keys": lists, "row": ids})
    pq.write_table(table, folder / "records.parquet", row_group_size=len(ids) // 5 + 1)
    return stages.create(folder / "job", folder / "records.parquet", keys="keys", **how)


@pytest.mark.parametrize("graph", GRAPHS)
def test_components_are_those_of_walks(tmp_path, graph):
    links = GRAPHS[graph]
    job = divide(job_of_links(tmp_path, links, tasks=3, linkage="single"), 4)
    job.run_all()
    smallest = smallest_of_components(links)
    removed = [{"id": id, "cluster": cluster} for id, cluster in sorted(smallest.items()) if id != cluster]
    found, kept = results(job)
    assert found == removed and sorted(kept) == sorted(set(smallest.values()))
    # Three steps a round. The way to the smallest record is COUNT at most, and halved by each.
    assert 3 <= rounds(job) <= 3 * (COUNT.bit_length() + 1), rounds(job)


@pytest.mark.parametrize("graph", ["a chain by chance", "about one giant"])
def test_complete_linkage_decides_as_one_task(tmp_path, graph):
    links, name = GRAPHS[graph], "https://example.org/{}".format
    one, many = one_and_many(tmp_path, 5, links, name, linkage="complete")
    many.run_all(workers=2)
    assert one.tasks("components") == 0 and one.tasks("decide") == 1
    assert many.tasks("decide") == 5 and results(many) == results(one)


def one_and_many(folder, shares, *given, **how):
    """A job that one task has decided, and the same one that several shares decide."""
    for part in ("one", "many"):
        (folder / part).mkdir()
    one, many = (job_of_links(folder / part, *given, tasks=3, **how) for part in ("one", "many"))
    one.run_all()
    return one, divide(many, shares)


@pytest.mark.parametrize("graph", GRAPHS)
def test_star_linkage_decides_as_one_task(tmp_path, graph):
    name = "https://example.org/{}".format if "giant" in graph else int
    one, many = one_and_many(tmp_path, 5, GRAPHS[graph], name, linkage="star")
    many.run_all()
    assert many.tasks("decide") == 5 and results(many) == results(one)
    types = [pq.read_schema(job.removed()[0]).field("shared_keys").type for job in (one, many)]
    assert types[0] == types[1]
    # The sample, the division, and a round for each share at most.
    steps = rounds(many)
    assert steps == 2 + 5 if graph == "a chain in order" else steps <= 2 + 5, steps


def test_a_removed_result_of_an_early_step_is_made_before_later_ones(tmp_path):
    job = divide(job_of_links(tmp_path, GRAPHS["a chain in order"], tasks=3, linkage="star"), 5)
    job.run_all()
    expected = results(job)
    for task in (2 * 5 + 1, 6 * 5 + 4):
        shutil.rmtree(job.plan.result("components", task))
    assert job.missing("components") == [2 * 5 + 1]
    job.run_all()
    assert results(job) == expected


def test_copies_with_larger_ids_do_not_meet_in_one_share(tmp_path):
    # So many that every fourth row would be sampled: the first one of each second key.
    links = [(one, one + 2048) for one in range(2048)]
    job = divide(job_of_links(tmp_path, links, tasks=3, linkage="star"), 4)
    job.run_all()
    files = [job.plan.result("components", 2 * 4 + share) / "rows.parquet" for share in range(4)]
    rows = [pq.read_metadata(file).num_rows for file in files]
    assert max(rows) < 1.3 * min(rows), rows


def test_shares_have_about_as_many_rows(tmp_path):
    job = divide(job_of_links(tmp_path, GRAPHS["many links"], tasks=3, linkage="star"), 4)
    job.run_all()
    files = [job.plan.result("components", 2 * 4 + share) / "rows.parquet" for share in range(4)]
    rows = [pq.read_metadata(file).num_rows for file in files]
    assert sum(rows) == 2 * sum(a != b for a, b in GRAPHS["many links"]) and max(rows) < 1.3 * min(rows), rows


def fingerprints_with_equal_ones(count):
    """Fingerprints of which many are near each other, and many are equal, in all parts of the input."""
    rng = random.Random(11)
    centers = [rng.getrandbits(64) for _ in range(count // 20)]
    near = [rng.choice(centers) ^ 1 << rng.randrange(64) ^ rng.randrange(2) for _ in range(count // 4)]
    every = [rng.choice(near) for _ in range(count)] + [centers[0]] * (count // 4)
    rng.shuffle(every)
    return every


@pytest.mark.parametrize("shares", [2, 7])
def test_pairs_and_equal_fingerprints_are_decided_as_by_one_task(tmp_path, shares):
    every, jobs = fingerprints_with_equal_ones(COUNT), []
    ids = random.Random(12).sample(range(10 * COUNT), len(every))
    table = pa.table({"id": ids, "fingerprint": pa.array(every, pa.uint64()), "row": range(len(every))})
    pq.write_table(table, tmp_path / "pages.parquet", row_group_size=COUNT // 9)
    for part in ("one", "many"):
        jobs.append(stages.create(tmp_path / part, tmp_path / "pages.parquet", distance=3, tasks=4, groups=2))
    one, many = jobs
    one.run_all()
    divide(many, shares).run_all()
    assert results(many) == results(one) and {row["distance"] for row in results(one)[0]} == {0, 1, 2, 3}


@pytest.mark.parametrize("linkage", ["single", "star"])
def test_steps_are_killed_and_run_again(tmp_path, linkage):
    texts = real.documents(1500)
    table = pa.table({"id": [f"page-{number}" for number in range(1500)], "text": texts, "row": range(1500)})
    pq.write_table(table, tmp_path / "texts.parquet", row_group_size=200)
    how = {"text": "text", "distance": 8, "tasks": 3, "linkage": linkage}
    undisturbed = stages.create(tmp_path / "one", tmp_path / "texts.parquet", **how)
    undisturbed.run_all()
    job = divide(stages.create(tmp_path / "job", tmp_path / "texts.parquet", **how), 4)
    rng = random.Random(8)
    for stage, missing in job.remaining():
        task = rng.choice(missing)
        command = [sys.executable, "-m", "fpstore.stages", "run", str(job.folder), stage, str(task)]
        running = [subprocess.Popen(command) for _ in range(2)]
        result = job.plan.result(stage, task)
        while not result.exists() and not any(job.folder.glob(f"{stage}/.making-task-{task}-*")):
            assert any(process.poll() is None for process in running) or result.exists()
            time.sleep(0.001)
        for process in running:
            process.kill()
            process.wait()
        job.clean()
        # If one of the two was done, it is made again.
        shutil.rmtree(result, ignore_errors=True)
        for task in job.missing(stage):
            job.run(stage, task)
    assert rounds(job) > 3 and results(job) == results(undisturbed)


def test_tasks_of_later_steps_wait_for_those_before(tmp_path):
    job = job_of_links(tmp_path, GRAPHS["few links"], tasks=2, linkage="single", memory=COUNT * 10)
    assert job.tasks("components") == 0
    with pytest.raises(fp.errors.InvalidInputError, match="components needs all of digest; not done: 0, 1"):
        job.run("components", 0)
    for stage, missing in job.remaining():
        if stage == "components":
            break
        for task in missing:
            job.run(stage, task)
    shares = job.tasks("components")
    assert shares > 1 and job.missing("components") == list(range(shares))
    with pytest.raises(fp.errors.InvalidInputError, match=f"the tasks 0 to {shares - 1}, and no task {shares}"):
        job.run("components", shares)
    with pytest.raises(fp.errors.InvalidInputError, match="decide needs all of components; not done: 0, 1"):
        job.run("decide", 0)
    for task in range(shares):
        job.run("components", task)
    assert job.missing("components") == list(range(shares, 2 * shares))


def test_damaged_numbers_are_named(tmp_path):
    job = divide(job_of_links(tmp_path, GRAPHS["few links"], tasks=2, linkage="single"), 3)
    job.run_all()
    last = max(job.folder.glob("components/task-*/unsettled"), key=lambda file: int(file.parts[-2][5:]))
    for file in [last, job.folder / "components" / "shares"]:
        before = file.read_bytes()
        for content in (b"\xff", b"", before[:-1], b"-1\n", *([b"0\n"] if file.name == "shares" else [])):
            file.write_bytes(content)
            with pytest.raises(fp.errors.DamagedError, match=f"{file.name}: expected a number"):
                stages.open(job.folder).run_all()
        file.write_bytes(before)


@pytest.mark.parametrize("linkage", ["single", "star"])
def test_a_flipped_bit_of_any_file_is_noticed(tmp_path, linkage):
    job = divide(job_of_links(tmp_path, GRAPHS["few links"][:60], tasks=2, linkage=linkage), 2)
    job.run_all()
    expected, rng = results(job), random.Random(6)
    files = [*job.folder.glob("join/*/*.parquet"), *job.folder.glob("components/*/*.parquet")]
    assert len(files) > 10
    for file in files:
        content = bytearray(file.read_bytes())
        at = rng.randrange(len(content))
        content[at] ^= 1 << rng.randrange(8)
        copy = tmp_path / "copy"
        shutil.copytree(job.folder, copy)
        (copy / file.relative_to(job.folder)).write_bytes(content)
        # What comes after the file is made again.
        stage, task = file.parts[-3], int(file.parts[-2].removeprefix("task-"))
        for later in stages.STAGES[stages.STAGES.index(stage) + 1 :]:
            shutil.rmtree(copy / later, ignore_errors=True)
        again = stages.open(copy)
        if stage == "components":
            for result in (copy / "components").glob("task-*"):
                if int(result.name.removeprefix("task-")) // 2 > task // 2:
                    shutil.rmtree(result)
        else:
            divide(again, 2)
        try:
            again.run_all()
        except fp.errors.DamagedError as error:
            assert str(copy / stage) in str(error)
        except fp.errors.InvalidInputError as error:
            assert "task" in str(error)
        else:
            # A bit that no reader needs.
            assert results(again) == expected, (file, at)
        shutil.rmtree(copy)


def test_rows_for_a_task_may_be_many(tmp_path, monkeypatch):
    monkeypatch.setattr("fpstore.stages._exchange.GROUP", 7)
    monkeypatch.setattr("fpstore.stages._components.FOREST", 50)
    monkeypatch.setattr("fpstore.stages._links.BATCH", 10)
    job = divide(job_of_links(tmp_path, GRAPHS["about one giant"], tasks=1, linkage="single"), 3)
    job.run_all()
    smallest = smallest_of_components(GRAPHS["about one giant"])
    removed = [{"id": id, "cluster": cluster} for id, cluster in sorted(smallest.items()) if id != cluster]
    assert results(job)[0] == removed


def test_links_that_no_number_of_tasks_has_memory_for(tmp_path):
    job = job_of_links(tmp_path, GRAPHS["few links"], tasks=1, linkage="single", memory=10)
    with pytest.raises(fp.errors.InvalidInputError, match="more than 4096 tasks have.*create the job again with"):
        job.run_all()


def test_tasks_that_are_not_run_are_named(tmp_path, monkeypatch):
    monkeypatch.setattr("fpstore.stages._job.PATIENCE", 0)
    job = job_of_links(tmp_path, GRAPHS["few links"], tasks=2)
    with pytest.raises(fp.errors.IoError, match="digest has left no result of 0, 1"):
        list(job.remaining())
