"""`python -m fpstore.stages`: the stages of a job, for schedulers."""

from __future__ import annotations

import argparse
import os
import sys

from fpstore import errors, stages
from fpstore.stages._plan import LINKAGES, METHODS

_EXAMPLES = """examples:
  python -m fpstore.stages create /shared/job --id url --distance 3 --tasks 100 /shared/pages/*.parquet
  python -m fpstore.stages run /shared/job partition 17      # one task; an array job: $SLURM_ARRAY_TASK_ID
  python -m fpstore.stages run /shared/job --workers 8       # all that is left, on this machine
  python -m fpstore.stages missing /shared/job components    # the tasks that can run now; none: the stage is done
  python -m fpstore.stages status /shared/job
"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fpstore.stages",
        description="De-duplicates Parquet files by numbered tasks over a shared folder.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = parser.add_subparsers(dest="command", required=True)
    create = commands.add_parser("create", help="create a job in a new folder")
    create.add_argument("folder")
    create.add_argument("inputs", nargs="+", metavar="FILE", help="Parquet files with the same columns")
    create.add_argument("--id", default="id", help="column of ids (id)")
    create.add_argument("--fingerprint", help="column of fingerprints (fingerprint)")
    create.add_argument("--keys", help="column of lists of keys: records that share one are near")
    create.add_argument("--text", help="column of texts, to make fingerprints or keys of")
    create.add_argument("--method", default="simhash", choices=METHODS, help="of texts: fingerprints or keys (simhash)")
    create.add_argument("--distance", type=int, help="bits in which near fingerprints may differ (3)")
    create.add_argument("--linkage", default="star", choices=LINKAGES)
    create.add_argument("--tasks", type=int, default=16, help="tasks of a stage (16)")
    groups = "groups of keys (tasks), or of each part of the join (at most tasks / (distance + 1))"
    create.add_argument("--groups", type=int, help=groups)
    create.add_argument("--memory", default="1GiB", help="bytes of memory of a task (1GiB)")
    run = commands.add_parser("run", help="run a task, or all that are left")
    run.add_argument("folder")
    run.add_argument("stage", nargs="?", choices=stages.STAGES)
    run.add_argument("task", nargs="?", type=int)
    run.add_argument("--workers", type=int, default=1, help="processes that run all that is left (1)")
    missing = commands.add_parser("missing", help="print the numbers of the tasks of a stage that are not done")
    missing.add_argument("folder")
    missing.add_argument("stage", choices=stages.STAGES)
    for name, text in (("status", "show what is done"), ("clean", "remove what interrupted tasks left")):
        commands.add_parser(name, help=text).add_argument("folder")
    return parser


def _run(arguments: argparse.Namespace) -> None:
    if arguments.command == "create":
        given = vars(arguments)
        del given["command"]
        job = stages.create(given.pop("folder"), given.pop("inputs"), **given)
        print(" ".join(f"{stage}={job.tasks(stage)}" for stage in stages.STAGES if job.tasks(stage)))
        return
    job = stages.open(arguments.folder)
    if arguments.command == "clean":
        print(f"{job.clean()} interrupted tasks")
    elif arguments.command == "missing":
        job.check_earlier(arguments.stage)
        for task in job.missing(arguments.stage):
            print(task)
    elif arguments.command == "status":
        for stage in filter(job.tasks, stages.STAGES):
            print(f"{stage}\t{job.tasks(stage) - len(job.missing(stage))}\t{job.tasks(stage)}")
    elif arguments.stage is None:
        job.run_all(arguments.workers)
    elif arguments.task is None:
        job.check_earlier(arguments.stage)
        while missing := job.missing(arguments.stage):
            for task in missing:
                job.run(arguments.stage, task)
    else:
        job.run(arguments.stage, arguments.task)


def main() -> int:
    try:
        _run(_parser().parse_args())
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has ended, which is no error; the interpreter flushes once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except (errors.FpstoreError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
