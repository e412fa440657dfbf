//! The report of `--stats`.

use std::io::{self, Write};

use fpstore::QueryStats;
use fpstore::admin::FilterStatistics;
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::number::{count, float};
use fpstore_tools::report;
use fpstore_tools::statistics::FilterReport;
use serde::Serialize;

use crate::latency::Latency;

/// Totals over queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct Totals {
    pub(crate) queries: u64,
    pub(crate) matches: u64,
    /// Queries without a match, for `--only new`.
    pub(crate) unseen: u64,
    pub(crate) work: QueryStats,
    pub(crate) latency: Latency,
    pub(crate) filters: FilterStatistics,
}

#[derive(Serialize)]
struct Report {
    schema_version: u32,
    queries: u64,
    matches: u64,
    probes: u64,
    /// Probes that passed the filters.
    places: u64,
    /// Memory of the prefix filters that were in use at the end.
    filter_bytes: u64,
    /// Prefix filters that are built and refused.
    filters: FilterReport,
    blocks_read: u64,
    candidates: u64,
    /// Segments that were scanned, because that was cheaper or requested.
    segments_scanned: u64,
    /// Segments that batches of queries were merged with; these queries have no latency.
    segments_merged: u64,
    latency_us: Percentiles,
}

#[derive(Serialize)]
struct Percentiles {
    mean: f64,
    p50: f64,
    p90: f64,
    p99: f64,
    max: f64,
}

impl Totals {
    /// Adds other totals.
    pub(crate) fn add(&mut self, other: &Self) {
        self.queries += other.queries;
        self.matches += other.matches;
        self.unseen += other.unseen;
        self.work += other.work;
        self.latency.merge(&other.latency);
    }

    /// Writes the report, for people or as a JSON object.
    pub(crate) fn report(&self, out: &mut dyn Write, json: bool) -> io::Result<()> {
        let latency_us = Percentiles {
            mean: self.latency.mean(),
            p50: self.latency.percentile(50),
            p90: self.latency.percentile(90),
            p99: self.latency.percentile(99),
            max: self.latency.max(),
        };
        if json {
            let report = Report {
                schema_version: SCHEMA_VERSION,
                queries: self.queries,
                matches: self.matches,
                probes: self.work.probes,
                places: self.work.index_lookups,
                filter_bytes: self.filters.built_bytes,
                filters: FilterReport::new(&self.filters),
                blocks_read: self.work.blocks,
                candidates: self.work.candidates,
                segments_scanned: self.work.scans,
                segments_merged: self.work.merge_joins,
                latency_us,
            };
            return report::json(out, &report);
        }
        let per_query =
            |total: u64| format!("{} ({:.1} a query)", count(total), float(total) / float(self.queries.max(1)));
        let Percentiles { mean, p50, p90, p99, max } = latency_us;
        let latency = format!("mean {mean:.1} us, p50 {p50:.1} us, p90 {p90:.1} us, p99 {p99:.1} us, max {max:.1} us");
        report::facts(
            out,
            &[
                ("queries", count(self.queries)),
                ("matches", per_query(self.matches)),
                ("probes", per_query(self.work.probes)),
                (
                    "after filters",
                    format!(
                        "{}, filters of {} bytes, {} bytes left out",
                        per_query(self.work.index_lookups),
                        count(self.filters.built_bytes),
                        count(self.filters.refused_bytes)
                    ),
                ),
                ("blocks read", per_query(self.work.blocks)),
                ("candidates", per_query(self.work.candidates)),
                ("segments scanned", per_query(self.work.scans)),
                ("segments merged", count(self.work.merge_joins)),
                ("latency", latency),
            ],
        )
    }
}
