//! `fphash bands`: keys of which similar documents have one in common.

use std::io::{self, Write};

use anyhow::bail;
use fpsketch::bands::Bands;
use fpsketch::{EMPTY, MOST_SENTENCES, sentences};
use fpstore_tools::common::{Common, SCHEMA_VERSION};
use fpstore_tools::documents::Document;
use fpstore_tools::exit::Outcome;
use fpstore_tools::report::{self, Columns};
use serde::Serialize;

use crate::args::BandsArgs;
use crate::lines;

/// The threshold where nobody names one.
const THRESHOLD: f64 = 0.8;

pub(crate) fn run(args: &BandsArgs, common: Common) -> anyhow::Result<Outcome> {
    if let Some(wanted) = args.sentences {
        if !(1..=MOST_SENTENCES).contains(&wanted) {
            bail!("--sentences={wanted}: there are 1 to {MOST_SENTENCES} keys");
        }
        if args.options.features.features.is_some() {
            bail!("--features: sentences are hashed as they are; leave it away");
        }
        let normalise = args.options.features.normalise.clone().unwrap_or_default();
        let hasher = format!("sentences/1,longest={wanted},normalise={normalise}");
        write(args, common, &hasher, 0, |document| {
            normalise.with(document.content.document(), |document| sentences(document, wanted))
        })?;
        return Ok(Outcome::Done);
    }
    let signer = args.options.signer(args.documents.tokens_column.is_some())?;
    let places = signer.places();
    let bands = match (args.bands, args.rows) {
        (Some(bands), Some(rows)) => Bands::new(bands, rows, places)?,
        _ => {
            let weight = args.false_positive_weight;
            Bands::optimal(args.threshold.unwrap_or(THRESHOLD), places, weight, 1.0 - weight)?
        }
    };
    if args.curve {
        curve(bands, common.json)?;
    } else {
        let hasher = format!("{},bands={},rows={}", signer.identity(), bands.bands, bands.rows);
        write(args, common, &hasher, args.options.made(), |document| {
            let signature = signer.signature(&document.content);
            // Documents without features are not similar to each other.
            let any = signature.iter().any(|place| *place != EMPTY);
            if any { bands.keys(&signature).collect() } else { Vec::new() }
        })?;
    }
    Ok(Outcome::Done)
}

/// Writes the keys of every document.
fn write(
    args: &BandsArgs,
    common: Common,
    hasher: &str,
    made: u64,
    keys: impl Fn(&Document) -> Vec<u64> + Sync,
) -> anyhow::Result<()> {
    let header = lines::header(None, hasher);
    let header = (!common.json).then_some(header.as_str());
    lines::write(&args.inputs, &args.documents, args.memory, made, common, header, |document, _, line| {
        let keys = keys(document);
        // Writing to memory does not fail.
        if common.json {
            lines::begin_json(document, line);
            let keys: Vec<String> = keys.iter().map(|key| format!("\"{key:016x}\"")).collect();
            let _ = writeln!(line, ",\"bands\":[{}]}}", keys.join(","));
        } else {
            for (number, key) in keys.iter().enumerate() {
                let _ = write!(line, "{number}\t{key:016x}");
                document.id.push_column(line);
                line.push(b'\n');
            }
        }
    })
}

#[derive(Serialize)]
struct Curve {
    schema_version: u32,
    bands: usize,
    rows: usize,
    /// Where the curve is about one half.
    threshold: f64,
    /// Similarity, and the probability to become candidates.
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
