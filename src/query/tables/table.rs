//! One table of queries: a hash table of their prefixes, behind a filter.
//!
//! A prefix is the bits of a fingerprint under a mask; its hash numbers the bucket of its queries. The filter is a
//! bitmap of hashes with 32 to 64 bits a query; nearly all fingerprints end there. As in
//! [`crate::query::probe::prober`], each step is done for many fingerprints before the next one, with prefetches.

use crate::codec::{CHUNK, near_rows, prefetch};
use crate::fingerprint::{Fingerprint, mask};
use crate::query_stats::QueryStats;

/// Prefixes in one step.
const TOGETHER: usize = 512;

/// The bits by which a table is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape<F> {
    /// The bits of the prefix.
    pub(crate) mask: F,
    /// Number of these bits.
    pub(crate) prefix: u32,
    /// Number of them in which a query may differ.
    pub(crate) radius: u32,
}

impl<F: Fingerprint> Shape<F> {
    /// Whether the table sees a query that differs from a fingerprint in these bits.
    #[inline]
    pub(crate) fn sees(&self, difference: F) -> bool {
        mask::and(difference, self.mask).distance(F::default()) <= self.radius
    }

    /// Every choice of up to `radius` bits of the prefix; first no bits.
    fn flips(&self) -> Vec<F> {
        let bits: Vec<u32> = (0..F::WIDTH).filter(|&bit| self.mask.bits(bit, 1) == 1).collect();
        let mut flips = vec![(F::default(), 0)];
        let mut begin = 0;
        for _ in 0..self.radius.min(self.prefix) {
            let end = flips.len();
            for number in begin..end {
                let Some(&(flip, next)) = flips.get(number) else { break };
                let more = bits.iter().enumerate().skip(next).map(|(at, &bit)| (flip.flipped(bit), at + 1));
                flips.extend(more.collect::<Vec<_>>());
            }
            begin = end;
        }
        flips.into_iter().map(|(flip, _)| flip).collect()
    }
}

/// Sizes of the parts of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    /// Bits of a hash that number the bits of the filter, if there is one.
    pub(crate) filter: Option<u32>,
    /// Bits of a hash that number the buckets.
    pub(crate) buckets: u32,
}

impl Size {
    pub(crate) fn of(queries: usize, prefix: u32) -> Self {
        let bits = queries.max(1).next_power_of_two().ilog2();
        // A filter does not pay where every eighth prefix exists.
        let filter = (prefix > bits + 3).then_some((bits + 5).max(6));
        // Two spare bits, so that few prefixes share a bucket.
        Self { filter, buckets: bits.min(prefix + 2).min(31) }
    }

    /// Bytes of a table of this many queries of `each` bytes.
    pub(crate) fn bytes(self, queries: usize, each: usize) -> u64 {
        let filter = self.filter.map_or(0, |bits| 1u64 << (bits - 3));
        filter + (4 << self.buckets) + (queries * (each + 4)) as u64
    }
}

/// The queries, by the hash of their prefixes.
#[derive(Clone, Debug)]
pub(crate) struct Table<F> {
    mask: F,
    flips: Vec<F>,
    size: Size,
    filter: Vec<u64>,
    /// The start of each bucket; one more at the end.
    starts: Vec<u32>,
    /// The queries, bucket after bucket, as little-endian bytes.
    rows: Vec<u8>,
    /// Their numbers.
    queries: Vec<u32>,
}

/// A prefix to look up.
#[derive(Clone, Copy, Debug)]
struct Probe {
    hash: u64,
    place: u32,
    flip: u32,
}

/// A bucket that may hold the prefix.
#[derive(Clone, Copy, Debug)]
struct Range {
    start: u32,
    end: u32,
    place: u32,
    flip: u32,
}

/// Buffers of the steps, reused from chunk to chunk.
#[derive(Debug, Default)]
pub(crate) struct Buffers {
    probes: Vec<Probe>,
    ranges: Vec<Range>,
}

impl<F: Fingerprint> Table<F> {
    pub(crate) fn new(distinct: &[F], shape: Shape<F>) -> Self {
        let size = Size::of(distinct.len(), shape.prefix);
        let mut table = Self {
            mask: shape.mask,
            flips: shape.flips(),
            size,
            filter: vec![0; size.filter.map_or(0, |bits| 1 << (bits - 6))],
            starts: vec![0; (1 << size.buckets) + 1],
            rows: Vec::with_capacity(distinct.len() * F::BYTES),
            queries: vec![0; distinct.len()],
        };
        let hashes: Vec<u64> = distinct.iter().map(|&query| hash(mask::and(query, shape.mask))).collect();
        for &hash in &hashes {
            let (word, bit) = table.filter_place(hash);
            table.filter.get_mut(word).into_iter().for_each(|word| *word |= 1 << bit);
            let bucket = table.bucket(hash);
            table.starts.get_mut(bucket).into_iter().for_each(|count| *count += 1);
        }
        // The ends of the buckets, which become their starts as the buckets are filled from the end.
        let mut end = 0;
        for count in &mut table.starts {
            end += *count;
            *count = end;
        }
        for (&hash, number) in hashes.iter().zip(0..distinct.len() as u32).rev() {
            let bucket = table.bucket(hash);
            let Some(start) = table.starts.get_mut(bucket) else { continue };
            *start -= 1;
            table.queries.get_mut(*start as usize).into_iter().for_each(|query| *query = number);
        }
        for &number in &table.queries {
            distinct.get(number as usize).into_iter().for_each(|query| query.write_le(&mut table.rows));
        }
        table
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.size.bytes(self.queries.len(), F::BYTES) + (self.flips.len() * F::BYTES) as u64
    }

    /// Calls `visit` with the position of a fingerprint, the bits in which a query differs from it, and the query's
    /// number: once for every query within distance `k` that this table sees.
    pub(crate) fn near_all(
        &self,
        fingerprints: &[F],
        k: u32,
        buffers: &mut Buffers,
        stats: &mut QueryStats,
        mut visit: impl FnMut(usize, F, u32),
    ) {
        if self.queries.is_empty() {
            return;
        }
        // All or some flips of one fingerprint, or those of several fingerprints.
        let many = (TOGETHER / self.flips.len()).max(1);
        for (chunk, first) in fingerprints.chunks(many).zip((0..).step_by(many)) {
            for (flips, first_flip) in self.flips.chunks(TOGETHER).zip((0..).step_by(TOGETHER)) {
                self.look_up(chunk, flips, first_flip, buffers, stats);
                for range in &buffers.ranges {
                    let Some(&fingerprint) = chunk.get(range.place as usize) else { continue };
                    let Some(&flip) = self.flips.get(range.flip as usize) else { continue };
                    stats.candidates += u64::from(range.end - range.start);
                    self.compare(range, fingerprint, k, |difference, query| {
                        if mask::and(difference, self.mask) == flip {
                            visit(first + range.place as usize, difference, query);
                        }
                    });
                }
            }
        }
    }

    /// Finds the buckets of all flips of the fingerprints of a chunk.
    fn look_up(&self, chunk: &[F], flips: &[F], first_flip: u32, buffers: &mut Buffers, stats: &mut QueryStats) {
        let Buffers { probes, ranges } = buffers;
        probes.clear();
        ranges.clear();
        for (&fingerprint, place) in chunk.iter().zip(0..) {
            let prefix = mask::and(fingerprint, self.mask);
            probes.extend(flips.iter().zip(first_flip..).map(|(&flip, number)| {
                let hash = hash(mask::xor(prefix, flip));
                if self.size.filter.is_some() {
                    prefetch(&self.filter, self.filter_place(hash).0);
                }
                Probe { hash, place, flip: number }
            }));
        }
        stats.probes += probes.len() as u64;
        if self.size.filter.is_some() {
            probes.retain(|probe| {
                let (word, bit) = self.filter_place(probe.hash);
                self.filter.get(word).is_some_and(|word| word >> bit & 1 == 1)
            });
        }
        stats.index_lookups += probes.len() as u64;
        probes.iter().for_each(|probe| prefetch(&self.starts, self.bucket(probe.hash)));
        for &Probe { hash, place, flip } in probes.iter() {
            if let Some(&[start, end, ..]) = self.starts.get(self.bucket(hash)..)
                && start < end
            {
                prefetch(&self.rows, start as usize * F::BYTES);
                prefetch(&self.rows, end as usize * F::BYTES - 1);
                ranges.push(Range { start, end, place, flip });
            }
        }
    }

    /// Calls `visit` for the queries of a bucket within distance `k`.
    #[inline]
    fn compare(&self, range: &Range, fingerprint: F, k: u32, mut visit: impl FnMut(F, u32)) {
        let (mut start, end) = (range.start as usize, range.end as usize);
        while start < end {
            let next = end.min(start + CHUNK);
            let rows = self.rows.get(start * F::BYTES..next * F::BYTES).unwrap_or_default();
            let mut near = near_rows(rows, fingerprint, k);
            while near != 0 {
                let at = near.trailing_zeros() as usize;
                near &= near - 1;
                let row = rows.get(at * F::BYTES..(at + 1) * F::BYTES).and_then(F::from_le_bytes);
                if let (Some(row), Some(&query)) = (row, self.queries.get(start + at)) {
                    visit(mask::xor(row, fingerprint), query);
                }
            }
            start = next;
        }
    }

    #[inline]
    fn bucket(&self, hash: u64) -> usize {
        hash.checked_shr(64 - self.size.buckets).unwrap_or(0) as usize
    }

    /// Word and bit of the filter.
    #[inline]
    fn filter_place(&self, hash: u64) -> (usize, u64) {
        let place = hash >> (64 - self.size.filter.unwrap_or(6));
        ((place / 64) as usize, place % 64)
    }
}

/// A hash whose leading bits depend on all bits of a prefix, at any place in the fingerprint.
#[inline]
fn hash<F: Fingerprint>(prefix: F) -> u64 {
    const FACTORS: [u64; 4] =
        [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93, 0xa076_1d64_78bd_642f, 0xe703_7ed1_a0b4_28db];
    let folded = FACTORS.into_iter().take(F::WORDS).enumerate().fold(0, |hash: u64, (number, factor)| {
        let product = u128::from(prefix.word(number)) * u128::from(factor);
        hash.wrapping_add((product >> 64) as u64 ^ product as u64)
    });
    // Without one more step, consecutive prefixes would get consecutive places.
    let mixed = (folded ^ folded >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    (mixed ^ mixed >> 32).wrapping_mul(0x94d0_49bb_1331_11eb)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn prefixes_anywhere_spread_over_the_buckets() {
        for shift in [0, 1, 17, 32, 45, 50] {
            let buckets: BTreeSet<u64> = (0..1u64 << 14).map(|prefix| hash(prefix << shift) >> 50).collect();
            // As many of 2^14 as a random function would fill.
            assert!(buckets.len() > 9_500, "{shift}: {}", buckets.len());
        }
    }
}
