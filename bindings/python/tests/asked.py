"""Questions of other processes to an index for py-tx. They find this module in whatever way pytest imports the tests; a
pool would wait for ever for processes that do not."""

import sys

from fpstore.threatexchange import PDQIndex


def answers(index, query):
    return sorted((int(one.similarity_info.distance), repr(one.metadata)) for one in index.query(query))


def ask(index, queries):
    """What a worker answers, and the files that it has mapped."""
    mapped = ""
    if sys.platform == "linux":
        with open("/proc/self/maps") as maps:
            mapped = maps.read()
    return [answers(index, query) for query in queries], mapped


def ask_saved(path, queries):
    return ask(PDQIndex.open(path), queries)
