//! Pairs, clusters and kept records of a key index, whose records are near if they share keys.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use fpstore::clusters::{Clusters, LeftOut, Linkage};
use fpstore::keys::{KeyPairs, KeyRule};
use fpstore::{IdAssignment, IdKind, KeyIndex};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{Ids, InputOptions};
use fpstore_tools::memory;
use fpstore_tools::notice;
use fpstore_tools::number::{count, count_of};
use fpstore_tools::output::{Column, Output, Rows};

use crate::args::{KeepOptions, KeyOptions, Options, Order, Which};
use crate::clusters::{Beside, What, check_linkage};
use crate::job::{Job, WAITING, Writing};
use crate::keep::check_previous;
use crate::loaded::OtherIndex;
use crate::priorities::Kept;
use crate::report::{Near, Reporting};
use crate::search::Search;

const PAIRS: &[Column] = &[Column::id("id_a"), Column::id("id_b"), Column::number("shared"), Column::real("jaccard")];

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
    // New records beside it are sorted within the load memory.
    let load = fpstore_tools::threads::options().with_load_memory(memory::of_load(Some(options.memory)));
    let temp_dir = options.tmp_dir.clone().unwrap_or_else(std::env::temp_dir);
    Ok(KeyIndex::open_read_only(store, &load.with_temp_dir(Some(&temp_dir)))?)
}

/// The memory that remains beside some indexes.
fn memory_beside(options: &Options, indexes: &[&KeyIndex]) -> u64 {
    let resident: u64 = indexes.iter().map(|index| index.statistics().resident_bytes).sum();
    memory::of_load(Some(options.memory)).saturating_sub(WAITING + resident)
}

/// Says how many keys did not count, or how many at least.
fn say_skipped(options: &Options, skipped: u64, at_least: bool) {
    if let (1.., Some(most)) = (skipped, options.keys.max_key_frequency) {
        let (keys, at_least) = (count_of(skipped, "key"), if at_least { "at least " } else { "" });
        notice::warn(format_args!("{at_least}{keys} of more than {most} records did not count (--max-key-frequency)"));
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
    let other = OtherIndex::open(&job, &index, other, input, Ids::Auto)?;
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
        let step = writing.write(&rows);
        rows.clear();
        Ok(step)
    })?;
    let _ = writing.write(&rows);
    shown.finish();
    let count = writing.finish()?;
    say_skipped(options, skipped, false);
    job.done(count, "pair");
    Ok(if count > 0 { Outcome::Done } else { Outcome::NothingFound })
}

/// An index, and its clusters with new records.
struct Indexed {
    index: KeyIndex,
    clusters: Clusters,
    /// The memory of clusters.
    has: u64,
}

impl Indexed {
    fn open(job: &Job<'_>, beside: &Beside<'_>, store: &Path) -> anyhow::Result<Self> {
        let (index, rule) = (open(job.options, store)?, job.options.keys.rule());
        let Some(new) = beside.new else {
            let has = memory_beside(job.options, &[&index]);
            return Ok(Self { clusters: index.clusters(rule)?, index, has });
        };
        if index.id_assignment() == IdAssignment::Auto {
            bail!(
                "--new: {} numbers its records itself, which tells them from no others: load the new records into it, \
                 and say --previous without --new",
                store.display()
            );
        }
        // The clusters have a copy of it, with as large an index of blocks.
        let new = OtherIndex::open(job, &index, new, beside.input, Ids::Is(index.parameters().ids()))?;
        let has = memory_beside(job.options, &[&index, &new.index]);
        Ok(Self { clusters: index.clusters_with(&new.index, rule)?, index, has })
    }

    /// Divides the memory, and reads the priorities of records.
    fn search<'a>(
        self,
        job: &'a Job<'a>,
        beside: &Beside<'_>,
        (order, linkage): (&Order, Linkage),
        reporting: Reporting,
    ) -> anyhow::Result<Search<'a, u64>> {
        let Self { index, clusters, has } = self;
        let mut clusters = clusters.with_memory(has).with_temp_dir(&job.temp_dir());
        if reporting.is_wanted() {
            clusters = clusters.with_sizes().with_keepers();
        }
        // Earlier evidence does not tell what links old records.
        if reporting.is_wanted() && beside.previous.is_none() {
            clusters = clusters.with_chains();
        }
        let budget = job.budget(has, clusters.least_memory()?, index.path())?;
        let ids = index.parameters().ids();
        let kept = Kept::read(job, order, beside.input.id_column.as_deref(), ids, budget)?;
        let clusters = clusters.with_memory(has - kept.bytes());
        Ok(Search { job, clusters, kept, ids, linkage, near: near(job.options, &index), reporting })
    }
}

/// Labels every record.
pub(crate) fn clusters(
    common: Common,
    beside: &Beside<'_>,
    what: What<'_>,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    beside.check(what.order)?;
    let linkage = what.order.linkage_or(Linkage::Single);
    check_linkage(beside, linkage, what.order)?;
    let job = Job::new(common, options)?;
    let mut indexed = Indexed::open(&job, beside, store)?;
    indexed.clusters = what.of(indexed.clusters.with_linkage(linkage), linkage);
    let reporting = Reporting::open(what.report)?;
    let search = indexed.search(&job, beside, (what.order, linkage), reporting)?;
    search.label(beside, what.min_size, |clusters, report| {
        // With earlier clusters, not all keys are looked at.
        say_skipped(options, clusters.skipped_keys(), beside.previous.is_some());
        if let Some(report) = report {
            let records = report.records.saturating_sub(report.clusters);
            warn_of_far(LeftOut { records, far: report.removed.far }, false);
        }
    })
}

/// Writes the record to keep of each cluster, and the evidence on the others.
pub(crate) fn keep(
    common: Common,
    beside: &Beside<'_>,
    keep: &KeepOptions,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    beside.check(&keep.order)?;
    let linkage = keep.order.linkage_or(Linkage::Star);
    check_previous(beside, linkage)?;
    let job = Job::new(common, options)?;
    let mut indexed = Indexed::open(&job, beside, store)?;
    indexed.clusters = indexed.clusters.with_linkage(linkage).with_keepers();
    if beside.previous.is_some() {
        indexed.clusters = indexed.clusters.with_removals();
    }
    let reporting = Reporting::open(&keep.report)?;
    let search = indexed.search(&job, beside, (&keep.order, linkage), reporting)?;
    search.keep(beside, keep.evidence.as_deref(), |clusters, found, left| {
        // With earlier clusters, not all keys are looked at.
        say_skipped(options, clusters.skipped_keys(), beside.previous.is_some());
        warn_of_far(left, beside.previous.is_some());
        let (lost, are) = (found.lost_keys(), if found.lost_keys() == 1 { "is" } else { "are" });
        if lost > 0 {
            notice::warn(format_args!(
                "with the new records, {} {are} too frequent to count (--max-key-frequency), which earlier records \
                 share: without --previous, other records may be kept",
                count_of(lost, "key"),
            ));
        }
    })
}

/// What makes records of an index near.
fn near(options: &Options, index: &KeyIndex) -> Near {
    let KeyOptions { min_shared, min_jaccard, .. } = options.keys;
    let has_sketches = index.parameters().keys().is_some_and(|keys| keys.sketch_bits() > 0);
    Near::Keys { min_shared: min_shared.unwrap_or(1), min_jaccard: min_jaccard.unwrap_or(0.0), has_sketches }
}

/// Warns of records that are left out although they are far from the record of their cluster that is kept.
fn warn_of_far(LeftOut { records, far }: LeftOut, has_previous: bool) {
    if far > 0 {
        let (why, remedy) = match has_previous {
            true => {
                ("keys that they share have become too frequent", "without --previous, only near ones are left out")
            }
            false => ("chains", "--linkage star leaves out only near ones"),
        };
        notice::warn(format_args!(
            "{} of {} that are left out are not near the one that is kept by --min-shared and --min-jaccard ({why}): \
             they may not be duplicates of it; {remedy}",
            count(far),
            count_of(records, "record"),
        ));
    }
}
