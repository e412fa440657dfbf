//! Loading fingerprints into memory, bucket by bucket.

use super::hash::Groups;
use super::mask;
use super::source::FingerprintSource;
use crate::env::Array;
use crate::error::Result;
use crate::extsort::{Dealer, cut, deal};
use crate::fingerprint::Fingerprint;
use std::ops::Range;

/// Fingerprints that are picked before the picked ones are dealt.
const PICKED: usize = 256;

/// The fingerprints of a pass: those in one group of each of these divisions.
#[derive(Clone, Debug)]
pub(super) struct Path<F> {
    groups: Vec<(Groups<F>, usize)>,
    depth: usize,
}

impl<F: Fingerprint> Path<F> {
    /// All fingerprints.
    pub(super) fn all() -> Self {
        Self { groups: Vec::new(), depth: 0 }
    }

    /// Those that are also in another group.
    pub(super) fn and(&self, groups: Groups<F>, number: usize) -> Self {
        Self { groups: self.groups.iter().copied().chain([(groups, number)]).collect(), depth: self.depth + 1 }
    }

    /// The same for sources that have no other fingerprints.
    pub(super) fn alone(&self) -> Self {
        Self { groups: Vec::new(), ..*self }
    }

    /// Whether the pass has all fingerprints of the sources.
    pub(super) fn is_all(&self) -> bool {
        self.depth == 0
    }

    pub(super) fn depth(&self) -> usize {
        self.depth
    }

    #[inline]
    pub(super) fn has(&self, fingerprint: F) -> bool {
        self.groups.iter().all(|&(groups, number)| groups.of(fingerprint) == number)
    }
}

/// The number of fingerprints of a source in each group.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    /// By part of the source, then by group.
    parts: Vec<Vec<usize>>,
}

impl Counts {
    /// The counts of several divisions, in one pass.
    pub(super) fn of_all<F: Fingerprint>(
        source: &FingerprintSource<'_, F>,
        path: &Path<F>,
        all: &[Groups<F>],
    ) -> Result<Vec<Self>> {
        let mut parts = source.each_part(|visit| {
            let mut counts: Vec<Vec<usize>> = all.iter().map(|groups| vec![0; groups.count()]).collect();
            visit(&mut |fingerprints| {
                for (groups, counts) in all.iter().zip(&mut counts) {
                    for &fingerprint in fingerprints.iter().filter(|one| path.has(**one)) {
                        if let Some(count) = counts.get_mut(groups.of(fingerprint)) {
                            *count += 1;
                        }
                    }
                }
            })?;
            Ok(counts)
        })?;
        let of = |division: usize| {
            parts.iter_mut().filter_map(|counts| counts.get_mut(division).map(std::mem::take)).collect()
        };
        Ok((0..all.len()).map(of).map(|parts| Self { parts }).collect())
    }

    pub(super) fn of(&self, group: usize) -> usize {
        self.parts.iter().filter_map(|counts| counts.get(group)).sum()
    }

    pub(super) fn of_range(&self, range: &Range<usize>) -> usize {
        self.parts.iter().filter_map(|counts| counts.get(range.clone())).flatten().sum()
    }

    pub(super) fn all(&self) -> usize {
        self.parts.iter().flatten().sum()
    }
}

/// Loads the fingerprints of some groups to the memory, which has space for them, and returns each group.
pub(super) fn load<'a, F: Fingerprint>(
    source: &FingerprintSource<'_, F>,
    path: &Path<F>,
    groups: Groups<F>,
    range: &Range<usize>,
    counts: &Counts,
    memory: &'a mut Option<Array<F>>,
) -> Result<Vec<&'a mut [F]>> {
    let memory = memory.as_mut().and_then(|memory| memory.as_mut_slice().get_mut(..counts.of_range(range)));
    let memory = memory.unwrap_or_default();
    let by_part: Vec<&[usize]> =
        counts.parts.iter().map(|counts| counts.get(range.clone()).unwrap_or_default()).collect();
    source.with_parts(deal(memory, &by_part), Some((groups, range)), |slots, visit| {
        let mut dealer = Dealer::new(slots);
        let mut picked = [(0, F::default()); PICKED];
        visit(&mut |fingerprints| {
            for some in fingerprints.chunks(PICKED) {
                let mut count = 0;
                for &fingerprint in some {
                    // Each is written, and the next one to the same place if it is not picked: that needs no branch.
                    // For groups before the range, the number becomes one that does not exist.
                    let group = groups.of(fingerprint).wrapping_sub(range.start);
                    if let Some(place) = picked.get_mut(count) {
                        *place = (group, fingerprint);
                    }
                    count += usize::from((group < range.len()) & path.has(fingerprint));
                }
                for &(group, fingerprint) in picked.iter().take(count) {
                    dealer.enter(group, fingerprint);
                }
            }
        })?;
        dealer.finish();
        Ok(())
    })?;
    Ok(cut(memory, range.clone().map(|group| counts.of(group))))
}

pub(super) fn varying<F: Fingerprint>(sources: &[&FingerprintSource<'_, F>], path: &Path<F>) -> Result<F> {
    let mut all = Vec::new();
    for source in sources {
        all.append(&mut source.each_part(|visit| {
            let (mut first, mut varying) = (None, F::default());
            visit(&mut |fingerprints| {
                for &fingerprint in fingerprints.iter().filter(|one| path.has(**one)) {
                    varying = mask::or(varying, mask::xor(*first.get_or_insert(fingerprint), fingerprint));
                }
            })?;
            Ok((first, varying))
        })?);
    }
    let firsts = mask::varying(all.iter().filter_map(|&(first, _)| first));
    Ok(all.iter().fold(firsts, |sum, &(_, varying)| mask::or(sum, varying)))
}
