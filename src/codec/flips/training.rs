//! Makes a code from the symbols that a sample of keys would take.

use super::choose::Choice;
use super::code::{FlipsCode, MOST};
use super::symbols::{GROUP_BITS, LENGTHS, LOW, SYMBOLS};
use crate::codec::flips::symbols::Profile;
use crate::codec::huffman::lengths_from_counts;

/// Symbols with a smaller share of all get no code: even the longest code word would take more code space than they
/// deserve, and the code section stores every length.
const RARE: u64 = 12_000;
/// Below this count, storing a symbol's length costs more than it saves.
const FEWEST: u64 = 3;
/// Biased bits are measured on keys that differ in more bits than this from the key before.
const NEAR: u32 = 6;

#[derive(Debug)]
pub(in crate::codec) struct Training {
    choice: Choice,
    counts: Vec<u64>,
    keys: u64,
}

impl Training {
    /// A first guess, with the biased bits of these runs: the key before each run, and the run.
    pub(in crate::codec) fn new(profile: Profile, runs: &[(u64, Vec<u64>)]) -> Self {
        let (backs, flips) = profile.reach();
        Self { choice: Choice::guess(biased(runs), backs, flips), counts: vec![0; SYMBOLS], keys: 0 }
    }

    /// The size of a run in bits, `None` if it cannot be written; puts its symbols into `symbols`.
    pub(in crate::codec) fn judge(&self, before: u64, keys: &[u64], symbols: &mut Vec<usize>) -> Option<u64> {
        symbols.clear();
        let mut size = 0;
        for at in 0..keys.len() {
            let (symbol, bits) = self.choice.cheapest(before, keys, at)?;
            symbols.push(symbol);
            size += u64::from(bits);
        }
        Some(size)
    }

    pub(in crate::codec) fn count(&mut self, symbols: &[usize]) {
        for &symbol in symbols {
            self.counts.get_mut(symbol).into_iter().for_each(|count| *count += 1);
            self.keys += 1;
        }
    }

    /// The code for the counted symbols; `None` if there are none.
    pub(in crate::codec) fn code(&self) -> Option<FlipsCode> {
        FlipsCode::new(self.coded()?, self.choice.group).ok()
    }

    /// Goes on with the code for the counted symbols, and counts anew. Returns whether it differs from the last code;
    /// `None` if there are no counted symbols.
    pub(in crate::codec) fn again(&mut self) -> Option<bool> {
        let mut lengths = vec![0; SYMBOLS];
        for (symbol, length) in self.coded()? {
            lengths.get_mut(usize::from(symbol)).into_iter().for_each(|own| *own = length);
        }
        let is_new = lengths != self.choice.lengths;
        self.choice.lengths = lengths;
        (self.counts, self.keys) = (vec![0; SYMBOLS], 0);
        Some(is_new)
    }

    /// The symbols of the code, ascending, and the lengths of their code words.
    fn coded(&self) -> Option<Vec<(u16, u8)>> {
        if self.keys == 0 {
            return None;
        }
        let least = (self.keys / RARE).max(FEWEST);
        let counts = self.counts.iter().copied().zip(0..);
        let mut counts: Vec<(u64, usize)> =
            counts.filter(|&(count, symbol)| count >= least || symbol < LENGTHS).collect();
        // Every gap keeps a code, seen or not.
        counts.sort_unstable_by_key(|&(count, symbol)| (symbol >= LENGTHS, std::cmp::Reverse(count), symbol));
        counts.truncate(MOST);
        counts.sort_unstable_by_key(|&(_, symbol)| symbol);
        let numbers: Vec<u64> = counts.iter().map(|&(count, _)| count.max(1)).collect();
        let coded = counts.iter().zip(lengths_from_counts(&numbers));
        Some(coded.map(|(&(_, symbol), length)| (u16::try_from(symbol).unwrap_or(0), length)).collect())
    }
}

/// The most biased bits of the lower halves of keys without near neighbours.
fn biased(runs: &[(u64, Vec<u64>)]) -> u32 {
    let (mut ones, mut total) = ([0u64; LOW as usize], 0u64);
    for (before, run) in runs {
        let previous = std::iter::once(before).chain(run);
        for (_, key) in previous.zip(run).filter(|(previous, key)| (*previous ^ *key).count_ones() > NEAR) {
            ones.iter_mut().zip(0..).for_each(|(ones, bit)| *ones += key >> bit & 1);
            total += 1;
        }
    }
    let bias = |ones: u64| (2 * ones).abs_diff(total);
    let mut bits: Vec<(u64, u32)> = ones.iter().map(|&ones| bias(ones)).zip(0..).collect();
    bits.sort_unstable_by_key(|&(bias, bit)| (std::cmp::Reverse(bias), bit));
    // A bias of a tenth saves less than a hundredth of a bit.
    let worth = bits.iter().take(GROUP_BITS as usize).filter(|&&(bias, _)| bias * 5 > total);
    worth.fold(0, |group, &(_, bit)| group | 1 << bit)
}
