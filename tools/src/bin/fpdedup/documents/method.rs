//! The options that say what documents are compared by, and which are near.

use anyhow::bail;
use fpsketch::Simhash;
use fpstore_tools::sketching::{BandMaker, BandOptions};
use fpstore_tools::width::check_distance;

use super::args::{DocumentsArgs, Method};
use super::compare::Near;
use super::maker::Maker;

/// Default distances: beyond them, many near pairs are so by chance (benches/results/quality.md).
const DISTANCE: u32 = 6;
const DISTANCE_OF_128: u32 = 20;
/// Default similarity by the signatures; bands and rows are chosen for the same by default.
const SIMILARITY: f64 = 0.8;
/// Bits of a place in a sketch: two of unrelated documents agree by chance in one of 256.
const SAMPLE: usize = 8;
/// Most bits of a sketch.
const MOST: usize = 8192;

/// Returns what documents are compared by, and which are near.
pub(super) fn of(args: &DocumentsArgs) -> anyhow::Result<(Maker, Near)> {
    let given = args.documents.tokens_column.is_some();
    match args.method {
        Method::Simhash => {
            if args.bands.any() || args.min_jaccard.is_some() {
                bail!("--bands, --rows, --num-perm, --seed and --min-jaccard go with --method minhash");
            }
            let simhash = args.simhash.simhash(args.width, given)?;
            let width = if simhash.width() <= 64 { 64 } else { 128 };
            let near = Near::Distance { width, distance: distance(args, &simhash)? };
            Ok((Maker::Simhash(Box::new(simhash)), near))
        }
        Method::Minhash => {
            let simhash = &args.simhash;
            if args.width.is_some() || args.distance.is_some() {
                bail!(
                    "--width and --distance are for fingerprints (--method simhash); see --threshold and --min-jaccard"
                );
            }
            if simhash.weights.is_some() || simhash.stop_words.is_some() || simhash.like.is_some() {
                bail!("--weights, --stop-words and --like go with --method simhash");
            }
            let bands = bands(args, given)?;
            // A text is compared itself, or by its sketch.
            let is_default = args.verified().is_none() && args.bands.bands.is_none();
            let min_jaccard = args.min_jaccard.unwrap_or(if is_default { SIMILARITY } else { 0.0 });
            let maker = Maker::Bands(Box::new(bands));
            let near = Near::Keys { format: maker.format(), keys: maker.keys(), min_jaccard };
            Ok((maker, near))
        }
    }
}

/// Returns what makes the keys of documents, and sketches of all places of their signatures.
fn bands(args: &DocumentsArgs, given: bool) -> anyhow::Result<BandMaker> {
    if args.bands.bands.is_some() && args.threshold.is_some() {
        bail!("--threshold chooses --bands and --rows; to verify the documents of given ones, say --verify");
    }
    let options = BandOptions { threshold: args.threshold, ..args.bands.options() };
    let maker = |sketch| options.maker(args.simhash.preset.as_ref(), &args.simhash.features, sketch, given);
    let places = maker(0)?.places();
    maker(u16::try_from((places * SAMPLE).min(MOST))?)
}

/// Returns the distance within which documents are near.
fn distance(args: &DocumentsArgs, simhash: &Simhash) -> anyhow::Result<u32> {
    let width = simhash.width();
    let usual = if width > 64 { DISTANCE_OF_128 } else { DISTANCE };
    let distance = match (args.distance, args.threshold) {
        (Some(distance), _) => distance,
        (None, Some(threshold)) => fpsketch::compare::expected_distance(threshold, width),
        (None, None) => usual.min(width),
    };
    check_distance("--distance", distance, width)?;
    Ok(distance)
}
