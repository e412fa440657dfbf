//! Joins of which a task has a share: the pairs of one part, among the records of many stores.

use std::path::{Path, PathBuf};

use fpstore::bulk::deal as deal_records;
use fpstore::clusters::Clusters;
use fpstore::pairs::{Pairs, Part};
use fpstore::{Fingerprint, Result, Snapshot, U256};

use crate::input::invalid;
use crate::open::{AnySnapshot, Handle, with_snapshot};

/// The other records of a join, and its part.
#[derive(Clone, Debug, Default)]
pub struct Among {
    /// The number of a part of the join; `None`: all pairs.
    pub part: Option<u32>,
    /// More states, whose records count as those of the first one.
    pub more: Vec<AnySnapshot>,
}

/// Fingerprints of a width that is known at run time.
pub(crate) trait OfWidth: Fingerprint {
    /// The snapshot, if its fingerprints have this width.
    fn typed(snapshot: &AnySnapshot) -> Option<&Snapshot<Self>>;
}

macro_rules! of_width {
    ($($type:ty, $width:ident;)*) => {$(
        impl OfWidth for $type {
            fn typed(snapshot: &AnySnapshot) -> Option<&Snapshot<Self>> {
                if let AnySnapshot::$width(snapshot) = snapshot { Some(snapshot) } else { None }
            }
        }
    )*};
}

of_width! {
    u64, Bits64;
    u128, Bits128;
    U256, Bits256;
}

impl Among {
    /// The other states.
    fn others<F: OfWidth>(&self) -> Result<Vec<Snapshot<F>>> {
        let typed = |snapshot: &AnySnapshot| {
            F::typed(snapshot).cloned().ok_or_else(|| {
                let width = snapshot.parameters().width();
                invalid(format!("the fingerprints of one store have {} bits, those of another {width}", F::WIDTH))
            })
        };
        self.more.iter().map(typed).collect()
    }

    pub(crate) fn pairs<F: OfWidth>(&self, pairs: Pairs<F>, k: u32) -> Result<Pairs<F>> {
        let pairs = pairs.with_more(&self.others()?)?;
        match self.part {
            Some(part) => pairs.of_part(Part::new(part, k)?),
            None => Ok(pairs),
        }
    }

    pub(crate) fn clusters<F: OfWidth>(&self, clusters: Clusters<F>, k: u32) -> Result<Clusters<F>> {
        let clusters = clusters.with_more(&self.others()?)?;
        match self.part {
            Some(part) => clusters.of_part(Part::new(part, k)?),
            None => Ok(clusters),
        }
    }
}

/// A store that [`deal`] made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dealt {
    /// The number of the part.
    pub part: u32,
    /// The number of the group.
    pub group: u32,
    /// The directory.
    pub path: PathBuf,
    /// Number of its records.
    pub records: u64,
}

/// Divides the records of a state among new stores in `folder`, which exists: [`fpstore::bulk::deal`]. Their names are
/// `part-0-group-0` and so on; with one group, only that one exists.
///
/// # Errors
/// Those of [`fpstore::bulk::deal`].
pub fn deal(handle: &Handle, folder: &Path, k: u32, groups: u32) -> Result<Vec<Dealt>> {
    let place = |part: Part, group: u32| folder.join(format!("part-{}-group-{group}", part.number()));
    let dealt = with_snapshot!(&handle.snapshot()?, snapshot => {
        deal_records(snapshot, k, groups, &place, &handle.options)?
    });
    let made = |one: fpstore::bulk::DealtStore| Dealt {
        part: one.part.number(),
        group: one.group,
        path: one.path,
        records: one.report.added(),
    };
    Ok(dealt.into_iter().map(made).collect())
}
