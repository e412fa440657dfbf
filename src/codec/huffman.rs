//! Canonical, length-limited Huffman codes.
//!
//! The lengths alone define a code (format-spec/codes.md): shorter codes first, equal lengths in symbol order, as in
//! RFC 1951. The first bit of a code stands at the lowest free bit of the stream, so a reader looks up the next
//! [`MAX_LENGTH`] bits in one table. Lengths are optimal under the limit (package-merge: Larmore and Hirschberg, "A
//! fast algorithm for optimal length-limited Huffman codes", JACM 37, 1990). A legal code is complete (Kraft sum
//! exactly 1), so every bit string decodes and every table entry is defined.

use crate::error::{Error, Result};

/// Longest code in bits: a decoding table then has 4096 entries and stays in the first-level cache.
pub(crate) const MAX_LENGTH: u32 = 12;

const TABLE_SIZE: usize = 1 << MAX_LENGTH;

#[derive(Clone, Debug)]
pub(crate) struct Code {
    lengths: Vec<u8>,
    /// Each symbol's code, first bit lowest.
    words: Vec<u16>,
    /// Indexed by the next `MAX_LENGTH` bits: symbol << 4 | length.
    table: Box<[u16; TABLE_SIZE]>,
}

impl Code {
    /// The code with these lengths, one a symbol, 0 = no code word; `Damaged` if a length exceeds [`MAX_LENGTH`] or the
    /// code is not complete.
    pub(crate) fn from_lengths(lengths: &[u8]) -> Result<Self> {
        let mut counts = [0usize; MAX_LENGTH as usize + 1];
        for &length in lengths {
            let count = counts.get_mut(usize::from(length));
            *count.ok_or_else(|| Error::damaged(format!("code length {length} exceeds {MAX_LENGTH}")))? += 1;
        }
        let kraft: usize = counts.iter().enumerate().skip(1).map(|(l, n)| n << (MAX_LENGTH as usize - l)).sum();
        if kraft != TABLE_SIZE {
            return Err(Error::damaged(format!("code is not complete: Kraft sum is {kraft}/{TABLE_SIZE}, not 1")));
        }
        let mut next = first_words(&counts);
        let mut words = vec![0u16; lengths.len()];
        let mut table = Box::new([0u16; TABLE_SIZE]);
        for ((symbol, &length), word) in (0u16..).zip(lengths).zip(&mut words) {
            let Some(slot) = next.get_mut(usize::from(length)).filter(|_| length > 0) else { continue };
            *word = slot.reverse_bits() >> (16 - u32::from(length));
            *slot += 1;
            // Every continuation of the code leads to the symbol.
            for entry in table.iter_mut().skip(usize::from(*word)).step_by(1 << length) {
                *entry = (symbol << 4) | u16::from(length);
            }
        }
        Ok(Self { lengths: lengths.to_vec(), words, table })
    }

    /// The best code for symbols that occur `counts` times; symbols with a count of zero get no code word, but at least
    /// two symbols get one, because a complete code needs two.
    pub(crate) fn from_counts(counts: &[u64]) -> Result<Self> {
        Self::from_lengths(&lengths_from_counts(counts))
    }

    pub(crate) fn resident_bytes(&self) -> u64 {
        (self.lengths.capacity() + 2 * self.words.capacity() + size_of_val(&*self.table)) as u64
    }

    pub(crate) fn lengths(&self) -> &[u8] {
        &self.lengths
    }

    /// Length of the symbol's code in bits, `None` if it has none.
    #[inline]
    pub(crate) fn length(&self, symbol: usize) -> Option<u32> {
        self.lengths.get(symbol).map(|&length| u32::from(length)).filter(|&length| length > 0)
    }

    /// The symbol's code word (first bit lowest) and its length; (0, 0) if it has none.
    #[inline]
    pub(crate) fn word(&self, symbol: usize) -> (u64, u32) {
        match (self.words.get(symbol), self.lengths.get(symbol)) {
            (Some(&word), Some(&length)) => (u64::from(word), u32::from(length)),
            _ => (0, 0),
        }
    }

    /// The symbol whose code word the lowest bits of `bits` begin with, and its length (1 to [`MAX_LENGTH`]).
    #[inline]
    pub(crate) fn decode(&self, bits: u64) -> (u32, u32) {
        // The mask lets the compiler drop the bounds check.
        #[expect(clippy::indexing_slicing, reason = "masked to the array's length")]
        let entry = self.table[bits as usize & (TABLE_SIZE - 1)];
        (u32::from(entry >> 4), u32::from(entry & 15))
    }
}

/// The first canonical code word of each length (RFC 1951, 3.2.2).
fn first_words(counts: &[usize; MAX_LENGTH as usize + 1]) -> [u16; MAX_LENGTH as usize + 1] {
    let mut first = [0u16; MAX_LENGTH as usize + 1];
    let mut word = 0;
    // Symbols without a code (length 0) take no words.
    let shorter = std::iter::once(0).chain(counts.iter().skip(1).copied());
    for (slot, shorter) in first.iter_mut().skip(1).zip(shorter) {
        word = (word + shorter) << 1;
        *slot = u16::try_from(word).unwrap_or(u16::MAX);
    }
    first
}

/// Optimal lengths of at most [`MAX_LENGTH`] bits, for at least two symbols: see [`Code::from_counts`].
pub(crate) fn lengths_from_counts(counts: &[u64]) -> Vec<u8> {
    let mut lengths = vec![0u8; counts.len().max(2)];
    let mut present: Vec<(u64, usize)> =
        counts.iter().enumerate().filter(|(_, count)| **count > 0).map(|(s, &c)| (c, s)).collect();
    for symbol in 0..lengths.len() {
        if present.len() < 2 && !present.iter().any(|&(_, s)| s == symbol) {
            present.push((1, symbol));
        }
    }
    present.sort_unstable();
    for symbol in package_merge(&present) {
        if let Some(length) = lengths.get_mut(symbol) {
            *length += 1;
        }
    }
    lengths
}

/// The symbols of the chosen items, each as often as its code is long.
///
/// A list for each level holds coins: single symbols, and packages of two neighbours of the level below. The cheapest
/// `2 * (n - 1)` coins of the top level make up the code.
fn package_merge(symbols: &[(u64, usize)]) -> Vec<usize> {
    type Coin = (u64, Vec<usize>);
    let singles: Vec<Coin> = symbols.iter().map(|&(count, symbol)| (count, vec![symbol])).collect();
    let mut level = singles.clone();
    for _ in 1..MAX_LENGTH {
        let packages = level.chunks_exact(2).filter_map(|pair| match pair {
            [a, b] => Some((a.0 + b.0, [a.1.as_slice(), b.1.as_slice()].concat())),
            _ => None,
        });
        level = singles.iter().cloned().chain(packages).collect();
        level.sort_by_key(|coin| coin.0);
    }
    level.truncate(2 * (symbols.len() - 1));
    level.into_iter().flat_map(|coin| coin.1).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bits::{BitWriter, Forward};
    use proptest::prelude::*;

    #[test]
    fn canonical_order_is_that_of_the_specification() {
        // Lengths 2, 1, 3, 3: codes 10, 0, 110, 111, written first bit lowest.
        let code = Code::from_lengths(&[2, 1, 3, 3]).unwrap();
        let words: Vec<_> = (0..4).map(|s| code.word(s)).collect();
        assert_eq!(words, [(0b01, 2), (0b0, 1), (0b011, 3), (0b111, 3)]);
    }

    #[test]
    fn illegal_lengths_are_refused() {
        for lengths in [&[][..], &[0, 0], &[1], &[1, 0], &[1, 1, 1], &[2, 2, 2], &[13, 1], &[1, 2, 3]] {
            assert!(Code::from_lengths(lengths).is_err(), "{lengths:?}");
        }
    }

    #[test]
    fn no_symbol_and_one_symbol_still_give_a_complete_code() {
        assert_eq!(Code::from_counts(&[0, 0, 0]).unwrap().lengths(), [1, 1, 0]);
        assert_eq!(Code::from_counts(&[0, 0, 9]).unwrap().lengths(), [1, 0, 1]);
    }

    /// The cost of an unlimited Huffman code, by repeatedly merging the two lightest: the reference where the limit
    /// does not bind.
    fn huffman_cost(counts: &[u64]) -> u64 {
        let mut heap: std::collections::BinaryHeap<_> =
            counts.iter().filter(|&&c| c > 0).map(|&c| std::cmp::Reverse(c)).collect();
        let mut cost = 0;
        while heap.len() > 1 {
            let sum = heap.pop().unwrap().0 + heap.pop().unwrap().0;
            cost += sum;
            heap.push(std::cmp::Reverse(sum));
        }
        cost
    }

    proptest! {
        #[test]
        fn round_trip_and_optimal(counts in prop::collection::vec(0u64..50, 2..100), picks in prop::collection::vec(any::<u16>(), 0..300)) {
            let code = Code::from_counts(&counts).unwrap();
            let present: Vec<usize> = (0..counts.len()).filter(|&s| code.length(s).is_some()).collect();
            let symbols: Vec<usize> = picks.iter().map(|&p| present[usize::from(p) % present.len()]).collect();
            let mut bytes = Vec::new();
            let mut writer = BitWriter::new(&mut bytes);
            for &symbol in &symbols {
                let (word, length) = code.word(symbol);
                writer.push(word, length);
            }
            writer.finish();
            let mut reader = Forward::new(&bytes, 0);
            for &symbol in &symbols {
                reader.refill();
                let (found, length) = code.decode(reader.peek());
                prop_assert_eq!(found as usize, symbol);
                reader.skip(length);
            }
            if counts.iter().filter(|&&c| c > 0).count() >= 2 {
                // Counts below 50 over at most 100 symbols need no code longer than the limit.
                let cost: u64 = counts.iter().enumerate().map(|(s, c)| c * u64::from(code.length(s).unwrap_or(0))).sum();
                prop_assert_eq!(cost, huffman_cost(&counts));
            }
        }

        #[test]
        fn the_limit_holds_for_any_counts(counts in prop::collection::vec(prop_oneof![Just(0u64), Just(1), 1u64..1 << 50], 2..600)) {
            let code = Code::from_counts(&counts).unwrap();
            prop_assert!(code.lengths().iter().all(|&l| u32::from(l) <= MAX_LENGTH));
            for (symbol, &count) in counts.iter().enumerate() {
                prop_assert!(count == 0 || code.length(symbol).is_some());
            }
        }
    }
}
