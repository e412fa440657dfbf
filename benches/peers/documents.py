#!/usr/bin/env python3
"""Documents in, documents without near-duplicates out, beside the single steps and other systems, on the same documents
in the same run: seconds, peak memory, documents removed.

    benches/peers/documents.py
    benches/peers/documents.py --documents 20000 --rounds 1 --peers text-dedup --text-dedup-bits 6

Makes documents (document_families.py; 300,000 have some 700 MB) as Parquet, in eight files, and as NDJSON. Each line of
the table is a whole process, from the documents to the file of those that stay, on all cores. Rounds alternate between
the lines: medians of seconds, maxima of memory. Exits with 1 if a peer fails, or a
round keeps other documents than the first.

The single steps are fphash, fpload, fpdedup keep, and a copy of the rows that stay by pyarrow. They must keep the same
documents as `fpdedup documents`. "simhash, K" compares 64 bits, with at most K of them different: ours of two words in
a row, text-dedup's of three characters in a row.

text-dedup 0.4.0 compares documents of which one of B parts of the fingerprint is equal; its defaults are 3 bits and
B = 4. It takes other numbers of bits, but all parts share one dictionary of Python, in one process. With 6 bits, B = 7
makes parts of 9 bits: six of them share 512 lists of all documents, so the time grows with the square of their number.
B = 8 makes 56 keys for each document. It keeps one document of each connected component. It fails on a document with
fewer than three characters; here are none.

datatrove 0.10 compares hashes of whole texts (ExactDedup), or MinHash signatures of five words in a row in 14 bands of
8 (its default, which finds 56% of the pairs with a Jaccard similarity of 0.7, 92% with 0.8). It does not verify them,
and keeps one document of each connected component. Words are those of its default for English: the rules of spaCy,
without a model. Its deduplication of sentences is left out, because it changes texts. No peer uses the network.

Memory is RssAnon + RssShmem of our process, sampled every 10 ms. For peers it is the sum over all processes, every 50
ms: Pss_Anon + Pss_Shmem, which count a page that several processes share once. "With files" is VmRSS, for peers Pss.
"Copies" is the share of the near and exact copies made of which the copy or its original is removed.
"""
import argparse
import datetime
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

from common import NUMPY, ROOT, TARGET, inside_environment, proc_bytes, resident, watched
from document_families import Families
from url_grammar import Grammar

PACKAGES = [NUMPY, "pyarrow==26.0.1", "datasets==5.2.0", "text-dedup==0.4.0", "datatrove==0.10.1",
            "spacy==3.8.18", "orjson==3.13.0", "tokenizers==0.23.3", "xxhash==3.8.2"]
# Files of Parquet, and largest row group.
PARTS, GROUP = 8, 10_000
# Name of the line that others are compared with.
WHOLE = "fpdedup documents"
PEERS = ["text-dedup", "exact", "minhash"]
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}


def write(folder, count):
    """Writes the documents; returns the bytes of their texts, and the number of the family and of the original of each.
    Ids begin with 1, because datatrove's writer leaves out an id of 0."""
    import pyarrow
    import pyarrow.parquet

    schema = pyarrow.schema([("id", pyarrow.int64()), ("url", pyarrow.string()),
                             ("crawled", pyarrow.timestamp("ms", tz="UTC")), ("text", pyarrow.string())])
    first = datetime.datetime(2024, 1, 1, tzinfo=datetime.timezone.utc)
    made = zip(Families().take(count), Grammar(3).urls(count))
    size, families, originals, rows, part, writer = 0, [], [], [], -1, None
    (folder / "parts").mkdir()
    with open(folder / "documents.ndjson", "w") as lines:
        for number, ((text, family, original), url) in enumerate(made):
            if number * PARTS // count > part or len(rows) == GROUP:
                if rows:
                    writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                    rows = []
                if number * PARTS // count > part:
                    if writer:
                        writer.close()
                    part += 1
                    writer = pyarrow.parquet.ParquetWriter(folder / "parts" / f"{part}.parquet", schema)
            crawled = first + datetime.timedelta(seconds=number * 2654435761 % 31_536_000)
            rows.append({"id": number + 1, "url": url, "crawled": crawled, "text": text})
            lines.write(json.dumps(rows[-1] | {"crawled": crawled.isoformat()}, ensure_ascii=False) + "\n")
            size += len(text.encode())
            families.append(family)
            originals.append(original)
    writer.write_table(pyarrow.Table.from_pylist(rows, schema))
    writer.close()
    return size, families, originals


def ids(path):
    """Ids of the documents that a run wrote."""
    import pyarrow
    import pyarrow.dataset

    if path.suffix == ".ndjson":
        with open(path) as lines:
            return {json.loads(line)["id"] for line in lines}
    if any(path.glob("*.arrow")):
        files = (pyarrow.ipc.open_stream(pyarrow.memory_map(str(file))) for file in path.glob("*.arrow"))
        return {number for file in files for number in file.read_all()["id"].to_pylist()}
    return set(pyarrow.dataset.dataset(path).to_table(columns=["id"])["id"].to_pylist())


def processes(pid):
    """A process and its descendants."""
    yield pid
    for file in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = file.read_text().split()
        except OSError:
            continue
        for child in children:
            yield from processes(child)


def single(pid):
    """RssAnon + RssShmem and VmRSS, in bytes."""
    return resident(pid), proc_bytes(f"{pid}/status", "VmRSS")


def tree(pid):
    """Pss_Anon + Pss_Shmem and Pss, in bytes, of a process and its descendants."""
    private, whole = 0, 0
    for process in processes(pid):
        try:
            private += proc_bytes(f"{process}/smaps_rollup", "Pss_Anon", "Pss_Shmem")
            whole += proc_bytes(f"{process}/smaps_rollup", "Pss")
        except OSError:
            pass
    return private, whole


class Bench:
    def __init__(self, folder, options):
        self.folder, self.options = folder, options
        self.programs = pathlib.Path(options.programs).resolve()
        self.parts, self.lines = folder / "parts", folder / "documents.ndjson"
        self.evidence = folder / "evidence.parquet"
        self.common = ["--quiet", "--threads", options.workers, "--memory", options.memory]
        # For each line of the table: what it compares by, a list of (seconds, memory, with files), and ids that stay.
        self.found = {}
        self.problems = []

    def how(self, peer):
        """What is measured of a process, and how often."""
        return {"measure": tree, "pause": 0.05} if peer else {"measure": single, "pause": 0.01}

    def run(self, name, by, command, out, peer=False):
        environment = os.environ | OFFLINE | {"HF_HOME": str(self.work / "hf")}
        with open(self.folder / "log", "w") as log:
            try:
                once = watched(command, stdout=log, stderr=log, cwd=self.work, env=environment, **self.how(peer))
            except SystemExit as error:
                sys.stderr.write("\n".join((self.folder / "log").read_text().splitlines()[-30:]) + "\n")
                if not peer:
                    raise
                self.problems.append(f"{name}: {error}")
                return
        left = ids(out) if out else None
        _, times, before = self.found.setdefault(name, (by, [], left))
        if left != before:
            self.problems.append(f"{name}: other documents stay than in the first round")
        times.append(once)

    def documents(self, name, by, source, *more):
        out = self.work / f"clean{source.suffix or '.parquet'}"
        gone = self.work / "gone.parquet"
        command = [self.programs / "fpdedup", "documents", *self.common, *more, "-o", out, "--evidence", gone, source]
        self.run(name, by, command, out)
        if name == WHOLE:
            gone.replace(self.evidence)
        gone.unlink(missing_ok=True)
        out.unlink()

    def steps(self):
        fphash, fpload, fpdedup = (self.programs / name for name in ("fphash", "fpload", "fpdedup"))
        hashes, store, gone, clean = (self.work / part for part in ("hashes.hex", "store", "gone.parquet", "c.parquet"))
        helper = [sys.executable, ROOT / "benches/peers/documents_peers.py", "copy"]
        self.run("step: fphash simhash", "", [fphash, "simhash", *self.common, "-o", hashes, self.parts], None)
        load = [fpload, "--create", "--max-distance", 6, *self.common, store, hashes]
        self.run("step: fpload --create", "", load, None)
        keep = [fpdedup, "keep", *self.common, "--evidence", gone, "-o", self.work / "kept.tsv", store]
        self.run("step: fpdedup keep", "", keep, None)
        self.run("step: copy of the rows by pyarrow", "", [*helper, self.parts, gone, clean], clean)

    def round(self, lines):
        """Each line once; `lines` are names of peers, and "own"."""
        workers = self.options.workers
        for line in lines:
            self.work = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
            helper = [sys.executable, ROOT / "benches/peers/documents_peers.py", line, self.parts, self.work, workers]
            if line == "own":
                self.documents(WHOLE, "simhash, 6", self.parts)
                self.documents(WHOLE + " --verify 0.8", "simhash, 6, then Jaccard 0.8", self.parts, "--verify", 0.8)
                self.documents(WHOLE + " -k 3", "simhash, 3", self.parts, "-k", 3)
                self.documents(WHOLE + ", NDJSON", "simhash, 6", self.lines)
                self.steps()
            elif line == "text-dedup":
                bits = self.options.text_dedup_bits
                command = [sys.executable, "-m", "text_dedup.simhash", "--path", "parquet", "--data_files",
                           self.parts / "*.parquet", "--split", "train", "--column", "text", "--cache_dir",
                           self.work / "cache", "--output", self.work / "out", "--num_proc", workers,
                           "--bit_diff", bits, "--num_bucket", bits + 1]
                self.run("text-dedup 0.4.0", f"simhash, {bits}", command, self.work / "out", peer=True)
            elif line == "exact":
                self.run("datatrove 0.10.1, ExactDedup", "whole texts", helper, self.work / "out", peer=True)
            else:
                self.run("datatrove 0.10.1, MinHash", "5 words, 14 x 8", helper, self.work / "out", peer=True)
            shutil.rmtree(self.work)

    def table(self, originals):
        count = len(originals)
        pairs = [(number + 1, original + 1) for number, original in enumerate(originals) if original is not None]
        seconds = {name: statistics.median(once[0] for once in times) for name, (_, times, _) in self.found.items()}
        print("| | compares by | s | beside the first | memory, MiB | with files, MiB | removed | copies |")
        print("|---|---|---|---|---|---|---|---|")
        for name, (by, times, left) in self.found.items():
            removed = copies = ""
            if left is not None:
                removed = f"{count - len(left):,}"
                copies = f"{1 - sum(a in left and b in left for a, b in pairs) / len(pairs):.1%}" if pairs else ""
            private, whole = (max(once[part] for once in times) / 2**20 for part in (1, 2))
            print(f"| {name} | {by} | {seconds[name]:.1f} | {seconds[name] / seconds[WHOLE]:.2f} | {private:.0f} | "
                  f"{whole:.0f} | {removed} | {copies} |")
        steps = [times for name, (_, times, _) in self.found.items() if name.startswith("step:")]
        whole = statistics.median(sum(once[0] for once in times) for times in zip(*steps))
        print(f"\nThe four steps take {whole:.1f} s; `{WHOLE}` takes {seconds[WHOLE] / whole:.2f} times as long.")


def check(bench, families):
    """The single steps keep the same documents. Prints how many removed documents have a keeper of another family."""
    import pyarrow.parquet

    copied = next(found[2] for name, found in bench.found.items() if name.startswith("step: copy"))
    if copied != bench.found[WHOLE][2]:
        raise SystemExit("the single steps keep other documents")
    rows = pyarrow.parquet.read_table(bench.evidence).to_pylist()
    strange = sum(families[row["id"] - 1] != families[row["keeper"] - 1] for row in rows)
    print(f"{strange} of {len(rows):,} removed documents have a keeper of another family (6 bits, no verification).\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--documents", type=int, default=300_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peer-rounds", type=int, help="rounds in which peers take part [default: all]")
    parser.add_argument("--peers", default=",".join(PEERS), help="of text-dedup, exact, minhash; or none")
    parser.add_argument("--text-dedup-bits", type=int, default=3)
    parser.add_argument("--workers", type=int, default=os.cpu_count(), help="threads or processes [default: all cores]")
    parser.add_argument("--memory", default="1GiB", help="limit of our programs")
    parser.add_argument("--programs", help="directory of the programs; they are built without it")
    options = parser.parse_args()
    peers = [] if options.peers == "none" else options.peers.split(",")
    if unknown := set(peers) - set(PEERS):
        parser.error(f"unknown peers: {', '.join(unknown)}")
    inside_environment(PACKAGES, "document-peers")
    if not options.programs:
        subprocess.run(["cargo", "build", "--quiet", "--release", "-p", "fpstore-tools", "--target-dir", TARGET],
                       cwd=ROOT, check=True)
        options.programs = TARGET / "release"
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        size, families, originals = write(folder, options.documents)
        bench = Bench(folder, options)
        for number in range(options.rounds):
            taking = peers if number < (options.peer_rounds or options.rounds) else []
            bench.round(["own", *taking])
        made = sum(original is not None for original in originals)
        parquet = sum(file.stat().st_size for file in bench.parts.iterdir())
        print(f"{options.documents:,} documents, {size / 1e6:.0f} MB of text, {parquet / 1e6:.0f} MB of Parquet, in "
              f"{max(families) + 1} families; {made:,} are made as copies. {options.workers} cores, --memory "
              f"{options.memory}, {options.rounds} rounds.\n")
        check(bench, families)
        bench.table(originals)
        if bench.problems:
            raise SystemExit("\n".join(bench.problems))


if __name__ == "__main__":
    main()
