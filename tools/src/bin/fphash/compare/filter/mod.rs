//! `fphash compare --matches`: the matches of a store whose texts are similar.
//!
//! Fingerprints of short texts are also near by chance, so the texts decide. The matches are read twice: first for the
//! ids of the needed documents, whose texts go to a temporary file, then to compare. In memory are the ids, the places
//! of the texts, and the texts of one batch of lines. The output does not depend on the number of threads, and begins
//! only when all documents have been found.

mod columns;
mod judge;

use std::ffi::OsStr;
use std::io::{self, BufWriter, Write};

use anyhow::{Context, bail};
use fpsketch::Features;
use fpsketch::compare::Measure;
use fpstore_tools::common::Common;
use fpstore_tools::documents::{DocumentOptions, Inputs, RejectOptions};
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::count_of;
use fpstore_tools::rows::Rows;

use super::threshold;
use crate::args::CompareArgs;
use crate::wanted::{Budget, Collect, Ids, Texts};
use columns::Columns;
use judge::Judge;

pub(super) fn run(args: &CompareArgs, matches: &OsStr, common: Common) -> anyhow::Result<Outcome> {
    let Some(measure) = args.by else { bail!("--matches needs --by MEASURE") };
    let threshold = threshold::of_measure(args.threshold, measure)?;
    let columns = Columns::new(&args.id_columns)?;
    if matches == "-" && args.documents.iter().any(|input| input == "-") {
        bail!("standard input can be read only once; --matches and --documents both name it");
    }
    let directory = args.tmp_dir.as_deref();
    if let Some(directory) = directory {
        // A typing error is reported at once, not after an hour of reading.
        std::fs::read_dir(directory).with_context(|| format!("--tmp-dir {}", directory.display()))?;
    }
    let options = DocumentOptions { temp_dir: args.tmp_dir.clone(), ..args.document_options.clone() };
    let inputs = Inputs::new(&args.documents, &options)?;
    let budget = Budget::new(args.memory);
    let rows = Rows::open(matches, directory)?;
    let ids = wanted(&rows, columns, budget)?;

    let normalise = args.features.normalise.clone().unwrap_or_default();
    let rejects = RejectOptions::default();
    let collect = Collect { inputs: &inputs, normalise: &normalise, directory, rejects: &rejects };
    let texts = collect.texts(&ids, budget, common)?;
    if texts.contents.missing().is_some() {
        complain(&rows, columns, &ids, &texts)?;
    }

    let judge = Judge { measure, threshold, columns, ids: &ids, texts: &texts, json: common.json };
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    let (lines, similar) = judge.rows(&rows, budget.texts(&ids) / (1 + working(measure)), &mut out)?;
    out.flush()?;
    if common.shows_progress() {
        let _ = writeln!(io::stderr().lock(), "{}, of which {similar} similar", count_of(lines, "match"));
    }
    Ok(if similar > 0 { Outcome::Done } else { Outcome::NothingFound })
}

/// Returns the ids of all documents in the matches.
fn wanted(rows: &Rows, columns: Columns, budget: Budget) -> anyhow::Result<Ids> {
    let mut ids = Ids::default();
    let mut reader = rows.read()?;
    while let Some(row) = reader.next_row()? {
        let pair = match columns.of(row) {
            Ok(pair) => pair,
            Err(message) => return Err(reader.here().error(message)),
        };
        let [a, b] = pair.map(|id| ids.want(id, budget.ids()));
        if !(a && b) {
            return Err(reader.here().error(
                "up to here, the ids alone need more than half of --memory; give more, or filter the matches in parts \
                 (split -l)",
            ));
        }
    }
    Ok(ids)
}

/// Returns an error for the first line with an id that no document has.
fn complain(rows: &Rows, columns: Columns, ids: &Ids, texts: &Texts) -> anyhow::Result<()> {
    let mut reader = rows.read()?;
    while let Some(row) = reader.next_row()? {
        let pair = columns.of(row).map_err(anyhow::Error::msg)?;
        let missing = |id: &&str| ids.index(id).and_then(|index| texts.contents.length(index)).is_none();
        let message = pair.into_iter().find(missing).map(|id| {
            format!(
                "no document has the id '{id}'; name all inputs with --documents, and the columns of the ids with \
                 --id-columns"
            )
        });
        if let Some(message) = message {
            return Err(reader.here().error(message));
        }
    }
    Ok(())
}

/// Approximate working memory of a comparison, for each byte of its texts: a bit matrix, an automaton, tables of
/// features.
fn working(measure: Measure) -> u64 {
    match measure {
        Measure::Edit => 64,
        Measure::Substring => 512,
        Measure::Cosine(Features::Chars(_)) | Measure::Euclidean(Features::Chars(_)) => 200,
        Measure::Jaccard(Features::Chars(_)) => 200,
        Measure::Cosine(_) | Measure::Euclidean(_) | Measure::Jaccard(_) => 100,
    }
}
