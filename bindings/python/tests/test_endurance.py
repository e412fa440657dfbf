"""Many calls, opened stores and interrupts: few of them in the usual run, all with FPSTORE_LONG=1."""

import os
import pathlib
import subprocess
import sys

import pytest

import fpstore as fp

PROGRAM = pathlib.Path(__file__).parent / "endurance"


@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="reads /proc")
@pytest.mark.parametrize("part", ["calls", "opens", "interrupts"])
def test_endurance(part, tmp_path):
    command = [sys.executable, str(PROGRAM), part, "--directory", str(tmp_path)]
    if os.environ.get("FPSTORE_LONG") == "1":
        command.append("--long")
    # The package that is tested here.
    environment = {**os.environ, "PYTHONPATH": str(pathlib.Path(fp.__file__).parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
