//! The pairs of a few fingerprints with all others.
//!
//! Cut the bits into k + 1 parts: two fingerprints within k bits agree in one of them. So each part has a hash table of
//! the few by their bits in it, and one pass looks every fingerprint up in each table.

use crate::bitset::Bitset;
use crate::cluster::numbers::Numbers;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, mask};
use crate::join::{Groups, Progress, visit_stored, visit_wanted};
use crate::segment::{Scratch, Segment};
use crate::version::Share;
use rayon::prelude::*;
use std::sync::Arc;

const MOST: u64 = 1 << 13;
/// A table has this many bits more in its number of groups than in that of its fingerprints, so most groups are empty.
const SPARE_BITS: u32 = 5;
/// Most comparisons a fingerprint, on average. Beyond that a join takes less.
const COMPARED: usize = 64;

#[derive(Debug)]
pub(crate) struct Few<F> {
    k: u32,
    tables: Vec<Table<F>>,
}

/// Fingerprints and their numbers, grouped by their bits in a part.
#[derive(Debug)]
struct Table<F> {
    groups: Groups<F>,
    /// The first member of each group, and the end.
    starts: Vec<u32>,
    members: Vec<(F, u32)>,
}

impl<F: Fingerprint> Few<F> {
    /// The fingerprints with these numbers; `None` if they are too many or too similar.
    pub(crate) fn new(segments: &[Arc<Segment>], wanted: &Bitset, k: u32) -> Result<Option<Self>> {
        if wanted.count() > MOST || k >= F::WIDTH {
            return Ok(None);
        }
        let mut few = Vec::new();
        visit_wanted(segments, Share::ALL, wanted, &mut |fingerprint, number| {
            few.push((fingerprint, number));
            Ok(())
        })?;
        let bits = few.len().max(1).ilog2() + SPARE_BITS;
        let parts = mask::split(mask::all::<F>(), k + 1);
        let tables: Vec<Table<F>> = parts.iter().map(|&part| Table::new(&few, Groups::new(part, bits))).collect();
        // An estimate: the other fingerprints are taken to be distributed like the few.
        let compared: usize = tables.iter().map(Table::compared).sum();
        Ok((compared <= COMPARED * few.len()).then_some(Self { k, tables }))
    }

    /// Calls `take` on many threads with the numbers of all near pairs with one of the few, which is the second.
    pub(crate) fn visit(
        &self,
        segments: &[Arc<Segment>],
        numbers: &Numbers<F>,
        progress: &Progress,
        take: &(dyn Fn(u32, u32) -> Result<()> + Sync),
    ) -> Result<()> {
        if self.tables.iter().all(|table| table.members.is_empty()) {
            return Ok(());
        }
        let shares = Share::cut_segments(segments, 4 * rayon::current_num_threads())?;
        progress.begin(shares.len() as u64);
        shares.into_par_iter().try_for_each(|share| {
            progress.check()?;
            let (mut scratch, mut result) = (Scratch::default(), Ok(()));
            visit_stored(segments, share, &mut |fingerprints: &[F]| {
                let mut each = fingerprints.iter();
                if result.is_ok() {
                    result = each.try_for_each(|&one| self.visit_one(one, numbers, take, &mut scratch));
                }
            })?;
            progress.advance(1);
            result
        })
    }

    fn visit_one(
        &self,
        one: F,
        numbers: &Numbers<F>,
        take: &dyn Fn(u32, u32) -> Result<()>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let mut own = None;
        for table in &self.tables {
            for &(other, number) in table.of(one) {
                if other != one && other.distance(one) <= self.k {
                    let own = match own {
                        Some(own) => own,
                        None => *own.insert(numbers.of(one, scratch)?),
                    };
                    take(own, number)?;
                }
            }
        }
        Ok(())
    }
}

impl<F: Fingerprint> Table<F> {
    fn new(few: &[(F, u32)], groups: Groups<F>) -> Self {
        let mut members = few.to_vec();
        members.sort_by_key(|one| groups.of(one.0));
        let mut starts = vec![0; groups.count() + 1];
        for one in few {
            starts.iter_mut().skip(groups.of(one.0) + 1).take(1).for_each(|count| *count += 1);
        }
        let mut sum = 0;
        starts.iter_mut().for_each(|start| {
            sum += *start;
            *start = sum;
        });
        Self { groups, starts, members }
    }

    #[inline]
    fn of(&self, one: F) -> &[(F, u32)] {
        let group = self.groups.of(one);
        let (Some(&start), Some(&end)) = (self.starts.get(group), self.starts.get(group + 1)) else { return &[] };
        self.members.get(start as usize..end as usize).unwrap_or_default()
    }

    fn compared(&self) -> usize {
        self.starts
            .windows(2)
            .map(|bounds| if let [start, end] = bounds { (end - start) as usize } else { 0 })
            .map(|size| size * size)
            .sum()
    }
}
