//! `fphash health`: checks that every bit of fingerprints is useful.

use std::io::{self, Write};

use anyhow::Context;
use fpstore::Fingerprint;
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::health::{self, BATCH, Gathered, Pen, Report};
use fpstore_tools::input::{Input, InputOptions, Source, sources};
use fpstore_tools::progress::Progress;
use fpstore_tools::width::by_width;

use crate::args::HealthArgs;

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
        health::write(&report, Pen::of_locale(), &mut out)?;
    }
    out.flush()?;
    Ok(if report.sound == Some(false) { Outcome::Damaged } else { Outcome::Done })
}

/// The inputs; the first one is open, so that its width is known.
struct Inputs<'a> {
    sources: &'a [Source],
    options: &'a InputOptions,
    first: Option<Input>,
    progress: Progress,
}

impl Inputs<'_> {
    fn gather<F: Fingerprint>(self) -> anyhow::Result<Gathered<F>> {
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
