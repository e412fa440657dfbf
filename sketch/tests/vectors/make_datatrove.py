"""Makes the reference values of datatrove, and the tables in sketch/src/features/datatrove.

    python3 -m venv venv && venv/bin/pip install datatrove==0.10.1 spacy==3.8.18 regex xxhash numpy orjson
    venv/bin/python sketch/tests/vectors/make_datatrove.py tables     # then: cargo fmt
    venv/bin/python sketch/tests/vectors/make_datatrove.py values

The committed files were made under Python 3.11.7 (Unicode 14.0). `values` takes some minutes.
"""

import functools
import gzip
import itertools
import json
import pathlib
import random
import re
import struct
import sys
import tempfile
import unicodedata

import xxhash
from datatrove.executor import LocalPipelineExecutor
from datatrove.pipeline.dedup import MinhashDedupBuckets, MinhashDedupSignature
from datatrove.pipeline.dedup.minhash import MinhashConfig
from datatrove.pipeline.readers import JsonlReader
from datatrove.utils.hashing import HashConfig
from datatrove.utils.text import PUNCTUATION, simplify_text
from datatrove.utils.word_tokenizers import load_word_tokenizer
from spacy.lang.char_classes import ALPHA, UNITS
from spacy.symbols import ORTH

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FEATURES = ROOT / "sketch/src/features/datatrove"
HEAD = "//! {}.\n//!\n//! `sketch/tests/vectors/make_datatrove.py tables` writes this file.\n"
TOKENIZER = load_word_tokenizer("eng")


@functools.cache
def alphabet():
    """All characters that simplified texts may have."""
    characters = set("ς0")
    for c in map(chr, itertools.chain(range(0xD800), range(0xE000, 0x110000))):
        characters |= set(simplify_text(c)) | set(simplify_text(f"a{c}a"))
    return sorted(characters - {" "})


def rules():
    """The special cases of the tokenizer that simplified texts may have, but `<space>` and `‘s`, which code handles."""
    known = set(alphabet())
    found = {word: [part[ORTH] for part in parts] for word, parts in spacy().rules.items() if set(word) <= known}
    split = {word: parts for word, parts in found.items() if parts != [word]}
    whole = {word for word, parts in found.items() if parts == [word]}
    affixed = {word for word in whole if spacy().find_prefix(word) or spacy().find_suffix(word)}
    assert affixed == {"<space>", "‘s"} and all(re.fullmatch("[a-z]+", word) for word in split)
    return split


def spacy():
    return TOKENIZER.tokenizer.tokenizer


def ranges(members, among):
    """Ranges of the characters `among` that are members."""
    found, open_ = [], False
    for c in among:
        if c not in members:
            open_ = False
        elif open_:
            found[-1][1] = c
        else:
            found.append([c, c])
            open_ = True
    return found


def rust(c):
    return f"'{c}'" if " " < c < "\x7f" and c not in "'\\" else "'\\u{%x}'" % ord(c)


def table(name, about, pairs):
    pairs = ", ".join(f"({rust(a)}, {rust(b)})" for a, b in pairs)
    return f"\n/// {about}\npub(super) const {name}: &[(char, char)] = &[{pairs}];\n"


def tables():
    among = alphabet()
    assert spacy().token_match is None
    prefixes = {c for c in among if spacy().find_prefix(c)}
    suffixes = {c for c in among if spacy().find_suffix(c)}
    icons = {c for c in among if spacy().find_infix(f"\u0f00{c}\u0f00")}
    relations = {c for c in among if spacy().find_infix(f"a{c}a")} - icons
    currency = prefixes - suffixes - {"=", "§"}
    letter = re.compile(f"[{ALPHA}]")
    assert suffixes < prefixes and icons < prefixes and relations == set("<=>")
    assert all(spacy().find_suffix("0" + c) == 1 for c in currency)
    units = sorted({unit for unit in UNITS.split("|") if set(unit) <= set(among)})
    other = sorted(prefixes - icons - currency)
    text = HEAD.format("Tables of spaCy 3.8.18 for English, restricted to what simplified texts contain, and the punctuation of datatrove\n//! 0.10.1. Ranges may include characters that simplified texts never contain")
    text += table("ICONS", "Characters that are tokens of their own wherever they are.", ranges(icons, among))
    text += table("CURRENCY", "Prefixes that are suffixes only after a digit.", ranges(currency, among))
    text += table("LETTERS", "Letters between which a relation sign is split off.", ranges({c for c in among if letter.match(c)}, among))
    characters = "".join("\\u{%x}" % ord(c) if c > "~" else c for c in other)
    text += f'\n/// Other prefixes. All of them but `=` and `§` are suffixes too.\npub(super) const PREFIXES: &str = "{characters}";\n'
    names = ", ".join(json.dumps(unit, ensure_ascii=False) for unit in units)
    text += f"\n/// Suffixes after a digit.\npub(super) const UNITS: &[&str] = &[{names}];\n"
    everything = [chr(c) for c in range(0xA0, 0x10000)]
    spaces = {c for c in PUNCTUATION if c >= "\xa0"}
    text += table("PUNCTUATION", "Characters beyond U+009F that are replaced by spaces.", ranges(spaces, everything))
    (FEATURES / "tables.rs").write_text(text)
    cuts = {word: list(itertools.accumulate(map(len, parts[:-1]))) for word, parts in rules().items()}
    words = ", ".join(f'("{word}", &{cuts[word]})' for word in sorted(cuts))
    text = HEAD.format("Contractions that spaCy 3.8.18 splits, without their apostrophes")
    text += "\n/// The contractions, sorted, and where they are split.\n"
    text += f"pub(super) const CONTRACTIONS: &[(&str, &[usize])] = &[{words}];\n"
    (FEATURES / "contractions.rs").write_text(text)


def write(name, objects):
    lines = "".join(json.dumps(one, ensure_ascii=False, separators=(",", ":")) + "\n" for one in objects)
    with open(HERE / name, "wb") as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
        packed.write(lines.encode())


def words(text):
    return TOKENIZER.word_tokenize(simplify_text(text))


def random_texts(count):
    """Texts that are full of contractions, symbols, numbers with units and odd characters, without spaces between many."""
    choose = random.Random(1)
    # Later versions of Unicode may lower or decompose characters that this Python does not know.
    known = [chr(c) for c in range(0x20, 0x110000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    near = [c for c in known if c < "\u3000"]
    symbols = [c for c in alphabet() if spacy().find_prefix(c)]
    contractions = list(rules())
    fixed = "‘s <space> ≮space≯ don't can't U.S. 3:30pm a.m. 10% $5 x² 5m² €5 5€ the word is in km t g s S ° § ‘".split()
    pieces = [
        lambda: choose.choice(contractions),
        lambda: choose.choice(contractions).upper(),
        lambda: choose.choice(symbols),
        lambda: choose.choice(PUNCTUATION),
        lambda: f"{choose.randrange(1000)}{choose.choice(UNITS.split('|'))}",
        lambda: f"{choose.randrange(1000)}{choose.choice('.,،٫⎖')}{choose.randrange(1000)}",
        lambda: choose.choice("≠≮≯\u037e\u1fef£€₽﷼¥©☃😀٠١٢٣"),
        lambda: "".join(choose.choice("abcdeséüßΣσςñ\u0301") for _ in range(choose.randrange(1, 6))),
        lambda: choose.choice(near),
        lambda: choose.choice(known),
        lambda: choose.choice(fixed),
        lambda: choose.choice(fixed),
    ]
    for _ in range(count):
        parts = (choose.choice(pieces)() + " " * (choose.random() < 0.35) for _ in range(choose.randrange(1, 40)))
        yield "".join(parts)


def config(bands, rows, hash_fc="xxhash", precision=64, seed=1):
    hash_config = HashConfig(precision=precision, hash_fc=hash_fc)
    return MinhashConfig(num_buckets=bands, hashes_per_bucket=rows, seed=seed, hash_config=hash_config)


def signature(step, text):
    shingles = step.get_shingles(text)
    return [value for bucket in step.get_signature(shingles) for value in bucket] if shingles.size else []


def signatures():
    texts = [json.loads(line) for line in open(HERE / "texts.ndjson")]
    kinds = [(14, 8, hash_fc, precision, 1) for hash_fc in ("xxhash", "sha1") for precision in (64, 32)]
    with tempfile.TemporaryDirectory() as folder:
        for kind in kinds + [(26, 11, "xxhash", 64, 1), (3, 3, "xxhash", 64, 7)]:
            step = MinhashDedupSignature(folder, config(*kind))
            for text in texts:
                names = dict(zip(("bands", "rows", "hash_fc", "precision", "seed"), kind))
                yield {"text_id": text["text_id"], **names, "signature": signature(step, text["text"])}


def documents(name):
    with gzip.open(ROOT / "tests/data" / name, "rt") as lines:
        return [json.loads(line)["text"] for line in lines]


def digests(texts):
    """The XXH64 of each document's signature, eight bytes a place, little-endian; null if it has none."""
    with tempfile.TemporaryDirectory() as folder:
        step = MinhashDedupSignature(folder, config(14, 8))
        for text in texts:
            values = signature(step, text)
            yield f"{xxhash.xxh64_intdigest(struct.pack(f'<{len(values)}Q', *values)):016x}" if values else None


def pairs(texts, bands, rows):
    """Every pair of documents that share a bucket, and the number of buckets that they share, by stages 1 and 2."""
    shared = {}
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "in").mkdir()
        with open(f"{folder}/in/documents.jsonl", "w") as file:
            file.writelines(json.dumps({"id": str(n), "text": text}) + "\n" for n, text in enumerate(texts))
        how = config(bands, rows)
        stage1 = [JsonlReader(f"{folder}/in"), MinhashDedupSignature(f"{folder}/signatures", how)]
        LocalPipelineExecutor(stage1, tasks=1, logging_dir=f"{folder}/log1").run()
        stage2 = [MinhashDedupBuckets(f"{folder}/signatures", f"{folder}/buckets", config=how)]
        LocalPipelineExecutor(stage2, tasks=bands, workers=1, logging_dir=f"{folder}/log2").run()
        for file in sorted(pathlib.Path(f"{folder}/buckets").glob("*.dups")):
            # Stage 2 links each document of a bucket with the one before it.
            group = {}
            for _, a, _, b in struct.iter_unpack("<4I", file.read_bytes()):
                members = group.setdefault(a, [a])
                members.append(b)
                group[b] = members
            for members in {id(members): members for members in group.values()}.values():
                for pair in itertools.combinations(sorted(members), 2):
                    shared[pair] = shared.get(pair, 0) + 1
    return [[a, b, count] for (a, b), count in sorted(shared.items())]


def values():
    write("datatrove_words.ndjson.gz", ({"text": text, "words": words(text)} for text in random_texts(2000)))
    write("datatrove_signatures.ndjson.gz", signatures())
    files = {name: documents(name) for name in ("rust-book-documents.ndjson.gz", "manuals.ndjson.gz")}
    write("datatrove_documents.ndjson.gz", ({"file": name, "digests": list(digests(texts))} for name, texts in files.items()))
    few = [text for texts in files.values() for text in texts[::5]]
    kinds = [(14, 8), (26, 11)]
    write("datatrove_pairs.ndjson.gz", ({"bands": b, "rows": r, "step": 5, "pairs": pairs(few, b, r)} for b, r in kinds))


{"tables": tables, "values": values}[sys.argv[1]]()
