//! Sizes and counts.

use crate::db::{FilterStatistics, StoreInner, WritePressure, directory, filters, records_of_view};
use crate::format::manifest::WrittenBytes;
use crate::format::parameters::Parameters;
use crate::plan::{Design, TableForm, TableLayout};
use crate::segment::Segment;
use crate::version::{ReadView, StoreContext};
use std::sync::Arc;

/// Sizes and counts of a store, summed over its segments. Sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// Number of records. Those in memtables are looked up in the segments, to count only new ones.
    pub records: u64,
    /// Whether `records` is exact: always, unless damage keeps some from being counted. Then it is an upper bound.
    pub is_count_exact: bool,
    /// Sum of the distinct fingerprints of each segment.
    pub fingerprints: u64,
    /// Upper bound of the distinct fingerprints of all segments and memtables.
    pub distinct_at_most: u64,
    /// Whether `distinct_at_most` is exact.
    pub is_distinct_exact: bool,
    /// Segments with records.
    pub segments: u64,
    /// Runs, which queries search one after the other, besides the memtables.
    pub runs: u64,
    /// Tombstones that are not merged with the runs of their records yet.
    pub tombstones: u64,
    /// Records of all segments, including removed and repeated ones.
    pub stored: u64,
    /// Entries of the memtables.
    pub unflushed: u64,
    /// All files: segments, logs and manifest.
    pub file_bytes: u64,
    /// Logs.
    pub log_bytes: u64,
    /// Segments of tombstones, and id indexes.
    pub removal_bytes: u64,
    /// Id indexes.
    pub id_index_bytes: u64,
    /// Ids with their index.
    pub id_bytes: u64,
    /// Memory that stays in use while the store is open, without filters, once queries have used all of its indexes.
    pub resident_bytes: u64,
    /// Further memory of the prefix filters, if they are made ([`crate::Filters`]).
    pub filter_bytes: u64,
    /// Prefix filters: wanted, made and left out. All zero for a single segment.
    pub filters: FilterStatistics,
    /// Memory of the memtables, about.
    pub memtable_bytes: u64,
    /// All bytes written so far.
    pub written: WrittenBytes,
    /// Delays of writers, and the backlog of compaction; of an open store, not of a snapshot.
    pub pressure: WritePressure,
    /// One entry a table.
    pub tables: Vec<TableStatistics>,
    /// The keys, of a key index.
    pub keys: Option<KeyStatistics>,
}

impl Statistics {
    /// Ratio of stored entries to records: removed and repeated records and tombstones count.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn space_amplification(&self) -> f64 {
        let stored = self.stored.saturating_add(self.tombstones).saturating_add(self.unflushed);
        if self.records == 0 { 1.0 } else { stored as f64 / self.records as f64 }
    }

    /// Ratio of all bytes written, including logs and compaction, to those of new segments.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn write_amplification(&self) -> f64 {
        let WrittenBytes { log, new, compacted } = self.written;
        let all = log.saturating_add(new).saturating_add(compacted);
        if new == 0 { 1.0 } else { all as f64 / new as f64 }
    }
}

/// Sizes and counts of the keys of a key index, summed over its segments. Sizes in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyStatistics {
    /// Keys of all records; those of removed records count until they are merged.
    pub keys: u64,
    /// Sum of the distinct keys of each segment.
    pub distinct: u64,
    /// Stored keys: blocks, codes and index.
    pub key_bytes: u64,
    /// Numbers of records behind the keys.
    pub row_bytes: u64,
    /// Sketches.
    pub sketch_bytes: u64,
    /// The segments of keys.
    pub file_bytes: u64,
    /// Bits of a stored key.
    pub key_bits: u8,
    /// Records that the numbers may be of.
    pub records: u64,
}

impl KeyStatistics {
    /// Size of keys and numbers on disk in bits a key; 0 without keys.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn bits_per_key(&self) -> f64 {
        let bytes = self.key_bytes + self.row_bytes;
        if self.keys == 0 { 0.0 } else { bytes as f64 * 8.0 / self.keys as f64 }
    }

    /// Least bits of a key with its number, of as many distinct random keys that equally many random records share
    /// each: log2 of the number of sets of the distinct keys, and for each of them of the sets of its records, divided
    /// by the number of keys with their records. Where some keys are far more frequent than others, it may be less.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a bound to four digits")]
    pub fn information_bound_bits(&self) -> Option<f64> {
        let keys = information_bound(u32::from(self.key_bits), self.distinct)?;
        let (each, over) = (self.keys / self.distinct.max(1), self.keys % self.distinct.max(1));
        let rare = (self.distinct - over) as f64 * subsets(self.records, each);
        let frequent = over as f64 * subsets(self.records, each + 1);
        Some((self.distinct as f64 * keys + rare + frequent) / self.keys.max(1) as f64)
    }

    /// The share of all pairs of unrelated records, with as many keys each as records have on average, that share a key
    /// by chance.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub fn false_candidates(&self) -> f64 {
        let each = self.keys as f64 / self.records.max(1) as f64;
        // 1 - exp(-x) without the loss of digits of small x.
        -(-each * each * 0.5_f64.powi(i32::from(self.key_bits))).exp_m1()
    }

    fn add(&mut self, segment: &Segment) {
        let footer = segment.footer();
        self.keys = self.keys.saturating_add(footer.records);
        self.distinct = self.distinct.saturating_add(footer.fingerprints);
        for table in &footer.tables {
            self.key_bytes += table.data.length + table.codes.length + table.index.length;
        }
        self.row_bytes += footer.ids.length + footer.id_index.length + footer.id_dictionary.length;
        self.sketch_bytes += footer.sketches.map_or(0, |sketches| sketches.length);
        self.file_bytes += segment.file().length();
    }
}

/// Sizes and counts of one table.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TableStatistics {
    /// Its number and the number of its leading key bits, for display.
    pub name: String,
    /// Fingerprints.
    pub fingerprints: u64,
    /// Blocks.
    pub blocks: u64,
    /// Pages of blocks with their checksums.
    pub data_bytes: u64,
    /// Block index.
    pub index_bytes: u64,
    /// Huffman code lengths.
    pub code_bytes: u64,
    /// Least bits a key of as many uniformly random fingerprints or narrow keys.
    pub information_bound_bits: Option<f64>,
}

impl TableStatistics {
    /// Size of the table on disk in bits a fingerprint; 0 for an empty table.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn bits_per_fingerprint(&self) -> f64 {
        let bytes = self.data_bytes + self.index_bytes + self.code_bytes;
        if self.fingerprints == 0 { 0.0 } else { bytes as f64 * 8.0 / self.fingerprints as f64 }
    }
}

/// log2 of the number of sets of n of the 2^w fingerprints, divided by n: by Stirling w - log2 n + log2 e less a
/// vanishing term. For few fingerprints the sum of log2((2^w - i) / (i + 1)).
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a bound to four digits")]
pub(crate) fn information_bound(width: u32, fingerprints: u64) -> Option<f64> {
    let n = fingerprints as f64;
    match fingerprints {
        0 => None,
        1..=1000 => Some((0..fingerprints).map(|i| f64::from(width) - (i as f64 + 1.0).log2()).sum::<f64>() / n),
        _ => {
            let stirling = (2.0 * std::f64::consts::PI * n).log2() / (2.0 * n);
            Some(f64::from(width) - n.log2() + std::f64::consts::LOG2_E - stirling)
        }
    }
}

/// log2 of the number of sets of k of n.
#[expect(clippy::cast_precision_loss, reason = "a bound to four digits")]
fn subsets(n: u64, k: u64) -> f64 {
    let k = k.min(n.saturating_sub(k));
    if k <= 1000 {
        return (0..k).map(|i| ((n - i) as f64 / (i as f64 + 1.0)).log2()).sum();
    }
    // Stirling: n H(k/n) less half the logarithm of 2 pi k (n - k) / n.
    let (n, share) = (n as f64, k as f64 / n as f64);
    let entropy = -share * share.log2() - (1.0 - share) * (1.0 - share).log2();
    n * entropy - 0.5 * (2.0 * std::f64::consts::PI * n * share * (1.0 - share)).log2()
}

/// The empty tables of a design; none if it does not fit the width.
pub(crate) fn empty_tables(design: Design, width: u32) -> Vec<TableStatistics> {
    let named = |(number, layout): (usize, TableLayout)| TableStatistics {
        name: format!("table {number} (leading {} bits)", layout.leading),
        ..TableStatistics::default()
    };
    design.tables(width).unwrap_or_default().into_iter().enumerate().map(named).collect()
}

pub(crate) fn of_store(inner: &StoreInner) -> Statistics {
    let context = &inner.context;
    let mut total = of_view(context, &inner.read_view());
    let versions = inner.versions();
    total.file_bytes += versions.manifest.write().len() as u64;
    total.written = versions.manifest.written;
    drop(versions);
    total.log_bytes = directory::log_bytes(&**context.env(), &context.path);
    total.file_bytes += total.log_bytes;
    total.pressure = inner.pressure();
    total
}

pub(crate) fn of_view(context: &StoreContext, view: &ReadView) -> Statistics {
    let (parameters, version) = (&context.parameters, &view.version);
    let mut total = collect(parameters, version.segments.iter().map(|segment| &**segment));
    total.runs = version.runs.len() as u64;
    let hidden = version.runs.iter().filter_map(|run| run.tombstones.as_ref());
    total.tombstones = hidden.map(|segment| segment.footer().records).fold(0, u64::saturating_add);
    total.stored = total.records;
    let bytes = |segment: Option<&Arc<Segment>>| segment.map_or(0, |segment| segment.file().length());
    for run in &version.runs {
        total.removal_bytes += bytes(run.tombstones.as_ref());
        total.id_index_bytes += bytes(run.id_index.as_ref());
        let others = [&run.tombstones, &run.id_index].into_iter().flatten();
        total.resident_bytes += others.map(|segment| segment.resident_bytes()).sum::<u64>();
    }
    total.file_bytes += total.removal_bytes + total.id_index_bytes;
    if let Some(format) = parameters.keys() {
        let records = total.stored;
        let mut keys = KeyStatistics { key_bits: format.key_bits(), records, ..KeyStatistics::default() };
        let segments = version.runs.iter().filter_map(|run| run.keys.as_ref());
        segments.for_each(|segment| {
            keys.add(segment);
            total.resident_bytes += segment.resident_bytes();
        });
        total.file_bytes += keys.file_bytes;
        total.filter_bytes = 0;
        total.keys = Some(keys);
    }
    for (memtable, visible) in view.memtables() {
        total.unflushed += u64::from(visible);
        total.distinct_at_most += u64::from(memtable.fingerprints());
        total.memtable_bytes += memtable.used_bytes();
    }
    (total.records, total.is_count_exact) = records_of_view(parameters, view);
    total.is_distinct_exact &= total.unflushed == 0 && total.tombstones == 0;
    total.filters = filters::statistics(&version.segments, context);
    total
}

pub(crate) fn collect<'a>(parameters: &Parameters, segments: impl IntoIterator<Item = &'a Segment>) -> Statistics {
    let tables = empty_tables(parameters.design(), parameters.width());
    let mut total = Statistics { tables, ..Statistics::default() };
    for segment in segments {
        let footer = segment.footer();
        total.records = total.records.saturating_add(footer.records);
        total.fingerprints = total.fingerprints.saturating_add(footer.fingerprints);
        total.segments += 1;
        total.file_bytes += segment.file().length();
        total.id_bytes += footer.ids.length + footer.id_index.length + footer.id_dictionary.length;
        total.resident_bytes += segment.resident_bytes();
        total.filter_bytes += filters::bytes_of(segment);
        for (table, sections) in total.tables.iter_mut().zip(&footer.tables) {
            table.fingerprints = table.fingerprints.saturating_add(footer.fingerprints);
            table.blocks += sections.blocks;
            table.data_bytes += sections.data.length;
            table.index_bytes += sections.index.length;
            table.code_bytes += sections.codes.length;
        }
    }
    total.is_count_exact = true;
    (total.distinct_at_most, total.is_distinct_exact) = (total.fingerprints, total.segments < 2);
    let layouts = parameters.design().tables(parameters.width()).unwrap_or_default();
    for (number, (table, layout)) in total.tables.iter_mut().zip(layouts).enumerate() {
        // A narrow key has fewer bits than a fingerprint.
        let bits = match TableForm::new(parameters.width(), number, layout.leading, table.fingerprints) {
            TableForm::Narrow { lead, row } => lead + row,
            TableForm::Full | TableForm::Rows => parameters.width(),
        };
        table.information_bound_bits = information_bound(bits, table.fingerprints);
    }
    total
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_known_at_the_usual_size() {
        assert_eq!(information_bound(64, 0), None);
        assert_eq!(information_bound(64, 1), Some(64.0));
        assert!((information_bound(64, 20_000_000).unwrap() - 41.19).abs() < 0.005);
        assert!((subsets(52, 5) - 2_598_960_f64.log2()).abs() < 1e-9 && subsets(7, 7).abs() < 1e-9);
        assert!((subsets(100_000, 1000) - 8073.012).abs() < 0.01 && (subsets(100_000, 1001) - 8079.640).abs() < 0.01);
        assert!((information_bound(64, 1000).unwrap() - information_bound(64, 1001).unwrap()).abs() < 0.01);
    }
}
