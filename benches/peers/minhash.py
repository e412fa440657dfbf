#!/usr/bin/env python3
"""Documents without near-duplicates by MinHash bands, beside other systems, on the same documents in the same run:
seconds, peak memory, bytes of intermediate files, documents removed, and how many of them rightly.

    benches/peers/minhash.py
    benches/peers/minhash.py --documents 20000 --rounds 2 --peers datatrove,rensa

Makes documents as documents.py does; its notes on memory hold here too. Each line of the table is a whole process, from
Parquet to Parquet, with 14 bands of 8 rows. Rounds alternate between the lines. Features are five words in a row:

* ours (`--features words:5`), of the lower-case text, rensa and datasketch, of the text: white-space tokens. rensa and
  datasketch look up each document among those before it in their index in memory, and unite what they find, in one
  process (minhash_peers.py).
* gaoya, of the text: what its analyser takes for words. It inserts and looks up a thousand documents at once, on all
  cores, in memory.
* `python` is fpstore.dedup of the package for Python (`cargo xtask python` builds it), which has to keep what the first
  line keeps.
* datatrove, in its four stages: words of spaCy's rules for English, of simplified text.
* text-dedup (`--b 14 --r 8 --num_perm 112`): what stands between characters that are no letters, digits or `_`.

Peers verify nothing and keep one document of each connected component, as ours does with `--linkage single`. "Disk" is
the peak of the files that are neither input nor output, those without a name included.

Then each line runs on the first documents of the set alone (--sample), with one process, and is compared with the exact
Jaccard similarity of all pairs of them, of the line's own features. A pair is right if that is at least 0.7. Candidates
are pairs with a band in common: of ours those of `fpdedup pairs`, of datatrove those of its signature files; text-dedup
shows none. "Wrongly removed" documents have no other document of 0.7. "Left" is the share of the right pairs of which
both documents stay.

With --preset datatrove ours makes datatrove's hashes, if `fphash presets` lists it; the candidates of both must then be
the same. Exits with 1 if they are not, a peer fails, or a round keeps other documents than the first.
"""
import argparse
import collections
import itertools
import os
import pathlib
import re
import shutil
import stat
import statistics
import subprocess
import sys
import tempfile

import documents
from common import ROOT, TARGET, inside_environment, package
from documents import WHOLE
from minhash_peers import BANDS, PLACES, ROWS, shingles

PACKAGES = [*documents.PACKAGES, "datasketch==2.0.0", "rensa==0.5.0", "gaoya==0.2.2"]
PEERS = {"datatrove": "datatrove 0.10.1", "text-dedup": "text-dedup 0.4.0", "rensa": "rensa 0.5.0",
         "datasketch": "datasketch 2.0.0", "gaoya": "gaoya 0.2.2", "python": "fpstore.dedup in Python"}
RIGHT = 0.7
HELPER = ROOT / "benches/peers/minhash_peers.py"


def unnamed(pid):
    """Bytes of open files without a name, of a process."""
    for file in pathlib.Path(f"/proc/{pid}/fd").iterdir():
        try:
            found = file.stat()
        except OSError:
            continue
        if found.st_nlink == 0 and stat.S_ISREG(found.st_mode):
            yield found.st_size


class Bench(documents.Bench):
    """With `candidates`, also finds the pairs with a band in common."""

    def __init__(self, folder, options, candidates=False):
        super().__init__(folder, options)
        self.candidates = {} if candidates else None
        self.keys = ["--preset", options.preset] if options.preset else ["--features", "words:5"]
        self.keys += ["--bands", BANDS, "--rows", ROWS]

    def how(self, peer):
        how = super().how(peer)
        return how | {"measure": lambda pid: (*how["measure"](pid), self.disk(pid))}

    def disk(self, pid):
        """Bytes of intermediate files."""
        size = sum(sum(unnamed(process)) for process in documents.processes(pid))
        for folder, folders, files in os.walk(self.work):
            folders[:] = [name for name in folders if name != "out"]
            for file in files:
                # What is being written has a name such as .clean.parquet.4f1c.tmp.
                if not file.lstrip(".").startswith(("out.", "clean.", "gone.")):
                    try:
                        size += os.stat(os.path.join(folder, file)).st_size
                    except OSError:
                        pass
        return size

    def own(self):
        for name, by, more in [
            (WHOLE, "a band, star", ["--min-jaccard", 0]),
            (WHOLE + " --linkage single", "a band, components", ["--min-jaccard", 0, "--linkage", "single"]),
            (WHOLE + " --min-jaccard 0.7", "a band, sketches", ["--min-jaccard", RIGHT]),
            (WHOLE + " --verify 0.7", "a band, then texts", ["--verify", RIGHT]),
        ]:
            self.documents(name, by, self.parts, "--method", "minhash", *self.keys, *more)
        if self.candidates is not None:
            store, pairs = self.work / "store", self.work / "pairs.tsv"
            fpload, fpdedup = (self.programs / name for name in ("fpload", "fpdedup"))
            load = [fpload, "--quiet", "--create", "--kind", "keys", "--text", *self.keys, store, self.parts]
            subprocess.run(list(map(str, load)), check=True)
            subprocess.run([fpdedup, "pairs", "--quiet", "--output", pairs, store], check=True)
            self.candidates["ours"] = listed(pairs)

    def peer(self, peer):
        workers, pairs = self.options.workers, self.work / "pairs.tsv"
        more = [] if self.candidates is None else [pairs]
        if peer == "datatrove":
            helper = ROOT / "benches/peers/documents_peers.py"
            command, out = [helper, "minhash", self.parts, self.work, workers], self.work / "out"
        elif peer == "text-dedup":
            out = self.work / "out"
            command = ["-m", "text_dedup.minhash", "--path", "parquet", "--data_files", self.parts / "*.parquet",
                       "--split", "train", "--column", "text", "--cache_dir", self.work / "cache", "--output", out,
                       "--num_proc", workers, "--ngram", 5, "--num_perm", PLACES, "--b", BANDS, "--r", ROWS]
        else:
            command, out = [HELPER, peer, self.parts, self.work, *more], self.work / "out.parquet"
        by = "a band, star" if peer == "python" else "a band, components"
        self.run(PEERS[peer], by, [sys.executable, *command], out, peer=True)
        if self.candidates is not None and PEERS[peer] in self.found and peer not in ("text-dedup", "python"):
            self.candidates[peer] = listed(pairs) if pairs.exists() else signed(self.work / "signatures")

    def round(self, peers):
        for line in ["own", *peers]:
            self.work = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            self.own() if line == "own" else self.peer(line)
            shutil.rmtree(self.work)

    def table(self, count):
        seconds = {name: statistics.median(once[0] for once in times) for name, (_, times, _) in self.found.items()}
        print("| | compares by | s | beside the first | memory, MiB | with files, MiB | disk, MB | removed |")
        print("|---|---|---|---|---|---|---|---|")
        for name, (by, times, left) in self.found.items():
            private, whole, disk = (max(once[part] for once in times) for part in (1, 2, 3))
            beside = seconds[name] / seconds[WHOLE]
            print(f"| {name} | {by} | {seconds[name]:.1f} | {beside:.2f} | {private / 2**20:.0f} | "
                  f"{whole / 2**20:.0f} | {disk / 1e6:.1f} | {count - len(left):,} |")


def listed(file):
    """Pairs of ids of a file that has two in each line."""
    return {tuple(sorted(map(int, line.split("\t")[:2]))) for line in file.read_text().splitlines()}


def signed(folder):
    """Pairs of ids with a band in common in the signature files of one task of datatrove: records of the hashes and the
    number of the document."""
    import numpy as np

    pairs = set()
    for file in sorted(folder.glob("*/*.minhash.sig")):
        groups = collections.defaultdict(list)
        for record in np.fromfile(file, dtype=[("hashes", f"V{ROWS * 8}"), ("document", "<u4")]):
            groups[record["hashes"].tobytes()].append(int(record["document"]) + 1)
        for group in groups.values():
            pairs.update(itertools.combinations(sorted(group), 2))
    return pairs


def features():
    """For each line of the table, the function that makes the features of a text."""
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from text_dedup.utils import ngrams

    stage = MinhashDedupSignature("/nowhere")
    between = re.compile(r"\W")
    return {
        "ours": lambda text: shingles(text.lower()),
        "rensa": shingles,
        "datasketch": shingles,
        "gaoya": shingles,
        "python": lambda text: shingles(text.lower()),
        "datatrove": lambda text: set(stage.get_shingles(text).ravel().tolist()),
        "text-dedup": lambda text: {" ".join(words) for words in ngrams(between.split(text.lower()), 5, 5)},
    }


def exact(sets):
    """Pairs of ids whose Jaccard similarity is at least RIGHT."""
    places, right = collections.defaultdict(list), set()
    for number, own in enumerate(sets, 1):
        shared = collections.Counter()
        for feature in own:
            shared.update(places[feature])
            places[feature].append(number)
        right.update((other, number) for other, count in shared.items()
                     if count >= RIGHT * (len(sets[other - 1]) + len(own) - count))
    return right


def quality(bench):
    """The table of the sample."""
    import pyarrow.dataset

    texts = pyarrow.dataset.dataset(bench.parts).to_table(columns=["text"])["text"].to_pylist()
    makers, known = features(), {}
    if bench.options.preset == "datatrove":
        makers["ours"] = makers["datatrove"]
    print("| | right pairs | candidates | of them right | right pairs found | removed | wrongly removed | left |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (_, _, left) in bench.found.items():
        line = next((peer for peer, title in PEERS.items() if title == name), "ours")
        maker = makers[line]
        if maker not in known:
            known[maker] = exact([maker(text) for text in texts])
        right, found = known[maker], bench.candidates.get(line)
        cells = ["", "", ""]
        if found is not None:
            good = len(found & right)
            cells = [f"{len(found):,}", f"{good / max(len(found), 1):.1%}", f"{good / max(len(right), 1):.1%}"]
        gone = set(range(1, len(texts) + 1)) - left
        alike = {number for pair in right for number in pair}
        stay = sum(first in left and second in left for first, second in right)
        print(f"| {name} | {len(right):,} | {' | '.join(cells)} | {len(gone):,} | {len(gone - alike):,} | "
              f"{stay / max(len(right), 1):.1%} |")


def same_rows(bench):
    """The package for Python keeps what the program keeps."""
    ours, theirs = (bench.found[name][2] for name in (WHOLE, PEERS["python"]))
    if ours != theirs:
        less, more = len(ours - theirs), len(theirs - ours)
        raise SystemExit(f"fpstore.dedup keeps other documents: {less:,} less, {more:,} more")


def same_candidates(bench):
    """Candidates of ours and of datatrove are the same."""
    ours, theirs = (bench.candidates.get(line, set()) for line in ("ours", "datatrove"))
    if ours != theirs:
        more, fewer = len(ours - theirs), len(theirs - ours)
        raise SystemExit(f"candidates differ from datatrove's: {more:,} more, {fewer:,} fewer")
    print(f"\nThe {len(ours):,} candidates are those of datatrove.")


def build(options):
    if not options.programs:
        subprocess.run(["cargo", "build", "--quiet", "--release", "--locked", "-p", "fpstore-tools", "--target-dir",
                        TARGET], cwd=ROOT, check=True)
        options.programs = TARGET / "release"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", default=",".join(PEERS), help=f"of {', '.join(PEERS)}; or none")
    parser.add_argument("--sample", type=int, default=3_000, help="documents that are compared exactly")
    parser.add_argument("--preset", choices=["datatrove"], help="preset of ours that makes a peer's hashes")
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="threads or processes [default: all cores]")
    parser.add_argument("--memory", default="1GiB", help="limit of our programs")
    parser.add_argument("--programs", help="directory of the programs; they are built without it")
    parser.add_argument("--package", help="a wheel of the package for Python [default: target/python/wheels]")
    options = parser.parse_args()
    peers = [] if options.peers == "none" else options.peers.split(",")
    if unknown := set(peers) - set(PEERS):
        parser.error(f"unknown peers: {', '.join(unknown)}")
    if options.preset and options.preset not in peers:
        parser.error(f"--preset {options.preset} needs that peer")
    inside_environment(PACKAGES, "minhash-peers")
    if "python" in peers:
        package(options.package)
    build(options)
    if options.preset:
        presets = subprocess.run([pathlib.Path(options.programs) / "fphash", "presets"], check=True, text=True,
                                 stdout=subprocess.PIPE).stdout
        if options.preset not in presets:
            raise SystemExit(f"fphash presets does not list {options.preset}")
    with tempfile.TemporaryDirectory() as folder:
        whole, part = pathlib.Path(folder) / "whole", pathlib.Path(folder) / "sample"
        problems = []
        if options.documents:
            whole.mkdir()
            size, families, _ = documents.write(whole, options.documents)
            bench = Bench(whole, options)
            for _ in range(options.rounds):
                bench.round(peers)
            print(f"{options.documents:,} documents, {size / 1e6:.0f} MB of text, in {max(families) + 1} families; "
                  f"{options.workers} cores, --memory {options.memory}, {options.rounds} rounds.\n")
            bench.table(options.documents)
            if "python" in peers:
                same_rows(bench)
            problems += bench.problems
        if options.sample:
            part.mkdir()
            documents.write(part, options.sample)
            options.workers = 1
            bench = Bench(part, options, candidates=True)
            bench.round(peers)
            print(f"\nThe first {options.sample:,} documents, beside the exact similarities:\n")
            quality(bench)
            if options.preset:
                same_candidates(bench)
            problems += bench.problems
        if problems:
            raise SystemExit("\n".join(problems))


if __name__ == "__main__":
    main()
