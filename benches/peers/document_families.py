"""Documents enlarged from the two real corpora of tests/data: any number of them, the same for the same seed.

The real documents of 200 to 6,000 bytes are taken again and again, in a new order each time. Each such pass is a
family: every word is replaced by another word of the corpora with the same script and length, the same one throughout
the family. So a family has the real documents' sentences, punctuation, repetitions of words and versions of pages, and
few words in common with the same documents of another family. Shorter documents would be alike across families: little
of them is words. 30% of the documents are near copies instead: an earlier document, of any kind, with one word and up
to 2% of the words changed. 4% are exact copies of an earlier one.
"""
import gzip
import json
import random
import re
import unicodedata

from common import ROOT

REAL = [ROOT / "tests/data" / name for name in ("rust-book-documents.ndjson.gz", "manuals.ndjson.gz")]
NEAR, EXACT = 0.30, 0.04
BYTES = range(200, 6001)
# One character of a script that has no spaces between words, or a word, or what is between words.
UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
PIECES = re.compile(rf"[{UNSPACED}]|[^\W\d_{UNSPACED}]+|(?:[\W\d_])+")


def real():
    """The texts that are taken."""
    for file in REAL:
        with gzip.open(file, "rt") as lines:
            texts = (json.loads(line)["text"] for line in lines)
            yield from (text for text in texts if len(text.encode()) in BYTES)


def like(word, piece):
    """The word with the capitals of the piece in whose place it comes."""
    if piece.isupper() and len(piece) > 1:
        return word.upper()
    return word.capitalize() if piece[0].isupper() else word


class Families:
    """Yields documents."""

    def __init__(self, seed=11):
        self.random = random.Random(seed)
        numbers = {}
        self.documents = [[numbers.setdefault(piece, len(numbers)) for piece in PIECES.findall(text)]
                          for text in real()]
        self.pieces = list(numbers)
        self.words = [number for number, piece in enumerate(self.pieces) if piece[0].isalpha()]
        self.places = [[place for place, number in enumerate(document) if self.pieces[number][0].isalpha()]
                       for document in self.documents]
        self.classes = {}
        for word in sorted({self.pieces[number].lower() for number in self.words}):
            script = unicodedata.name(word[0], "").split(" ")[0]
            self.classes.setdefault((script, min(len(word), 14)), []).append(word)

    def substitution(self):
        """What comes in place of each piece, in a family."""
        other = {}
        for words in self.classes.values():
            other.update(zip(words, self.random.sample(words, len(words))))
        table = list(self.pieces)
        for number in self.words:
            table[number] = like(other[self.pieces[number].lower()], self.pieces[number])
        return table

    def changes(self, document):
        """Words for the places of a near copy that are changed."""
        places = self.places[document]
        count = 1 + int(self.random.random() * 0.02 * len(places))
        return [(place, self.random.choice(self.words)) for place in self.random.sample(places, count)]

    def take(self, count):
        """Yields `count` documents: text, number of the family, and number of the document it is a copy of or None."""
        tables, order, taken = [], [], []
        for number in range(count):
            kind, source = self.random.random(), None
            if number and kind < EXACT + NEAR:
                source = self.random.randrange(number)
                family, document, changes = taken[source]
                if kind >= EXACT:
                    changes = changes + self.changes(document)
            else:
                if not order:
                    order = self.random.sample(range(len(self.documents)), len(self.documents))
                    tables.append(self.substitution())
                family, document, changes = len(tables) - 1, order.pop(), []
            taken.append((family, document, changes))
            pieces = self.documents[document]
            if changes:
                pieces = list(pieces)
                for place, word in changes:
                    pieces[place] = word
            yield "".join(map(tables[family].__getitem__, pieces)), family, source
