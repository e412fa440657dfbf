"""Processes that minhash.py and key_sizes.py start:

    minhash_peers.py rensa PARTS FOLDER [PAIRS]          rensa's RMinHashLSH, and union-find
    minhash_peers.py datasketch PARTS FOLDER [PAIRS]     datasketch's MinHashLSH, and union-find
    minhash_peers.py gaoya PARTS FOLDER [PAIRS]          gaoya's MinHashStringIndex, and union-find
    minhash_peers.py python PARTS FOLDER                 fpstore.dedup, from table to table
    minhash_peers.py signatures PARTS FOLDER WORKERS B   the first stage of datatrove's MinHash, with B bands of 8

All but the last write the documents that stay to FOLDER/out.parquet, and to PAIRS all pairs of ids with a band in
common. rensa and datasketch look up each document among those before it, then insert it; gaoya takes a thousand at
once, on all cores, and inserts them before it looks them up, so that each finds its own too. Features are five
white-space tokens in a row, as those of `--features words:5`; a document of fewer tokens has none, and stays.
"""
import pathlib
import sys

BANDS, ROWS = 14, 8
PLACES = BANDS * ROWS
# Documents that are read at once.
BATCH = 1_000


def shingles(text):
    """The distinct features of a text."""
    tokens = text.split()
    return {" ".join(tokens[at:at + 5]) for at in range(len(tokens) - 4)}


class Rensa:
    def __init__(self):
        from rensa import RMinHash, RMinHashLSH

        self.signatures = lambda sets: RMinHash.from_token_sets(sets, num_perm=PLACES, seed=42)
        # With given bands the threshold changes nothing that query returns.
        self.index = RMinHashLSH(threshold=0.7, num_perm=PLACES, num_bands=BANDS)


class Datasketch:
    def __init__(self):
        from datasketch import MinHash, MinHashLSH

        permutations = MinHash(num_perm=PLACES).permutations

        def signature(features):
            made = MinHash(num_perm=PLACES, permutations=permutations, scheme="affine32")
            made.update_batch([feature.encode() for feature in features])
            return made

        self.signatures = lambda sets: map(signature, sets)
        self.index = MinHashLSH(num_perm=PLACES, params=(BANDS, ROWS))


class Gaoya:
    """Makes features by itself: five words in a row, as its "word" analyser finds words."""

    def __init__(self):
        from gaoya.minhash import MinHashStringIndex

        # Its query returns what shares a band and has an estimate above this threshold.
        self.index = MinHashStringIndex(hash_size=32, jaccard_threshold=0.0, num_bands=BANDS, band_size=ROWS,
                                        num_hashes=PLACES, analyzer="word", ngram_range=(5, 5))

    def near(self, numbers, texts):
        self.index.par_bulk_insert_docs(numbers, texts)
        for number, found in zip(numbers, self.index.par_bulk_query(texts)):
            yield number, {other for other in found if other < number}


class OneByOne:
    """Looks each document up, then inserts it."""

    def __init__(self, peer):
        self.peer = peer()

    def near(self, numbers, texts):
        made = [(number, features) for number, features in zip(numbers, map(shingles, texts)) if features]
        signatures = self.peer.signatures([features for _, features in made])
        for (number, _), signature in zip(made, signatures):
            yield number, self.peer.index.query(signature)
            self.peer.index.insert(number, signature)


def root(parents, number):
    while (parent := parents.get(number, number)) != number:
        parents[number] = parents.get(parent, parent)
        number = parent
    return number


def in_memory(peer, parts, folder, pairs=None):
    import pyarrow.dataset

    from documents_peers import without

    parents, found = {}, []
    for batch in pyarrow.dataset.dataset(parts).to_batches(columns=["id", "text"], batch_size=BATCH):
        for number, near in peer.near(batch["id"].to_pylist(), batch["text"].to_pylist()):
            for other in near:
                first, second = sorted((root(parents, number), root(parents, other)))
                parents[second] = first
            if pairs:
                found += [f"{other}\t{number}\n" for other in near]
    if pairs:
        pathlib.Path(pairs).write_text("".join(found))
    # The first of each component is its own parent.
    without(parts, [number for number in parents if root(parents, number) != number], folder / "out.parquet")


def python(parts, folder):
    import pyarrow
    import pyarrow.dataset
    import pyarrow.parquet

    import fpstore

    table = pyarrow.dataset.dataset(parts).to_table()
    kept, _ = fpstore.dedup(table, id="id", bands=BANDS, rows=ROWS, features="words:5")
    pyarrow.parquet.write_table(pyarrow.table(kept), folder / "out.parquet")


def signatures(parts, folder, workers, bands):
    from datatrove.pipeline.dedup import MinhashDedupSignature
    from datatrove.pipeline.dedup.minhash import MinhashConfig
    from datatrove.pipeline.readers import ParquetReader

    from documents_peers import run

    config = MinhashConfig(num_buckets=bands, hashes_per_bucket=ROWS)
    run([([ParquetReader(parts), MinhashDedupSignature(str(folder / "signatures"), config)], workers)], folder, workers)


if __name__ == "__main__":
    kind, source, out, *rest = sys.argv[1:]
    if kind == "signatures":
        signatures(source, pathlib.Path(out), *map(int, rest))
    elif kind == "python":
        python(source, pathlib.Path(out))
    else:
        peer = Gaoya() if kind == "gaoya" else OneByOne({"rensa": Rensa, "datasketch": Datasketch}[kind])
        in_memory(peer, source, pathlib.Path(out), *rest)
