//! Statistics of a store as reports show them; the same fields in `fpload --json` and `fpdump stats --json`.

use fpstore::Statistics;
use serde::Serialize;

/// Statistics of a store or a segment, summed over segments.
#[derive(Clone, Debug, Serialize)]
pub struct StoreReport {
    /// Pairs of fingerprint and id.
    pub records: u64,
    /// Distinct fingerprints of each segment, summed.
    pub fingerprints: u64,
    /// Number of segments.
    pub segments: u64,
    /// Bytes of all files.
    pub file_bytes: u64,
    /// Bytes of the ids.
    pub id_bytes: u64,
    /// Memory of the index once open.
    pub resident_bytes: u64,
    /// Part of `resident_bytes` that is the filter.
    pub filter_bytes: u64,
    /// The tables, in the order of the plan.
    pub tables: Vec<TableReport>,
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
            fingerprints: statistics.fingerprints,
            segments: statistics.segments,
            file_bytes: statistics.file_bytes,
            id_bytes: statistics.id_bytes,
            resident_bytes: statistics.resident_bytes,
            filter_bytes: 0,
            tables: statistics
                .tables
                .iter()
                .map(|t| TableReport {
                    name: t.name.clone(),
                    fingerprints: t.fingerprints,
                    data_bytes: t.data_bytes,
                    index_bytes: t.index_bytes,
                    code_bytes: t.code_bytes,
                    blocks: t.blocks,
                    bits_per_fingerprint: t.bits_per_fingerprint(),
                    information_bound_bits: t.information_bound_bits,
                })
                .collect(),
        }
    }
}
