//! The token filter `min_hash` of Lucene and Elasticsearch, as of Lucene 9.5.
//!
//! Every token is hashed by MurmurHash3 of its UTF-16LE bytes, and the hash is combined with a hash of the number of
//! each of `hash_count` functions. A function has `bucket_count` buckets, chosen by the upper 32 bits of the second
//! half; a bucket keeps the `hash_set_size` least values. A faithful copy has to know:
//!
//! * Values are ordered by their second half, then by the first, both unsigned.
//! * A full bucket drops its largest value *before* a smaller one is added. If it holds the smaller one already, it is
//!   left with one value less.
//! * Rotation fills an empty bucket with the value of the next bucket that is not empty, including buckets that were
//!   filled just before. It applies only to buckets of one value.
//! * A term is eight UTF-16 units: the second half of the value and its first half. With several functions it is the
//!   number of the function in two units and the upper 96 bits of the value.

use std::collections::BTreeSet;

use xxhash_rust::xxh64::xxh64;

use super::murmur3;
use super::place::EMPTY;
use crate::document::Document;
use crate::enough::{Enough, TooFew};
use crate::error::{Error, Result};
use crate::features::{Features, Space};
use crate::hash::of_text;
use crate::normalise::Normalise;
use crate::preparation::Preparation;

/// A term, as UTF-16 units, which need not be valid text.
pub type LuceneTerm = [u16; 8];

/// Most buckets of all functions together.
const MOST: u64 = 1 << 20;

/// A value: its second half and its first half, compared in this order.
type Value = (u64, u64);

/// The token filter.
#[derive(Clone, Debug)]
pub struct Lucene {
    hash_count: u32,
    bucket_count: u32,
    hash_set_size: usize,
    with_rotation: bool,
    preparation: Preparation,
}

/// The sketch of a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LuceneSketch {
    hash_set_size: usize,
    bucket_count: u32,
    numbered: bool,
    /// The buckets of the first function, then of the next.
    buckets: Vec<BTreeSet<Value>>,
}

impl Default for Lucene {
    fn default() -> Self {
        Self {
            hash_count: 1,
            bucket_count: 512,
            hash_set_size: 1,
            with_rotation: true,
            preparation: Preparation::new(Features::Words(5), Space::Lucene, Normalise::default()),
        }
    }
}

impl Lucene {
    /// Returns the filter of these parameters. Its input is shingles of five tokens of `WhitespaceTokenizer`.
    ///
    /// # Errors
    ///
    /// If a parameter is zero, or they ask for more than a million buckets.
    pub fn new(hash_count: u32, bucket_count: u32, hash_set_size: u32, with_rotation: bool) -> Result<Self> {
        if hash_count == 0 || bucket_count == 0 || hash_set_size == 0 {
            return Err(Error::new("hash count, bucket count and hash set size must be greater than zero"));
        }
        if u64::from(hash_count) * u64::from(bucket_count) > MOST {
            return Err(Error::new(format!("hash count times bucket count is at most {MOST}")));
        }
        let hash_set_size = usize::try_from(hash_set_size).unwrap_or(usize::MAX);
        // Rotation does nothing if a bucket holds several values or is the only one.
        let with_rotation = with_rotation && hash_set_size == 1 && bucket_count > 1;
        Ok(Self { hash_count, bucket_count, hash_set_size, with_rotation, ..Self::default() })
    }

    /// Returns the filter without rotation: buckets without a value stay empty.
    #[must_use]
    pub fn without_rotation(mut self) -> Self {
        self.with_rotation = false;
        self
    }

    /// How documents are prepared.
    #[must_use]
    pub fn preparation(&self) -> &Preparation {
        &self.preparation
    }

    /// Changes how documents are prepared: `change` receives the current preparation.
    #[must_use]
    pub fn prepared(mut self, change: impl FnOnce(Preparation) -> Preparation) -> Self {
        self.preparation = change(self.preparation);
        self
    }

    /// Number of buckets of all functions together.
    #[must_use]
    pub fn buckets(&self) -> usize {
        self.hash_count as usize * self.bucket_count as usize
    }

    /// Most terms of a document.
    #[must_use]
    pub fn most_terms(&self) -> usize {
        self.buckets().saturating_mul(self.hash_set_size)
    }

    /// Returns one word that names everything that determines a sketch.
    #[must_use]
    pub fn identity(&self) -> String {
        let Self { hash_count, bucket_count, hash_set_size, with_rotation, preparation } = self;
        format!(
            "minhash/lucene/9.5.0,hash-count={hash_count},bucket-count={bucket_count},hash-set-size={hash_set_size},\
             with-rotation={with_rotation},features={},normalise={}",
            preparation.features().canonical(),
            preparation.normalise()
        )
    }

    /// Returns the sketch of a document.
    #[must_use]
    pub fn sketch(&self, document: Document<'_>) -> LuceneSketch {
        self.sketch_of(document, &mut Enough::new(0))
    }

    /// Returns the sketch of a document with at least `least` distinct features. Empty features do not count.
    ///
    /// # Errors
    ///
    /// If the document has fewer features. The error holds their number.
    pub fn try_sketch(&self, document: Document<'_>, least: usize) -> std::result::Result<LuceneSketch, TooFew> {
        let mut enough = Enough::new(least);
        let sketch = self.sketch_of(document, &mut enough);
        enough.check(sketch)
    }

    fn sketch_of(&self, document: Document<'_>, enough: &mut Enough) -> LuceneSketch {
        let bucket_size = (1_u64 << 32).div_ceil(self.bucket_count.into());
        let mut buckets = vec![BTreeSet::new(); self.buckets()];
        let numbers: Vec<(u64, u64)> = (0..self.hash_count).map(|i| murmur3::hash(&i.to_be_bytes())).collect();
        let mut bytes = Vec::new();
        let take = |token: &str| {
            enough.add(|| of_text(token));
            bytes.clear();
            bytes.extend(token.encode_utf16().flat_map(u16::to_le_bytes));
            let hash = murmur3::hash(&bytes);
            for (number, function) in numbers.iter().zip(buckets.chunks_mut(self.bucket_count as usize)) {
                let first = hash.0.wrapping_mul(37).wrapping_add(number.0);
                let second = hash.1.wrapping_mul(37).wrapping_add(number.1);
                let bucket = usize::try_from((second >> 32) / bucket_size).ok();
                if let Some(bucket) = bucket.and_then(|bucket| function.get_mut(bucket)) {
                    keep(bucket, (second, first), self.hash_set_size);
                }
            }
        };
        self.preparation.each(document, take);
        if self.with_rotation {
            buckets.chunks_mut(self.bucket_count as usize).for_each(rotate);
        }
        let (hash_set_size, bucket_count) = (self.hash_set_size, self.bucket_count);
        LuceneSketch { hash_set_size, bucket_count, numbered: self.hash_count > 1, buckets }
    }
}

/// Adds a value to a bucket.
fn keep(bucket: &mut BTreeSet<Value>, value: Value, most: usize) {
    if bucket.len() >= most {
        if bucket.last().is_some_and(|last| value >= *last) {
            return;
        }
        bucket.pop_last();
    }
    bucket.insert(value);
}

/// Fills each empty bucket of a function with the value of the next bucket that is not empty.
fn rotate(buckets: &mut [BTreeSet<Value>]) {
    // From the last bucket to the first, the next one is always filled. After the last bucket comes the first one
    // again.
    let first = buckets.iter().find_map(|bucket| bucket.first().copied());
    let mut next = first;
    for bucket in buckets.iter_mut().rev() {
        match bucket.first() {
            Some(value) => next = Some(*value),
            None => bucket.extend(next),
        }
    }
}

impl LuceneSketch {
    /// Returns the terms, in the order in which the filter emits them.
    pub fn terms(&self) -> impl Iterator<Item = LuceneTerm> + '_ {
        let functions = self.buckets.chunks(self.bucket_count as usize);
        let numbered = (0_u32..).zip(functions);
        numbered.flat_map(|(number, buckets)| buckets.iter().flatten().map(move |value| (number, *value))).map(
            |(number, (second, first))| {
                let value = u128::from(second) << 64 | u128::from(first);
                units(if self.numbered { u128::from(number) << 96 | value >> 32 } else { value })
            },
        )
    }

    /// Returns the key of each distinct term, ascending: the XXH64, with seed 0, of its units, most significant byte
    /// first. Two documents share as many keys as terms.
    #[must_use]
    pub fn keys(&self) -> Vec<u64> {
        let key = |term: LuceneTerm| xxh64(term.map(u16::to_be_bytes).as_flattened(), 0);
        let mut keys: Vec<u64> = self.terms().map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    /// Returns a place of a signature for each bucket: the upper half of the first half of its least value, or
    /// [`EMPTY`] for an empty bucket.
    #[must_use]
    pub fn places(&self) -> Vec<u64> {
        let place = |bucket: &BTreeSet<Value>| bucket.first().map_or(EMPTY, |(_, first)| first >> 32);
        self.buckets.iter().map(place).collect()
    }

    /// Estimates the Jaccard similarity of the sets of tokens from sketches of the same parameters, and returns the
    /// number of values behind the estimate. In each bucket it takes the least values of both sketches together, and
    /// counts the share that both hold, over all buckets.
    ///
    /// With one value a bucket this is the share of equal buckets (k hash functions); with one bucket it is the
    /// estimate of bottom-k sketches. Copies made by rotation count as values, so sketches without rotation estimate
    /// better. `None` if both are empty.
    #[must_use]
    #[allow(clippy::cast_precision_loss, reason = "numbers of buckets")]
    pub fn jaccard(&self, other: &Self) -> Option<(f64, usize)> {
        let (mut common, mut all) = (0_usize, 0_usize);
        for (a, b) in self.buckets.iter().zip(&other.buckets) {
            let least = a.union(b).take(self.hash_set_size);
            for value in least {
                all += 1;
                common += usize::from(a.contains(value) && b.contains(value));
            }
        }
        (all > 0).then(|| (common as f64 / all as f64, all))
    }
}

fn units(value: u128) -> LuceneTerm {
    let mut units = [0; 8];
    for (unit, bytes) in units.iter_mut().zip(value.to_be_bytes().as_chunks::<2>().0) {
        *unit = u16::from_be_bytes(*bytes);
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Line {
        i: u32,
        inthash_val1: String,
        inthash_val2: String,
        combined_val1: String,
        combined_val2: String,
    }

    #[test]
    fn hashes_of_numbers_and_their_combination() {
        let token: Vec<u8> = "woof woof woof woof woof".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let (first, second) = murmur3::hash(&token);
        let mut seen = 0;
        for line in include_str!("../../tests/vectors/lucene_inthash.ndjson").lines() {
            let line: Line = serde_json::from_str(line).unwrap();
            let (a, b) = murmur3::hash(&line.i.to_be_bytes());
            let hex = |value: u64| format!("{value:016x}");
            assert_eq!((hex(a), hex(b)), (line.inthash_val1, line.inthash_val2));
            let combined =
                [(first, a), (second, b)].map(|(hash, number)| hex(hash.wrapping_mul(37).wrapping_add(number)));
            assert_eq!(combined, [line.combined_val1, line.combined_val2]);
            seen += 1;
        }
        assert_eq!(seen, 8);
    }

    /// The source of the filter, bucket by bucket.
    fn rotate_plainly(buckets: &mut [BTreeSet<Value>]) {
        let count = buckets.len();
        for place in 0..count {
            if buckets[place].is_empty() {
                let next = (1..count).map(|offset| (place + offset) % count).find(|next| !buckets[*next].is_empty());
                if let Some(next) = next {
                    let value = *buckets[next].first().unwrap();
                    buckets[place].insert(value);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn rotation_is_that_of_the_filter(filled in prop::collection::vec(prop::option::of(any::<u64>()), 1..20)) {
            let mut buckets: Vec<BTreeSet<Value>> =
                filled.iter().map(|value| value.iter().map(|value| (*value, 0)).collect()).collect();
            let mut expected = buckets.clone();
            rotate(&mut buckets);
            rotate_plainly(&mut expected);
            prop_assert_eq!(buckets, expected);
        }
    }

    #[test]
    fn a_full_bucket_shrinks_by_a_value_that_it_has() {
        let mut bucket = BTreeSet::from([(1, 0), (2, 0)]);
        keep(&mut bucket, (1, 0), 2);
        assert_eq!(bucket, BTreeSet::from([(1, 0)]));
        keep(&mut bucket, (3, 0), 2);
        keep(&mut bucket, (3, 0), 2);
        assert_eq!(bucket, BTreeSet::from([(1, 0), (3, 0)]));
    }

    #[test]
    fn what_is_refused() {
        assert!(Lucene::new(0, 1, 1, true).is_err());
        assert!(Lucene::new(1, 0, 1, true).is_err());
        assert!(Lucene::new(1, 1, 0, true).is_err());
        assert!(Lucene::new(1 << 20, 1 << 20, 1, true).unwrap_err().to_string().contains("at most"));
    }
}
