#!/usr/bin/env python3
"""Growth of the time of all pairs with the number of fingerprints: a table, and a picture.

    benches/peers/scaling.py [--plot FILE.svg] [COUNT...]

Uniform fingerprints, `fpdedup pairs --distinct` from a store on disk (in the page cache) to a file, k = 3, the median
of `--rounds`, for each `--memory`. Both axes of the picture are logarithmic: linear growth is parallel to the grey
line.
"""
import argparse
import pathlib
import statistics
import subprocess
import tempfile

from common import NUMPY, ROOT, TARGET, inside_environment, splitmix64
from joins import PROGRAMS, watched

COUNTS = [1_000_000, 3_000_000, 10_000_000, 30_000_000, 100_000_000]
MATPLOTLIB = "matplotlib==3.10.8"


def seconds_of(store, memory, out, rounds):
    command = [PROGRAMS / "fpdedup", "pairs", "--quiet", "--distinct", "--memory", memory, "--output", out, store]
    return statistics.median(watched(command)[0] for _ in range(rounds))


def draw(times, path):
    import matplotlib

    matplotlib.use("svg")
    from matplotlib import pyplot

    pyplot.rcParams.update({"svg.hashsalt": "fpstore", "font.size": 9})
    figure, axes = pyplot.subplots(figsize=(5.6, 3.6), layout="constrained")
    for memory, points in times.items():
        axes.plot(list(points), list(points.values()), marker="o", label=f"--memory {memory}")
    points = next(iter(times.values()))
    last = max(points)
    axes.plot(list(points), [points[last] * count / last for count in points], color="grey", linestyle=":",
              label="linear")
    axes.set(xscale="log", yscale="log", xlabel="fingerprints", ylabel="seconds",
             title="All pairs within 3 bits, uniform, 2 cores")
    axes.grid(which="major", alpha=0.3)
    axes.legend()
    figure.savefig(path, metadata={"Date": None})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("counts", nargs="*", type=int, default=COUNTS)
    parser.add_argument("--memory", action="append", help="may be repeated [default: 4GiB and 512MiB]")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--plot", type=pathlib.Path)
    options = parser.parse_args()
    inside_environment([NUMPY, *([MATPLOTLIB] if options.plot else [])])
    memories = options.memory or ["4GiB", "512MiB"]
    subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "fpstore-tools", "--target-dir", TARGET],
                   cwd=ROOT, check=True)
    times = {memory: {} for memory in memories}
    print("| fingerprints | " + " | ".join(memories) + " | us a fingerprint |\n|---|" + "---|" * (len(memories) + 1))
    for count in options.counts:
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            splitmix64(count).tofile(folder / "data.u64")
            subprocess.run([PROGRAMS / "fpload", "--quiet", "--create", folder / "store", folder / "data.u64"],
                           check=True)
            for memory in memories:
                times[memory][count] = seconds_of(folder / "store", memory, folder / "pairs.tsv", options.rounds)
        each = [times[memory][count] for memory in memories]
        print(f"| {count:,} | " + " | ".join(f"{seconds:.2f} s" for seconds in each)
              + " | " + " / ".join(f"{seconds * 1e6 / count:.3f}" for seconds in each) + " |", flush=True)
    if options.plot:
        draw(times, options.plot)


if __name__ == "__main__":
    main()
