//! The report on a load: for people on standard error, as JSON on standard output. `fingerprints.rs` and `keys.rs` have
//! what stores of one kind report beyond that.

pub(crate) mod fingerprints;
pub(crate) mod keys;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use fpstore::Parameters;
use fpstore::bulk::{RemoveIdsReport, RemoveReport};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::documents::LeftOut;
use fpstore_tools::number::{bytes, count, count_of, float};
use fpstore_tools::report;
use serde::Serialize;

use crate::args::Args;
use crate::writing::SavedFilters;

/// Lines for people.
type Fact = (&'static str, String);

/// The result of a run; a load and a replacement have reports of their own.
pub(crate) enum Deed<Load, Replacement> {
    /// A store was created, with or without inputs.
    Created(Option<Load>),
    /// The records were added.
    Loaded(Load),
    /// The records were removed.
    Removed(RemoveReport),
    /// All records of the ids were removed.
    RemovedIds(RemoveIdsReport),
    /// The records of the ids were replaced.
    Replaced(Replacement),
    /// There were no inputs; an index of the ids was added, unless there was one already.
    Indexed(bool),
    /// There were no inputs.
    Nothing,
}

impl<Load, Replacement> Deed<Load, Replacement> {
    fn act(&self) -> &'static str {
        match self {
            Self::Created(_) => "created",
            Self::Loaded(_) => "added to",
            Self::Removed(_) | Self::RemovedIds(_) => "removed from",
            Self::Replaced(_) => "replaced in",
            Self::Indexed(_) | Self::Nothing => "not added to",
        }
    }

    /// What is the same for stores of both kinds.
    fn fact(&self) -> Option<Fact> {
        match self {
            Self::Removed(report) => {
                let (given, unknown) = (count_of(report.records, "record"), report.records - report.removed);
                let removed = count(report.removed);
                Some(("removed", format!("{removed} of {given}, {} were not there", count(unknown))))
            }
            Self::RemovedIds(report) => {
                let (ids, unknown) = (count_of(report.ids, "id"), count(report.unknown));
                Some(("removed", format!("{} of {ids}; not found: {unknown}", count_of(report.removed, "record"))))
            }
            Self::Indexed(is_new) => {
                let what = if *is_new { "made; the store is one segment" } else { "nothing to do: there is one" };
                Some(("id index", what.to_owned()))
            }
            Self::Created(_) | Self::Loaded(_) | Self::Replaced(_) | Self::Nothing => None,
        }
    }

    /// Number of ids that no record had, if the input was ids alone.
    fn not_found(&self) -> Option<u64> {
        if let Self::RemovedIds(report) = self { Some(report.unknown) } else { None }
    }

    /// Whether an index of ids was added, if that was all.
    fn id_index_made(&self) -> Option<bool> {
        if let Self::Indexed(is_new) = self { Some(*is_new) } else { None }
    }
}

/// A load, and the input and the store that it is about.
#[derive(Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) args: &'a Args,
    pub(crate) path: &'a Path,
    pub(crate) parameters: &'a Parameters,
    pub(crate) left_out: &'a LeftOut,
}

/// What was done after all inputs were read.
#[derive(Clone, Copy)]
pub(crate) struct Rest {
    /// Whether there was anything to compact; `None` if compaction was not requested.
    pub(crate) compacted: Option<bool>,
    pub(crate) filters: Option<SavedFilters>,
    pub(crate) seconds: f64,
}

impl SavedFilters {
    fn told(self) -> String {
        let Self { written, filters } = self;
        let mut told = if filters.wanted_bytes == 0 {
            "none: the tables are small".to_owned()
        } else if written > 0 {
            format!("{} saved beside the segments", bytes(written))
        } else if filters.saved_bytes < filters.built_bytes {
            "nothing to do: larger ones are saved".to_owned()
        } else {
            format!("nothing to do: {} are saved", bytes(filters.saved_bytes))
        };
        if filters.refused_bytes > 0 {
            told += &format!("; {} left out for want of memory (--memory)", bytes(filters.refused_bytes));
        }
        told
    }
}

/// The object for programs. `Kind` is what stores of one kind say of themselves, `More` what they say of a load.
#[derive(Serialize)]
struct Summary<'a, Kind, More> {
    schema_version: u32,
    store: String,
    #[serde(flatten)]
    kind: Kind,
    created: bool,
    dry_run: bool,
    ids: &'static str,
    hasher: Option<&'a str>,
    block_size: u32,
    /// Records in the input.
    records: u64,
    /// Documents that were left out, with --text.
    left_out: u64,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    left_out_reasons: BTreeMap<&'static str, u64>,
    #[serde(flatten)]
    outcome: Option<Outcome<More>>,
}

#[derive(Serialize)]
struct Outcome<More> {
    already_present: u64,
    /// Number of records that were removed.
    removed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    not_found: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id_index_made: Option<bool>,
    compacted: bool,
    /// Bytes of prefix filters that were written, if that was requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    filter_bytes_saved: Option<u64>,
    seconds: f64,
    records_per_second: f64,
    /// Records in the whole store after the load.
    store_records: u64,
    file_bytes: u64,
    #[serde(flatten)]
    more: More,
}

/// A load, as stores of one kind count and tell it.
struct Told<Kind, More> {
    /// Records in the input.
    records: u64,
    already_present: u64,
    removed: u64,
    store_records: u64,
    file_bytes: u64,
    /// The store in words, as in its first line.
    described: String,
    kind: Kind,
    more: More,
    /// What was loaded.
    loaded: Option<Fact>,
    /// What the store holds, beside its bytes.
    holds: String,
    /// Bits of its tables.
    bits: Option<Fact>,
}

impl About<'_> {
    /// Reports a load.
    fn done<Load, Replacement>(
        self,
        deed: &Deed<Load, Replacement>,
        told: Told<impl Serialize, impl Serialize>,
        Rest { compacted, filters, seconds }: Rest,
    ) -> anyhow::Result<()> {
        let rate = float(told.records) / seconds.max(1e-9);
        let mut facts = vec![("store", format!("{} ({}; {})", self.path.display(), deed.act(), told.described))];
        facts.extend(deed.fact().or(told.loaded));
        if self.left_out.total() > 0 {
            facts.push(("left out", self.left_out.to_string()));
        }
        if let Some(compacted) = compacted {
            let what = if compacted { "to one run" } else { "nothing to do: there are no two runs" };
            facts.push(("compacted", what.to_owned()));
        }
        facts.extend(filters.map(|filters| ("filters", filters.told())));
        facts.push(("holds", format!("{} in {}", told.holds, bytes(told.file_bytes))));
        let rated =
            if told.records > 0 { format!(", {} records a second", count(rounded(rate))) } else { String::new() };
        facts.push(("time", format!("{seconds:.2} s{rated}")));
        facts.extend(told.bits);
        let outcome = Outcome {
            already_present: told.already_present,
            removed: told.removed,
            not_found: deed.not_found(),
            id_index_made: deed.id_index_made(),
            compacted: compacted == Some(true),
            filter_bytes_saved: filters.map(|filters| filters.written),
            seconds,
            records_per_second: rate,
            store_records: told.store_records,
            file_bytes: told.file_bytes,
            more: told.more,
        };
        let created = matches!(deed, Deed::Created(_));
        self.write(&Summary { created, outcome: Some(outcome), ..self.summary(told.kind, told.records) }, &facts)
    }

    /// Reports what a load of so many records, described in a word, would do.
    fn dry_run(self, records: u64, ids: &str, described: &str, kind: impl Serialize) -> anyhow::Result<()> {
        let args = self.args;
        let act = match (args.create, args.remove) {
            (true, _) => "would be created",
            (_, true) => "would be removed from",
            _ if args.replace => "would be replaced in",
            _ if args.inputs.is_empty() && args.id_index => "would get an index of its ids",
            _ if args.inputs.is_empty() && args.compact => "would be compacted",
            _ if args.inputs.is_empty() => "would get files of its prefix filters",
            _ => "would be added to",
        };
        let input = match args.by_id {
            true => format!("{}, sound", count_of(records, "id")),
            false => format!("{} {ids}, sound", count_of(records, "record")),
        };
        let store = format!("{} {act} ({described})", self.path.display());
        let facts = [("input", input), ("store", store), ("written", "nothing: this is a dry run".to_owned())];
        let summary = self.summary::<_, ()>(kind, records);
        self.write(&Summary { created: args.create, dry_run: true, ..summary }, &facts)
    }

    fn summary<Kind, More>(&self, kind: Kind, records: u64) -> Summary<'_, Kind, More> {
        Summary {
            schema_version: SCHEMA_VERSION,
            store: self.path.display().to_string(),
            kind,
            created: false,
            dry_run: false,
            ids: self.parameters.ids().name(),
            hasher: self.parameters.hasher(),
            block_size: self.parameters.block_size(),
            records,
            left_out: self.left_out.total(),
            left_out_reasons: self.left_out.reasons(),
            outcome: None,
        }
    }

    fn write(&self, summary: &impl Serialize, facts: &[Fact]) -> anyhow::Result<()> {
        if self.args.common.json {
            return Ok(report::json(&mut io::stdout().lock(), summary)?);
        }
        if self.args.common.quiet {
            return Ok(());
        }
        Ok(report::facts(&mut io::stderr().lock(), facts)?)
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate: positive, and far below 2^63")]
fn rounded(rate: f64) -> u64 {
    rate.round() as u64
}
