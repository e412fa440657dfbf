#!/usr/bin/env python3
"""A second implementation of the file formats of fpstore, written from the specification beside it alone.

    python3 decode.py PATH

PATH is a store (a directory) or one segment file. The program checks everything that the specification calls invalid,
including the checks of a verifying program. If the input is sound, it prints the records, `FINGERPRINT<TAB>ID`, sorted,
each once; without ids, `FINGERPRINT<TAB>COUNT`; of a key index, a line of JSON for each record. Exit code 0: sound; 1: invalid, with one line on standard error that
names the fault and the place; 2: wrong use, nothing to read. Logs with a torn tail are sound; a line on standard error
reports the tail.

Read the program beside the specification. It prefers clarity to speed, but its time and memory stay proportional to
the size of its input. It needs Python 3.9 or later, and the package zstandard for compressed text ids only.
"""

import os
import sys

from conventions import Invalid
from segment import read_segment
from store import read_store

def main(arguments):
    """Prints the records of a store or segment; returns the exit code."""
    if len(arguments) != 1:
        print("usage: decode.py STORE|SEGMENT", file=sys.stderr)
        return 2
    path, files = arguments[0], arguments[:]
    try:
        if os.path.isfile(os.path.join(path, "MANIFEST")):
            parameters, records = read_store(path, files, tell)
        elif os.path.isfile(path):
            parameters, segment, _ = read_segment(path)
            parameters, records = parameters._replace(keys=None), zip(*segment)
        else:
            raise OSError("neither a store nor a file")
    except (Invalid, OSError) as error:
        tell(files[-1], error)
        return 1 if isinstance(error, Invalid) else 2
    try:
        if parameters.keys:
            sys.stdout.writelines(line + "\n" for line in records)
        else:
            sys.stdout.writelines("%0*x\t%s\n" % (parameters.width // 4, *record) for record in records)
        sys.stdout.flush()
    except OSError as error:  # the disk is full, or the reader of a pipe is gone, as in `decode.py STORE | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        tell("standard output", error)
        return 2
    return 0

def tell(file, what):
    """Prints a line on standard error."""
    print("decode.py: %s: %s" % (file, what), file=sys.stderr)

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
