//! Compares two documents or fingerprints and writes one line.

use std::ffi::OsString;
use std::io::{self, Write};

use anyhow::{Context, bail};
use fpsketch::compare::Measure;
use fpstore_tools::common::{Common, SCHEMA_VERSION};
use fpstore_tools::exit::Outcome;
use fpstore_tools::notice;
use fpstore_tools::report;
use fpstore_tools::sketching::{Compared, Method, PresetName, Side, SignatureOptions, SimhashOptions};
use serde::Serialize;

use super::{side, threshold};
use crate::args::CompareArgs;

#[derive(Serialize)]
struct Report<'a> {
    schema_version: u32,
    preset: &'a str,
    /// Width of a fingerprint.
    #[serde(skip_serializing_if = "Option::is_none")]
    width: Option<u32>,
    /// Places of a signature.
    #[serde(skip_serializing_if = "Option::is_none")]
    num_perm: Option<usize>,
    a: &'a str,
    b: &'a str,
    distance: usize,
    similarity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    standard_error: Option<f64>,
    /// The measure of texts.
    #[serde(skip_serializing_if = "Option::is_none")]
    by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    threshold: f64,
    similar: bool,
    verdict: &'static str,
}

pub(super) fn run(args: &CompareArgs, common: Common) -> anyhow::Result<Outcome> {
    let [a, b] = args.pair.as_slice() else { bail!("two documents are compared; see --help for examples") };
    if args.document_options.any() {
        bail!(
            "two documents are two whole files; --format, --id-column, --text-column and --tokens-column go with \
             --matches"
        );
    }
    if a == "-" && b == "-" {
        bail!("standard input can be read only once");
    }
    let method = method(args)?;
    let threshold = match args.by {
        Some(measure) => threshold::of_measure(args.threshold, measure)?,
        None => threshold::of_similarity(args.threshold, method.usual_threshold())?,
    };
    let side = |argument: &OsString| {
        let side = side::read(argument, method.digits())?;
        // A measure of texts needs no features.
        if let Some(few) = method.few(&side).filter(|_| args.by.is_none()) {
            notice::warn(format_args!(
                "{}: it has {few}, so it looks like other such texts; try other --features, or compare the texts \
                     with --by",
                argument.display()
            ));
        }
        anyhow::Ok(side)
    };
    let (a, b) = (side(a)?, side(b)?);
    let compared = method.compare(&a, &b)?;
    let value = args.by.map(|measure| by_texts(args, measure, &a, &b)).transpose()?;
    let similar = match args.by.zip(value) {
        Some((measure, value)) => measure.similar(value, threshold),
        None => method.similar(&compared, threshold),
    };
    write(args, common, &method, &compared, value, threshold, similar)?;
    Ok(if similar { Outcome::Done } else { Outcome::NothingFound })
}

/// Returns the method that the options name.
fn method(args: &CompareArgs) -> anyhow::Result<Method> {
    if !args.minhash {
        let preset = args.preset.parse().context("--preset (definitions of MinHash go with --minhash)")?;
        let preset = Some(PresetName::Simhash(preset));
        let (weights, features) = (args.weights.clone(), args.features.clone());
        let options = SimhashOptions { preset, weights, features, ..SimhashOptions::default() };
        return Ok(Method::Simhash(options.simhash(args.width, false)?));
    }
    let (preset, num_perm, features) = (args.preset.clone(), args.num_perm, args.features.clone());
    Method::signatures(&SignatureOptions { preset, num_perm, features, ..SignatureOptions::default() })
}

/// Returns the value of a measure for the texts.
fn by_texts(args: &CompareArgs, measure: Measure, a: &Side, b: &Side) -> anyhow::Result<f64> {
    let normalise = args.features.normalise.clone().unwrap_or_default();
    let (a, b) = (text(a)?, text(b)?);
    Ok(measure.of(&normalise.apply(a), &normalise.apply(b))?)
}

fn text(side: &Side) -> anyhow::Result<&str> {
    match side {
        Side::Document(text) => Ok(text),
        Side::Digits(digits) => {
            bail!("--by compares texts, and {digits} is a fingerprint; name a file with the document")
        }
    }
}

fn write(
    args: &CompareArgs,
    common: Common,
    method: &Method,
    compared: &Compared,
    value: Option<f64>,
    threshold: f64,
    similar: bool,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let verdict = if similar { "similar" } else { "different" };
    let Compared { hex: [a, b], distance, similarity, standard_error } = compared;
    if !common.json {
        let value = value.map_or(String::new(), |value| format!("\t{value}"));
        return writeln!(out, "{distance}\t{similarity}\t{verdict}{value}");
    }
    let (width, num_perm) = match method {
        Method::Simhash(simhash) => (Some(simhash.width()), None),
        Method::MinHash(minhash) => (None, Some(minhash.places())),
        Method::Lucene(_) => (None, None),
    };
    report::json(
        &mut out,
        &Report {
            schema_version: SCHEMA_VERSION,
            preset: &args.preset,
            width,
            num_perm,
            a,
            b,
            distance: *distance,
            similarity: *similarity,
            standard_error: *standard_error,
            by: args.by.map(|measure| measure.to_string()),
            value,
            threshold,
            similar,
            verdict,
        },
    )
}
