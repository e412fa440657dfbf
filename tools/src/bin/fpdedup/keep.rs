//! `fpdedup keep`: one id a cluster.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, bail};
use fpstore::{Fingerprint, Id, IdKind, Keeper, Ranking};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::output::{Column, Output, Rows};

use crate::args::Options;
use crate::clusters::push_label;
use crate::job::{Job, Writing, open};

/// The column of what is kept, and that where there are no ids.
const COLUMNS: &[Column] = &[Column::id("id")];
const WITHOUT_IDS: &[Column] = &[Column::fingerprint("fingerprint")];

pub(crate) fn run<F: Fingerprint>(
    common: Common,
    keep: &OsStr,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    let job = Job::new(common, options)?;
    let store = open::<F>(store)?;
    let kind = store.parameters().ids();
    let keeper = keeper(keep, kind)?;
    let clusters = job.clusters(&store, None)?;
    let columns = if kind == IdKind::None { WITHOUT_IDS } else { COLUMNS };
    let path = options.output.as_deref();
    let output = Output::open(path, job.json(), columns, F::WIDTH, &[kind == IdKind::Text])?;
    let shown = job.watch("clusters", clusters.progress())?;
    let clustering = clusters.find(&keeper)?;
    shown.finish();
    let style = output.style();
    let mut rows = Rows::new(style);
    let mut writing = Writing::new(output);
    clustering.visit_labels(|label| {
        push_label(&mut rows, &label);
        rows.end_row();
        if !rows.is_full() {
            return Ok(ControlFlow::Continue(()));
        }
        let full = std::mem::replace(&mut rows, Rows::new(style));
        Ok(writing.write(&full))
    })?;
    let _ = writing.write(&rows);
    let count = writing.finish()?;
    clusters.remove_checkpoint()?;
    job.done(count, "cluster");
    Ok(Outcome::Done)
}

fn keeper(keep: &OsStr, kind: IdKind) -> anyhow::Result<Keeper> {
    match keep.to_str() {
        Some("smallest") => Ok(Keeper::Smallest),
        Some("largest") => Ok(Keeper::Largest),
        _ => ranking(Path::new(keep), kind).map(Keeper::Ranked),
    }
}

/// The ids of a file, the first one with rank 0.
fn ranking(path: &Path, kind: IdKind) -> anyhow::Result<Ranking> {
    let name = path.display();
    if kind == IdKind::None {
        bail!("--keep {name}: the store has no ids; use smallest or largest");
    }
    let file =
        fs::File::open(path).with_context(|| format!("--keep {name}: neither smallest nor largest, nor a file"))?;
    let mut ranks: HashMap<Id, u64> = HashMap::new();
    for (line, number) in BufReader::new(file).lines().zip(1u64..) {
        let line = line.with_context(|| format!("{name}: line {number}"))?;
        let text = line.trim_start_matches('\u{feff}').trim_end_matches('\r');
        if text.is_empty() {
            continue;
        }
        let id = match kind {
            IdKind::Number => Id::Number(text.parse().ok().with_context(|| {
                format!("{name}: line {number}: the ids of the store are decimal numbers, this is '{text}'")
            })?),
            _ => Id::from(text),
        };
        ranks.entry(id).or_insert(number);
    }
    Ok(Arc::new(move |id| ranks.get(id).copied()))
}
