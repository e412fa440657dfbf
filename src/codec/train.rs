//! Trains the Huffman codes of a table on a sample of its keys.
//!
//! Which kind of block a stretch of keys takes depends on the codes, and the codes on the stretches of their kind. So
//! the sample is cut into short runs, each run takes the kind that is cheapest under the codes so far, and the codes are
//! made anew from what they would have written; a few rounds of this settle. Every symbol that some key may need keeps a
//! code whether it was seen or not, so a sample is enough.

use super::block::BlockKind;
use super::fill::fill_block;
use super::huffman::Code;
use super::{Codec, Codes, FLIPS_SYMBOLS, GAP_SYMBOLS, XOR_SYMBOLS, flips, gap, xor};

/// Keys that are judged together; about a block of the default size.
const RUN: usize = 96;
/// Most keys that are looked at; taken in runs spread evenly over the table.
const SAMPLE: usize = 400_000;
/// Rounds of choosing kinds and making codes.
const ROUNDS: usize = 4;
/// A seen symbol counts this much, an unseen one that needs a code 1.
const WEIGHT: u64 = 64;
/// Flips seen less often than this share of all symbols are left to the gap code: a code of the greatest length would
/// still give them more of the code space than they deserve.
const RARE: u64 = 1 << 13;

/// Collects a sample of a table and makes its codes.
#[derive(Debug)]
pub(crate) struct Trainer {
    codec: Codec,
    /// The key before each run (its base less one) and the run.
    runs: Vec<(u64, Vec<u64>)>,
}

impl Trainer {
    /// A trainer without a sample; its codes would still write anything.
    pub(crate) fn new(codec: Codec) -> Self {
        Self { codec, runs: Vec::new() }
    }

    /// Takes runs out of the sorted, distinct keys of a whole table.
    pub(crate) fn sample(&mut self, keys: &[u64]) {
        let runs = keys.len().div_ceil(RUN);
        let step = runs.div_ceil(SAMPLE / RUN).max(1);
        let mut previous = u64::MAX;
        for (number, run) in keys.chunks(RUN).enumerate() {
            if number % step == 0 {
                self.runs.push((previous, run.to_vec()));
            }
            previous = run.last().copied().unwrap_or(previous);
        }
    }

    /// The codes for the sample.
    pub(crate) fn finish(self) -> Codes {
        let mut codes = initial(self.codec);
        for _ in 0..ROUNDS {
            codes = self.improve(&codes);
        }
        codes
    }

    fn improve(&self, codes: &Codes) -> Codes {
        match codes {
            Codes::Xor(_) => {
                let mut counts = vec![1; XOR_SYMBOLS];
                self.each_key(|previous, key| count(&mut counts, xor::split(previous, key).0));
                Codes::Xor(make(&counts))
            }
            Codes::Adaptive { flips: flips_code, .. } => {
                let mut gap_counts = vec![1; GAP_SYMBOLS];
                let mut flips_counts = vec![0; FLIPS_SYMBOLS];
                for (previous, run) in &self.runs {
                    let (kind, _) = fill_block(codes, previous.wrapping_add(1), run, usize::MAX >> 4);
                    each_key(*previous, run, |previous, key| match kind {
                        BlockKind::Gap { low_width } => {
                            let gap = key.wrapping_sub(previous).wrapping_sub(1);
                            count(&mut gap_counts, gap::symbol(gap >> low_width).0);
                        }
                        _ => count(&mut flips_counts, flips::cheaper_symbol(flips_code, previous, key)),
                    });
                }
                let total: u64 = flips_counts.iter().sum();
                for (symbol, count) in flips_counts.iter_mut().enumerate() {
                    if symbol < flips::GAP_LENGTHS {
                        *count += 1;
                    } else if *count < total / RARE {
                        *count = 0;
                    }
                }
                Codes::Adaptive { gap: make(&gap_counts).into(), flips: make(&flips_counts) }
            }
        }
    }

    fn each_key(&self, mut visit: impl FnMut(u64, u64)) {
        self.runs.iter().for_each(|(previous, run)| each_key(*previous, run, &mut visit));
    }
}

fn each_key(mut previous: u64, run: &[u64], mut visit: impl FnMut(u64, u64)) {
    for &key in run {
        visit(previous, key);
        previous = key;
    }
}

fn count(counts: &mut [u64], symbol: usize) {
    if let Some(count) = counts.get_mut(symbol) {
        *count += WEIGHT;
    }
}

/// What the first round judges by: high parts fall by a factor of 2/3, few flips are more likely than many.
fn initial(codec: Codec) -> Codes {
    match codec {
        Codec::Xor => Codes::Xor(make(&[1; XOR_SYMBOLS])),
        Codec::Adaptive => {
            let mut share = 3_000_000;
            let gap_counts: Vec<u64> = (0..GAP_SYMBOLS)
                .map(|_| {
                    share = share * 2 / 3;
                    share.max(1)
                })
                .collect();
            let flips_counts: Vec<u64> = (0..FLIPS_SYMBOLS)
                .map(|symbol| match symbol.checked_sub(flips::GAP_LENGTHS) {
                    None => 16,
                    Some(flips) => (16 >> (flips / 64)).max(1),
                })
                .collect();
            Codes::Adaptive { gap: make(&gap_counts).into(), flips: make(&flips_counts) }
        }
    }
}

/// Lengths made from counts are always legal.
fn make(counts: &[u64]) -> Code {
    #[expect(
        clippy::expect_used,
        reason = "package-merge yields complete codes; the tests of `huffman` hold it to that"
    )]
    Code::from_counts(counts).expect("lengths made from counts are complete")
}
