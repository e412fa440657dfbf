"""Ctrl-C at random moments of every long call: the store stays sound, and is as before the call or as after it.

Another process sends the signal, so that this one cannot delay it, and says when.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import shutil
import signal
import statistics
import struct
import subprocess
import sys
import time
from collections.abc import Callable

import deeds
import fpstore as fp
from held import MIB, Watch

NUMBERS = {"count": (44, 1_000), "records": (3_000, 100_000), "rounds": (4, 20)}

SENDER = """
import os, signal, struct, sys, time
while order := os.read(0, 8):
    time.sleep(struct.unpack("d", order)[0])
    sent = time.monotonic()
    os.kill(int(sys.argv[1]), signal.SIGINT)
    os.write(1, struct.pack("d", sent))
"""


class Sender:
    """Sends this process a signal after some time."""

    def __init__(self) -> None:
        command = [sys.executable, "-c", SENDER, str(os.getpid())]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        assert self.process.stdin and self.process.stdout
        self.orders, self.replies = self.process.stdin.fileno(), self.process.stdout.fileno()

    def interrupt(self, call: Callable[[], object], delay: float) -> tuple[float, bool]:
        """Interrupts the call; returns the seconds from the signal to the exception, and whether the call had ended."""
        ended = False
        try:
            os.write(self.orders, struct.pack("d", delay))
            call()
            ended = True
            until = time.monotonic() + delay + 10
            while time.monotonic() < until:
                time.sleep(0.01)
        except KeyboardInterrupt:
            caught = time.monotonic()
        else:
            raise AssertionError("the interrupt was lost")
        (sent,) = struct.unpack("d", os.read(self.replies, 8))
        return caught - sent, ended

    def close(self) -> None:
        os.close(self.orders)
        self.process.wait()


class Case:
    """A deed, its time, and the states of the store before and after it."""

    def __init__(self, deed: deeds.Deed, place: deeds.Place) -> None:
        self.deed, self.place = deed, place
        self.took: list[float] = []
        self.late = self.undone = self.done = self.parts = 0
        place.restore()
        with place.open() as store:
            before = place.state(store)
            begun = time.monotonic()
            deed.do(place, store)
            self.seconds = time.monotonic() - begun
            after = place.state(store)
        # Most deeds leave the store as it was: one list serves all of them.
        self.before = place.first = place.first or before
        assert before == self.before, "a copy of the store differs"
        self.after = self.before if after == before else after
        place.tidy()

    def interrupt(self, sender: Sender, rng: random.Random) -> None:
        self.place.restore()
        store = self.place.open()
        seconds, ended = sender.interrupt(lambda: self.deed.do(self.place, store), rng.uniform(0, self.seconds))
        store.close()
        del store
        self.late += ended
        if not ended:
            self.took.append(seconds)
        with self.place.open() as store:
            self.check(self.place.state(store))
        damages = fp.verify(self.place.path)["damages"]
        assert damages == [], f"{self.deed.name}: {damages}"
        self.place.tidy()

    def check(self, state: deeds.State) -> None:
        if state == self.after:
            self.done += 1
        elif state == self.before:
            self.undone += 1
        else:
            before, state_rows, after = set(self.before), set(state), set(self.after)
            what = f"{self.deed.name}: {len(before)} records before, {len(state_rows)} now, {len(after)} after"
            assert self.deed.is_row_by_row and before < state_rows < after, what
            self.parts += 1

    def report(self) -> str:
        text = f"{round(self.seconds * 1e3)} ms; {len(self.took)} interrupts"
        if self.took:
            text += f", median {statistics.median(self.took) * 1e3:.0f} ms, largest {max(self.took) * 1e3:.0f} ms"
        text += f"; {self.late} after its end"
        if self.before != self.after:
            text += f"; {self.undone} times as before, {self.done} done, {self.parts} done in part"
        return text


def run(directory: pathlib.Path, options: argparse.Namespace) -> dict[str, object]:
    signal.signal(signal.SIGINT, signal.default_int_handler)
    rng = random.Random(options.seed)
    places = {kind: deeds.Place(directory / kind, kind, options) for kind in ("fingerprints", "keys")}
    cases = [Case(deed, places[deed.kind]) for deed in deeds.DEEDS]
    watch = Watch(directory / "temporary", memory_slack=96 * MIB)
    sender = Sender()
    watch.begin()
    begun = time.monotonic()
    for number in range(options.count):
        cases[number % len(cases)].interrupt(sender, rng)
        if (number + 1) % -(-options.count // options.rounds) == 0:
            watch.sample(number + 1)
    seconds = time.monotonic() - begun
    took = [one for case in cases for one in case.took]
    sender.close()
    # 200 ms are promised; the machine of the tests may be busy.
    late = sum(one > 2 for one in took)
    assert statistics.median(took) < 0.5 and late <= len(took) / 5, [case.report() for case in cases if case.took]
    for place in places.values():
        shutil.rmtree(place.directory)
    return {
        "interrupts": options.count,
        "during_a_call": len(took),
        "seconds": round(seconds, 1),
        "median_ms": round(statistics.median(took) * 1e3, 1),
        "max_ms": round(max(took) * 1e3, 1),
        "over_200_ms": sum(one > 0.2 for one in took),
        "calls": {case.deed.name: case.report() for case in cases},
        **watch.report(),
    }
