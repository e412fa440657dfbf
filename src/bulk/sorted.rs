//! Records for a load: as they come, and in the order in which a segment holds them.

use super::sort;
use crate::fingerprint::Record;
use crate::format::manifest::Numbering;
use crate::plan::Skew;
use rayon::prelude::*;
use std::sync::Arc;

/// What is loaded.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Records {
    /// Fingerprints with the ids of their documents.
    WithIds(Vec<Record>),
    /// Fingerprints that the store numbers, in this order, from its own counter. Numbers begin at 0 and are never used
    /// again.
    Numbered(Vec<u64>),
}

impl Records {
    /// Number of records.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::WithIds(records) => records.len(),
            Self::Numbered(fingerprints) => fingerprints.len(),
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Records that were sorted for loading: by fingerprint, then id, each once.
///
/// A load sorts its records first of all; who wants to know their [`Skew`] to plan for them sorts them before.
///
/// ```
/// use fpstore::plan::{Design, Goal, Workload};
/// use fpstore::{Options, Parameters, Records, SortedRecords, Store};
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let records = SortedRecords::from(Records::Numbered((1..=1000u64).map(|i| i << 50 | i).collect()));
/// let fingerprints = records.fingerprints();
/// let workload = Workload { fingerprints, width: 64, distance: 3, block_size: 256, filter: true };
/// let design = records.skew().recommend(Goal::Balanced, &workload)?;
/// let parameters = Parameters::new(3).with_design(design);
/// let (store, _) = Store::create_loaded(&path, &parameters, &Options::new(), records)?;
/// assert_eq!(store.query(1 << 50, 3)?[0].id, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SortedRecords {
    /// Distinct.
    pub(super) records: Vec<Packed>,
    /// The records' distinct fingerprints.
    pub(super) fingerprints: Arc<Vec<u64>>,
    numbering: Numbering,
    /// Number of records before equal ones were dropped.
    given: u64,
}

/// A record as a number, fingerprint before id, so that records sort as numbers do.
pub(super) type Packed = u128;

fn pack(fingerprint: u64, id: u64) -> Packed {
    Packed::from(fingerprint) << 64 | Packed::from(id)
}

#[expect(clippy::cast_possible_truncation, reason = "the upper and the lower half")]
pub(super) fn unpack(packed: Packed) -> Record {
    Record { fingerprint: (packed >> 64) as u64, id: packed as u64 }
}

impl From<Records> for SortedRecords {
    fn from(records: Records) -> Self {
        let given = records.len() as u64;
        let key = |&packed: &Packed| unpack(packed).fingerprint;
        let (mut sorted, numbering) = match records {
            _ if given == 0 => (Vec::new(), Numbering::Undecided),
            Records::WithIds(records) => {
                (sort::sorted(&records, |_, record| pack(record.fingerprint, record.id), key), Numbering::Given)
            }
            Records::Numbered(fingerprints) => {
                (sort::sorted(&fingerprints, |number, &f| pack(f, number as u64), key), Numbering::Own)
            }
        };
        drop_equal(&mut sorted);
        let fingerprints = fingerprints_of(&sorted);
        Self { records: sorted, fingerprints: Arc::new(fingerprints), numbering, given }
    }
}

impl SortedRecords {
    /// Number of records that were given, equal ones included.
    #[must_use]
    pub fn given(&self) -> u64 {
        self.given
    }

    /// Number of different records.
    #[must_use]
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Number of different fingerprints.
    #[must_use]
    pub fn fingerprints(&self) -> u64 {
        self.fingerprints.len() as u64
    }

    /// Whether the records have ids or the store is to number them; undecided of no records.
    #[must_use]
    pub fn numbering(&self) -> Numbering {
        self.numbering
    }

    /// How the fingerprints are spread. They are shared, not copied.
    #[must_use]
    pub fn skew(&self) -> Skew {
        Skew::of_sorted(Arc::clone(&self.fingerprints))
    }

    /// Adds `first` to the numbers of records that the store numbers. No sum may exceed 64 bits.
    pub(crate) fn number_from(&mut self, first: u64) {
        if first > 0 {
            self.records.par_iter_mut().for_each(|packed| *packed += Packed::from(first));
        }
    }

    /// Keeps the records for which `keep` says so.
    pub(super) fn retain(&mut self, mut keep: impl FnMut(Record) -> bool) {
        let before = self.records.len();
        self.records.retain(|&packed| keep(unpack(packed)));
        if self.records.len() < before {
            self.fingerprints = Arc::new(fingerprints_of(&self.records));
        }
    }
}

fn fingerprints_of(records: &[Packed]) -> Vec<u64> {
    let mut fingerprints = records.par_iter().map(|&packed| unpack(packed).fingerprint).collect();
    drop_equal(&mut fingerprints);
    fingerprints
}

/// As `dedup`, which would write every value to where it is already; most often there is nothing to drop.
fn drop_equal<T: PartialEq + Sync>(sorted: &mut Vec<T>) {
    if sorted.par_windows(2).any(|pair| matches!(pair, [a, b] if a == b)) {
        sorted.dedup();
    }
}
