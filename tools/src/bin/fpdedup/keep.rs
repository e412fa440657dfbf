//! `fpdedup keep`: one id for each cluster. Warns of ids in the priority list that no record has, and of records that
//! are left out although they are far from the record that is kept.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use anyhow::{Context, bail};
use fpstore::clusters::Keeper;
use fpstore::{Fingerprint, Id, IdKind};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::notice;
use fpstore_tools::number::{count, count_of};
use fpstore_tools::output::{Column, Output, Rows};

use crate::args::Options;
use crate::job::{Job, Writing, open};
use crate::label_rows::push_label;

/// The column of ids, and the column for a store without ids.
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
    let priorities = match keep.to_str() {
        Some("smallest" | "largest") => None,
        _ => Some(Arc::new(Priorities::read(Path::new(keep), kind)?)),
    };
    let keeper = match &priorities {
        Some(priorities) => {
            let priorities = Arc::clone(priorities);
            Keeper::Ranked(Arc::new(move |id| priorities.rank(id)))
        }
        None if keep == "largest" => Keeper::Largest,
        None => Keeper::Smallest,
    };
    let clusters = job.clusters(&store, None)?.with_keepers();
    let columns = if kind == IdKind::None { WITHOUT_IDS } else { COLUMNS };
    let path = options.output.as_deref();
    let output = Output::open(path, job.json(), columns, F::WIDTH, &[kind == IdKind::Text])?;
    let shown = job.watch("clusters", clusters.progress())?;
    let clustering = clusters.find(&keeper)?;
    shown.finish();
    let style = output.style();
    let mut rows = Rows::new(style);
    let mut writing = Writing::new(output);
    let left = clustering.visit_labels(|label| {
        push_label(&mut rows, &label);
        rows.end_row();
        if !rows.is_full() {
            return Ok(ControlFlow::Continue(()));
        }
        let full = std::mem::replace(&mut rows, Rows::new(style));
        Ok(writing.write(&full))
    })?;
    let _ = writing.write(&rows);
    let kept = writing.finish()?;
    if let Some(unknown) = priorities.and_then(|priorities| priorities.unknown()) {
        notice::warn(unknown);
    }
    job.warn_of_chains(left.far, left.records, job.distance(&store)?);
    job.done(kept, "cluster");
    Ok(Outcome::Done)
}

/// The ids of a file, the most important first.
struct Priorities {
    path: PathBuf,
    /// The line number of each id, and whether a record has the id.
    ranks: HashMap<Id, (u64, AtomicBool)>,
}

impl Priorities {
    fn read(path: &Path, kind: IdKind) -> anyhow::Result<Self> {
        let name = path.display();
        if kind == IdKind::None {
            bail!("--keep {name}: the store has no ids; use smallest or largest");
        }
        let file =
            fs::File::open(path).with_context(|| format!("--keep {name}: neither smallest nor largest, nor a file"))?;
        let mut ranks = HashMap::new();
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
            ranks.entry(id).or_insert((number, AtomicBool::new(false)));
        }
        Ok(Self { path: path.to_owned(), ranks })
    }

    fn rank(&self, id: &Id) -> Option<u64> {
        let (rank, found) = self.ranks.get(id)?;
        // All threads read the flag, so it is written only once.
        if !found.load(Relaxed) {
            found.store(true, Relaxed);
        }
        Some(*rank)
    }

    /// Returns a warning about ids that no record has.
    fn unknown(&self) -> Option<String> {
        let name = self.path.display();
        let listed = self.ranks.len() as u64;
        let unknown = self.ranks.values().filter(|(_, found)| !found.load(Relaxed)).count() as u64;
        match unknown {
            _ if listed == 0 => Some(format!("{name} lists no ids; the smallest id of each cluster is kept")),
            0 => None,
            _ if unknown == listed => Some(format!(
                "{name}: none of its {} is in the store; the smallest id of each cluster is kept (a file has one id on \
                 each line, as the store \
                 has it)",
                count_of(listed, "id")
            )),
            _ => Some(format!("{name}: not in the store: {} of its {}", count(unknown), count_of(listed, "id"))),
        }
    }
}
