//! Pairs, clusters and kept records of a key index, whose records are near if they share keys.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use fpstore::clusters::{Clustering, Clusters, Linkage};
use fpstore::keys::{KeyPairs, KeyRule};
use fpstore::{IdKind, KeyIndex};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::InputOptions;
use fpstore_tools::memory;
use fpstore_tools::notice;
use fpstore_tools::number::{count, count_of};
use fpstore_tools::output::{Column, KEY_EVIDENCE, Output, Rows};

use crate::args::{KeepOptions, KeyOptions, Options, Order, ReportOptions, Which};
use crate::clusters::{Beside, What};
use crate::job::{Job, WAITING, Writing};
use crate::keep::{COLUMNS, write};
use crate::label_rows::write_labels;
use crate::loaded::OtherIndex;
use crate::priorities::Kept;

const PAIRS: &[Column] = &[Column::id("id_a"), Column::id("id_b"), Column::number("shared"), Column::real("jaccard")];
const LABELS: &[Column] = &[Column::id("id"), Column::id("cluster")];

impl KeyOptions {
    fn rule(self) -> KeyRule {
        let mut rule = KeyRule::new();
        if let Some(shared) = self.min_shared {
            rule = rule.with_min_shared(shared);
        }
        if let Some(jaccard) = self.min_jaccard {
            rule = rule.with_min_jaccard(jaccard);
        }
        if let Some(most) = self.max_key_frequency {
            rule = rule.with_max_key_frequency(most);
        }
        rule
    }

    /// Rejects the options for a store of fingerprints.
    pub(crate) fn check_unused(self) -> anyhow::Result<()> {
        if self.min_shared.is_some() || self.min_jaccard.is_some() || self.max_key_frequency.is_some() {
            bail!(
                "--min-shared, --min-jaccard and --max-key-frequency are for a key index; the store is of fingerprints"
            );
        }
        Ok(())
    }
}

/// Whether the store is a key index.
pub(crate) fn is_index(store: &Path) -> anyhow::Result<bool> {
    Ok(fpstore::parameters_of(store, &fpstore_tools::threads::options())?.keys().is_some())
}

fn open(options: &Options, store: &Path) -> anyhow::Result<KeyIndex> {
    if options.distance.is_some() {
        bail!("--distance: the records of a key index have no distance; see --min-shared and --min-jaccard");
    }
    Ok(KeyIndex::open_read_only(store, &fpstore_tools::threads::options())?)
}

/// The memory that remains beside some indexes.
fn memory_beside(options: &Options, indexes: &[&KeyIndex]) -> u64 {
    let resident: u64 = indexes.iter().map(|index| index.statistics().resident_bytes).sum();
    memory::of_load(Some(options.memory)).saturating_sub(WAITING + resident)
}

/// Says how many keys did not count.
fn say_skipped(options: &Options, skipped: u64) {
    if let (1.., Some(most)) = (skipped, options.keys.max_key_frequency) {
        let keys = count_of(skipped, "key");
        notice::warn(format_args!("{keys} of more than {most} records did not count (--max-key-frequency)"));
    }
}

/// Finds the pairs of records that share keys.
pub(crate) fn pairs(common: Common, which: Which, options: &Options, store: &Path) -> anyhow::Result<Outcome> {
    let job = Job::new(common, options)?;
    let index = open(options, store)?;
    let pairs = index.pairs(options.keys.rule())?.with_memory(memory_beside(options, &[&index]));
    write_pairs(&job, which, pairs, [&index, &index])
}

/// Finds the pairs of a record of one index and one of another.
pub(crate) fn join(
    common: Common,
    which: Which,
    options: &Options,
    input: &InputOptions,
    (store, other): (&Path, &Path),
) -> anyhow::Result<Outcome> {
    let job = Job::new(common, options)?;
    let index = open(options, store)?;
    let other = OtherIndex::open(&job, &index, other, input)?;
    let pairs = index.pairs_with(&other.index, options.keys.rule())?;
    let pairs = pairs.with_memory(memory_beside(options, &[&index, &other.index]));
    write_pairs(&job, which, pairs, [&index, &other.index])
}

fn write_pairs(job: &Job<'_>, which: Which, pairs: KeyPairs, indexes: [&KeyIndex; 2]) -> anyhow::Result<Outcome> {
    if which.distinct || which.sort {
        bail!("--distinct and --sort are for fingerprints; pairs of a key index come in the order of its records");
    }
    let options = job.options;
    let texts = indexes.map(|index| index.parameters().ids() == IdKind::Text);
    let pairs = pairs.with_temp_dir(&job.temp_dir());
    let output = Output::open(("--output", options.output.as_deref()), job.json(), PAIRS, 64, &texts)?;
    let mut rows = Rows::new(output.style());
    let mut writing = Writing::new(output);
    let shown = job.watch("pairs", pairs.progress())?;
    let skipped = pairs.visit(|pair| {
        rows.id(&pair.a);
        rows.id(&pair.b);
        rows.number(pair.shared);
        rows.estimate(pair.jaccard);
        rows.end_row();
        if !rows.is_full() {
            return Ok(ControlFlow::Continue(()));
        }
        let full = std::mem::replace(&mut rows, Rows::new(writing.style()));
        Ok(writing.write(&full))
    })?;
    let _ = writing.write(&rows);
    shown.finish();
    let count = writing.finish()?;
    say_skipped(options, skipped);
    job.done(count, "pair");
    Ok(if count > 0 { Outcome::Done } else { Outcome::NothingFound })
}

/// Labels every record.
pub(crate) fn clusters(
    common: Common,
    beside: &Beside<'_>,
    What { min_size, report, order }: What<'_>,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    check(beside, report, order)?;
    let linkage = order.linkage_or(Linkage::Single);
    order.check_order(linkage)?;
    let job = Job::new(common, options)?;
    let index = open(options, store)?;
    let mut clusters = index.clusters(options.keys.rule())?.with_linkage(linkage);
    if min_size > 1 {
        clusters = clusters.with_sizes();
    }
    // With keepers, the smallest ids of clusters are known too.
    if linkage != Linkage::Single {
        clusters = clusters.with_keepers();
    }
    let texts = [index.parameters().ids() == IdKind::Text; 2];
    let output = Output::open(("--output", options.output.as_deref()), job.json(), LABELS, 64, &texts)?;
    let found = find(&job, &index, clusters, order, beside)?.labelled_by_smallest();
    let mut writing = Writing::new(output);
    write_labels(&found, min_size, &mut writing)?;
    job.done(writing.finish()?, "record");
    Ok(Outcome::Done)
}

/// Writes the record to keep of each cluster, and the evidence on the others.
pub(crate) fn keep(
    common: Common,
    beside: &Beside<'_>,
    keep: &KeepOptions,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    check(beside, &keep.report, &keep.order)?;
    let job = Job::new(common, options)?;
    let index = open(options, store)?;
    let linkage = keep.order.linkage_or(Linkage::Star);
    let clusters = index.clusters(options.keys.rule())?.with_linkage(linkage).with_keepers();
    let is_text = index.parameters().ids() == IdKind::Text;
    let open = |(option, path), columns| Output::open((option, path), job.json(), columns, 64, &[is_text; 3]);
    let output = open(("--output", options.output.as_deref()), COLUMNS)?;
    let evidence = keep.evidence.as_deref();
    let evidence = evidence.map(|path| open(("--evidence", Some(path)), KEY_EVIDENCE)).transpose()?;
    let found = find(&job, &index, clusters, &keep.order, beside)?;
    let mut outputs = [Some(output), evidence].map(|output| output.map(Writing::new));
    let left = write(&found, &mut outputs)?;
    let [kept, removed] = outputs;
    // Evidence appears only beside a complete list of what is kept.
    let kept = kept.map(Writing::finish).transpose()?.unwrap_or(0);
    removed.map(Writing::finish).transpose()?;
    if left.far > 0 {
        notice::warn(format_args!(
            "{} of {} that are left out are not near the one that is kept by --min-shared and --min-jaccard (chains): \
             they may not be duplicates of it; --linkage star leaves out only near ones",
            count(left.far),
            count_of(left.records, "record"),
        ));
    }
    job.done(kept, "cluster");
    Ok(Outcome::Done)
}

/// Rejects what key indexes do not have.
fn check(beside: &Beside<'_>, report: &ReportOptions, order: &Order) -> anyhow::Result<()> {
    if report.report || report.picture.is_some() {
        bail!("--report and --picture are for fingerprints: the records of a key index have no distance");
    }
    if beside.previous.is_some() || beside.new.is_some() {
        bail!(
            "--previous and --new are for fingerprints: load new records into the key index, and find its clusters anew"
        );
    }
    beside.check(order)
}

/// Finds clusters within the memory.
fn find(
    job: &Job<'_>,
    index: &KeyIndex,
    clusters: Clusters,
    order: &Order,
    beside: &Beside<'_>,
) -> anyhow::Result<Clustering> {
    let has = memory_beside(job.options, &[index]);
    let clusters = clusters.with_memory(has).with_temp_dir(&job.temp_dir());
    let budget = job.budget(has, clusters.least_memory()?, index.path())?;
    let kept = Kept::read(job, order, beside.input.id_column.as_deref(), index.parameters().ids(), budget)?;
    let clusters = clusters.with_memory(has - kept.bytes());
    let shown = job.watch("clusters", clusters.progress())?;
    let found = clusters.find(&kept.keeper)?;
    shown.finish();
    kept.warn_of_unknown();
    say_skipped(job.options, clusters.skipped_keys());
    Ok(found)
}
