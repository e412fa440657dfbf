//! Crash states: the possible content of the media after a power failure at an operation, and the promises made until
//! then.

use super::cases::Case;
use super::image::Image;
use super::media::Media;
use super::recording::Operation;
use super::workload::Mark;
use crate::support::Random;
use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// The progress of a process, and the promises it has received.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Progress {
    /// The store has been created.
    pub(crate) created: bool,
    /// Steps of each thread that survive a power failure, and those that may.
    pub(crate) durable: Vec<usize>,
    pub(crate) begun: Vec<usize>,
    /// Steps of the first thread that have returned.
    pub(crate) done: BTreeSet<usize>,
}

impl Progress {
    pub(crate) fn new(case: &Case) -> Self {
        let none = vec![0; case.threads];
        Self { created: false, durable: none.clone(), begun: none, done: BTreeSet::new() }
    }

    fn advance(&mut self, mark: Mark) {
        match mark {
            Mark::Created => self.created = true,
            Mark::Begun { thread, step } => self.begun[thread] = step + 1,
            Mark::Done { thread, step, durable } => {
                if thread == 0 {
                    self.done.insert(step);
                }
                if durable {
                    self.durable[thread] = step + 1;
                }
            }
        }
    }
}

/// The state found after a power failure.
#[derive(Clone, Debug)]
pub(crate) struct State {
    pub(crate) image: Image,
    pub(crate) progress: Progress,
    /// The number of operations before it in the recording, and the seed of the choice.
    pub(crate) operation: usize,
    pub(crate) seed: u64,
}

/// The start of a recorded process: all of it is durable.
#[derive(Clone, Debug)]
pub(crate) struct Start {
    pub(crate) image: Image,
    pub(crate) inodes: BTreeMap<u64, usize>,
    pub(crate) progress: Progress,
}

/// Rounds over a recording in search of distinct states.
const ROUNDS: u64 = 6;

/// The relative number of states after an operation. A rename publishes earlier changes, so a power failure just after
/// it reveals the most.
fn weight(operation: &Operation) -> usize {
    match operation {
        Operation::Rename { .. } => 8,
        Operation::Link { .. } | Operation::Unlink(_) | Operation::Mark(_) => 2,
        _ => 1,
    }
}

/// Chooses about `wanted` distinct states, spread over all operations of a recording.
///
/// # Errors
///
/// A message if the recording is inconsistent.
pub(crate) fn choose(start: &Start, operations: &[Operation], wanted: usize, seed: u64) -> Result<Vec<State>, String> {
    let (mut states, mut seen) = (Vec::new(), HashSet::new());
    let weights = operations.iter().map(weight).sum::<usize>() as u64;
    for round in 0..ROUNDS {
        let missing = wanted.saturating_sub(states.len());
        let mut progress = start.progress.clone();
        let mut media = Media::new(&start.image, start.inodes.clone());
        for (number, operation) in operations.iter().enumerate() {
            media.apply(operation)?;
            if let Operation::Mark(line) = operation {
                progress.advance(Mark::parse(line).ok_or_else(|| format!("no mark: {line}"))?);
            }
            let seed = seed << 32 | (number as u64) << 8 | round;
            let mut random = Random(seed);
            random.0 = random.next();
            // On average, as many states as are missing.
            let share = (missing * weight(operation)) as u64 * 1000 / weights;
            let count = share / 1000 + u64::from(random.below(1000) < share % 1000);
            for _ in 0..count {
                let image = media.after_crash(&mut random);
                let mut hasher = DefaultHasher::new();
                (&image, &progress).hash(&mut hasher);
                if seen.insert(hasher.finish()) {
                    states.push(State { image, progress: progress.clone(), operation: number + 1, seed });
                }
            }
        }
    }
    states.truncate(wanted);
    Ok(states)
}

/// The tree after all operations, as a reader sees it.
///
/// # Errors
///
/// A message if the recording is inconsistent.
pub(crate) fn replay(start: &Start, operations: &[Operation]) -> Result<Image, String> {
    let mut media = Media::new(&start.image, start.inodes.clone());
    operations.iter().try_for_each(|operation| media.apply(operation))?;
    Ok(media.current())
}
