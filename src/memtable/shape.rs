//! How the memtables of a store are laid out.

use crate::error::Result;
use crate::fingerprint::IdKind;
use crate::format::Parameters;
use crate::plan::{Permutation, probing};

/// Most records of a memtable: numbers of fingerprints have 31 bits.
pub(super) const MOST_RECORDS: usize = 1 << 30;
/// Fewest records of a memtable.
const LEAST_RECORDS: usize = 64;
/// Bytes of a text id that a memtable is reckoned with.
const TYPICAL_TEXT: usize = 64;
/// Real fingerprints share their leading bits with more others than evenly spread ones do: some so many times as many.
const SKEW: f64 = 64.0;

/// What all memtables of a store have in common.
#[derive(Debug)]
pub(crate) struct MemtableShape {
    /// Those of the store's design.
    pub(super) tables: Vec<MemtableTable>,
    pub(super) radii: Vec<Vec<Option<u32>>>,
    /// 64-bit words of a fingerprint.
    pub(super) words: usize,
    pub(super) ids: IdKind,
    pub(super) id_index: bool,
    /// Records of a memtable.
    pub(super) capacity: usize,
    /// Bytes of text ids of a memtable.
    pub(super) text_bytes: usize,
    /// Bytes of memory that a record takes, without its text.
    pub(super) record_bytes: usize,
}

/// One table: which bits of a fingerprint its hash table is by.
#[derive(Debug)]
pub(super) struct MemtableTable {
    pub(super) permutation: Permutation,
    /// Number of leading key bits.
    pub(super) prefix: u32,
}

impl MemtableTable {
    /// What a key is found by.
    #[inline]
    pub(super) fn bucket_key(&self, key: u64) -> u64 {
        key >> (64 - self.prefix.clamp(1, 64))
    }
}

impl MemtableShape {
    /// Memtables of about so many bytes for a store with these parameters.
    ///
    /// # Errors
    /// `InvalidInput` if the design does not fit the width, which no store's does.
    pub(crate) fn new(parameters: &Parameters, bytes: u64) -> Result<Self> {
        let layouts = parameters.design().tables(parameters.width())?;
        let (ids, id_index) = (parameters.ids(), parameters.id_index());
        // Of each record: in every table, and every index of what is known, a mark, a head and a link; fingerprint, newest
        // record; id, link, and its text; in the lists of ids another link.
        let tables = layouts.len() + 1 + usize::from(ids != IdKind::None) + usize::from(id_index);
        let record_bytes = 9 * tables + (parameters.width() / 8) as usize + 4 + 8 + 8 + if id_index { 4 } else { 0 };
        let text = if ids == IdKind::Text { TYPICAL_TEXT } else { 0 };
        let bytes = usize::try_from(bytes).unwrap_or(usize::MAX);
        let capacity = (bytes / (record_bytes + text)).clamp(LEAST_RECORDS, MOST_RECORDS);
        let radii = (0..=parameters.width()).map(|k| parameters.design().radii(k)).collect::<Vec<_>>();
        let at_most = radii.get(parameters.max_distance() as usize).cloned().unwrap_or_default();
        let tables = layouts
            .into_iter()
            .zip(at_most.into_iter().chain(std::iter::repeat(None)))
            .map(|(layout, radius)| {
                let prefix = prefix_of(layout.leading.min(64), radius.unwrap_or(0), capacity);
                MemtableTable { permutation: layout.permutation, prefix }
            })
            .collect();
        Ok(Self {
            tables,
            radii,
            words: parameters.words(),
            ids,
            id_index,
            capacity,
            text_bytes: capacity * text,
            record_bytes,
        })
    }
}

/// The prefix length with which a query meets the least: its own prefixes, and fingerprints that share one.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn prefix_of(leading: u32, radius: u32, records: usize) -> u32 {
    let meets = |prefix: u32| {
        let shared = SKEW * records as f64 / 2f64.powi(prefix.cast_signed());
        probing::masks(prefix, radius) * (1.0 + shared)
    };
    (1..=leading.max(1)).min_by(|&a, &b| meets(a).total_cmp(&meets(b))).unwrap_or(1)
}
