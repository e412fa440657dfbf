//! `fphash health`: checks that every bit of fingerprints is useful.
//!
//! It makes one pass over any number of fingerprints, in bounded memory. Exact over all records are: how often each bit
//! is 1, how often each pair of bits is 1 together, and how many fingerprints are all zeros or all ones; from these
//! follow dead, constant, mirrored, biased and correlated bits and the mean distance. Samples give: the number of
//! distinct values, the most frequent value, the number of values with few ones or few zeros, and the spread of
//! distances. Bits are numbered from 0, the most significant one. The result does not depend on the number of threads.

mod advice;
mod bits;
mod counts;
mod distinct;
mod gather;
mod grid;
mod people;
mod report;
mod sample;
mod transpose;

use std::io::{self, Write};

use fpstore::Fingerprint;
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{Input, sources};
use fpstore_tools::progress::Progress;
use fpstore_tools::width::by_width;

use crate::args::HealthArgs;
use gather::{Gathered, Inputs};
use report::Report;

/// Default width.
const WIDTH: u32 = 64;

pub(crate) fn run(args: &HealthArgs, common: Common) -> anyhow::Result<Outcome> {
    let sources = sources(&args.inputs, &args.options)?;
    let mut total = Some(0);
    for source in &sources {
        args.options.format_of(source)?;
        let length = source.length()?;
        total = total.zip(length).map(|(total, length)| total + length);
    }
    let progress = if common.shows_progress() { Progress::bytes(total) } else { Progress::hidden() };
    let first = sources.first().map(|source| Input::open(source, &args.options, &progress)).transpose()?;
    let width = args.width.or(first.as_ref().and_then(Input::width)).unwrap_or(WIDTH);
    let inputs = Inputs { sources: &sources, options: &args.options, first, progress };
    by_width!(width, F => look::<F>(inputs, common))
}

fn look<F: Fingerprint>(inputs: Inputs<'_>, common: Common) -> anyhow::Result<Outcome> {
    let gathered: Gathered<F> = inputs.gather()?;
    let report = Report::new(&gathered);
    let mut out = io::stdout().lock();
    if common.json {
        fpstore_tools::report::json(&mut out, &report)?;
    } else {
        people::write(&report, grid::Pen::of_locale(), &mut out)?;
    }
    out.flush()?;
    Ok(if report.sound == Some(false) { Outcome::Damaged } else { Outcome::Done })
}
