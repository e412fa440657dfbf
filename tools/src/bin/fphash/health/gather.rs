//! Reads all inputs to their end.

use anyhow::Context;
use fpstore::Fingerprint;
use fpstore_tools::input::{Input, InputOptions, Source};
use fpstore_tools::progress::Progress;

use super::counts::Counts;
use super::distinct::Distinct;
use super::sample::Sample;

/// Fingerprints that are counted together.
const BATCH: usize = 1 << 17;

/// The inputs; the first one is open, so that its width is known.
pub(super) struct Inputs<'a> {
    pub(super) sources: &'a [Source],
    pub(super) options: &'a InputOptions,
    pub(super) first: Option<Input>,
    pub(super) progress: Progress,
}

/// Counts and samples of all fingerprints.
#[derive(Clone, Debug)]
pub(super) struct Gathered<F> {
    pub(super) counts: Counts,
    pub(super) sample: Sample<F>,
    pub(super) distinct: Distinct,
}

impl Inputs<'_> {
    pub(super) fn gather<F: Fingerprint>(self) -> anyhow::Result<Gathered<F>> {
        let Self { sources, options, mut first, progress } = self;
        let mut gathered = Gathered::new();
        let mut batch = Vec::with_capacity(BATCH);
        for source in sources {
            progress.message(format!("reading {}", source.name()));
            let input = match first.take() {
                Some(input) => input,
                None => Input::open(source, options, &progress)?,
            };
            let mut reader = input.reader::<F>().context("all inputs have to be of one width (--width)")?;
            while let Some(entry) = reader.next_entry()? {
                batch.push(entry.fingerprint);
                reader.take_ready(&mut batch);
                if batch.len() >= BATCH {
                    gathered.add(&mut batch);
                }
            }
        }
        gathered.add(&mut batch);
        progress.finish();
        Ok(gathered)
    }
}

impl<F: Fingerprint> Gathered<F> {
    pub(super) fn new() -> Self {
        Self { counts: Counts::new(F::WIDTH), sample: Sample::new(), distinct: Distinct::default() }
    }

    /// Adds a batch, and empties it.
    pub(super) fn add(&mut self, batch: &mut Vec<F>) {
        let Self { counts, sample, distinct } = self;
        let values = batch.as_slice();
        let sampled = || {
            values.iter().for_each(|value| {
                sample.push(*value);
                distinct.push(*value);
            });
        };
        let (more, ()) = rayon::join(|| Counts::of(values), sampled);
        let before = std::mem::replace(counts, Counts::new(0));
        *counts = before.with(more);
        batch.clear();
    }
}
