//! Statistics of a store as reports show them; the same fields in `fpload --json` and `fpdump stats --json`.

use fpstore::{FilterStatistics, Statistics, TableStatistics};
use serde::Serialize;

/// Statistics of a store or a segment, summed over segments.
#[derive(Clone, Debug, Serialize)]
pub struct StoreReport {
    /// Pairs of fingerprint and id.
    pub records: u64,
    /// Whether there are just so many; fewer, perhaps, where damage keeps some from being counted.
    pub count_is_exact: bool,
    /// Distinct fingerprints of each segment, summed.
    pub fingerprints: u64,
    /// Distinct fingerprints, those that are in logs only included: at most so many.
    pub distinct_at_most: u64,
    /// Whether there are just so many.
    pub distinct_is_exact: bool,
    /// Number of segments.
    pub segments: u64,
    /// Runs that queries ask.
    pub runs: u64,
    /// Records that later runs have removed and that are still there, hidden.
    pub removals: u64,
    /// What logs say of records and no segment does yet.
    pub unflushed: u64,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// Bytes of the logs.
    pub log_bytes: u64,
    /// Bytes of segments of removals.
    pub removal_bytes: u64,
    /// Bytes of the id indexes.
    pub id_index_bytes: u64,
    /// Runs beyond those that there may be, and bytes of the runs that are due to be merged.
    pub runs_behind: u64,
    /// See there.
    pub bytes_behind: u64,
    /// How many times as many records are stored as there are.
    pub space_amplification: f64,
    /// How many times the bytes of new segments were written in all, logs and merging included.
    pub write_amplification: f64,
    /// Bytes of the ids.
    pub id_bytes: u64,
    /// Memory of the index once open, without filters.
    pub resident_bytes: u64,
    /// Further memory with the filters on.
    pub filter_bytes: u64,
    /// What of that is made and what is left out. All zero for a segment.
    pub filters: FilterReport,
    /// The tables, in the order of the plan.
    pub tables: Vec<TableReport>,
}

/// Prefix filters in bytes of memory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FilterReport {
    /// Filters of all tables that are large enough to profit from one.
    pub wanted_bytes: u64,
    /// Filters that are there now.
    pub built_bytes: u64,
    /// Filters that the memory for filters leaves out, whether the others are made or not.
    pub refused_bytes: u64,
    /// Filters that could not be made.
    pub failed_bytes: u64,
    /// The most that filters may take.
    pub budget_bytes: u64,
}

/// Statistics of one table.
#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
    /// Its name.
    pub name: String,
    /// Fingerprints in it.
    pub fingerprints: u64,
    /// Bytes of its blocks.
    pub data_bytes: u64,
    /// Bytes of its index.
    pub index_bytes: u64,
    /// Bytes of its code tables.
    pub code_bytes: u64,
    /// Number of its blocks.
    pub blocks: u64,
    /// Bits that a fingerprint takes on disk: data, index, checksums and code tables. 0 for an empty table.
    pub bits_per_fingerprint: f64,
    /// Bits that evenly spread fingerprints of this number need at least. None for an empty table.
    pub information_bound_bits: Option<f64>,
}

impl StoreReport {
    /// The report of what the library measured.
    #[must_use]
    pub fn new(statistics: &Statistics) -> Self {
        Self {
            records: statistics.records,
            count_is_exact: statistics.is_count_exact,
            fingerprints: statistics.fingerprints,
            distinct_at_most: statistics.distinct_at_most,
            distinct_is_exact: statistics.is_distinct_exact,
            segments: statistics.segments,
            runs: statistics.runs,
            removals: statistics.tombstones,
            unflushed: statistics.unflushed,
            file_bytes: statistics.file_bytes,
            log_bytes: statistics.log_bytes,
            removal_bytes: statistics.removal_bytes,
            id_index_bytes: statistics.id_index_bytes,
            runs_behind: statistics.pressure.runs_behind,
            bytes_behind: statistics.pressure.bytes_behind,
            space_amplification: statistics.space_amplification(),
            write_amplification: statistics.write_amplification(),
            id_bytes: statistics.id_bytes,
            resident_bytes: statistics.resident_bytes,
            filter_bytes: statistics.filter_bytes,
            filters: FilterReport::new(&statistics.filters),
            tables: statistics.tables.iter().map(TableReport::new).collect(),
        }
    }
}

/// What stands in front of a number of distinct fingerprints: nothing, if it is exact.
#[must_use]
pub fn at_most(is_exact: bool) -> &'static str {
    if is_exact { "" } else { "at most " }
}

impl FilterReport {
    /// The report of what the library tells.
    #[must_use]
    pub fn new(filters: &FilterStatistics) -> Self {
        Self {
            wanted_bytes: filters.wanted_bytes,
            built_bytes: filters.built_bytes,
            refused_bytes: filters.refused_bytes,
            failed_bytes: filters.failed_bytes,
            budget_bytes: filters.budget_bytes,
        }
    }
}

impl TableReport {
    /// The report of one table.
    #[must_use]
    pub fn new(table: &TableStatistics) -> Self {
        Self {
            name: table.name.clone(),
            fingerprints: table.fingerprints,
            data_bytes: table.data_bytes,
            index_bytes: table.index_bytes,
            code_bytes: table.code_bytes,
            blocks: table.blocks,
            bits_per_fingerprint: table.bits_per_fingerprint(),
            information_bound_bits: table.information_bound_bits,
        }
    }
}
