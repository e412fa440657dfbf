//! Sizes and counts.

use super::filters;
use crate::format::Parameters;
use crate::plan::{Design, TableForm, TableLayout};
use crate::segment::Segment;

/// Sizes and counts of a store, summed over its segments. Sizes in bytes.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// Records.
    pub records: u64,
    /// Distinct fingerprints of each segment, summed.
    pub fingerprints: u64,
    /// Segments.
    pub segments: u64,
    /// All files: segments and manifest.
    pub file_bytes: u64,
    /// Ids with their index.
    pub id_bytes: u64,
    /// Memory that stays in use while the store is open, without filters.
    pub resident_bytes: u64,
    /// Further memory of the prefix filters, if they are made ([`crate::Filters`]).
    pub filter_bytes: u64,
    /// One entry a table.
    pub tables: Vec<TableStatistics>,
}

/// Sizes and counts of one table.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct TableStatistics {
    /// Its number and how many of its key's bits lead, for people.
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
    /// What a set of this many uniformly random keys takes at least, in bits each: of fingerprints, or of narrow keys.
    pub information_bound_bits: Option<f64>,
}

impl TableStatistics {
    /// Everything that the table needs on disk, in bits a fingerprint; 0 for an empty table.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a ratio for people")]
    pub fn bits_per_fingerprint(&self) -> f64 {
        let bytes = self.data_bytes + self.index_bytes + self.code_bytes;
        if self.fingerprints == 0 { 0.0 } else { bytes as f64 * 8.0 / self.fingerprints as f64 }
    }
}

/// log2 of the number of sets of n of the 2^w fingerprints of w bits, divided by n: w - log2 n + log2 e, less a vanishing term
/// (Stirling). For few fingerprints exact: the sum of log2((2^w - i) / (i + 1)).
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

/// The tables of a design with nothing in them. A design that does not fit the width, which no store has, has none.
pub(crate) fn empty_tables(design: Design, width: u32) -> Vec<TableStatistics> {
    let named = |(number, layout): (usize, TableLayout)| TableStatistics {
        name: format!("table {number} (leading {} bits)", layout.leading),
        ..TableStatistics::default()
    };
    design.tables(width).unwrap_or_default().into_iter().enumerate().map(named).collect()
}

/// Sizes and counts of one segment.
pub(crate) fn of_segment(segment: &Segment) -> Statistics {
    collect(&segment.footer().parameters, 0, [segment])
}

/// Adds up what the segments know of themselves.
pub(super) fn collect<'a>(
    parameters: &Parameters,
    manifest_bytes: u64,
    segments: impl IntoIterator<Item = &'a Segment>,
) -> Statistics {
    let mut total = Statistics { file_bytes: manifest_bytes, ..Statistics::default() };
    // An empty store has tables too, empty ones.
    total.tables = empty_tables(parameters.design(), parameters.width());
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
        assert!((information_bound(64, 1000).unwrap() - information_bound(64, 1001).unwrap()).abs() < 0.01);
    }
}
