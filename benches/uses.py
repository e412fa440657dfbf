#!/usr/bin/env python3
"""The scripts of examples/ at full size: seconds and peak memory of every step.

    benches/uses.py [--urls 3000000] [--documents 300000] [--images 300000] [--memory 1GiB]

Makes the data with a fixed seed, runs each script once, and prints a line for every program of a script: its command,
seconds, and its peak anonymous and shared memory (RssAnon + RssShmem), sampled every 2 ms.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
from common import NUMPY, ROOT, TARGET, enlarged, inside_environment  # noqa: E402

PROGRAMS = ["fphash", "fpload", "fpquery", "fpdedup"]


def resident(pid):
    """RssAnon + RssShmem in bytes."""
    try:
        with open(f"/proc/{pid}/status") as status:
            return sum(int(line.split()[1]) * 1024 for line in status if line.startswith(("RssAnon:", "RssShmem:")))
    except OSError:
        return 0


def measured(program, arguments):
    """Runs a program for a script, and records its cost."""
    start = time.perf_counter()
    process = subprocess.Popen([TARGET / "release" / program, *arguments])
    most = 0
    while process.poll() is None:
        most = max(most, resident(process.pid))
        time.sleep(0.002)
    seconds = time.perf_counter() - start
    words = [word for word in arguments if not word.startswith("/")]
    with open(os.environ["FPSTORE_USES"], "a") as log:
        json.dump({"step": " ".join([program, *words]), "seconds": seconds, "bytes": most}, log)
        log.write("\n")
    sys.exit(process.returncode)


def urls(folder, count):
    """A crawl of `count` pages, and a second night: a tenth fetched again, half of them changed, some new, some
    gone."""
    import numpy as np

    values = enlarged(np.fromfile(ROOT / "tests/data/real_simhash64.u64", dtype="<u8"), count + count // 100)
    random = np.random.default_rng(5)

    def url(number):
        return f"https://www.site-{number % 4099}.example/archive/{number // 4099:07d}/page-{number}.html"

    def write(path, rows):
        with open(path, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["url", "status", "simhash"])
            table.writerows((url(number), 200, f"{value:016x}") for number, value in rows)

    write(folder / "night-1.csv", enumerate(values[:count]))
    again = random.choice(count, count // 10, replace=False)
    fetched = values[again].copy()
    fetched[::2] = values[random.choice(count, len(fetched[::2]))] ^ np.uint64(5)
    new = range(count, len(values))
    write(folder / "night-2.csv", [*zip(again, fetched), *zip(new, values[count:])])
    (folder / "none.txt").write_text("")
    gone = random.choice(count, count // 100, replace=False)
    (folder / "gone.txt").write_text("".join(f"{url(number)}\n" for number in gone))
    script = ROOT / "examples" / "nightly_urls.sh"
    store, out = folder / "store", folder / "out"
    yield "first night", [script, store, folder / "night-1.csv", folder / "none.txt", out]
    yield "second night", [script, store, folder / "night-2.csv", folder / "gone.txt", out]


def documents(folder, count):
    """`count` texts of 20 to 400 words; three in ten are an earlier one with a few words changed."""
    import numpy as np

    random = np.random.default_rng(7)
    words = np.array([f"w{number:x}" for number in range(50_000)])
    kept = []
    with open(folder / "documents.ndjson", "w") as file:
        for number in range(count):
            if kept and random.random() < 0.3:
                text = kept[random.integers(len(kept))].copy()
                places = random.integers(len(text), size=random.integers(1, 2 + len(text) // 30))
                text[places] = words[random.integers(len(words), size=len(places))]
            else:
                length = random.integers(20, 400)
                text = words[np.minimum(random.zipf(1.3, length) - 1, len(words) - 1)]
                if len(kept) < 10_000:
                    kept.append(text)
            file.write(json.dumps({"id": f"document-{number}", "text": " ".join(text)}) + "\n")
    yield "documents", [ROOT / "examples" / "documents.sh", folder / "out", folder / "documents.ndjson"]


def images(folder, count):
    """`count` 256-bit hashes, one in five an earlier one with up to 40 bits changed; and a tenth as many new ones."""
    import numpy as np

    random = np.random.default_rng(9)
    hashes = random.integers(0, 256, (count + count // 10, 32), dtype=np.uint8)
    for number in np.flatnonzero(random.random(len(hashes)) < 0.2)[1:]:
        bits = np.unpackbits(hashes[random.integers(number)])
        bits[random.integers(256, size=random.integers(0, 40))] ^= 1
        hashes[number] = np.packbits(bits)

    def write(path, numbers):
        with open(path, "w", newline="") as file:
            table = csv.writer(file)
            table.writerow(["image", "hash", "quality"])
            quality = random.integers(0, 101, len(numbers))
            table.writerows((f"image-{n}.jpg", hashes[n].tobytes().hex(), q) for n, q in zip(numbers, quality))

    write(folder / "known.csv", range(count))
    write(folder / "new.csv", range(count, len(hashes)))
    script = ROOT / "examples" / "image_hashes.sh"
    yield "images", [script, folder / "out", folder / "known.csv", folder / "new.csv"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--urls", type=int, default=3_000_000)
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--images", type=int, default=300_000)
    parser.add_argument("--memory", default="1GiB")
    options = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "-p", "fpstore-tools"], cwd=ROOT, check=True)
    for make, count in [(urls, options.urls), (documents, options.documents), (images, options.images)]:
        if count == 0:
            continue
        with tempfile.TemporaryDirectory(dir=TARGET) as folder:
            folder = pathlib.Path(folder)
            shims, log = folder / "bin", folder / "log"
            shims.mkdir()
            for program in PROGRAMS:
                # This script, called by the name of the program.
                (shims / program).symlink_to(pathlib.Path(__file__).resolve())
            path = f"{shims}{os.pathsep}{os.environ['PATH']}"
            environment = {**os.environ, "PATH": path, "FPSTORE_USES": str(log), "MEMORY": options.memory}
            for name, command in make(folder, count):
                print(f"\n{name}: {count:,}", flush=True)
                log.write_text("")
                subprocess.run([str(word) for word in command], env=environment, check=True)
                for line in log.read_text().splitlines():
                    step = json.loads(line)
                    print(f"{step['seconds']:8.1f} s {step['bytes'] / 2**20:8.0f} MiB  {step['step']}")


if __name__ == "__main__":
    if pathlib.Path(sys.argv[0]).name in PROGRAMS:
        measured(pathlib.Path(sys.argv[0]).name, sys.argv[1:])
    inside_environment([NUMPY])
    main()
