"""Fingerprints and keys of texts; the programs say the same."""

import json
import subprocess

import pytest

import fpstore as fp

TEXTS = [
    "A crawler has seen this page before, and many others like it.",
    "A crawler has seen that page before, and many others like it!",
    "Something entirely different stands on this page of the site.",
    "近似的重复网页会在抓取时被发现并且删除",
    "x",
]


@pytest.fixture
def documents(tmp_path):
    file = tmp_path / "documents.ndjson"
    file.write_text("".join(json.dumps({"id": id, "text": text}) + "\n" for id, text in enumerate(TEXTS)))
    return file


def run(program, *arguments):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"preset": "1e0ng"},
        {"preset": "seomoz", "features": "words:2"},
        {"width": 128},
        {"features": "chars:3", "normalise": "lower,nfkc", "weights": "count"},
        {"preset": "string-hash-java", "features": "jieba:1"},
    ],
)
def test_simhash_is_that_of_fphash(programs, documents, options):
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    lines = run(f"{programs}/fphash", "simhash", "--json", *arguments, documents).splitlines()
    expected = [int(json.loads(line)["fingerprint"], 16) for line in lines if '"fingerprint"' in line]
    made = fp.simhash(TEXTS, **options).to_pylist()
    made = [one if isinstance(one, int) else int.from_bytes(one, "big") for one in made if one is not None]
    assert made == expected


@pytest.mark.parametrize("options", [{}, {"preset": "datasketch", "num_perm": 64, "seed": 7}, {"preset": "datatrove"}])
def test_minhash_and_bands_are_those_of_fphash(programs, documents, options):
    arguments = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    lines = run(f"{programs}/fphash", "minhash", "--json", *arguments, documents).splitlines()
    expected = [json.loads(line)["signature"] for line in lines if '"signature"' in line]
    assert [one for one in fp.minhash(TEXTS, **options).to_pylist() if one is not None] == expected
    lines = run(f"{programs}/fphash", "bands", "--json", *arguments, documents).splitlines()
    expected = [[int(key, 16) for key in json.loads(line)["bands"]] for line in lines if '"bands"' in line]
    keys = fp.bands(TEXTS, **options)
    assert [one for one in keys.to_pylist() if one] == [one for one in expected if one]
    assert json.loads(lines[0]).get("hasher") in (None, keys.hasher)


def test_lucene_terms_are_those_of_fphash(programs, documents):
    lines = run(f"{programs}/fphash", "minhash", "--preset", "lucene", "--bucket-count", 16, "--json", documents)
    expected = [json.loads(line)["terms_hex"] for line in lines.splitlines() if '"terms_hex"' in line]
    made = fp.lucene_min_hash(TEXTS, bucket_count=16)
    assert [one for one in made.to_pylist() if one is not None] == expected and made.hasher.startswith("minhash/lucene")


def test_stores_of_both_sides(programs, documents, path, tmp_path):
    """A store that fpload makes of documents answers what one made here answers."""
    run(f"{programs}/fpload", "--create", "--text", "--max-distance", 20, tmp_path / "programs", documents)
    theirs = fp.open(tmp_path / "programs", read_only=True)
    hashes = fp.simhash(TEXTS)
    ours = fp.create(path, max_distance=20, hasher=hashes.hasher)
    ours.load(hashes, ids=range(len(TEXTS)))
    assert ours.hasher == theirs.hasher
    assert ours.pairs(20).to_pydict() == theirs.pairs(20).to_pydict()
    ours.close()
    out = run(f"{programs}/fpdedup", "pairs", "--distance", 20, path)
    rows = [line.split("\t") for line in out.splitlines() if line and not line.startswith("#")]
    assert len(rows) == len(theirs.pairs(20).read_all())
    assert fp.simhash(TEXTS, like=path).hasher == hashes.hasher


def test_tokens_nulls_and_few_features():
    tokens = fp.simhash([["a", "b", "c"], None, []])
    assert tokens.null_count == 2 and tokens[0] is not None
    assert fp.simhash(["", None, "one two"], min_features=1).to_pylist()[:2] == [None, None]
    assert fp.bands([None, "a b c d e f"], bands=4, rows=1).to_pylist()[0] == []
    assert len(fp.simhash([])) == 0 and fp.simhash([None]).to_pylist() == [None]
    many = fp.simhash(["some text of words"] * 3000)
    assert len(set(many.to_pylist())) == 1 and len(many) == 3000 and many[-1] == many[0]


def test_refused_options():
    for options, message in [
        ({"preset": "nope"}, "no|not a preset"),
        ({"num_perms": 3}, "unexpected argument 'num_perms' found"),
        ({"features": "chars:0"}, "features"),
        ({"preset": "datasketch"}, "signatures"),
        ({"weights": "/no/such/file"}, "weights"),
    ]:
        with pytest.raises(fp.errors.InvalidInputError, match=message):
            fp.simhash(TEXTS, **options)
    with pytest.raises(fp.errors.InvalidInputError, match="texts are of type"):
        fp.simhash([1, 2])
    with pytest.raises(TypeError, match="texts='one text': expected a column"):
        fp.simhash("one text")


def test_dedup_with_ids_that_are_null():
    kept, evidence = fp.dedup({"u": [None, None], "text": ["a b c d e f g"] * 2}, id="u")
    assert kept.to_pydict()["u"] == [None] and evidence.to_pydict()["keeper"] == [None]


def test_dedup_keeps_order_and_says_why():
    rows = {"n": list(range(6)), "text": [*TEXTS[:3], TEXTS[0], TEXTS[2], None]}
    for method, options in (("minhash", {"threshold": 0.9}), ("simhash", {"k": 0})):
        kept, evidence = fp.dedup(rows, method=method, **options)
        assert kept.to_pydict()["n"] == [0, 1, 2, 5]
        assert sorted(zip(evidence["id"].to_pylist(), evidence["keeper"].to_pylist())) == [(3, 0), (4, 2)]
    kept, _ = fp.dedup(rows, bands=16, rows=1, keep="largest", features="words:1")
    assert 3 in kept.to_pydict()["n"]
    with pytest.raises(fp.errors.InvalidInputError, match="it has n, text"):
        fp.dedup(rows, text="body")
    with pytest.raises(fp.errors.InvalidInputError, match="minhash or simhash"):
        fp.dedup(rows, method="magic")


def test_compare_and_health_are_those_of_fphash(programs, tmp_path):
    files = [tmp_path / "a.txt", tmp_path / "b.txt"]
    [file.write_text(text) for file, text in zip(files, TEXTS)]
    for options, arguments in (({}, []), ({"method": "minhash", "num_perm": 64}, ["--minhash", "--num-perm", "64"])):
        command = [f"{programs}/fphash", "compare", "--json", *arguments, *map(str, files)]
        done = subprocess.run(command, capture_output=True)
        theirs, ours = json.loads(done.stdout), fp.compare(*TEXTS[:2], **options)
        assert [ours[name] for name in ("a", "b", "distance", "similarity", "similar")] == [
            theirs[name] for name in ("a", "b", "distance", "similarity", "similar")
        ]
    fingerprints = [number * 0x9E3779B97F4A7C15 % 2**64 & ~3 for number in range(3000)]
    file = tmp_path / "f.hex"
    file.write_text("".join(f"{one:016x}\n" for one in fingerprints))
    done = subprocess.run([f"{programs}/fphash", "health", "--json", str(file)], capture_output=True)
    assert fp.health(fingerprints) == json.loads(done.stdout) and not fp.health(fingerprints)["sound"]
    assert fp.health([bytes(16)] * 10)["width"] == 128
    assert fp.health([])["sound"] is None and fp.health(["0f" * 8] * 3, width=64)["records"] == 3
    with pytest.raises(fp.errors.InvalidInputError, match="method"):
        fp.compare("a", "b", method="md5")
