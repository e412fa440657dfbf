"""Endurance of the package: many calls, opened stores and interrupts, after which nothing is lost or leaked.

    python tests/endurance calls                    # calls of eight threads on one store
    python tests/endurance opens --count 10000      # stores opened and closed
    python tests/endurance interrupts --long        # Ctrl-C at random moments of every long call

Without `--long` the numbers are small, and a part takes seconds; every number is an option. A part ends with a report
in JSON, or with an exception at the first fault. It needs Linux, whose /proc tells what a process holds.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import tempfile

import calls
import interrupts
import opens

PARTS = {"calls": calls, "opens": opens, "interrupts": interrupts}


def main() -> None:
    parser = argparse.ArgumentParser("endurance", description="Many calls, opened stores and interrupts.")
    parts = parser.add_subparsers(dest="part", required=True)
    for name, part in PARTS.items():
        options = parts.add_parser(name)
        options.add_argument("--long", action="store_true", help="the numbers of the long run, unless they are given")
        options.add_argument("--seed", type=int, default=1)
        options.add_argument("--directory", help="of stores and temporary files; a temporary one by default")
        for number, (short, long) in part.NUMBERS.items():
            options.add_argument(f"--{number}", type=int, help=f"{short}, with --long {long}")
    options = parser.parse_args()
    part = PARTS[options.part]
    for number, (short, long) in part.NUMBERS.items():
        if getattr(options, number) is None:
            setattr(options, number, long if options.long else short)
    with tempfile.TemporaryDirectory(dir=options.directory, prefix="endurance-") as place:
        directory = pathlib.Path(place)
        # All temporary files of this process are made in a directory of their own, where none may stay.
        temporary = directory / "temporary"
        temporary.mkdir()
        os.environ["TMPDIR"] = tempfile.tempdir = str(temporary)
        print(json.dumps(part.run(directory, options), indent=1))


main()
