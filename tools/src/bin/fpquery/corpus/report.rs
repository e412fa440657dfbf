//! The report of `--stats` on a corpus.

use std::io::{self, Write};

use fpstore::{Fingerprint, QueryStats, QueryTables};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::number::{bytes, count, float};
use fpstore_tools::report;
use serde::Serialize;

/// Totals over the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Report {
    pub(super) matches: u64,
    pub(super) records: u64,
    pub(super) work: QueryStats,
    pub(super) build_seconds: f64,
    pub(super) seconds: f64,
}

#[derive(Serialize)]
struct Object {
    schema_version: u32,
    queries: u64,
    matches: u64,
    /// Number of records in the corpus.
    records: u64,
    plan: String,
    table_bytes: u64,
    probes: u64,
    /// Probes that passed the filters.
    places: u64,
    candidates: u64,
    /// Time to build the tables of queries.
    build_seconds: f64,
    /// Time to read the corpus and look it up.
    seconds: f64,
    records_per_second: f64,
}

impl Report {
    /// Writes the report, for people or as a JSON object.
    pub(super) fn tell<F: Fingerprint>(
        &self,
        tables: &QueryTables<F>,
        queries: usize,
        out: &mut dyn Write,
        json: bool,
    ) -> io::Result<()> {
        let per_second = float(self.records) / self.seconds.max(1e-9);
        if json {
            let object = Object {
                schema_version: SCHEMA_VERSION,
                queries: queries as u64,
                matches: self.matches,
                records: self.records,
                plan: tables.to_string(),
                table_bytes: tables.bytes(),
                probes: self.work.probes,
                places: self.work.index_lookups,
                candidates: self.work.candidates,
                build_seconds: self.build_seconds,
                seconds: self.seconds,
                records_per_second: per_second,
            };
            return report::json(out, &object);
        }
        let per_record =
            |total: u64| format!("{} ({:.2} a record)", count(total), float(total) / float(self.records.max(1)));
        let speed = format!("{:.2} s, {:.2} million records/s", self.seconds, per_second / 1e6);
        report::facts(
            out,
            &[
                ("queries", count(queries as u64)),
                ("matches", count(self.matches)),
                ("records", count(self.records)),
                ("plan", format!("{tables}; {}, made in {:.2} s", bytes(tables.bytes()), self.build_seconds)),
                ("probes", per_record(self.work.probes)),
                ("after filters", per_record(self.work.index_lookups)),
                ("candidates", per_record(self.work.candidates)),
                ("time", speed),
            ],
        )
    }
}
