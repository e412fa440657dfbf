//! What was done, or would be: for people on standard error, as JSON on standard output.

use std::io;
use std::path::Path;

use fpstore::{Fingerprint, LoadReport, Parameters, RemoveReport, Store};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::input::Found;
use fpstore_tools::number::{bytes, count, count_of, float};
use fpstore_tools::report;
use fpstore_tools::statistics::{StoreReport, TableReport, at_most};
use serde::Serialize;

use crate::args::Args;

/// What was done with the inputs.
pub(crate) enum Deed {
    /// A store was created, of no inputs or of some.
    Created(Option<LoadReport>),
    /// They were added.
    Loaded(LoadReport),
    /// They were removed.
    Removed(RemoveReport),
    /// There were none.
    Nothing,
}

/// What was done.
pub(crate) struct Done<'a, F: Fingerprint> {
    pub(crate) path: &'a Path,
    pub(crate) deed: Deed,
    /// Whether there was anything to compact; none where that was not asked for.
    pub(crate) compacted: Option<bool>,
    pub(crate) store: &'a Store<F>,
    pub(crate) seconds: f64,
}

impl Deed {
    /// Records in the inputs, and those of them that were there already.
    fn counts(&self) -> (u64, u64) {
        match self {
            Self::Created(Some(report)) | Self::Loaded(report) => (report.records, report.already_present),
            Self::Removed(report) => (report.records, 0),
            Self::Created(None) | Self::Nothing => (0, 0),
        }
    }
}

#[derive(Serialize)]
struct Summary<'a> {
    schema_version: u32,
    store: String,
    created: bool,
    dry_run: bool,
    width: u32,
    ids: &'static str,
    hasher: Option<String>,
    plan: String,
    codec: String,
    max_distance: u32,
    block_size: u32,
    /// Records in the input.
    records: u64,
    #[serde(flatten)]
    outcome: Option<Outcome<'a>>,
}

#[derive(Serialize)]
struct Outcome<'a> {
    already_present: u64,
    /// Records that were removed.
    removed: u64,
    compacted: bool,
    seconds: f64,
    records_per_second: f64,
    /// Of the whole store, after the load.
    store_records: u64,
    fingerprints: u64,
    distinct_at_most: u64,
    distinct_is_exact: bool,
    file_bytes: u64,
    tables: &'a [TableReport],
}

/// Reports a load.
pub(crate) fn done<F: Fingerprint>(args: &Args, done: &Done<'_, F>) -> anyhow::Result<()> {
    let statistics = StoreReport::new(&done.store.statistics());
    let (records, already_present) = done.deed.counts();
    let rate = float(records) / done.seconds.max(1e-9);
    let outcome = Outcome {
        already_present,
        removed: if let Deed::Removed(report) = &done.deed { report.removed } else { 0 },
        compacted: done.compacted == Some(true),
        seconds: done.seconds,
        records_per_second: rate,
        store_records: statistics.records,
        fingerprints: statistics.fingerprints,
        distinct_at_most: statistics.distinct_at_most,
        distinct_is_exact: statistics.distinct_is_exact,
        file_bytes: statistics.file_bytes,
        tables: &statistics.tables,
    };
    let parameters = done.store.parameters();
    if args.common.json {
        let created = matches!(done.deed, Deed::Created(_));
        let summary = Summary { outcome: Some(outcome), ..summary(done.path, created, parameters, records) };
        return Ok(report::json(&mut io::stdout().lock(), &summary)?);
    }
    if args.common.quiet {
        return Ok(());
    }
    let mut facts = outcome_facts(done, &outcome, records, parameters);
    facts.extend(table_fact(&statistics.tables));
    Ok(report::facts(&mut io::stderr().lock(), &facts)?)
}

fn outcome_facts<F: Fingerprint>(
    done: &Done<'_, F>,
    outcome: &Outcome<'_>,
    records: u64,
    parameters: &Parameters,
) -> Vec<(&'static str, String)> {
    let act = match done.deed {
        Deed::Created(_) => "created",
        Deed::Loaded(_) => "added to",
        Deed::Removed(_) => "removed from",
        Deed::Nothing => "not added to",
    };
    let store = format!("{} ({act}; {})", done.path.display(), plan_and_codec(parameters));
    let given = count_of(records, "record");
    let mut facts = vec![("store", store)];
    match &done.deed {
        Deed::Removed(report) => {
            let unknown = count(records.saturating_sub(report.removed));
            facts.push(("removed", format!("{} of {given}, {unknown} were not there", count(report.removed))));
        }
        Deed::Nothing => {}
        Deed::Created(_) | Deed::Loaded(_) => {
            let new = count(records.saturating_sub(outcome.already_present));
            facts.push(("loaded", format!("{given}: {new} new, {} already present", count(outcome.already_present))));
        }
    }
    if let Some(compacted) = done.compacted {
        let what = if compacted { "to one segment" } else { "nothing to do: there are not two segments" };
        facts.push(("compacted", what.to_owned()));
    }
    let holds = format!(
        "{} of {}{} in {}",
        count_of(outcome.store_records, "record"),
        at_most(outcome.distinct_is_exact),
        count_of(outcome.distinct_at_most, "distinct fingerprint"),
        bytes(outcome.file_bytes)
    );
    let time = format!("{:.2} s, {} records a second", done.seconds, count(rounded(outcome.records_per_second)));
    facts.extend([("holds", holds), ("time", time)]);
    facts
}

fn plan_and_codec(parameters: &Parameters) -> String {
    format!("plan {}, codec {}", parameters.design(), parameters.codec())
}

/// Reports what a load would do.
pub(crate) fn dry_run(
    args: &Args,
    path: &Path,
    number: u64,
    found: Option<Found>,
    parameters: &Parameters,
) -> anyhow::Result<()> {
    if args.common.json {
        let summary = Summary { dry_run: true, ..summary(path, args.create, parameters, number) };
        return Ok(report::json(&mut io::stdout().lock(), &summary)?);
    }
    if args.common.quiet {
        return Ok(());
    }
    let act = match (args.create, args.remove) {
        (true, _) => "would be created",
        (_, true) => "would be removed from",
        _ => "would be added to",
    };
    let ids = match found {
        Some(Found::Number) => "with ids",
        Some(Found::Text) => "with text ids",
        _ => "without ids",
    };
    let records = format!("{} {ids}, sound", count_of(number, "record"));
    let store = format!("{} {act} ({})", path.display(), plan_and_codec(parameters));
    let facts = [("input", records), ("store", store), ("written", "nothing: this is a dry run".to_owned())];
    Ok(report::facts(&mut io::stderr().lock(), &facts)?)
}

fn summary<'a>(path: &Path, created: bool, parameters: &Parameters, records: u64) -> Summary<'a> {
    Summary {
        schema_version: SCHEMA_VERSION,
        store: path.display().to_string(),
        created,
        dry_run: false,
        width: parameters.width(),
        ids: parameters.ids().name(),
        hasher: parameters.hasher().map(str::to_owned),
        plan: parameters.design().to_string(),
        codec: parameters.codec().to_string(),
        max_distance: parameters.max_distance(),
        block_size: parameters.block_size(),
        records,
        outcome: None,
    }
}

/// Bits a fingerprint takes in each table, beside the fewest that any code of evenly spread ones can do with: one line.
fn table_fact(tables: &[TableReport]) -> Option<(&'static str, String)> {
    tables.first()?.information_bound_bits?;
    let range = |bits: &mut dyn Iterator<Item = f64>| {
        let (least, most) = bits.fold((f64::MAX, 0.0), |(least, most), bits| (bits.min(least), bits.max(most)));
        match (format!("{least:.2}"), format!("{most:.2}")) {
            (least, most) if least == most => least,
            (least, most) => format!("{least} to {most}"),
        }
    };
    let bits = range(&mut tables.iter().map(|table| table.bits_per_fingerprint));
    let bound = range(&mut tables.iter().filter_map(|table| table.information_bound_bits));
    let number = count_of(tables.len() as u64, "table");
    Some(("tables", format!("{number}, {bits} bits a fingerprint in each (information bound {bound})")))
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate: positive, and far below 2^63")]
fn rounded(rate: f64) -> u64 {
    rate.round() as u64
}
