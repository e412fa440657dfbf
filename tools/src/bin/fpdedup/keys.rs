//! Pairs, clusters and kept records of a key index, whose records are near if they share keys.

use std::ops::ControlFlow;
use std::path::Path;

use anyhow::bail;
use fpstore::clusters::{Clustered, Label, Linkage};
use fpstore::keys::KeyRule;
use fpstore::{IdKind, KeyIndex};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::memory;
use fpstore_tools::notice;
use fpstore_tools::number::count_of;
use fpstore_tools::output::{Column, Output, Rows};

use crate::args::{KeepOptions, KeyOptions, Options, Order, Which};
use crate::clusters::Beside;
use crate::job::{Job, WAITING, Writing};
use crate::label_rows::push;
use crate::priorities::Kept;

const PAIRS: &[Column] = &[Column::id("id_a"), Column::id("id_b"), Column::number("shared"), Column::real("jaccard")];
const LABELS: &[Column] = &[Column::id("id"), Column::id("cluster")];
const KEPT: &[Column] = &[Column::id("id")];

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

/// The memory that remains beside the index.
fn memory_beside(options: &Options, index: &KeyIndex) -> u64 {
    memory::of_load(Some(options.memory)).saturating_sub(WAITING + index.statistics().resident_bytes)
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
    if which.distinct || which.sort {
        bail!("--distinct and --sort are for fingerprints; pairs of a key index come in the order of its records");
    }
    let job = Job::new(common, options)?;
    let index = open(options, store)?;
    let texts = [index.parameters().ids() == IdKind::Text; 2];
    let pairs = index.pairs(options.keys.rule())?;
    let pairs = pairs.with_memory(memory_beside(options, &index)).with_temp_dir(&job.temp_dir());
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

/// What is written of the clusters.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Write {
    /// Every record with the smallest id of its cluster.
    Labels { min_size: u64 },
    /// The keeper of each cluster.
    Keepers,
}

/// Labels every record.
pub(crate) fn clusters(
    common: Common,
    beside: &Beside<'_>,
    what: crate::clusters::What<'_>,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    if what.report.report || what.report.picture.is_some() {
        bail!("--report and --picture are for fingerprints: the records of a key index have no distance");
    }
    if what.order.keep != "smallest" {
        bail!(
            "--keep: clusters of a key index have the smallest id as their label; `fpdedup keep` takes other records"
        );
    }
    let linkage = what.order.linkage_or(Linkage::Single);
    find(common, beside, (linkage, what.order), options, store, Write::Labels { min_size: what.min_size })
}

/// Writes the record to keep of each cluster.
pub(crate) fn keep(
    common: Common,
    beside: &Beside<'_>,
    keep: &KeepOptions,
    options: &Options,
    store: &Path,
) -> anyhow::Result<Outcome> {
    if keep.evidence.is_some() || keep.report.report || keep.report.picture.is_some() {
        bail!("--evidence, --report and --picture are for fingerprints: the records of a key index have no distance");
    }
    find(common, beside, (keep.order.linkage_or(Linkage::Star), &keep.order), options, store, Write::Keepers)
}

fn find(
    common: Common,
    beside: &Beside<'_>,
    (linkage, order): (Linkage, &Order),
    options: &Options,
    store: &Path,
    write: Write,
) -> anyhow::Result<Outcome> {
    if beside.previous.is_some() || beside.new.is_some() {
        bail!(
            "--previous and --new are for fingerprints: load new records into the key index, and find its clusters anew"
        );
    }
    beside.check(order)?;
    if order.keep_by.is_some() && linkage == Linkage::Single && write != Write::Keepers {
        bail!("--keep-by: it orders the records of --linkage star and complete; clusters of single have no order");
    }
    let job = Job::new(common, options)?;
    let index = open(options, store)?;
    let kind = index.parameters().ids();
    let has = memory_beside(options, &index);
    let mut clusters =
        index.clusters(options.keys.rule())?.with_linkage(linkage).with_memory(has).with_temp_dir(&job.temp_dir());
    if let Write::Labels { min_size: 2.. } = write {
        clusters = clusters.with_sizes();
    }
    let budget = job.budget(has, clusters.least_memory()?, store)?;
    let kept = Kept::read(&job, order, beside.input.id_column.as_deref(), kind, budget)?;
    let clusters = clusters.with_memory(has - kept.bytes());
    let columns = if write == Write::Keepers { KEPT } else { LABELS };
    let texts = [kind == IdKind::Text; 2];
    let path = options.output.as_deref();
    let output = Output::open(("--output", path), job.json(), columns, 64, texts.get(..columns.len()).unwrap_or(&[]))?;
    let shown = job.watch("clusters", clusters.progress())?;
    let clustering = clusters.find(&kept.keeper)?;
    shown.finish();
    kept.warn_of_unknown();
    say_skipped(options, clusters.skipped_keys());
    let style = output.style();
    let mut writing = Writing::new(output);
    let add = |rows: &mut Option<Rows>, one: Clustered<u64>| {
        let rows = rows.get_or_insert_with(|| Rows::new(style));
        match write {
            Write::Labels { min_size } if one.size.is_none_or(|size| size >= min_size) => push(rows, &one),
            // A cluster has the id of its keeper.
            Write::Keepers if one.label == Label::Id(one.record.id.clone()) => {
                rows.id(&one.record.id);
                rows.end_row();
            }
            _ => {}
        }
        if rows.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    clustering.visit(add, |rows| writing.write_found(rows))?;
    let written = writing.finish()?;
    job.done(written, "record");
    Ok(Outcome::Done)
}
