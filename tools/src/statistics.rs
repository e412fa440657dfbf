//! Statistics of a store for reports, with the same fields in `fpload --json` and `fpdump stats --json`.

use fpstore::admin::{FilterStatistics, KeyStatistics, Statistics, TableStatistics};
use serde::Serialize;

/// Statistics of a store or a segment, summed over segments.
#[derive(Clone, Debug, Serialize)]
pub struct StoreReport {
    /// Pairs of fingerprint and id.
    pub records: u64,
    /// Whether `records` is exact. Damage can hide some records from the count.
    pub count_is_exact: bool,
    /// Distinct fingerprints of each segment, summed.
    pub fingerprints: u64,
    /// Upper bound of the distinct fingerprints, including those that are only in logs.
    pub distinct_at_most: u64,
    /// Whether `distinct_at_most` is exact.
    pub distinct_is_exact: bool,
    /// Number of segments.
    pub segments: u64,
    /// Runs that queries search.
    pub runs: u64,
    /// Records that later runs have removed and that are still stored.
    pub removals: u64,
    /// Operations in the logs that are in no segment yet.
    pub unflushed: u64,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// Bytes of the logs.
    pub log_bytes: u64,
    /// Bytes of segments of removals.
    pub removal_bytes: u64,
    /// Bytes of the id indexes.
    pub id_index_bytes: u64,
    /// Runs in excess of the compaction target.
    pub runs_behind: u64,
    /// Bytes of the runs that are due for compaction.
    pub bytes_behind: u64,
    /// Ratio of stored records to visible records.
    pub space_amplification: f64,
    /// Ratio of all bytes written, including logs and compaction, to the bytes of new segments.
    pub write_amplification: f64,
    /// Bytes of the ids.
    pub id_bytes: u64,
    /// Memory of the indexes once queries have used all of them, without filters.
    pub resident_bytes: u64,
    /// Additional memory with the filters on.
    pub filter_bytes: u64,
    /// Filters that are built and refused. All zero for a segment.
    pub filters: FilterReport,
    /// The tables, in the order of the plan.
    pub tables: Vec<TableReport>,
}

/// Prefix filters in bytes of memory.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct FilterReport {
    /// Filters of all tables that are large enough to benefit from one.
    pub wanted_bytes: u64,
    /// Filters that exist now.
    pub built_bytes: u64,
    /// Those of them that files have.
    pub saved_bytes: u64,
    /// Filters that exceed the memory budget, whether or not the others are built.
    pub refused_bytes: u64,
    /// Filters that could not be built.
    pub failed_bytes: u64,
    /// Memory budget of the filters.
    pub budget_bytes: u64,
}

/// Statistics of one table.
#[derive(Clone, Debug, Serialize)]
pub struct TableReport {
    /// Name of the table.
    pub name: String,
    /// Fingerprints in the table.
    pub fingerprints: u64,
    /// Bytes of the blocks.
    pub data_bytes: u64,
    /// Bytes of the index.
    pub index_bytes: u64,
    /// Bytes of the code tables.
    pub code_bytes: u64,
    /// Number of blocks.
    pub blocks: u64,
    /// Bits of a fingerprint on disk: data, index, checksums and code tables. 0 for an empty table.
    pub bits_per_fingerprint: f64,
    /// Least bits that this number of uniformly distributed fingerprints needs. `None` for an empty table.
    pub information_bound_bits: Option<f64>,
}

/// Keys of a key index, beside a [`StoreReport`].
#[derive(Clone, Copy, Debug, Serialize)]
pub struct KeyReport {
    /// `keys`.
    pub kind: &'static str,
    /// Keys of all records.
    pub keys: u64,
    /// Sum of the distinct keys of each segment.
    pub distinct_keys: u64,
    /// Bits of a stored key.
    pub key_bits: u8,
    /// Bytes of the keys.
    pub key_bytes: u64,
    /// Bytes of the numbers of records behind the keys.
    pub row_bytes: u64,
    /// Bytes of the sketches.
    pub sketch_bytes: u64,
    /// Bits of a key and its number on disk.
    pub bits_per_key: f64,
    /// Least bits of as many keys of as many records, all chosen at random.
    pub information_bound_bits: Option<f64>,
    /// Share of the pairs of unrelated records that share a key by chance.
    pub false_candidates: f64,
}

impl KeyReport {
    /// Converts the library's statistics of keys.
    #[must_use]
    pub fn new(keys: &KeyStatistics) -> Self {
        Self {
            kind: "keys",
            keys: keys.keys,
            distinct_keys: keys.distinct,
            key_bits: keys.key_bits,
            key_bytes: keys.key_bytes,
            row_bytes: keys.row_bytes,
            sketch_bytes: keys.sketch_bytes,
            bits_per_key: keys.bits_per_key(),
            information_bound_bits: keys.information_bound_bits(),
            false_candidates: keys.false_candidates(),
        }
    }
}

impl StoreReport {
    /// Converts the library's statistics.
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

/// Returns the prefix for a number of distinct fingerprints, empty if the number is exact.
#[must_use]
pub fn at_most(is_exact: bool) -> &'static str {
    if is_exact { "" } else { "at most " }
}

impl FilterReport {
    /// Converts the library's statistics.
    #[must_use]
    pub fn new(filters: &FilterStatistics) -> Self {
        Self {
            wanted_bytes: filters.wanted_bytes,
            built_bytes: filters.built_bytes,
            saved_bytes: filters.saved_bytes,
            refused_bytes: filters.refused_bytes,
            failed_bytes: filters.failed_bytes,
            budget_bytes: filters.budget_bytes,
        }
    }
}

impl TableReport {
    /// Converts the library's statistics of a table.
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
