"""What stores and key indexes have to answer, by comparing everything with everything."""

import random
from collections import Counter


def flipped(fingerprint, bits):
    for bit in bits:
        fingerprint ^= 1 << bit
    return fingerprint


def clustered(count, width, seed):
    """Fingerprints of which many are near others, with ids."""
    rng = random.Random(seed)
    centres = [rng.getrandbits(width) for _ in range(max(1, count // 4))]
    return [
        (flipped(rng.choice(centres), [rng.randrange(width) for _ in range(rng.randrange(5))]), id)
        for id in range(count)
    ]


def distance(a, b):
    return (a ^ b).bit_count()


def ranked(items, keep, id):
    """Items by priority: those with the smallest ids first, or the largest, or in the order of a list of ids."""
    if keep == "largest":
        return sorted(items, key=id, reverse=True)
    rank = {} if keep == "smallest" else {one: at for at, one in reversed(list(enumerate(keep)))}
    return sorted(items, key=lambda item: (rank.get(id(item), len(rank)), id(item)))


def linked(items, near, linkage):
    """The clusters of items, which come by priority: lists that begin with their keepers."""
    clusters = []
    if linkage == "single":
        left = list(items)
        while left:
            cluster = [left.pop(0)]
            for member in cluster:
                found = [one for one in left if near(member, one)]
                left = [one for one in left if one not in found]
                cluster += found
            clusters.append(cluster)
        return clusters
    for item in items:
        # Near the keeper, or near all members.
        looked_at = slice(1) if linkage == "star" else slice(None)
        fitting = (cluster for cluster in clusters if all(near(item, one) for one in cluster[looked_at]))
        home = next(fitting, None)
        clusters.append([item]) if home is None else home.append(item)
    return clusters


class Model:
    """Records of fingerprints: pairs with ids or, without ids, with how many there are."""

    def __init__(self, records, counts=False):
        self.counts = counts
        self.records = sorted(Counter(records).items()) if counts else sorted(set(records))

    def query(self, query, k):
        found = [(distance(query, fp), fp, id) for fp, id in self.records]
        return sorted(one for one in found if one[0] <= k)

    def pairs(self, k):
        """Pairs in any order, but each from the smaller record to the larger."""
        found = Counter()
        for at, (a, id_a) in enumerate(self.records):
            if self.counts and id_a > 1:
                found[id_a, id_a, 0, a, a] += 1
            for b, id_b in self.records[at + 1 :]:
                if distance(a, b) <= k:
                    found[id_a, id_b, distance(a, b), a, b] += 1
        return found

    def join(self, other, k):
        return Counter(
            (id_a, id_b, distance(a, b), a, b)
            for a, id_a in self.records
            for b, id_b in other.records
            if distance(a, b) <= k
        )

    def _clusters(self, k, linkage, keep):
        ids = {}
        for fp, id in self.records:
            ids.setdefault(fp, []).append(fp if self.counts else id)
        best = {fp: ranked(own, keep, lambda id: id)[0] for fp, own in ids.items()}
        # Of fingerprints with the same id, the smallest comes first.
        order = ranked(sorted(ids), keep, best.__getitem__)
        return ids, best, linked(order, lambda a, b: distance(a, b) <= k, linkage)

    def clusters(self, k, linkage="single", keep="smallest"):
        """Each record with the label of its cluster."""
        ids, _, clusters = self._clusters(k, linkage, keep)
        labels = [(min(id for fp in cluster for id in ids[fp]), cluster) for cluster in clusters]
        return Counter((id, label) for label, cluster in labels for fp in cluster for id in ids[fp])

    def keep(self, k, linkage="star", keep="smallest"):
        """What is kept, and the evidence on all others."""
        ids, best, clusters = self._clusters(k, linkage, keep)
        count = dict(self.records) if self.counts else {}
        kept, evidence = Counter(), Counter()
        for cluster in clusters:
            keeper, label = cluster[0], min(id for fp in cluster for id in ids[fp])
            kept[best[keeper]] += 1
            for fp in cluster:
                for id in ids[fp]:
                    row, is_keeper = (id, best[keeper], label, distance(fp, keeper)), (fp, id) == (keeper, best[keeper])
                    if self.counts and count[fp] > is_keeper:
                        evidence[*row, count[fp] - is_keeper] += 1
                    elif not self.counts and not is_keeper:
                        evidence[row] += 1
        return kept, evidence


class KeyModel:
    """Records of keys: by id the keys that are stored, and the sketch."""

    def __init__(self, records, key_bits, sample_bits=None):
        self.shift, self.sample_bits = 64 - key_bits, sample_bits
        self.records = {id: (self.stored(keys), sketch) for id, (keys, sketch) in records.items()}

    def stored(self, keys):
        return {key >> self.shift for key in keys}

    def jaccard(self, a, b):
        """Of sketches whose samples are bytes, or two bytes."""
        if self.sample_bits is None or not a or not b:
            return None
        step = self.sample_bits // 8
        starts = range(0, len(a), step)
        agreeing = sum(a[at : at + step] == b[at : at + step] for at in starts) / len(starts)
        chance = 0.5**self.sample_bits
        return max((agreeing - chance) / (1 - chance), 0.0)

    def _near(self, a, b, least, similar):
        shared, jaccard = len(a[0] & b[0]), self.jaccard(a[1], b[1])
        return shared >= least and (jaccard is None or jaccard >= similar)

    def query(self, keys, sketch, least=1, similar=0.0, nearest=None):
        own = self.stored(keys), sketch
        found = [
            (id, len(own[0] & record[0]), self.jaccard(sketch, record[1]))
            for id, record in self.records.items()
            if self._near(own, record, least, similar)
        ]
        return sorted(found, key=lambda one: (-one[1], one[0]))[:nearest]

    def pairs(self, least=1, similar=0.0):
        ids = sorted(self.records)
        return self._pairs(((a, b) for at, a in enumerate(ids) for b in ids[at + 1 :]), self, least, similar)

    def join(self, other, least=1, similar=0.0):
        return self._pairs(((a, b) for a in self.records for b in other.records), other, least, similar)

    def _pairs(self, pairs, other, least, similar):
        return Counter(
            (a, b, len(self.records[a][0] & other.records[b][0]), self.jaccard(self.records[a][1], other.records[b][1]))
            for a, b in pairs
            if self._near(self.records[a], other.records[b], least, similar)
        )

    def _clusters(self, least, similar, linkage, keep):
        near = lambda a, b: self._near(self.records[a], self.records[b], least, similar)  # noqa: E731
        return linked(ranked(self.records, keep, lambda id: id), near, linkage)

    def clusters(self, least=1, similar=0.0, linkage="single", keep="smallest"):
        clusters = self._clusters(least, similar, linkage, keep)
        return Counter((id, min(cluster)) for cluster in clusters for id in cluster)

    def keep(self, least=1, similar=0.0, linkage="star", keep="smallest"):
        kept, evidence = Counter(), Counter()
        for keeper, *others in self._clusters(least, similar, linkage, keep):
            kept[keeper] += 1
            for id in others:
                a, b = self.records[id], self.records[keeper]
                evidence[id, keeper, min(keeper, *others), len(a[0] & b[0]), self.jaccard(a[1], b[1])] += 1
        return kept, evidence
