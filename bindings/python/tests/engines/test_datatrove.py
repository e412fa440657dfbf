"""datatrove: two steps beside its own four, on the same documents."""

import collections
import copy
import inspect
import json
import os
import pathlib
import random
import subprocess
import sys

import pytest

pytest.importorskip("datatrove.pipeline.base")
# The stages to compare with need more than the steps.
dedup = pytest.importorskip("datatrove.pipeline.dedup")
pytest.importorskip("spacy")
import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402
from datatrove.data import Document  # noqa: E402
from datatrove.executor import LocalPipelineExecutor  # noqa: E402
from datatrove.pipeline.dedup.minhash import MinhashConfig  # noqa: E402
from datatrove.pipeline.readers import ParquetReader  # noqa: E402
from datatrove.pipeline.writers import ParquetWriter  # noqa: E402
from datatrove.utils.hashing import HashConfig  # noqa: E402
from datatrove.utils.text import TextNormConfig  # noqa: E402

import fpstore  # noqa: E402
import real  # noqa: E402
import test_docs  # noqa: E402
from attempts import die_in_decide, die_in_sketch, filter_slowly, killed, start  # noqa: E402
from fpstore import errors  # noqa: E402
from fpstore.datatrove import MinhashFilter, MinhashSketch, decide  # noqa: E402

SMALL = MinhashConfig(n_grams=2, num_buckets=4, hashes_per_bucket=2, seed=7)


def shares(texts, ranks):
    """Documents of each rank."""
    documents = [Document(text, f"page-{number}") for number, text in enumerate(texts)]
    size = -(-len(texts) // ranks)
    return [documents[begin : begin + size] for begin in range(0, size * ranks, size)]


def real_pages():
    """Versions of pages, apart from each other."""
    texts = [text[:2000] for text in real.documents(160)]
    random.Random(3).shuffle(texts)
    return texts


def chains():
    """Stretches of some long texts. Each is near the next ones of its text alone."""
    made = []
    for number in range(20):
        words = [f"{chr(97 + number)}{chr(97 + word // 26)}{chr(97 + word % 26)}" for word in range(300)]
        made += [" ".join(words[begin : begin + 40]) for begin in range(0, 260, 5)]
    random.Random(5).shuffle(made)
    return made


def copies():
    """Thousands of equal texts, and some that are too short for a signature."""
    texts = ["a page that a crawler has seen thousands of times"] * 3000 + ["", "too short", ". , !"] * 5
    random.Random(4).shuffle(texts)
    return texts


def run_stages(folder, documents, config):
    """datatrove's own stages: the documents that stay of each rank, with the metadata of clusters."""
    documents, world_size = copy.deepcopy(documents), len(documents)
    signatures, buckets, found = (str(folder / name) for name in ("signatures", "buckets", "found"))
    for rank, share in enumerate(documents):
        dedup.MinhashDedupSignature(signatures, config).run(share, rank, world_size)
    for bucket in range(config.num_buckets):
        dedup.MinhashDedupBuckets(signatures, buckets, config=config).run(None, bucket, config.num_buckets)
    dedup.MinhashDedupCluster(buckets, found, config, save_cluster_id=True, save_cluster_size=True).run(None, 0, 1)
    last = dedup.MinhashDedupFilter(found, load_cluster_ids=True, load_cluster_sizes=True)
    return [list(last.run(share, rank, world_size)) for rank, share in enumerate(documents)]


def sketch(folder, documents, config):
    for rank in reversed(range(len(documents))):
        MinhashSketch(folder, config).run(iter(documents[rank]), rank, len(documents))


def keep(folder, documents, **options):
    made = []
    for rank, share in enumerate(copy.deepcopy(documents)):
        made.append(list(MinhashFilter(folder, None, True, True, **options).run(share, rank, len(documents))))
    return made


def check(ours, theirs):
    assert [[one.id for one in share] for share in ours] == [[one.id for one in share] for share in theirs]
    for own, other in zip(ours, theirs, strict=True):
        # datatrove looks for no clusters where it removes nothing.
        if any(one.metadata for one in other):
            assert [one.metadata for one in own] == [one.metadata for one in other]


def check_evidence(folder, documents, kept, config):
    """Each removed document has evidence, and that is true by datatrove's own signatures."""
    stage = dedup.MinhashDedupSignature("/nowhere", config)
    evidence = pq.read_table(decide(folder) / "removed.parquet").to_pylist()
    members = pq.read_table(decide(folder) / "clusters").to_pylist()
    clusters = {(one["rank"], one["doc"]): one["cluster"] for one in members}
    stay = {one.id for share in kept for one in share}
    assert {one["id"] for one in evidence} == {one.id for share in documents for one in share} - stay
    assert [one["id"] for one in members if not one["kept"]] == [one["id"] for one in evidence]
    sizes = collections.Counter(clusters.values())
    assert all(one["size"] == sizes[one["cluster"]] for one in members)
    for one in evidence[:200]:
        pair = (one["rank"], one["doc"]), (one["keeper_rank"], one["keeper_doc"])
        removed, keeper = (documents[rank][doc] for rank, doc in pair)
        assert (removed.id, keeper.id) == (one["id"], one["keeper_id"]) and keeper.id in stay
        assert clusters[pair[0]] == clusters[pair[1]]
        a, b = (np.array(stage.get_signature(stage.get_shingles(text))) for text in (removed.text, keeper.text))
        assert one["shared_keys"] == (a == b).all(axis=1).sum() and one["jaccard"] == (a == b).mean()
    return evidence


CONFIGS = {
    "default": MinhashConfig(),
    "26 x 11": MinhashConfig(num_buckets=26, hashes_per_bucket=11),
    "small": SMALL,
    "32 bits": MinhashConfig(num_buckets=3, hashes_per_bucket=3, hash_config=HashConfig(32)),
    "sha1": MinhashConfig(num_buckets=5, hashes_per_bucket=1, hash_config=HashConfig(64, "sha1")),
    "sha1 of 32 bits": MinhashConfig(hashes_per_bucket=2, hash_config=HashConfig(32, "sha1")),
}


CASES = [*[(real_pages, name) for name in CONFIGS], (chains, "default"), (chains, "small"), (copies, "small")]


@pytest.mark.parametrize(("texts", "name"), CASES)
def test_documents_and_clusters_are_those_of_its_stages(texts, name, tmp_path):
    config = CONFIGS[name]
    # The memory is that of some hundred rows, or of all.
    documents, memory = shares(texts(), 4), 30_000 if config is SMALL else 1 << 30
    theirs = run_stages(tmp_path, documents, config)
    sketch(tmp_path / "job", documents, config)
    kept = keep(tmp_path / "job", documents, memory=memory)
    check(kept, theirs)
    evidence = check_evidence(tmp_path / "job", documents, kept, config)
    assert evidence
    if texts is chains and config is SMALL:
        place = [(one["rank"], one["doc"]) < (one["keeper_rank"], one["keeper_doc"]) for one in evidence]
        assert any(place), "the first document of each cluster stays by chance"
        assert min(one["shared_keys"] for one in evidence) == 0


def test_no_documents_and_no_duplicates(tmp_path):
    documents = [[], [Document("too short", "a"), Document("a text of its own that no other has", "b")], []]
    sketch(tmp_path, documents, None)
    assert [[one.id for one in share] for share in keep(tmp_path, documents)] == [[], ["a", "b"], []]
    assert pq.read_table(decide(tmp_path) / "removed.parquet").num_rows == 0


def test_pipelines_with_workers(tmp_path):
    (tmp_path / "pages").mkdir()
    for number, share in enumerate(shares(chains(), 6)):
        rows = {"id": [one.id for one in share], "text": [one.text for one in share]}
        pq.write_table(pa.table(rows), tmp_path / "pages" / f"{number}.parquet")
    folders = {name: str(tmp_path / name) for name in ("pages", "signatures", "buckets", "found", "job")}

    def run(*pipeline, tasks=3):
        logs = tmp_path / f"log-{len(list(tmp_path.glob('log-*')))}"
        return LocalPipelineExecutor(list(pipeline), tasks=tasks, workers=min(tasks, 2), logging_dir=str(logs)).run()

    def written(name):
        tables = {path.name: pq.read_table(path) for path in (tmp_path / name).glob("*.parquet")}
        return {name: table.to_pylist() for name, table in tables.items()}

    read = ParquetReader(folders["pages"])
    run(read, dedup.MinhashDedupSignature(folders["signatures"], SMALL))
    run(dedup.MinhashDedupBuckets(folders["signatures"], folders["buckets"], config=SMALL), tasks=SMALL.num_buckets)
    run(dedup.MinhashDedupCluster(folders["buckets"], folders["found"], SMALL), tasks=1)
    last = dedup.MinhashDedupFilter(folders["found"], ParquetWriter(str(tmp_path / "theirs-gone")))
    their_stats = run(read, last, ParquetWriter(str(tmp_path / "theirs")))
    run(read, MinhashSketch(folders["job"], SMALL))
    own = MinhashFilter(folders["job"], ParquetWriter(str(tmp_path / "ours-gone")))
    our_stats = run(read, own, ParquetWriter(str(tmp_path / "ours")))
    assert written("ours") == written("theirs") and len(written("ours")) == 3
    assert written("ours-gone") == written("theirs-gone") and written("ours-gone")
    counts = [{name: stat.total for name, stat in stats.stats[1].stats.items()} for stats in (our_stats, their_stats)]
    assert counts[0] == counts[1] and counts[0]["dropped"] > 0


def test_killed_and_repeated_ranks_and_several_at_once(tmp_path):
    documents = shares(chains(), 3)
    theirs = run_stages(tmp_path, documents, SMALL)
    job = tmp_path / "job"
    assert killed(die_in_sketch, MinhashSketch(job, SMALL), documents, 1)
    assert len(list(job.glob("*/.making-*"))) == 1 and not list(job.glob("*/0*"))
    for _ in range(2):
        sketch(job, documents, SMALL)
    assert killed(die_in_decide, job) and not (job / "decide" / "all").exists()
    several = [start(filter_slowly, job, documents, rank) for rank in range(3)]
    for process in several:
        process.join()
    kept = [json.loads((job / f"kept-{rank}").read_text()) for rank in range(3)]
    assert kept == [[one.id for one in share] for share in theirs]
    # One rank decides; the two killed attempts stay where they were, because another machine may have begun one.
    assert len((job / "decided").read_text().split()) == 1 and len(list(job.glob("*/.making-*"))) == 2
    check(keep(job, documents), theirs)


@pytest.fixture
def job(tmp_path):
    """A folder with the signatures of two ranks, and their documents."""
    documents = shares(chains()[:100], 2)
    sketch(tmp_path, documents, SMALL)
    return tmp_path, documents


def test_other_parameters_and_missing_ranks(job):
    folder, documents = job
    other = MinhashConfig(n_grams=3, num_buckets=4, hashes_per_bucket=2, seed=7)
    with pytest.raises(errors.InvalidInputError, match="00001.*datatrove:2.*not.*datatrove:3.*another folder"):
        MinhashSketch(folder, other).run(documents[1], 1, 2)
    with pytest.raises(errors.InvalidInputError, match="datatrove:3"):
        keep(folder, documents, config=other)
    with pytest.raises(errors.InvalidInputError, match="are of 2 tasks; use as many, not 3"):
        keep(folder, [*documents, []])
    (folder / "sketch" / "00000").rename(folder / "elsewhere")
    with pytest.raises(errors.InvalidInputError, match="of 2 ranks there are no signatures of 0; run these ranks"):
        list(MinhashFilter(folder).run(documents[1], 1, 2))
    with pytest.raises(errors.NotFoundError, match="no signatures of rank 0; run this rank"):
        list(MinhashFilter(folder).run(documents[0], 0, 2))
    MinhashSketch(folder, other).run(documents[0], 0, 2)
    with pytest.raises(errors.InvalidInputError, match="00001: .* use another folder"):
        decide(folder)
    with pytest.raises(errors.NotFoundError, match="run MinhashSketch first"):
        decide(folder / "nothing")


def test_other_documents(job):
    folder, documents = job
    assert keep(folder, documents, config=SMALL)
    for share, count in [(documents[0][:-1], "49"), ([*documents[0], documents[0][0]], "more than 50")]:
        with pytest.raises(errors.InvalidInputError, match=f"rank 0 had 50 documents .* has {count} here"):
            list(MinhashFilter(folder).run(share, 0, 2))
    with pytest.raises(errors.InvalidInputError, match=r"document \d+ of rank 0 was 'page-.*use the same reader"):
        list(MinhashFilter(folder).run(documents[0][::-1], 0, 2))
    assert list(MinhashFilter(folder, check_ids=False).run(documents[0][::-1], 0, 2))
    with pytest.raises(errors.InvalidInputError, match="rank 3, document 1: .*surrogates"):
        MinhashSketch(folder / "odd").run([documents[0][0], Document("\ud800", "a")], 3, 4)


def damaged(content):
    """Contents with other bytes, and fewer."""
    yield from (content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :] for at in range(0, len(content), 13))
    yield from (content[:-2], b"")


def test_damage(job):
    folder, documents = job
    files = sorted((folder / "sketch" / "00001").iterdir())
    assert len(files) == 6
    for path in files:
        content = path.read_bytes()
        for other in damaged(content):
            path.write_bytes(other)
            with pytest.raises(errors.DamagedError, match=f"{path.name}: .*00001 and run this rank"):
                decide(folder)
        path.unlink()
        with pytest.raises((errors.DamagedError, errors.NotFoundError), match="run this rank"):
            decide(folder)
        path.write_bytes(content)
    kept = keep(folder, documents)
    for name in ("clusters/00001.parquet", "about.json"):
        path = decide(folder) / name
        content = path.read_bytes()
        for other in damaged(content):
            path.write_bytes(other)
            with pytest.raises(errors.DamagedError, match="to decide again"):
                keep(folder, documents)
        path.write_bytes(content)
    assert keep(folder, documents) == kept
    MinhashSketch(folder / "other", SMALL).run(documents[0], 1, 2)
    (folder / "sketch" / "00001").rename(folder / "old")
    (folder / "other" / "sketch" / "00001").rename(folder / "sketch" / "00001")
    with pytest.raises(errors.DamagedError, match="00001: its signatures are not those of the decisions"):
        keep(folder, documents)


def test_what_is_not_supported(tmp_path):
    for config, message in [
        (MinhashConfig(norm_config=TextNormConfig(lowercase=False)), "norm_config"),
        (MinhashConfig(hash_config=HashConfig(16)), "a precision of 32 or 64"),
        (MinhashConfig(num_buckets=0), "num_buckets=0"),
        (MinhashConfig(n_grams=0), "datatrove:0"),
    ]:
        with pytest.raises(errors.InvalidInputError, match=message):
            MinhashSketch(tmp_path, config)
    with pytest.raises(errors.InvalidInputError, match=r"Languages\.english"):
        MinhashSketch(tmp_path, language="deu")
    with pytest.raises(errors.InvalidInputError, match="directory that all machines see"):
        MinhashSketch("s3://bucket/job")
    with pytest.raises(errors.InvalidInputError, match="memory='1GiB': expected a number of bytes"):
        decide(tmp_path, "1GiB")
    assert MinhashSketch(pathlib.Path(tmp_path)).kind.num_buckets == 14


def test_examples():
    names = {}
    for thing in (MinhashSketch, MinhashSketch.run, MinhashFilter, MinhashFilter.run, decide):
        assert test_docs.run(inspect.getdoc(thing), thing.__name__, names) > 0


def test_the_pipelines_of_the_main_readme(tmp_path):
    text = (pathlib.Path(__file__).parents[4] / "README.md").read_text()
    blocks = [block.split("```")[0] for block in text.split("```python\n")]
    code = next(block for block in blocks if "fpstore.datatrove" in block)
    (tmp_path / "pages").mkdir()
    texts = ["a page that a crawler has seen", "something else", "a page that a crawler has seen"]
    rows = {"id": ["a", "b", "c"], "text": texts}
    pq.write_table(pa.table(rows), tmp_path / "pages" / "0.parquet")
    (tmp_path / "script.py").write_text(code.replace("/shared/job", "job"))
    paths = os.pathsep.join([str(pathlib.Path(fpstore.__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    run = [sys.executable, "script.py"]
    subprocess.run(run, cwd=tmp_path, env=os.environ | {"PYTHONPATH": paths}, check=True, capture_output=True)
    assert pq.read_table(tmp_path / "kept")["id"].to_pylist() == ["a", "b"]
