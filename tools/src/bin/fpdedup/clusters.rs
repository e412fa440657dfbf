//! `fpdedup clusters`: for every record the cluster that it is in.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use fpstore::{Clustered, Fingerprint, Id, IdKind, Keeper, Label};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::output::{Column, Output, Rows};

use crate::args::Options;
use crate::job::{Job, Writing, open};
use crate::report;

/// Large clusters that a report looks at.
const LARGEST: usize = 10;

/// The columns of labels, and those where there are no ids.
const COLUMNS: &[Column] = &[Column::id("id"), Column::id("cluster")];
const WITHOUT_IDS: &[Column] = &[Column::fingerprint("fingerprint"), Column::fingerprint("cluster")];

pub(crate) fn run<F: Fingerprint>(
    common: Common,
    min_size: u64,
    wants_report: bool,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    let job = Job::new(common, options)?;
    let store = open::<F>(store)?;
    let k = job.distance(&store)?;
    let mut clusters = job.clusters(&store)?;
    if wants_report || min_size > 1 {
        clusters = clusters.with_sizes();
    }
    let labels = !wants_report || options.output.is_some();
    let kind = store.parameters().ids();
    let columns = if kind == IdKind::None { WITHOUT_IDS } else { COLUMNS };
    let texts = [kind == IdKind::Text; 2];
    let path = options.output.as_deref();
    // A name that is no good shows before the work is done.
    let output = labels.then(|| Output::open(path, job.json(), columns, F::WIDTH, &texts)).transpose()?;
    let shown = job.watch("clusters", clusters.progress())?;
    let clustering = clusters.find(&Keeper::Smallest)?;
    shown.finish();
    let mut count = 0;
    if let Some(output) = output {
        let style = output.style();
        let empty = || Rows::new(style);
        let mut writing = Writing::new(output);
        let add = |rows: &mut Option<Rows>, one: Clustered<F>| {
            let rows = rows.get_or_insert_with(&empty);
            if one.size.is_none_or(|size| size >= min_size) {
                push(rows, &one);
            }
            if rows.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        clustering
            .visit(add, |rows: Option<Rows>| Ok(rows.map_or(ControlFlow::Continue(()), |rows| writing.write(&rows))))?;
        count = writing.finish()?;
    }
    if wants_report {
        let mut out = BufWriter::new(io::stdout().lock());
        report::write(&clustering.report(LARGEST)?, k, job.json(), &mut out)?;
        out.flush()?;
    }
    clusters.remove_checkpoint()?;
    if labels {
        job.done(count, "record");
    }
    Ok(Outcome::Done)
}

fn push<F: Fingerprint>(rows: &mut Rows, one: &Clustered<F>) {
    match &one.record.id {
        Id::Count(_) => rows.fingerprint(one.record.fingerprint),
        id => rows.id(id),
    }
    push_label(rows, &one.label);
    rows.end_row();
}

/// A label as a cell.
pub(crate) fn push_label<F: Fingerprint>(rows: &mut Rows, label: &Label<F>) {
    match label {
        Label::Id(id) => rows.id(id),
        Label::Fingerprint(fingerprint) => rows.fingerprint(*fingerprint),
    }
}
