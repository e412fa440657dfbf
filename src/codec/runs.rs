//! Several symbols a lookup.
//!
//! The symbols of split gaps are short, so the bits of one table index often hold three of them. Decoding them together
//! takes the time of one lookup, which is what a decoder waits for.

use super::huffman::{Code, MAX_LENGTH};

const TABLE_SIZE: usize = 1 << MAX_LENGTH;
/// Most symbols in a run.
pub(super) const LONGEST: usize = 3;
/// Symbols from here on are never part of a run: more bits follow them.
pub(super) const SYMBOL_LIMIT: u32 = 1 << SYMBOL_BITS;
const SYMBOL_BITS: u32 = 5;

/// For every index the run of symbols that it begins with.
#[derive(Clone, Debug)]
pub(super) struct Runs {
    /// Three symbols of five bits, the first lowest; then the number of symbols in three bits; then of code bits in four.
    table: Box<[u32; TABLE_SIZE]>,
}

/// A run of symbols. Those beyond `count` are not part of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) symbols: [u64; LONGEST],
    /// 0 if the first symbol cannot be part of a run.
    pub(super) count: usize,
    /// Bits that the run's codes take.
    pub(super) bits: u32,
}

impl Runs {
    pub(super) fn new(code: &Code) -> Self {
        let mut table = Box::new([0u32; TABLE_SIZE]);
        for (index, entry) in (0u64..).zip(table.iter_mut()) {
            let (mut packed, mut count, mut used) = (0, 0, 0);
            while count < LONGEST as u32 {
                let (symbol, length) = code.decode(index >> used);
                // Beyond the index the bits are not known.
                if symbol >= SYMBOL_LIMIT || used + length > MAX_LENGTH {
                    break;
                }
                packed |= symbol << (count * SYMBOL_BITS);
                count += 1;
                used += length;
            }
            *entry = packed | (count << 15) | (used << 18);
        }
        Self { table }
    }

    /// Bytes of memory.
    pub(super) fn resident_bytes(&self) -> u64 {
        size_of_val(&*self.table) as u64
    }

    /// The run that the lowest bits of `bits` begin with.
    #[inline]
    pub(super) fn decode(&self, bits: u64) -> Run {
        #[expect(clippy::indexing_slicing, reason = "masked to the array's length")]
        let entry = self.table[bits as usize & (TABLE_SIZE - 1)];
        let symbol = |number: u32| u64::from((entry >> (number * SYMBOL_BITS)) & (SYMBOL_LIMIT - 1));
        Run { symbols: [symbol(0), symbol(1), symbol(2)], count: (entry >> 15 & 7) as usize, bits: entry >> 18 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_what_single_lookups_give() {
        let counts: Vec<u64> = (0..91u32).map(|symbol| 1 + (1 << 40 >> (symbol / 2).min(40))).collect();
        let code = Code::from_counts(&counts).unwrap();
        let runs = Runs::new(&code);
        for index in 0..TABLE_SIZE as u64 {
            let run = runs.decode(index);
            let mut used = 0;
            for &symbol in &run.symbols[..run.count] {
                let (single, length) = code.decode(index >> used);
                assert_eq!(u64::from(single), symbol);
                used += length;
            }
            assert_eq!(used, run.bits);
            assert!(used <= MAX_LENGTH);
            assert!(run.count > 0 || code.decode(index).0 >= SYMBOL_LIMIT);
        }
    }
}
