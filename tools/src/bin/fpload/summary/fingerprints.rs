//! What a load of fingerprints reports beside what every load does.

use std::path::Path;

use fpstore::bulk::{LoadReport, ReplaceReport};
use fpstore::{Fingerprint, Parameters, Store};
use fpstore_tools::input::Found;
use fpstore_tools::number::{count, count_of};
use fpstore_tools::statistics::{StoreReport, TableReport, at_most};
use serde::Serialize;

use super::{About, Rest, Told};
use crate::args::Args;
use crate::gather::PassedOver;

/// The result of a run.
pub(crate) type Deed = super::Deed<LoadReport, ReplaceReport>;

/// The result of a load.
pub(crate) struct Done<'a, F: Fingerprint> {
    pub(crate) path: &'a Path,
    pub(crate) deed: Deed,
    pub(crate) store: &'a Store<F>,
    pub(crate) passed_over: PassedOver,
    pub(crate) rest: Rest,
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

    /// What was loaded, in words.
    fn loaded(&self) -> Option<(&'static str, String)> {
        let (records, already_present) = self.counts();
        let (given, present) = (count_of(records, "record"), count(already_present));
        match self {
            Self::Replaced(report) => {
                let (new, removed) = (count(report.loaded.added()), count(report.removed));
                Some(("replaced", format!("{given}: {new} new, {present} already present; {removed} removed")))
            }
            Self::Created(_) | Self::Loaded(_) => {
                let new = count(records.saturating_sub(already_present));
                Some(("loaded", format!("{given}: {new} new, {present} already present")))
            }
            Self::Removed(_) | Self::RemovedIds(_) | Self::Indexed(_) | Self::Nothing => None,
        }
    }
}

#[derive(Serialize)]
struct Kind {
    width: u32,
    plan: String,
    codec: String,
    max_distance: u32,
    /// Records skipped for their quality, not counted in `records`.
    below_quality: u64,
}

impl Kind {
    fn new(parameters: &Parameters, passed_over: &PassedOver) -> Self {
        Self {
            width: parameters.width(),
            plan: parameters.design().to_string(),
            codec: parameters.codec().to_string(),
            max_distance: parameters.max_distance(),
            below_quality: passed_over.below_quality,
        }
    }

    fn described(&self) -> String {
        format!("plan {}, codec {}", self.plan, self.codec)
    }
}

#[derive(Serialize)]
struct More<'a> {
    /// Records that share their id with another record of the input, if they replaced others.
    #[serde(skip_serializing_if = "Option::is_none")]
    several: Option<u64>,
    fingerprints: u64,
    distinct_at_most: u64,
    distinct_is_exact: bool,
    tables: &'a [TableReport],
}

/// Reports a load.
pub(crate) fn done<F: Fingerprint>(args: &Args, done: &Done<'_, F>) -> anyhow::Result<()> {
    let Done { path, deed, store, passed_over, rest } = done;
    let statistics = StoreReport::new(&store.statistics());
    let (records, already_present) = deed.counts();
    let more = More {
        several: if let Deed::Replaced(report) = deed { Some(report.several) } else { None },
        fingerprints: statistics.fingerprints,
        distinct_at_most: statistics.distinct_at_most,
        distinct_is_exact: statistics.distinct_is_exact,
        tables: &statistics.tables,
    };
    let holds = format!(
        "{} of {}{}",
        count_of(statistics.records, "record"),
        at_most(statistics.distinct_is_exact),
        count_of(statistics.distinct_at_most, "distinct fingerprint"),
    );
    let kind = Kind::new(store.parameters(), passed_over);
    let told = Told {
        records,
        already_present,
        removed: deed.removed(),
        store_records: statistics.records,
        file_bytes: statistics.file_bytes,
        described: kind.described(),
        kind,
        more,
        loaded: deed.loaded(),
        holds,
        bits: table_fact(&statistics.tables),
    };
    let about = About { args, path, parameters: store.parameters(), left_out: &passed_over.left_out };
    about.done(deed, told, *rest)
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
    let ids = match found {
        Some(Found::Number) => "with ids",
        Some(Found::Text) => "with text ids",
        _ => "without ids",
    };
    let kind = Kind::new(parameters, passed_over);
    let about = About { args, path, parameters, left_out: &passed_over.left_out };
    about.dry_run(number, ids, &kind.described(), kind)
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
