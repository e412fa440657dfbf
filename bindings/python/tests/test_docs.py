"""Every example in a docstring is run, and everything public has a docstring."""

import doctest
import inspect
import pathlib

import pytest

import fpstore as fp


def public():
    yield "fpstore", fp
    for name in fp.__all__:
        thing = getattr(fp, name)
        yield name, thing
        if inspect.isclass(thing):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", value


THINGS = dict(public())


@pytest.mark.parametrize("name", THINGS)
def test_docstrings(name):
    text = inspect.getdoc(THINGS[name])
    assert text, f"{name} has no docstring"
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, None)
    output = []
    results = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE).run(test, out=output.append)
    assert results.failed == 0, "".join(output)


def test_there_are_examples():
    examples = [name for name, thing in THINGS.items() if ">>>" in (inspect.getdoc(thing) or "")]
    assert {"fpstore", "create", "Store", "KeyIndex", "simhash", "bands", "dedup", "Writer"} <= set(examples)


def test_the_readme():
    """The examples of README.md, as they stand."""
    readme = pathlib.Path(__file__).parent.parent / "README.md"
    results = doctest.testfile(str(readme), module_relative=False, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert results.failed == 0 and results.attempted > 10


def test_the_section_of_the_main_readme(tmp_path, monkeypatch):
    polars = pytest.importorskip("polars")
    text = (pathlib.Path(__file__).parents[3] / "README.md").read_text()
    section = text[text.index("## In Python") :]
    code = section.split("```python\n")[1].split("```")[0]
    monkeypatch.chdir(tmp_path)
    texts = [f"page {number // 2} of a site that a crawler has seen more than once" for number in range(2000)]
    pages = {"url": [f"https://example.org/{number}" for number in range(2000)], "text": texts}
    polars.DataFrame(pages).write_parquet("pages.parquet")
    names = {}
    exec(code, names)
    assert len(names["store"]) == 2000 and len(names["why"]) >= 1000
