//! `fpdedup clusters`: for every record the cluster that it is in.

use std::io::{self, BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use fpstore::{Clustered, Clusters, Fingerprint, Id, IdKind, Keeper, Label, Previous, Sink};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{Ids, InputOptions, LabelReader, Source};
use fpstore_tools::number::count_of;
use fpstore_tools::output::{Column, Output, Rows};
use fpstore_tools::progress::Progress;

use crate::args::Options;
use crate::job::{Job, Rowing, Writing, open};
use crate::loaded::Other;
use crate::report;

/// Large clusters that a report looks at.
const LARGEST: usize = 10;

/// The columns of labels, and those where there are no ids.
const COLUMNS: &[Column] = &[Column::id("id"), Column::id("cluster")];
const WITHOUT_IDS: &[Column] = &[Column::fingerprint("fingerprint"), Column::fingerprint("cluster")];

/// What there is beside the store.
pub(crate) struct Beside<'a> {
    /// Labels from before.
    pub(crate) previous: Option<&'a Path>,
    /// More records.
    pub(crate) new: Option<&'a Path>,
    pub(crate) input: &'a InputOptions,
}

/// What is wanted.
#[derive(Clone, Copy)]
pub(crate) struct What {
    pub(crate) min_size: u64,
    pub(crate) report: bool,
}

pub(crate) fn run<F: Fingerprint>(
    common: Common,
    beside: &Beside<'_>,
    What { min_size, report: wants_report }: What,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    let job = Job::new(common, options)?;
    let store = open::<F>(store)?;
    let kind = store.parameters().ids();
    if beside.new.is_none() && beside.input.any() {
        bail!("--format and the column options describe the file of --new, which is not there");
    }
    if beside.previous.is_some_and(|previous| previous == Path::new("-")) && beside.new == beside.previous {
        bail!("--previous and --new cannot both be standard input");
    }
    let new = beside.new.map(|new| Other::open(&job, &store, new, beside.input, Ids::Is(kind))).transpose()?;
    let k = job.distance(&store)?;
    let mut clusters = job.clusters(&store, new.as_ref().map(|new| &new.store))?;
    if wants_report || min_size > 1 {
        clusters = clusters.with_sizes();
    }
    let labels = !wants_report || options.output.is_some();
    let columns = if kind == IdKind::None { WITHOUT_IDS } else { COLUMNS };
    let texts = [kind == IdKind::Text; 2];
    let path = options.output.as_deref();
    // A name that is no good shows before the work is done.
    let output = labels.then(|| Output::open(path, job.json(), columns, F::WIDTH, &texts)).transpose()?;
    let shown = job.watch("clusters", clusters.progress())?;
    let clustering = match beside.previous {
        Some(previous) => clusters.find_from(read(previous, kind, &job, &clusters)?, &Keeper::Smallest)?,
        None => clusters.find(&Keeper::Smallest)?,
    };
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
        clustering.visit(add, |rows| Rowing(&mut writing).take(rows))?;
        count = writing.finish()?;
    }
    if wants_report {
        let mut out = BufWriter::new(io::stdout().lock());
        report::write(&clustering.report(LARGEST)?, k, job.json(), &mut out)?;
        out.flush()?;
    }
    clusters.remove_checkpoint()?;
    if labels {
        let searched = beside.previous.map(|_| format!("{} compared", count_of(clustering.searched(), "fingerprint")));
        job.done_with(count, "record", searched);
    }
    Ok(Outcome::Done)
}

/// Labels from before.
fn read<F: Fingerprint>(
    path: &Path,
    kind: IdKind,
    job: &Job<'_>,
    clusters: &Clusters<F>,
) -> anyhow::Result<Previous<F>> {
    let mut previous = clusters.previous()?;
    let source = Source::new(path.as_os_str());
    let reader = LabelReader::open(&source, kind, Some(&job.temp_dir()), &Progress::hidden())?;
    reader.each(|record, cluster| Ok(previous.push(record, cluster)?))?;
    Ok(previous)
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
