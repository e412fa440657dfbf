"""Shared by the comparisons: an environment with the packages of the peers, and the data.

Functions import numpy where they use it, because the environment that has it may not be active yet.
"""
import json
import os
import pathlib
import resource
import subprocess
import sys
import time
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
NUMPY, MATPLOTLIB = "numpy==2.4.6", "matplotlib==3.10.8"


def inside_environment(packages, name="peers"):
    """Runs the program again with an interpreter that has the packages, from this folder of the target directory.
    Packages with many dependencies get a folder of their own."""
    home = TARGET / name
    python = home / "bin" / "python"
    if pathlib.Path(sys.prefix) == home:
        return
    if not python.exists():
        venv.create(home, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *packages], check=True)
    os.execv(python, [str(python), *sys.argv])


def package(given=None):
    """Installs the package for Python into this environment: the wheel of `cargo xtask python`, or what is given."""
    wheels = sorted((TARGET / "python" / "wheels").glob("fpstore-*.whl"))
    if not (given or wheels):
        sys.exit("there is no wheel in target/python/wheels; run `cargo xtask python`")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps"]
    subprocess.run([*install, "--force-reinstall", given or wheels[0]], check=True)


def bench_program(name):
    """Builds a bench; returns its program, whose memory can be watched, unlike that of cargo's child."""
    build = ["cargo", "bench", "--bench", name, "--no-run", "--locked", "--message-format", "json"]
    messages = subprocess.run(build, cwd=ROOT, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    for message in map(json.loads, messages.splitlines()):
        if message.get("executable") and message["target"]["name"] == name:
            return message["executable"]
    sys.exit(f"cargo has built no bench {name}")


def proc_bytes(file, *names):
    """Sum of these sizes of a file of /proc such as `PID/status`, in bytes."""
    with open(f"/proc/{file}") as lines:
        return sum(int(line.split()[1]) * 1024 for line in lines if line.split(":")[0] in names)


def resident(pid):
    """RssAnon + RssShmem of a process, in bytes."""
    return proc_bytes(f"{pid}/status", "RssAnon", "RssShmem")


def size(*folders):
    """Bytes of all files in folders."""
    return sum(path.stat().st_size for folder in folders for path in folder.rglob("*") if path.is_file())


def core_seconds():
    """Core-seconds of all processes of this one that have ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


def watched(command, measure=lambda pid: (resident(pid),), pause=0.002, accept=(0,), **how):
    """Runs a command, and calls `measure` with its process id every `pause` seconds. Returns the seconds, then the
    largest of each number that `measure` returned."""
    start = time.perf_counter()
    process = subprocess.Popen([str(part) for part in command], **how)
    peaks = None
    while process.poll() is None:
        try:
            found = measure(process.pid)
            peaks = tuple(map(max, peaks or found, found))
        except OSError:
            pass
        time.sleep(pause)
    seconds = time.perf_counter() - start
    if process.returncode not in accept:
        raise SystemExit(f"{command[0]} failed ({process.returncode})")
    return seconds, *(peaks or (0,))


def mix(z):
    """The last step of splitmix64, of an array."""
    import numpy as np

    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def splitmix64(count, seed=20070508):
    """The values of `cargo bench --bench figures -- uniform COUNT`."""
    import numpy as np

    values = np.empty(count, np.uint64)
    for begin in range(0, count, 1 << 24):
        # A part at a time, as there are several copies of it for some time.
        part = values[begin : begin + (1 << 24)]
        numbers = np.arange(begin + 1, begin + 1 + len(part), dtype=np.uint64)
        with np.errstate(over="ignore"):
            part[:] = mix(np.uint64(seed) + numbers * np.uint64(0x9E3779B97F4A7C15))
    return values


def fingerprints(source):
    """The data of a command line: ["uniform", COUNT], ["paired", COUNT, PAIRS], ["enlarged", FILE, COUNT] or [FILE]."""
    import numpy as np

    if source[0] == "uniform":
        return splitmix64(int(source[1]))
    if source[0] == "enlarged":
        return enlarged(np.fromfile(source[1], dtype="<u8"), int(source[2]))
    return paired(int(source[1]), int(source[2])) if source[0] == "paired" else np.fromfile(source[0], dtype="<u8")


def enlarged(real, count, seed=11):
    """At least the real values, and variants of them: half are exact copies, the others have 0 to 6 bits flipped. Keeps
    the properties of real sets (biased bits, repeated values, families of near ones), in random order."""
    import numpy as np

    random = np.random.default_rng(seed)
    parts, have = [real], len(real)
    while have < count:
        values = real[: min(len(real), count - have)].copy()
        flips = np.where(random.random(len(values)) < 0.5, random.integers(0, 7, len(values)), 0)
        bits = np.argsort(random.random((len(values), 64)), axis=1)[:, :6].astype(np.uint64)
        for number in range(6):
            values = np.where(flips > number, values ^ (np.uint64(1) << bits[:, number]), values)
        parts.append(values)
        have += len(values)
    values = np.concatenate(parts)
    random.shuffle(values)
    return values


def paired(count, pairs):
    """Uniform values; `pairs` of them are one to three bits from one of the others."""
    import numpy as np

    values = splitmix64(count)
    bits = splitmix64(3 * pairs, seed=3).reshape(3, pairs) & np.uint64(63)
    flips = np.uint64(1) << bits
    values[-pairs:] = values[:pairs] ^ (flips[0] | flips[1] | flips[2])
    return values
