"""URL-like ids from a grammar, in random order.

20,000 hosts of syllables and top-level domains, with frequencies by Zipf's law. Each host has its own sections, ending,
number of digits, and kinds of paths: dated slugs of 3 to 8 words, numbers, slugs with a number, wiki titles, trees of
sections, PHP queries. Words come by Zipf's law from 40,000 made of syllables; one URL in eight has a tracking
parameter.
"""
import bisect
import itertools
import random

CONSONANTS = "b c d f g h k l m n p r s t v w z br ch cl cr dr fl gr pl pr sh sl sp st str th tr".split()
VOWELS = "a e i o u ai ea ee io ou".split()
ENDS = " n r s t l ck ng rd nd rt st x".split(" ")
SECTIONS = """news blog article articles product products category tag tags wiki forum shop sport politics world
business tech item p post posts user users about en de fr archive story video media docs help search events health
travel food science opinion culture local""".split()
DOMAINS = {".com": 52, ".org": 9, ".net": 8, ".de": 6, ".co.uk": 5, ".ru": 4, ".fr": 3, ".it": 3, ".info": 3,
           ".com.br": 2, ".pl": 2, ".io": 1, ".jp": 1, ".edu": 1}
SUFFIXES = ["", "", "", "/", "/", "/", ".html", ".html", ".htm", ".php", ".aspx"]
PARAMETERS = ("id", "p", "q", "page", "ref", "utm_source", "sid", "cat")
HOSTS, VOCABULARY = 20_000, 40_000


class Grammar:
    """Yields URLs, each once."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        words = sorted({self.made_up_word() for _ in range(VOCABULARY * 3 // 2)})
        self.random.shuffle(words)
        self.vocabulary = words[:VOCABULARY]
        self.word = self.zipf(self.vocabulary, 0.9)
        self.section = self.zipf(SECTIONS + self.vocabulary[:300], 1.0)
        self.host = self.zipf([self.make_host() for _ in range(HOSTS)], 1.0)

    def made_up_word(self):
        def syllable():
            end = self.random.choice(ENDS) if self.random.random() < 0.5 else ""
            return self.random.choice(CONSONANTS) + self.random.choice(VOWELS) + end

        return "".join(syllable() for _ in range(self.random.choice((1, 2, 2, 2, 3, 3, 4))))

    def zipf(self, items, exponent):
        sums = list(itertools.accumulate(1 / (rank + 2) ** exponent for rank in range(len(items))))
        return lambda: items[bisect.bisect(sums, self.random.random() * sums[-1])]

    def make_host(self):
        r = self.random
        pair = [r.choice(self.vocabulary) for _ in range(2)]
        name = r.choice((self.made_up_word(), self.made_up_word(), "".join(pair), "-".join(pair)))
        some = r.choice(("blog.", "shop.", "m.", "news.", "en.", "docs.")) if r.random() < 0.3 else ""
        front = "www." if r.random() < 0.6 else some
        scheme = "https://" if r.random() < 0.85 else "http://"
        domain = r.choices(list(DOMAINS), list(DOMAINS.values()))[0]
        sections = [self.section() for _ in range(8)]
        habits = (r.choice(SUFFIXES), r.sample(range(7), 3), sections, r.choice(PARAMETERS), r.choice((4, 6, 7, 9)))
        return scheme + front + name + domain, habits

    def slug(self):
        return "-".join(self.word() for _ in range(3 + self.random.randrange(6)))

    def url(self):
        r = self.random
        host, (suffix, kinds, sections, parameter, digits) = self.host()
        kind = kinds[0] if r.random() < 0.7 else kinds[1 + (r.random() < 0.3)]
        section, number = sections[int(r.random() ** 2 * 8)], int(r.random() * 10**digits)
        if kind == 0:
            year = 2024 - int(abs(r.gauss(0, 5)))
            path = f"/{section}/{year}/{1 + r.randrange(12):02}/{1 + r.randrange(28):02}/{self.slug()}{suffix}"
        elif kind == 1:
            path = f"/{section}/{number}{suffix}"
        elif kind == 2:
            path = f"/{section}/{self.slug()}-{number}{suffix}"
        elif kind == 3:
            path = "/wiki/" + "_".join(self.word().capitalize() for _ in range(1 + r.randrange(4)))
        elif kind == 4:
            names = (self.section() if r.random() < 0.5 else self.word() for _ in range(1 + r.randrange(5)))
            path = "".join("/" + name for name in names) + suffix
        elif kind == 5:
            page = f"&page={1 + r.randrange(20)}" if r.random() < 0.3 else ""
            return f"{host}/{section}/{self.word()}.php?{parameter}={number}{page}"
        else:
            path = f"/{section}/{self.word()}/{self.slug()}{suffix}"
        if r.random() < 0.12:
            value = self.word() if r.random() < 0.5 else f"{r.getrandbits(32):08x}"
            path += f"?{parameter}={value}"
        return host + path

    def urls(self, count):
        seen = set()
        while len(seen) < count:
            url = self.url()
            if url not in seen:
                seen.add(url)
                yield url
