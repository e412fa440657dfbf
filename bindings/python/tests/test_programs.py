"""The programs give the same answers from the same data: uniform and real, of every width and kind of ids.

The programs ask the store that Python made, and Python the one that the programs made. So both stores, and both ways to
ask, give the same.
"""

import json
import random
import subprocess

import pytest

import fpstore as fp

pytest.importorskip("pyarrow")
pytest.importorskip("numpy")
pytest.importorskip("polars")
import real  # noqa: E402
from brute import clustered  # noqa: E402
from columns import as_ints  # noqa: E402

COUNT = 400
K = 5


def run(program, *arguments):
    """The lines of a program's output without comments, as lists of columns; 1 says that nothing was found."""
    done = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr
    return [line.split("\t") for line in done.stdout.splitlines() if not line.startswith("#")]


def digits(value, width):
    """A fingerprint as the programs write it."""
    return f"{value:0{width // 4}x}" if isinstance(value, int) else value.hex()


def told(answers, *names, width=64):
    """Some columns of an answer as the programs write them."""
    columns = answers.to_pydict()
    hexadecimal = {"fingerprint", "fp_a", "fp_b"} | ({"keeper", "cluster"} if "fingerprint" in columns else set())

    def shown(name, value):
        return "" if value is None else digits(value, width) if name in hexadecimal else str(value)

    return [[shown(*one) for one in zip(names, row)] for row in zip(*(columns[name] for name in names))]


def of_data(data, width):
    """Fingerprints of which many are near others, as a column and as integers."""
    if data == "real":
        texts = real.documents(COUNT)
        made = as_ints(fp.simhash(texts, width=min(width, 128)).to_pylist())
        if width < 256:
            return made
        # There are none of 256 bits: those of characters beside those of words.
        words = as_ints(fp.simhash(texts, width=128, features="words:1").to_pylist())
        return [a << 128 | b for a, b in zip(made, words)]
    rng = random.Random(width)
    near = [one for one, _ in clustered(COUNT // 2, width, seed=width)]
    return near + [rng.getrandbits(width) for _ in range(COUNT // 2)]


class Both:
    """A store made by Python, one made by fpload, and the queries that both are asked."""

    def __init__(self, programs, directory, data, width, ids):
        self.programs, self.width, self.ids = programs, width, ids
        self.fingerprints = of_data(data, width)
        names = [f"https://example.org/{row}" if ids == "text" else row for row in range(COUNT)]
        named = zip(self.fingerprints, names)
        lines = [digits(one, width) if ids == "none" else f"{digits(one, width)}\t{id}" for one, id in named]
        self.file, self.asked = directory / "records.tsv", directory / "queries.tsv"
        self.file.write_text("".join(line + "\n" for line in lines))
        # Some of them are far from all records.
        self.queries = [one ^ (row % 3) * 0x1010100001010101 for row, one in enumerate(self.fingerprints[::3])]
        self.asked.write_text("".join(digits(one, width) + "\n" for one in self.queries))
        self.path = directory / "by-python"
        column = self.column(self.fingerprints)
        with fp.create(self.path, width=width, max_distance=3, ids=ids, plan="tables-2") as store:
            assert store.load(column, ids=None if ids == "none" else names)["added"] == COUNT
        options = ["--create", "--width", width, "--max-distance", 3, "--ids", ids, "--plan", "tables-2"]
        self.run("fpload", *options, directory / "by-fpload", self.file)
        self.store = fp.open(directory / "by-fpload", read_only=True)

    def column(self, fingerprints):
        return fingerprints if self.width == 64 else [one.to_bytes(self.width // 8, "big") for one in fingerprints]

    def run(self, program, *arguments):
        return run(f"{self.programs}/{program}", *arguments)

    def told(self, answers, *names):
        return told(answers, *names, width=self.width)


@pytest.fixture(scope="module", params=["uniform", "real"])
def data(request):
    return request.param


@pytest.fixture(scope="module", params=[64, 128, 256])
def width(request):
    return request.param


@pytest.fixture(params=["u64", "text", "none"])
def both(request, programs, tmp_path, data, width):
    made = Both(programs, tmp_path, data, width, request.param)
    yield made
    made.store.close()


def test_answers_are_those_of_the_programs(both):
    id, a, b = ("count", "count_a", "count_b") if both.ids == "none" else ("id", "id_a", "id_b")
    store, path = both.store, both.path
    records = both.told(store.records(), "fingerprint", id)
    if both.ids == "none":
        records = [[one] for one, count in records for _ in range(int(count))]
    assert both.run("fpdump", "scan", path) == records and len(records) == COUNT

    names = ("query_row", "fingerprint", "distance", id)
    asked = [digits(one, both.width) for one in both.queries]
    for arguments, answers in (
        (("--distance", K), store.query(both.column(both.queries), K)),
        (("--distance", K, "--batch", "always"), store.query(both.column(both.queries), K)),
        (("--nearest", 3), store.nearest(both.column(both.queries), 3)),
        (("--nearest", 3, "--distance", K), store.nearest(both.column(both.queries), 3, k=K)),
    ):
        found = [[asked[int(row)], *match] for row, *match in both.told(answers, *names)]
        assert both.run("fpquery", *arguments, "--input", both.asked, path) == found and found
    new = [one for one, near in zip(asked, store.contains_near(both.column(both.queries), 1).to_pylist()) if not near]
    assert both.run("fpquery", "--only", "new", "--distance", 1, "--input", both.asked, path) == [[one] for one in new]
    assert new

    pairs = both.told(store.pairs(K), "fp_a", "fp_b", "distance", a, b)
    assert both.run("fpdedup", "pairs", "--distance", K, path) == pairs and len(pairs) > 20
    joined = both.told(store.join(store, K), "fp_a", "fp_b", "distance", a, b)
    assert sorted(both.run("fpdedup", "join", "--distance", K, path, store.path)) == sorted(joined)


def test_clusters_are_those_of_the_programs(both, tmp_path):
    id = "fingerprint" if both.ids == "none" else "id"
    more = ["count"] if both.ids == "none" else []
    listed = tmp_path / "listed.txt"
    keeps = {"smallest": "smallest", "largest": "largest"}
    if both.ids != "none":
        ids = both.store.records().to_pydict()["id"][::7]
        listed.write_text("".join(f"{one}\n" for one in ids))
        keeps[listed] = ids
    for linkage in ("single", "star", "complete"):
        for keep, same in keeps.items():
            arguments = ["--distance", K, "--linkage", linkage, "--keep", keep]
            how = {"linkage": linkage, "keep": same}
            if keep == "smallest":
                clusters = both.run("fpdedup", "clusters", *arguments, both.path)
                assert clusters == both.told(both.store.clusters(K, **how), id, "cluster")
            kept = both.run("fpdedup", "keep", *arguments, "--evidence", tmp_path / "evidence.tsv", both.path)
            assert kept == both.told(both.store.keep(K, **how), id)
            evidence = (tmp_path / "evidence.tsv").read_text().splitlines()
            answers = both.store.keep(K, evidence=True, **how)
            found = both.told(answers, id, "keeper", "cluster", "distance", *more)
            assert [line.split("\t") for line in evidence if not line.startswith("#")] == found and found


def test_real_pairs_are_those_of_another_program(path, other):
    fingerprints, ids = real.records()
    with fp.create(path) as store:
        store.load(fingerprints, ids=ids)
        found = store.pairs(3).to_pydict()
        rows = zip(found["id_a"], found["id_b"], found["distance"])
        expected = [tuple(map(int, row)) for row in real.pairs("rust-book-pairs.tsv.gz")]
        assert sorted((min(a, b), max(a, b), distance) for a, b, distance in rows) == sorted(expected)
    with fp.create(other, ids="none") as store:
        store.load(real.fingerprints())
        found = store.pairs(3).to_pydict()
        expected = [(a, b, int(distance)) for a, b, distance, *_ in real.pairs("real_simhash64.pairs_le3.tsv.gz")]
        found = zip(found["fp_a"], found["fp_b"], found["distance"])
        # Those of a fingerprint that occurs several times with itself are not in the file.
        assert sorted((f"{a:016x}", f"{b:016x}", bits) for a, b, bits in found if bits) == sorted(expected)


@pytest.fixture(scope="module")
def page_file(tmp_path_factory):
    """Real documents as the programs read them."""
    file = tmp_path_factory.mktemp("pages") / "pages.ndjson"
    texts = real.documents(COUNT)
    file.write_text("".join(json.dumps({"id": row, "text": text}) + "\n" for row, text in enumerate(texts)))
    return file


@pytest.mark.parametrize("width", [64, 128])
def test_fingerprints_of_real_documents(programs, page_file, width):
    made = fp.simhash(real.documents(COUNT), width=width).to_pylist()
    expected = run(f"{programs}/fphash", "simhash", "--width", width, page_file)
    assert [[digits(one, width), str(row)] for row, one in enumerate(made)] == expected


def test_keys_of_real_documents(programs, page_file, tmp_path, path):
    """Bands made here and by fphash, an index made here and by fpload, and the answers of both."""
    made = fp.bands(real.documents(COUNT), bands=14, rows=4, sketch=224)
    lines = run(f"{programs}/fphash", "bands", "--json", "--bands=14", "--rows=4", "--num-perm=56", page_file)
    told_bands = [row["bands"] for row in map(json.loads, (line for line, in lines)) if "id" in row]
    assert [[f"{key:016x}" for key in keys] for keys in made["keys"].to_pylist()] == told_bands

    arguments = ["--create", "--kind=keys", "--text", "--bands=14", "--rows=4", "--sketch=224"]
    run(f"{programs}/fpload", *arguments, tmp_path / "theirs", page_file)
    theirs = fp.open(tmp_path / "theirs", read_only=True)
    format = {"hasher": made.hasher, "sketch": 224, "sample_bits": made.sample_bits}
    with fp.create(path, kind="keys", **format) as index:
        assert index.load(made, ids=range(COUNT))["added"] == COUNT
    for more, how in (([], {}), (["--min-shared=3"], {"min_shared": 3}), (["--min-jaccard=0.6"], {"min_jaccard": 0.6})):
        found = rows(run(f"{programs}/fpdedup", "pairs", *more, path))
        assert found == rows(told(theirs.pairs(**how), "id_a", "id_b", "shared", "jaccard")) and len(found) > 20
        queries = run(f"{programs}/fpquery", "--text", *more, "--input", page_file, path)
        found = theirs.query(made["keys"], made["sketch"], **how)
        assert rows(queries) == rows(told(found, "query_row", "id", "shared", "jaccard"))
        clusters = run(f"{programs}/fpdedup", "clusters", *more, path)
        assert clusters == told(theirs.clusters(**how), "id", "cluster")
        kept = run(f"{programs}/fpdedup", "keep", *more, "--evidence", tmp_path / "evidence.tsv", path)
        assert kept == told(theirs.keep(**how), "id")
        evidence = (tmp_path / "evidence.tsv").read_text().splitlines()
        evidence = [line.split("\t") for line in evidence if not line.startswith("#")]
        names = ("id", "keeper", "cluster", "shared_keys", "jaccard")
        assert rows(evidence) == rows(told(theirs.keep(evidence=True, **how), *names)) and evidence
    theirs.close()


def rows(lines):
    """Lines whose last column is a similarity, to the four decimals that the programs write."""
    return [(*line[:-1], round(float(line[-1]), 4)) for line in lines]
