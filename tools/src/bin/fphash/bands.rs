//! `fphash bands`: band keys; similar documents share at least one.

use std::io::{self, Write};

use anyhow::bail;
use fpsketch::bands::Bands;
use fpsketch::{MOST_SENTENCES, TooFew, sentences};
use fpstore_tools::common::{Common, SCHEMA_VERSION};
use fpstore_tools::documents::{Document, Fault};
use fpstore_tools::exit::Outcome;
use fpstore_tools::report::{self, Columns};
use fpstore_tools::sketches::{Kind, Sketch};
use fpstore_tools::sketching::{KeyChoice, KeyMaker};
use serde::Serialize;

use crate::args::BandsArgs;
use crate::lines::{self, Job};

pub(crate) fn run(args: &BandsArgs, common: Common) -> anyhow::Result<Outcome> {
    if let Some(wanted) = args.sentences {
        if !(1..=MOST_SENTENCES).contains(&wanted) {
            bail!("--sentences={wanted}: expected 1 to {MOST_SENTENCES}");
        }
        if args.options.features.features.is_some() {
            bail!("--features: sentences are hashed as they are; leave it out");
        }
        let normalise = args.options.features.normalise.clone().unwrap_or_default();
        let least = args.leave.least();
        if least > wanted {
            bail!(
                "--min-features {least}: with --sentences={wanted}, sentences are features, and no more are looked for"
            );
        }
        let hasher = format!("sentences/1,longest={wanted},normalise={normalise}");
        write(args, common, hasher, 0, |document| {
            let keys = normalise.with(document.content.document(), |document| sentences(document, wanted));
            if keys.len() < least { Err(TooFew { features: keys.len() }) } else { Ok(keys) }
        })?;
        return Ok(Outcome::Done);
    }
    let choice = KeyChoice {
        bands: args.bands.zip(args.rows),
        threshold: args.threshold,
        weight: Some(args.false_positive_weight),
        terms: args.terms,
        fits: false,
    };
    let maker = KeyMaker::new(&args.options, choice, args.reading.options.tokens_column.is_some())?;
    match &maker {
        KeyMaker::Bands(_, bands) if args.curve => curve(*bands, common.json)?,
        _ => write(args, common, maker.identity(), args.options.made(), |document| {
            Ok(maker.make(&document.content, args.leave.least())?.0)
        })?,
    }
    Ok(Outcome::Done)
}

/// Writes the keys of every document.
fn write(
    args: &BandsArgs,
    common: Common,
    hasher: String,
    made: u64,
    keys: impl Fn(&Document) -> Result<Vec<u64>, TooFew> + Sync,
) -> anyhow::Result<()> {
    let job = Job::new(&args.inputs, &args.reading, &args.leave, &args.output, made, common);
    let least = args.leave.least();
    job.write(Kind::Keys, &lines::header(None, hasher), |document, _| {
        let keys = keys(document).map_err(|few| Fault::features(few, least, document.content.bytes()))?;
        Ok(Sketch::Keys(keys))
    })
}

#[derive(Serialize)]
struct Curve {
    schema_version: u32,
    bands: usize,
    rows: usize,
    /// Similarity at which the curve is about one half.
    threshold: f64,
    /// Pairs of a similarity and the probability to become candidates.
    curve: Vec<(f64, f64)>,
}

/// Shows how likely documents of each similarity become candidates.
fn curve(bands: Bands, json: bool) -> anyhow::Result<()> {
    const STEPS: usize = 20;
    let mut out = io::stdout().lock();
    let Bands { bands: count, rows } = bands;
    if json {
        let curve = bands.curve(STEPS).collect();
        let report = Curve { schema_version: SCHEMA_VERSION, bands: count, rows, threshold: bands.threshold(), curve };
        return Ok(report::json(&mut out, &report)?);
    }
    writeln!(out, "{count} bands of {rows} rows: 1 - (1 - s^{rows})^{count}, steep at s = {:.2}\n", bands.threshold())?;
    let mut columns = Columns::new(&[">similarity", ">candidates"]);
    for (similarity, probability) in bands.curve(STEPS) {
        columns.row([format!("{similarity:.2}"), format!("{:.3}%", 100.0 * probability)]);
    }
    columns.write(&mut out)?;
    write!(out, "\n{}", bands.plot())?;
    Ok(())
}
