//! Pairs, clusters and kept records of a key index, whose records are near if they share keys.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use fpstore::clusters::{Clusters, Keeper, Linkage};
use fpstore::keys::{KeyPairs, KeyRule};
use fpstore::{IdAssignment, IdKind, KeyIndex};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::input::{Ids, InputOptions};
use fpstore_tools::memory;
use fpstore_tools::notice;
use fpstore_tools::number::{count, count_of};
use fpstore_tools::output::{Column, KEY_EVIDENCE, Output, Rows};

use crate::args::{KeepOptions, KeyOptions, Options, Order, ReportOptions, Which};
use crate::clusters::{Beside, Found, What, check_linkage, may_copy};
use crate::job::{Job, WAITING, Writing};
use crate::keep::{COLUMNS, Measure, check_previous, go_on, warn_of_overruled, write};
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
        let full = std::mem::replace(&mut rows, Rows::new(writing.style()));
        Ok(writing.write(&full))
    })?;
    let _ = writing.write(&rows);
    shown.finish();
    let count = writing.finish()?;
    say_skipped(options, skipped, false);
    job.done(count, "pair");
    Ok(if count > 0 { Outcome::Done } else { Outcome::NothingFound })
}

/// An index, and the one of new records.
struct Indexes {
    index: KeyIndex,
    new: Option<OtherIndex>,
}

impl Indexes {
    fn open(job: &Job<'_>, beside: &Beside<'_>, store: &Path) -> anyhow::Result<Self> {
        let index = open(job.options, store)?;
        let Some(new) = beside.new else { return Ok(Self { index, new: None }) };
        if index.id_assignment() == IdAssignment::Auto {
            bail!(
                "--new: {} numbers its records itself, which tells them from no others: load the new records into it, \
                 and say --previous without --new",
                store.display()
            );
        }
        let new = OtherIndex::open(job, &index, new, beside.input, Ids::Is(index.parameters().ids()))?;
        Ok(Self { index, new: Some(new) })
    }

    fn clusters(&self, options: &Options) -> fpstore::Result<Clusters> {
        match &self.new {
            Some(new) => self.index.clusters_with(&new.index, options.keys.rule()),
            None => self.index.clusters(options.keys.rule()),
        }
    }

    /// Limits the memory of clusters, and reads the priorities of records.
    fn prepare(
        &self,
        job: &Job<'_>,
        clusters: Clusters,
        order: &Order,
        beside: &Beside<'_>,
    ) -> anyhow::Result<(Clusters, Kept)> {
        let indexes: Vec<&KeyIndex> =
            std::iter::once(&self.index).chain(self.new.iter().map(|new| &new.index)).collect();
        let has = memory_beside(job.options, &indexes);
        let clusters = clusters.with_memory(has).with_temp_dir(&job.temp_dir());
        let budget = job.budget(has, clusters.least_memory()?, self.index.path())?;
        let kept = Kept::read(job, order, beside.input.id_column.as_deref(), self.kind(), budget)?;
        Ok((clusters.with_memory(has - kept.bytes()), kept))
    }

    fn kind(&self) -> IdKind {
        self.index.parameters().ids()
    }
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
    check_linkage(beside, linkage, order)?;
    let job = Job::new(common, options)?;
    let indexes = Indexes::open(&job, beside, store)?;
    let mut clusters = indexes.clusters(options)?.with_linkage(linkage);
    if min_size > 1 {
        clusters = clusters.with_sizes();
    }
    // With keepers, the smallest ids of clusters are known too.
    if linkage != Linkage::Single {
        clusters = clusters.with_keepers();
    }
    let texts = [indexes.kind() == IdKind::Text; 2];
    let output = Output::open(("--output", options.output.as_deref()), job.json(), LABELS, 64, &texts)?;
    let (clusters, kept) = indexes.prepare(&job, clusters, order, beside)?;
    let shown = job.watch("clusters", clusters.progress())?;
    let keeper = if linkage == Linkage::Single { &Keeper::Smallest } else { &kept.keeper };
    let copies = may_copy(&output, min_size);
    let (found, unknown) = Found::new(&job, &clusters, beside.previous, (keeper, indexes.kind()), copies)?;
    let found = match found {
        Found::All(clustering) => Found::All(clustering.labelled_by_smallest()),
        changes => changes,
    };
    shown.finish();
    if linkage != Linkage::Single {
        kept.warn_of_unknown();
    }
    unknown.into_iter().for_each(notice::warn);
    // With earlier clusters, not all keys are looked at.
    say_skipped(options, clusters.skipped_keys(), beside.previous.is_some());
    let searched = beside.previous.map(|_| format!("{} compared", count_of(found.searched(), "record")));
    job.done_with(found.write(min_size, output)?, "record", searched);
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
    let linkage = keep.order.linkage_or(Linkage::Star);
    check_previous(beside, linkage)?;
    let job = Job::new(common, options)?;
    let indexes = Indexes::open(&job, beside, store)?;
    let mut clusters = indexes.clusters(options)?.with_linkage(linkage).with_keepers();
    if beside.previous.is_some() {
        clusters = clusters.with_removals();
    }
    let is_text = indexes.kind() == IdKind::Text;
    let open = |(option, path), columns| Output::open((option, path), job.json(), columns, 64, &[is_text; 3]);
    let output = open(("--output", options.output.as_deref()), COLUMNS)?;
    let evidence = keep.evidence.as_deref();
    let evidence = evidence.map(|path| open(("--evidence", Some(path)), KEY_EVIDENCE)).transpose()?;
    let (clusters, kept) = indexes.prepare(&job, clusters, &keep.order, beside)?;
    let shown = job.watch("clusters", clusters.progress())?;
    let found = match beside.previous {
        Some(previous) => go_on(previous, &job, &clusters, (&kept, indexes.kind()), Measure::SharedKeys)?,
        None => clusters.find(&kept.keeper)?,
    };
    shown.finish();
    kept.warn_of_unknown();
    // With earlier clusters, not all keys are looked at.
    say_skipped(options, clusters.skipped_keys(), beside.previous.is_some());
    let mut outputs = [Some(output), evidence].map(|output| output.map(Writing::new));
    let left = write(&found, &mut outputs)?;
    let [kept, removed] = outputs;
    // Evidence appears only beside a complete list of what is kept.
    let kept = kept.map(Writing::finish).transpose()?.unwrap_or(0);
    removed.map(Writing::finish).transpose()?;
    if left.far > 0 {
        let why = match beside.previous {
            Some(_) => "keys that they share have become too frequent",
            None => "chains",
        };
        let remedy = match beside.previous {
            Some(_) => "without --previous, only near ones are left out",
            None => "--linkage star leaves out only near ones",
        };
        notice::warn(format_args!(
            "{} of {} that are left out are not near the one that is kept by --min-shared and --min-jaccard ({why}): \
             they may not be duplicates of it; {remedy}",
            count(left.far),
            count_of(left.records, "record"),
        ));
    }
    warn_of_overruled(found.overruled());
    if found.lost_keys() > 0 {
        notice::warn(format_args!(
            "with the new records, {} too frequent to count (--max-key-frequency), which earlier records share: \
             without --previous, other records may be kept",
            if found.lost_keys() == 1 {
                "1 key is".to_owned()
            } else {
                format!("{} are", count_of(found.lost_keys(), "key"))
            },
        ));
    }
    let searched = beside.previous.map(|_| format!("{} compared", count_of(found.searched(), "record")));
    job.done_with(kept, "cluster", searched);
    Ok(Outcome::Done)
}

/// Rejects what key indexes do not have.
fn check(beside: &Beside<'_>, report: &ReportOptions, order: &Order) -> anyhow::Result<()> {
    if report.report || report.picture.is_some() {
        bail!("--report and --picture are for fingerprints: the records of a key index have no distance");
    }
    beside.check(order)
}
