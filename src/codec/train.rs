//! Trains the Huffman codes of a table on a sample of its keys.
//!
//! The kind of a block depends on the codes, and the codes on the blocks of their kind. So the trainer cuts the sample
//! into short runs, gives each run the kind that is cheapest under the current codes, and makes the codes again from
//! the result; a few rounds of this settle. Gap blocks can write every key that a flips code cannot, so a sample is
//! enough.

use super::fill::low_widths;
use super::flips::{FlipsCode, Profile, Training};
use super::huffman::Code;
use super::{Codes, XOR_SYMBOLS, gap, xor};
use crate::codec::kind::Codec;

/// Keys judged together; one or two blocks of the default size.
const RUN: usize = 96;
/// Most keys of a sample; taken in runs spread evenly over the table.
const SAMPLE: usize = 400_000;
/// Most rounds of choosing kinds and making codes.
const ROUNDS: usize = 6;
/// Weight of a seen symbol; an unseen one that needs a code has weight 1.
const WEIGHT: u64 = 64;
/// Keys that differ in no more bits than this are near.
const NEAR: u32 = 8;
/// The trainer judges a run as flips if at least one key of this many is near the key before.
const FAMILY: usize = 16;
/// A dense code takes over half again as long to decode as a quick one, so it has to save more than a twelfth.
const WORTH: (u64, u64) = (11, 12);

/// The codes of a table, from a sample of its sorted, distinct keys. They can write any key.
pub(crate) fn train(codec: Codec, keys: &[u64]) -> Codes {
    let sample = Sample::of(keys);
    if codec == Codec::Adaptive {
        return Codes::Adaptive { flips: sample.flips() };
    }
    let mut counts = vec![1; XOR_SYMBOLS];
    for (before, run) in &sample.runs {
        each_key(*before, run, |previous, key| {
            let count = counts.get_mut(xor::split(previous, key).0);
            count.into_iter().for_each(|count| *count += WEIGHT);
        });
    }
    #[expect(clippy::expect_used, reason = "the tests of `huffman` check it")]
    Codes::Xor(Code::from_counts(&counts).expect("lengths made from counts are complete"))
}

struct Sample {
    /// The key before each run (its base less one) and the run.
    runs: Vec<(u64, Vec<u64>)>,
}

impl Sample {
    /// Evenly spread runs of these keys.
    fn of(keys: &[u64]) -> Self {
        let step = keys.len().div_ceil(RUN).div_ceil(SAMPLE / RUN).max(1);
        let (mut runs, mut previous) = (Vec::new(), u64::MAX);
        for (number, run) in keys.chunks(RUN).enumerate() {
            if number % step == 0 {
                runs.push((previous, run.to_vec()));
            }
            previous = run.last().copied().unwrap_or(previous);
        }
        Self { runs }
    }

    /// The code for the runs that are smallest as flips, if there are any.
    fn flips(&self) -> Option<FlipsCode> {
        if !self.runs.iter().any(|(before, run)| is_family(*before, run)) {
            return None;
        }
        let gaps: Vec<_> =
            self.runs.iter().map(|(before, run)| (gaps(*before, run), is_family(*before, run))).collect();
        let quick = self.profile(Profile::Quick, &gaps);
        let dense = self.profile(Profile::Dense, &gaps);
        match (quick, dense) {
            (Some((_, quick)), Some((code, dense))) if dense * WORTH.1 < quick * WORTH.0 => Some(code),
            (None, Some((code, _))) | (Some((code, _)), _) => Some(code),
            (None, None) => None,
        }
    }

    /// The best code of a profile and the size of the sample in bits, given the size of each run as gaps and whether it
    /// has families.
    fn profile(&self, profile: Profile, gaps: &[(u64, bool)]) -> Option<(FlipsCode, u64)> {
        let mut training = Training::new(profile, &self.runs);
        for _ in 1..ROUNDS {
            self.round(&mut training, gaps);
            // A code that makes itself again is that of all later rounds.
            if !training.again()? {
                break;
            }
        }
        let size = self.round(&mut training, gaps);
        training.code().map(|code| (code, size))
    }

    /// Counts the runs that are smaller as flips; returns the size of all runs.
    fn round(&self, training: &mut Training, gaps: &[(u64, bool)]) -> u64 {
        let (mut size, mut symbols) = (0, Vec::new());
        for ((before, run), &(gaps, is_family)) in self.runs.iter().zip(gaps) {
            // Judging runs without families takes long.
            let flips = is_family.then(|| training.judge(*before, run, &mut symbols)).flatten();
            if flips.is_some_and(|flips| flips < gaps) {
                training.count(&symbols);
            }
            size += flips.map_or(gaps, |flips| flips.min(gaps));
        }
        size
    }
}

fn each_key(mut previous: u64, run: &[u64], mut visit: impl FnMut(u64, u64)) {
    for &key in run {
        visit(previous, key);
        previous = key;
    }
}

/// Whether enough keys are near the one before that flips may pay.
fn is_family(before: u64, run: &[u64]) -> bool {
    let mut near = 0;
    each_key(before, run, |previous, key| near += usize::from((previous ^ key).count_ones() <= NEAR));
    near * FAMILY >= run.len()
}

/// The size in bits of a run as split gaps.
fn gaps(before: u64, run: &[u64]) -> u64 {
    let widths = low_widths(before.wrapping_add(1), run);
    let size = |width: u32| {
        let mut size = 0;
        each_key(before, run, |previous, key| {
            size += u64::from(gap::cost(key.wrapping_sub(previous).wrapping_sub(1), width));
        });
        size
    };
    widths.into_iter().map(size).min().unwrap_or(u64::MAX)
}
