# %% [markdown]
# # fpstore in ten minutes
#
# 3,000 versions of pages of the Rust book, as a crawler meets them over the years: which are near-duplicates? This is
# the notebook [tour.ipynb](tour.ipynb); [page.md](page.md) shows it with its pictures. `python build.py` makes both of
# `tour.py`.

# %%
import gzip
import json
import pathlib
import tempfile

import fpstore as fp
from fpstore import plot

here = pathlib.Path(globals().get("__file__", ".")).resolve().parent
while not (here / "tests/data/rust-book-documents.ndjson.gz").exists():
    here = here.parent
with gzip.open(here / "tests/data/rust-book-documents.ndjson.gz", "rt") as lines:
    documents = [json.loads(line) for line in lines]
pages = fp.Table({name: [document[name] for document in documents] for name in ("path", "text")})
pages

# %% [markdown]
# Polars, pandas, pyarrow and DuckDB have such tables of their own, and any of them does in the place of this one.
#
# ## In one call
#
# `dedup` returns the table without near-duplicates, and a row for everything that is left out: which page stays in its
# place, and how similar the two are by their MinHash signatures.

# %%
kept, evidence = fp.dedup(pages, id="path", threshold=0.8)
print(len(pages), "pages,", len(kept), "kept,", len(evidence), "left out")
evidence.to_pylist()[0]

# %% [markdown]
# ## Fingerprints
#
# A simhash has 64 bits, and texts that share many words differ in few of them. `fphash health` looks at the bits of many
# fingerprints; here too.

# %%
hashes = fp.simhash(pages["text"])
print(hashes)
print(hashes.hasher)
ax = plot.bits(fp.health(hashes))

# %% [markdown]
# ## A store
#
# A store keeps fingerprints compressed on disk, with the ids of their documents. It answers every distance exactly, and
# those up to `max_distance` fast.

# %%
folder = tempfile.mkdtemp()
store = fp.create(folder + "/pages.store", max_distance=6, ids="text", hasher=hashes.hasher)
names = [f"{number}:{path}" for number, path in enumerate(pages["path"].to_pylist())]
print(store.load(hashes, ids=names))
store.query(hashes[0], k=6)[:3]

# %% [markdown]
# All pairs come as a stream of record batches while they are found, so there may be more of them than memory holds.

# %%
print(sum(len(batch) for batch in store.pairs(k=6)), "pairs within 6 bits")
ax = plot.distances(store, 16)

# %% [markdown]
# From some fourteen bits on their number grows with every bit: such pairs are near by chance, too. Within six bits,
# clusters by connected components:

# %%
ax = plot.cluster_sizes(store, k=6)

# %% [markdown]
# Stars instead of components keep one page of each neighbourhood, and the evidence says for every other page how far its
# keeper is: never more than six bits.

# %%
kept = store.keep(k=6, linkage="star").read_all()
evidence = store.keep(k=6, linkage="star", evidence=True).read_all()
print(len(kept), "kept,", len(evidence), "left out, at most", max(evidence["distance"].to_pylist()), "bits away")

# %% [markdown]
# ## MinHash bands
#
# Two pages are candidates if they share a band. How likely that is depends on their similarity, and on the number of
# bands and rows:

# %%
ax = plot.s_curve(14, 8)

# %%
keys = fp.bands(pages["text"], bands=14, rows=8, sketch="full")
index = fp.create(
    folder + "/pages.index", kind="keys", ids="text", hasher=keys.hasher,
    sketch=8 * keys["sketch"].width, sample_bits=keys.sample_bits,
)
index.load(keys, ids=names)
stats = index.stats()
print(f"{len(index)} pages, {stats['keys']} keys of {stats['bits_per_key']:.1f} bits")
index.query(keys["keys"][0], keys["sketch"][0], min_jaccard=0.8)[:3]

# %% [markdown]
# ## A crawler's question
#
# Is this page new? If so, it is in the store and durable when the call returns.

# %%
with store.writer(durability="sync") as writer:
    print(writer.insert_if_new(hashes[0], "again", k=3))
    print(writer.insert_if_new(fp.simhash(["a page that is new to the crawler, about something else"])[0], "new", k=3))
store.close()
