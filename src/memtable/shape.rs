//! The layout of a store's memtables.

use crate::error::Result;
use crate::fingerprint::IdKind;
use crate::format::Parameters;
use crate::plan::Permutation;
use crate::plan::masks::number_of_masks;

/// Numbers of fingerprints have 31 bits.
pub(super) const MOST_RECORDS: usize = 1 << 30;
const LEAST_RECORDS: usize = 64;
/// Assumed bytes of a text id.
const TYPICAL_TEXT: usize = 64;
/// The factor by which more real fingerprints than evenly spread ones share their leading bits.
const SKEW: f64 = 64.0;

/// The layout that all memtables of a store share.
#[derive(Debug)]
pub(crate) struct MemtableShape {
    pub(super) tables: Vec<MemtableTable>,
    /// For each distance the radius of each table.
    pub(super) radii: Vec<Vec<Option<u32>>>,
    pub(super) words: usize,
    pub(super) ids: IdKind,
    pub(super) id_index: bool,
    pub(super) capacity: usize,
    pub(super) text_bytes: usize,
    /// Bytes of memory per record, without its text.
    pub(super) record_bytes: usize,
}

/// The key of one hash table: a prefix of the permuted fingerprint.
#[derive(Debug)]
pub(super) struct MemtableTable {
    pub(super) permutation: Permutation,
    pub(super) prefix: u32,
}

impl MemtableTable {
    #[inline]
    pub(super) fn bucket_key(&self, key: u64) -> u64 {
        key >> (64 - self.prefix.clamp(1, 64))
    }
}

impl MemtableShape {
    /// The layout of memtables of about `bytes`.
    pub(crate) fn new(parameters: &Parameters, bytes: u64) -> Result<Self> {
        let layouts = parameters.design().tables(parameters.width())?;
        let (ids, id_index) = (parameters.ids(), parameters.id_index());
        // Per record: a mark, a head and a link in every table and index; fingerprint, newest record; id, link; another
        // link in the lists of ids.
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

/// The prefix length with the least prefixes and candidates per query.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn prefix_of(leading: u32, radius: u32, records: usize) -> u32 {
    let meets = |prefix: u32| {
        let shared = SKEW * records as f64 / 2f64.powi(prefix.cast_signed());
        number_of_masks(prefix, radius) * (1.0 + shared)
    };
    (1..=leading.max(1)).min_by(|&a, &b| meets(a).total_cmp(&meets(b))).unwrap_or(1)
}
