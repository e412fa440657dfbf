//! `fpdedup clusters`: the cluster of every record.

use std::path::Path;

use anyhow::bail;
use fpstore::clusters::{
    ClusterChanges, ClusterReport, ClusterUpdate, Clustering, Clusters, Keeper, Linkage, Previous,
};
use fpstore::{Fingerprint, IdKind};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{Ids, InputOptions, LabelLines, LabelReader, Source};
use fpstore_tools::notice;
use fpstore_tools::number::{count, count_of};
use fpstore_tools::output::{Column, Output, Style};
use fpstore_tools::progress::Progress;

use crate::args::{Options, Order, ReportOptions};
use crate::copied;
use crate::job::{Job, Needs, Writing, open};
use crate::label_rows::write_labels;
use crate::loaded::Other;
use crate::priorities::Kept;
use crate::report::{About, Near, Reporting};
use crate::search::Search;

/// The columns of labels, and those for a store without ids.
const COLUMNS: &[Column] = &[Column::id("id"), Column::id("cluster")];
const WITHOUT_IDS: &[Column] = &[Column::fingerprint("fingerprint"), Column::fingerprint("cluster")];

/// Inputs beside the store.
pub(crate) struct Beside<'a> {
    /// Labels of an earlier run.
    pub(crate) previous: Option<&'a Path>,
    /// Additional records.
    pub(crate) new: Option<&'a Path>,
    pub(crate) input: &'a InputOptions,
}

impl Beside<'_> {
    /// Rejects options without their file, and two files in one stream.
    pub(crate) fn check(&self, order: &Order) -> anyhow::Result<()> {
        // The column of ids may be that of --keep-by.
        let id_column = self.input.id_column.clone().filter(|_| order.keep_by.is_none());
        if self.new.is_none() && (InputOptions { id_column, ..self.input.clone() }).any() {
            bail!(
                "--format and the column options describe the file of --new, which was not given (--id-column also that \
                 of --keep-by)"
            );
        }
        if self.previous.is_some_and(|previous| previous == Path::new("-")) && self.new == self.previous {
            bail!("--previous and --new cannot both be standard input");
        }
        Ok(())
    }
}

/// Options of the output.
#[derive(Clone, Copy)]
pub(crate) struct What<'a> {
    pub(crate) min_size: u64,
    pub(crate) report: &'a ReportOptions,
    pub(crate) order: &'a Order,
}

impl What<'_> {
    /// The clusters with what their labels need.
    pub(crate) fn of<F: Fingerprint>(&self, mut clusters: Clusters<F>, linkage: Linkage) -> Clusters<F> {
        if self.min_size > 1 {
            clusters = clusters.with_sizes();
        }
        // With keepers, the smallest ids of clusters are known too.
        if linkage == Linkage::Single { clusters } else { clusters.with_keepers() }
    }
}

pub(crate) fn run<F: Fingerprint>(
    common: Common,
    beside: &Beside<'_>,
    what: What<'_>,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    let job = Job::new(common, options)?;
    let store = open::<F>(store)?;
    let ids = store.parameters().ids();
    beside.check(what.order)?;
    let linkage = what.order.linkage_or(Linkage::Single);
    check_linkage(beside, linkage, what.order)?;
    let new = beside.new.map(|new| Other::open(&job, &store, new, beside.input, Ids::Is(ids))).transpose()?;
    let k = job.distance(&store)?;
    let reporting = Reporting::open(what.report)?;
    let has_new = new.as_ref().map(|new| &new.store);
    let needs = Needs { report: reporting.is_wanted(), evidence: false };
    let (clusters, budget) = job.clusters(&store, has_new, linkage, needs)?;
    let kept = Kept::read(&job, what.order, beside.input.id_column.as_deref(), ids, budget)?;
    let clusters = what.of(clusters.with_memory(budget.has - kept.bytes()), linkage);
    let search = Search { job: &job, clusters, kept, ids, linkage, near: Near::Distance(k), reporting };
    search.label(beside, what.min_size, |_, report| {
        if let Some(report) = report {
            job.warn_of_chains(report.removed.far, report.records.saturating_sub(report.clusters), k);
        }
    })
}

impl<F: Fingerprint> Search<'_, F> {
    /// Finds the clusters, and writes the labels and the report. `warn` warns of what was found.
    pub(crate) fn label(
        self,
        beside: &Beside<'_>,
        min_size: u64,
        warn: impl FnOnce(&Clusters<F>, Option<&ClusterReport<F>>),
    ) -> anyhow::Result<Outcome> {
        let Self { job, clusters, kept, ids, linkage, near, reporting } = self;
        let wants_keepers = reporting.is_wanted() || linkage != Linkage::Single;
        let keeper = if wants_keepers { &kept.keeper } else { &Keeper::Smallest };
        let columns = if ids == IdKind::None { WITHOUT_IDS } else { COLUMNS };
        let texts = [ids == IdKind::Text; 2];
        let path = job.options.output.as_deref();
        // An unusable name fails before the work begins.
        let open = || Output::open(("--output", path), job.json(), columns, F::WIDTH, &texts);
        let output = reporting.leaves_rows(path).then(open).transpose()?;
        let shown = job.watch("clusters", clusters.progress())?;
        let copies = !reporting.is_wanted() && output.as_ref().is_some_and(|output| may_copy(output, min_size));
        let (found, unknown) = Found::new(job, &clusters, beside.previous, (keeper, ids), copies)?;
        let (report, found) = match found {
            Found::All(clustering) => (reporting.make(&clustering)?, Found::All(clustering.labelled_by_smallest())),
            changes => (None, changes),
        };
        shown.finish();
        if wants_keepers {
            kept.warn_of_unknown();
        }
        unknown.into_iter().for_each(notice::warn);
        let written = output.map(|output| found.write(min_size, output)).transpose()?;
        if let Some(report) = &report {
            let has_previous = beside.previous.is_some();
            let about = About { linkage, near, has_previous, names: ["clusters", "near-duplicates"] };
            reporting.write(report, about, job.json())?;
        }
        warn(&clusters, report.as_ref());
        if let Some(written) = written {
            let searched = beside.previous.map(|_| format!("{} compared", count_of(found.searched(), near.thing())));
            job.done_with(written, "record", searched);
        }
        Ok(Outcome::Done)
    }
}

/// Rejects labels that cannot be continued, and an order where there is none.
pub(crate) fn check_linkage(beside: &Beside<'_>, linkage: Linkage, order: &Order) -> anyhow::Result<()> {
    if beside.previous.is_some() && linkage != Linkage::Single {
        bail!("--previous continues labels of --linkage single; the others are made anew");
    }
    order.check_order(linkage)
}

/// Whether lines of earlier labels may be copied to the output.
fn may_copy(output: &Output, min_size: u64) -> bool {
    matches!(output.style(), Style::Tsv) && min_size <= 1
}

/// The result.
enum Found<F: Fingerprint> {
    All(Clustering<F>),
    /// Changes to the lines of the file of labels.
    Changes(ClusterChanges<F>, LabelLines),
}

impl<F: Fingerprint> Found<F> {
    /// Finds the clusters, from earlier labels if there are any; `copies`: only their changes, if these are few.
    /// Returns a warning, too.
    fn new(
        job: &Job<'_>,
        clusters: &Clusters<F>,
        previous: Option<&Path>,
        (keeper, kind): (&Keeper, IdKind),
        copies: bool,
    ) -> anyhow::Result<(Self, Option<String>)> {
        let Some(path) = previous else { return Ok((Self::All(clusters.find(keeper)?), None)) };
        let (previous, given, lines) = read(path, kind, job, clusters)?;
        let found = match lines.filter(|_| copies) {
            Some(lines) => match clusters.find_changes(previous)? {
                ClusterUpdate::Changes(changes) => Self::Changes(changes, lines),
                ClusterUpdate::All(clustering) => Self::All(clustering),
            },
            None => Self::All(clusters.find_from(previous, keeper)?),
        };
        let unknown = unknown_labels(path, given, found.labelled());
        Ok((found, unknown))
    }

    /// Writes the labels, and returns their number.
    fn write(&self, min_size: u64, output: Output) -> anyhow::Result<u64> {
        let mut writing = Writing::new(output);
        match self {
            Self::All(clustering) => write_labels(clustering, min_size, &mut writing)?,
            Self::Changes(changes, lines) => copied::write(changes, lines, &mut writing)?,
        }
        writing.finish()
    }

    fn labelled(&self) -> u64 {
        match self {
            Self::All(clustering) => clustering.labelled(),
            Self::Changes(changes, _) => changes.labelled(),
        }
    }

    fn searched(&self) -> u64 {
        match self {
            Self::All(clustering) => clustering.searched(),
            Self::Changes(changes, _) => changes.searched(),
        }
    }
}

/// Returns a warning about labels of an earlier run that no record has.
fn unknown_labels(path: &Path, given: u64, found: u64) -> Option<String> {
    let name = path.display();
    let labels = count_of(given, "label");
    match given.saturating_sub(found) {
        _ if given == 0 => Some(format!("{name}: it has no labels; all records are compared")),
        0 => None,
        unknown if unknown == given => Some(format!(
            "{name}: no record of the store has one of its {labels}; all records are compared (labels name ids as the \
             store has them)"
        )),
        unknown => Some(format!(
            "{name}: {} of its {labels} are of records that are no longer in the store, or are in --new; the rest of \
             their clusters is \
             compared",
            count(unknown)
        )),
    }
}

/// Reads the labels of an earlier run; returns also their number, and their lines if those can be copied.
fn read<F: Fingerprint>(
    path: &Path,
    kind: IdKind,
    job: &Job<'_>,
    clusters: &Clusters<F>,
) -> anyhow::Result<(Previous<F>, u64, Option<LabelLines>)> {
    let mut previous = clusters.previous()?;
    let source = Source::new(path.as_os_str());
    let reader = LabelReader::open(&source, kind, Some(&job.temp_dir()), &Progress::hidden())?;
    let (given, lines) = reader.each(|record, cluster| Ok(previous.push(record, cluster)?))?;
    Ok((previous, given, lines))
}
