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


def optional():
    """Modules that need pyarrow, if it is there."""
    try:
        from fpstore import ring, stages
    except ImportError:
        return []
    return [ring, stages]


def members(name, thing, *owners):
    """A class and what it has; the examples of the owners come first, and that of the class."""
    yield name, thing, *owners
    if inspect.isclass(thing) and not issubclass(thing, (tuple, Exception)):
        for member, value in vars(thing).items():
            if not member.startswith("_"):
                yield f"{name}.{member}", value, *owners, thing


def public():
    """Names of what is public, each with what has a docstring, and with its owners, whose examples come first."""
    yield "fpstore", fp
    for module in (errors, plot):
        name = module.__name__.split(".")[-1]
        yield name, module
        for member, value in vars(module).items():
            if not member.startswith("_") and getattr(value, "__module__", "") == module.__name__:
                yield f"{name}.{member}", value
    for module in optional():
        name = module.__name__.split(".")[-1]
        yield name, module
        for member in module.__all__:
            if callable(getattr(module, member)):
                yield from members(f"{name}.{member}", getattr(module, member), module)
    things = [(name, getattr(fp, name)) for name in fp.__all__ if name != "__version__"]
    if threatexchange is not None:
        yield "threatexchange", threatexchange
        things.append(("PDQIndex", threatexchange.PDQIndex))
    for name, thing in things:
        if not inspect.ismodule(thing):
            yield from members(name, thing)


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
    thing, *owners = THINGS[name]
    text = inspect.getdoc(thing)
    assert text, f"{name} has no docstring"
    if name.startswith("plot"):
        pytest.importorskip("matplotlib").use("agg")
    globs = {}
    for owner in owners:
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
