"""Processes that run steps of datatrove and are killed, or come at the same time."""

import json
import multiprocessing
import os
import signal
import time

from fpstore.datatrove import MinhashFilter, _decisions, _signatures, decide


def start(target, *arguments):
    process = multiprocessing.get_context("spawn").Process(target=target, args=arguments)
    process.start()
    return process


def killed(target, *arguments):
    """Whether a process dies by the signal."""
    process = start(target, *arguments)
    process.join()
    return process.exitcode == -signal.SIGKILL


def die_in_sketch(step, documents, rank):
    """Dies after some batches."""

    def some():
        yield from documents[rank][:70]
        os.kill(os.getpid(), signal.SIGKILL)

    _signatures.BATCH_DOCUMENTS = 20
    step.run(some(), rank, len(documents))


def die_in_decide(folder):
    """Dies when one of several files is written."""
    write, written = _decisions._write, []

    def once(*arguments):
        if written:
            os.kill(os.getpid(), signal.SIGKILL)
        written.append(write(*arguments))

    _decisions._write = once
    decide(folder)


def filter_slowly(folder, documents, rank):
    """Begins with the other ranks, notes that it decides, and takes long for that."""
    work = _decisions.decide

    def slow(*arguments):
        with open(folder / "decided", "a") as file:
            file.write(f"{rank}\n")
        time.sleep(1)
        work(*arguments)

    _decisions.decide = slow
    (folder / f"ready-{rank}").touch()
    while len(list(folder.glob("ready-*"))) < len(documents):
        time.sleep(0.01)
    kept = [one.id for one in MinhashFilter(folder).run(documents[rank], rank, len(documents))]
    (folder / f"kept-{rank}").write_text(json.dumps(kept))
