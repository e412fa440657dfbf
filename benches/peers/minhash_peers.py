"""Processes that minhash.py and key_sizes.py start:

    minhash_peers.py rensa PARTS FOLDER [PAIRS]          rensa's RMinHashLSH, and union-find
    minhash_peers.py datasketch PARTS FOLDER [PAIRS]     datasketch's MinHashLSH, and union-find
    minhash_peers.py signatures PARTS FOLDER WORKERS B   the first stage of datatrove's MinHash, with B bands of 8

The first two write the documents that stay to FOLDER/out.parquet, and to PAIRS all pairs of ids with a band in common.
They look up each document among those before it, then insert it. Features are five white-space tokens in a row, as
those of `--features words:5`; a document of fewer tokens has none, and stays.
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
        texts = zip(batch["id"].to_pylist(), map(shingles, batch["text"].to_pylist()))
        made = [(number, features) for number, features in texts if features]
        signatures = peer.signatures([features for _, features in made])
        for (number, _), signature in zip(made, signatures):
            near = peer.index.query(signature)
            for other in near:
                first, second = sorted((root(parents, number), root(parents, other)))
                parents[second] = first
            peer.index.insert(number, signature)
            if pairs:
                found += [f"{other}\t{number}\n" for other in near]
    if pairs:
        pathlib.Path(pairs).write_text("".join(found))
    # The first of each component is its own parent.
    without(parts, [number for number in parents if root(parents, number) != number], folder / "out.parquet")


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
    else:
        in_memory({"rensa": Rensa, "datasketch": Datasketch}[kind](), source, pathlib.Path(out), *rest)
