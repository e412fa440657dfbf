//! Pairs, clusters and kept records of a key index, whose records are near if they share keys.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use fpstore::clusters::{Clustering, Clusters, LeftOut, Linkage};
use fpstore::keys::{KeyPairs, KeyRule};
use fpstore::{IdKind, KeyIndex};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::InputOptions;
use fpstore_tools::memory;
use fpstore_tools::notice;
use fpstore_tools::number::{count, count_of};
use fpstore_tools::output::{Column, KEY_EVIDENCE, Output, Rows};

use crate::args::{KeepOptions, KeyOptions, Options, Order, Which};
use crate::clusters::{Beside, What};
use crate::job::{Job, WAITING, Writing};
use crate::keep::{COLUMNS, write};
use crate::label_rows::write_labels;
use crate::loaded::OtherIndex;
use crate::priorities::Kept;
use crate::report::{About, Near, Reporting};

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
    check(beside, order)?;
    let linkage = order.linkage_or(Linkage::Single);
    order.check_order(linkage)?;
    let job = Job::new(common, options)?;
    let index = open(options, store)?;
    let reporting = Reporting::open(report)?;
    let mut clusters = reported(index.clusters(options.keys.rule())?.with_linkage(linkage), &reporting);
    if min_size > 1 {
        clusters = clusters.with_sizes();
    }
    // With keepers, the smallest ids of clusters are known too.
    if linkage != Linkage::Single {
        clusters = clusters.with_keepers();
    }
    let texts = [index.parameters().ids() == IdKind::Text; 2];
    let path = options.output.as_deref();
    let open = || Output::open(("--output", path), job.json(), LABELS, 64, &texts);
    let output = reporting.leaves_rows(path).then(open).transpose()?;
    let found = find(&job, &index, clusters, order, beside)?;
    let report = reporting.make(&found)?;
    if let Some(output) = output {
        let mut writing = Writing::new(output);
        write_labels(&found.labelled_by_smallest(), min_size, &mut writing)?;
        job.done(writing.finish()?, "record");
    }
    if let Some(report) = report {
        let about = About { linkage, near: near(options, &index), names: ["clusters", "near-duplicates"] };
        reporting.write(&report, about, job.json())?;
        warn_of_chains(report.removed.far, report.records.saturating_sub(report.clusters));
    }
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
    check(beside, &keep.order)?;
    let job = Job::new(common, options)?;
    let index = open(options, store)?;
    let linkage = keep.order.linkage_or(Linkage::Star);
    let reporting = Reporting::open(&keep.report)?;
    let clusters = reported(index.clusters(options.keys.rule())?.with_linkage(linkage), &reporting).with_keepers();
    let is_text = index.parameters().ids() == IdKind::Text;
    let open = |(option, path), columns| Output::open((option, path), job.json(), columns, 64, &[is_text; 3]);
    let path = options.output.as_deref();
    let output = reporting.leaves_rows(path).then(|| open(("--output", path), COLUMNS)).transpose()?;
    let evidence = keep.evidence.as_deref();
    let evidence = evidence.map(|path| open(("--evidence", Some(path)), KEY_EVIDENCE)).transpose()?;
    let found = find(&job, &index, clusters, &keep.order, beside)?;
    let report = reporting.make(&found)?;
    let mut outputs = [output, evidence].map(|output| output.map(Writing::new));
    let left = write(&found, &mut outputs)?;
    let [kept, removed] = outputs;
    // Evidence appears only beside a complete list of what is kept.
    let kept = kept.map(Writing::finish).transpose()?;
    removed.map(Writing::finish).transpose()?;
    let LeftOut { records, far } = match &report {
        Some(report) => LeftOut { records: report.records.saturating_sub(report.clusters), far: report.removed.far },
        None => left,
    };
    if let Some(report) = report {
        let about = About { linkage, near: near(options, &index), names: ["kept", "removed"] };
        reporting.write(&report, about, job.json())?;
    }
    warn_of_chains(far, records);
    if let Some(kept) = kept {
        job.done(kept, "cluster");
    }
    Ok(Outcome::Done)
}

/// Clusters with all that a report needs, if one is wanted.
fn reported(clusters: Clusters, reporting: &Reporting) -> Clusters {
    if reporting.is_wanted() { clusters.with_sizes().with_keepers().with_chains() } else { clusters }
}

/// What makes records of an index near, for a report.
fn near(options: &Options, index: &KeyIndex) -> Near {
    let KeyOptions { min_shared, min_jaccard, .. } = options.keys;
    let has_sketches = index.parameters().keys().is_some_and(|keys| keys.sketch_bits() > 0);
    Near::Keys { min_shared: min_shared.unwrap_or(1), min_jaccard: min_jaccard.unwrap_or(0.0), has_sketches }
}

/// Warns of records that are left out although they are far from the record of their cluster that is kept.
fn warn_of_chains(far: u64, records: u64) {
    if far > 0 {
        notice::warn(format_args!(
            "{} of {} that are left out are not near the one that is kept by --min-shared and --min-jaccard (chains): \
             they may not be duplicates of it; --linkage star leaves out only near ones",
            count(far),
            count_of(records, "record"),
        ));
    }
}

/// Rejects what key indexes do not have.
fn check(beside: &Beside<'_>, order: &Order) -> anyhow::Result<()> {
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
