//! The report on a load: for people on standard error, as JSON on standard output.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fpstore::bulk::{LoadReport, RemoveIdsReport, RemoveReport, ReplaceReport};
use fpstore::{Fingerprint, Parameters, Store};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::input::Found;
use fpstore_tools::number::{bytes, count, count_of, float};
use fpstore_tools::report;
use fpstore_tools::statistics::{StoreReport, TableReport, at_most};
use serde::Serialize;

use crate::args::Args;
use crate::gather::PassedOver;

/// The result of a run.
pub(crate) enum Deed {
    /// A store was created, with or without inputs.
    Created(Option<LoadReport>),
    /// The records were added.
    Loaded(LoadReport),
    /// The records were removed.
    Removed(RemoveReport),
    /// All records of the ids were removed.
    RemovedIds(RemoveIdsReport),
    /// The records of the ids were replaced.
    Replaced(ReplaceReport),
    /// There were no inputs; an index of the ids was added, unless there was one already.
    Indexed(bool),
    /// There were no inputs.
    Nothing,
}

/// The result of a load.
pub(crate) struct Done<'a, F: Fingerprint> {
    pub(crate) path: &'a Path,
    pub(crate) deed: Deed,
    /// Whether there was anything to compact; `None` if compaction was not requested.
    pub(crate) compacted: Option<bool>,
    pub(crate) store: &'a Store<F>,
    pub(crate) passed_over: PassedOver,
    pub(crate) seconds: f64,
}

impl Deed {
    /// Number of records in the inputs, and of those already present.
    fn counts(&self) -> (u64, u64) {
        match self {
            Self::Created(Some(report)) | Self::Loaded(report) => (report.records, report.already_present),
            Self::Replaced(report) => (report.loaded.records, report.loaded.already_present),
            Self::Removed(report) => (report.records, 0),
            Self::RemovedIds(report) => (report.ids, 0),
            Self::Created(None) | Self::Nothing | Self::Indexed(_) => (0, 0),
        }
    }

    /// Number of records that were removed.
    fn removed(&self) -> u64 {
        match self {
            Self::Removed(report) => report.removed,
            Self::RemovedIds(report) => report.removed,
            Self::Replaced(report) => report.removed,
            Self::Created(_) | Self::Loaded(_) | Self::Nothing | Self::Indexed(_) => 0,
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
    /// Documents that were left out, with --text.
    left_out: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out_reasons: BTreeMap<&'static str, u64>,
    /// Records skipped for their quality, not counted in `records`.
    below_quality: u64,
    #[serde(flatten)]
    outcome: Option<Outcome<'a>>,
}

#[derive(Serialize)]
struct Outcome<'a> {
    already_present: u64,
    /// Number of records that were removed.
    removed: u64,
    /// Number of ids that no record had, if the input was ids alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    not_found: Option<u64>,
    /// Records that share their id with another record of the input, if they replaced others.
    #[serde(skip_serializing_if = "Option::is_none")]
    several: Option<u64>,
    /// Whether an index of ids was added, if that was all.
    #[serde(skip_serializing_if = "Option::is_none")]
    id_index_made: Option<bool>,
    compacted: bool,
    seconds: f64,
    records_per_second: f64,
    /// Records in the whole store after the load.
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
        removed: done.deed.removed(),
        not_found: if let Deed::RemovedIds(report) = &done.deed { Some(report.unknown) } else { None },
        several: if let Deed::Replaced(report) = &done.deed { Some(report.several) } else { None },
        id_index_made: if let Deed::Indexed(is_new) = done.deed { Some(is_new) } else { None },
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
        let (path, passed_over) = (done.path, &done.passed_over);
        let summary = Summary { outcome: Some(outcome), ..summary(path, created, parameters, records, passed_over) };
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
        Deed::Removed(_) | Deed::RemovedIds(_) => "removed from",
        Deed::Replaced(_) => "replaced in",
        Deed::Indexed(_) => "not added to",
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
        Deed::RemovedIds(report) => {
            let (ids, unknown) = (count_of(records, "id"), count(report.unknown));
            facts.push(("removed", format!("{} of {ids}; not found: {unknown}", count_of(report.removed, "record"))));
        }
        Deed::Replaced(report) => {
            let (new, removed) = (count(report.loaded.added()), count(report.removed));
            let present = count(report.loaded.already_present);
            facts.push(("replaced", format!("{given}: {new} new, {present} already present; {removed} removed")));
        }
        Deed::Indexed(is_new) => {
            let what = if *is_new { "made; the store is one segment" } else { "nothing to do: there is one" };
            facts.push(("id index", what.to_owned()));
        }
        Deed::Nothing => {}
        Deed::Created(_) | Deed::Loaded(_) => {
            let new = count(records.saturating_sub(outcome.already_present));
            facts.push(("loaded", format!("{given}: {new} new, {} already present", count(outcome.already_present))));
        }
    }
    let left_out = &done.passed_over.left_out;
    if left_out.total() > 0 {
        facts.push(("left out", left_out.to_string()));
    }
    if let Some(compacted) = done.compacted {
        let what = if compacted { "to one segment" } else { "nothing to do: there are no two segments" };
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
    passed_over: &PassedOver,
) -> anyhow::Result<()> {
    if args.common.json {
        let summary = Summary { dry_run: true, ..summary(path, args.create, parameters, number, passed_over) };
        return Ok(report::json(&mut io::stdout().lock(), &summary)?);
    }
    if args.common.quiet {
        return Ok(());
    }
    let act = match (args.create, args.remove) {
        (true, _) => "would be created",
        (_, true) => "would be removed from",
        _ if args.replace => "would be replaced in",
        _ if args.inputs.is_empty() => "would get an index of its ids",
        _ => "would be added to",
    };
    let ids = match found {
        Some(Found::Number) => "with ids",
        Some(Found::Text) => "with text ids",
        _ => "without ids",
    };
    let records = match args.by_id {
        true => format!("{}, sound", count_of(number, "id")),
        false => format!("{} {ids}, sound", count_of(number, "record")),
    };
    let store = format!("{} {act} ({})", path.display(), plan_and_codec(parameters));
    let facts = [("input", records), ("store", store), ("written", "nothing: this is a dry run".to_owned())];
    Ok(report::facts(&mut io::stderr().lock(), &facts)?)
}

fn summary<'a>(
    path: &Path,
    created: bool,
    parameters: &Parameters,
    records: u64,
    PassedOver { left_out, below_quality }: &PassedOver,
) -> Summary<'a> {
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
        left_out: left_out.total(),
        left_out_reasons: left_out.reasons(),
        below_quality: *below_quality,
        outcome: None,
    }
}

/// Formats the bits of a fingerprint in each table, beside the information bound, on one line.
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
