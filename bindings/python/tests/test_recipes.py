"""The recipes for other packages, as they stand, over 600 pages of the Rust book."""

import doctest
import gzip
import json
import pathlib

import pytest

PACKAGE = pathlib.Path(__file__).parent.parent
BOOK = PACKAGE.parent.parent / "tests" / "data" / "rust-book-documents.ndjson.gz"
NAMES = ("id", "path", "text")


def polars():
    pl = pytest.importorskip("polars")
    with gzip.open(BOOK, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    frame = pl.DataFrame([{name: row[name] for name in NAMES} for row in rows if row["n"] % 5 == 0])
    frame.write_parquet("pages.parquet")


def duckdb():
    pytest.importorskip("pyarrow")
    db = pytest.importorskip("duckdb")
    select = f"select id, path, text from read_json('{BOOK.as_posix()}') where n % 5 = 0 order by n"
    db.sql(f"copy ({select}) to 'pages.parquet'")


@pytest.mark.parametrize("prepare", [duckdb, polars])
def test_recipe(prepare, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepare()
    page = PACKAGE / "recipes" / f"{prepare.__name__}.md"
    results = doctest.testfile(str(page), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.failed == 0 and results.attempted > 15
