"""Makes tour.ipynb and page.md of tour.py, with outputs and pictures."""

import ast
import contextlib
import io
import json
import pathlib
import re

import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent


def cells():
    """The cells of tour.py: whether each is text, and its source."""
    for part in (HERE / "tour.py").read_text().split("# %%")[1:]:
        kind, _, source = part.partition("\n")
        source = source.strip("\n")
        if "markdown" in kind:
            yield True, "\n".join(re.sub("^# ?", "", line) for line in source.split("\n"))
        else:
            yield False, source


def run(source, names):
    """Runs a cell; returns what it shows, and its picture if it draws one."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        exec(compile(tree, "tour.py", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "tour.py", "eval"), names) if last else None
        if value is not None:
            print(repr(value))
    picture = pyplot.gcf() if pyplot.get_fignums() else None
    return shown.getvalue().replace(names.get("folder", "\0"), "FOLDER"), picture


def main():
    names = {"__file__": str(HERE / "tour.py")}
    page, notebook, pictures = [], [], 0
    for is_text, source in cells():
        lines = source.splitlines(keepends=True)
        if is_text:
            page.append(source)
            notebook.append({"cell_type": "markdown", "metadata": {}, "source": lines})
            continue
        text, picture = run(source, names)
        page.append(f"```python\n{source}\n```")
        outputs = []
        if text:
            page.append(f"```\n{text.rstrip()}\n```")
            outputs.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
        if picture:
            pictures += 1
            picture.savefig(HERE / f"picture-{pictures}.svg", metadata={"Date": None})
            pyplot.close("all")
            page.append(f"![](picture-{pictures}.svg)")
        notebook.append(
            {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": outputs, "source": lines}
        )
    (HERE / "page.md").write_text("\n\n".join(page) + "\n")
    book = {
        "cells": notebook,
        "metadata": {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    (HERE / "tour.ipynb").write_text(json.dumps(book, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    matplotlib.rcParams["svg.hashsalt"] = "fpstore"
    main()
