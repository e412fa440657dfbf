"""The walk-through runs, and the notebook and the page are those of its source."""

import importlib.util
import json
import pathlib

import pytest

pytest.importorskip("matplotlib")

TOUR = pathlib.Path(__file__).parent.parent / "tour"
if not (TOUR / "tour.py").exists():
    pytest.skip("the tour is in the repository", allow_module_level=True)

spec = importlib.util.spec_from_file_location("build_tour", TOUR / "build.py")
build = importlib.util.module_from_spec(spec)
spec.loader.exec_module(build)


def test_it_runs_and_draws():
    build.pyplot.close("all")
    names, pictures = {"__file__": str(TOUR / "tour.py")}, 0
    for is_text, source in build.cells():
        if not is_text:
            _, picture = build.run(source, names)
            pictures += picture is not None
            build.pyplot.close("all")
    assert pictures == 4 and len(names["kept"]) + len(names["evidence"]) == len(names["pages"])


def test_notebook_and_page_are_current():
    notebook = json.loads((TOUR / "tour.ipynb").read_text())["cells"]
    page = (TOUR / "page.md").read_text()
    sources = list(build.cells())
    assert [("".join(cell["source"]), cell["cell_type"] == "markdown") for cell in notebook] == [
        (source, is_text) for is_text, source in sources
    ], "run tour/build.py"
    assert all(source in page for _, source in sources)
