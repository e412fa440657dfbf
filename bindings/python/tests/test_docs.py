"""Everything public has a docstring with an example, and every example is run."""

import doctest
import inspect
import pathlib

import pytest

import fpstore as fp
from fpstore import errors, plot

try:
    from fpstore import threatexchange
except ImportError:
    # It is for a package that need not be there.
    threatexchange = None

FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def modules():
    yield from (errors, plot)
    try:
        from fpstore import stages
    except ImportError:
        # It is for files of pyarrow.
        return
    yield stages


def public():
    """Names of what is public, each with its docstring and with that of its class, whose example comes first."""
    yield "fpstore", fp, None
    for module in modules():
        name = module.__name__.split(".")[-1]
        yield name, module, None
        for member, value in vars(module).items():
            if not member.startswith("_") and getattr(value, "__module__", "").startswith(module.__name__):
                yield f"{name}.{member}", value, None
    things = [(name, getattr(fp, name)) for name in fp.__all__ if name != "__version__"]
    if threatexchange is not None:
        yield "threatexchange", threatexchange, None
        things.append(("PDQIndex", threatexchange.PDQIndex))
    for name, thing in things:
        if not inspect.ismodule(thing):
            yield name, thing, None
        if inspect.isclass(thing) and not issubclass(thing, (tuple, Exception)):
            for member, value in vars(thing).items():
                if not member.startswith("_"):
                    yield f"{name}.{member}", value, thing


THINGS = {name: rest for name, *rest in public()}


def run(text, name, globs):
    test = doctest.DocTestParser().get_doctest(text, globs, name, None, None)
    output = []
    # What an example makes stays for the next one.
    results = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=output.append, clear_globs=False)
    assert results.failed == 0, "".join(output)
    globs.update(test.globs)
    return results.attempted


@pytest.mark.parametrize("name", THINGS)
def test_docstrings(name):
    thing, owner = THINGS[name]
    text = inspect.getdoc(thing)
    assert text, f"{name} has no docstring"
    if name.startswith("plot"):
        pytest.importorskip("matplotlib").use("agg")
    globs = {}
    if owner is not None:
        run(inspect.getdoc(owner), owner.__name__, globs)
    assert run(text, name, globs) > 0, f"{name} has no example"


def test_all_of_it_is_looked_at():
    assert {"errors.IoError", "plot.bits", "BaseStore.verify", "KeySnapshot.records", "Writer.insert"} <= set(THINGS)
    assert len(THINGS) > 120
    assert threatexchange is None or {"threatexchange", "PDQIndex.open", "PDQIndex.dispose"} <= set(THINGS)


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
