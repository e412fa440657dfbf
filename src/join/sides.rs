//! The fingerprints of a group in memory, of one side or two.

use super::hash::Groups;
use super::mask;
use crate::fingerprint::Fingerprint;
use crate::plan::join::JoinSize;
use std::ops::Range;

/// Fingerprints in any order, and a buffer for as many with any content.
#[derive(Debug)]
pub(super) struct Side<'a, F> {
    pub(super) fingerprints: &'a mut [F],
    pub(super) buffer: &'a mut [F],
}

impl<F: Fingerprint> Side<'_, F> {
    pub(super) fn exchange(&mut self) {
        std::mem::swap(&mut self.fingerprints, &mut self.buffer);
    }

    /// A group in the buffer as the fingerprints of another side.
    fn group(&mut self, range: Range<usize>) -> Side<'_, F> {
        let fingerprints = self.buffer.get_mut(range.clone()).unwrap_or_default();
        Side { fingerprints, buffer: self.fingerprints.get_mut(range).unwrap_or_default() }
    }

    fn count(&self, groups: Groups<F>, starts: &mut Vec<u32>) {
        starts.clear();
        starts.resize(groups.count(), 0);
        for &fingerprint in &*self.fingerprints {
            if let Some(count) = starts.get_mut(groups.of(fingerprint)) {
                *count += 1;
            }
        }
    }

    /// Copies the fingerprints to the buffer, group by group. `starts` become ends.
    fn deal(&mut self, groups: Groups<F>, starts: &mut [u32]) {
        for &fingerprint in &*self.fingerprints {
            if let Some(place) = starts.get_mut(groups.of(fingerprint)) {
                if let Some(slot) = self.buffer.get_mut(*place as usize) {
                    *slot = fingerprint;
                }
                *place += 1;
            }
        }
    }
}

/// The range of the group that starts at `end` and has `count` fingerprints; the count becomes its start.
fn following(end: &mut u32, count: &mut u32) -> Range<usize> {
    let start = *end;
    *end += std::mem::replace(count, start);
    start as usize..*end as usize
}

pub(super) fn total(ranges: &[Range<usize>; 2]) -> usize {
    ranges.iter().map(Range::len).sum()
}

/// One side, for the pairs within it, or two, for the pairs between them.
#[derive(Debug)]
pub(super) struct Sides<'a, F> {
    pub(super) left: Side<'a, F>,
    pub(super) right: Option<Side<'a, F>>,
}

impl<F: Fingerprint> Sides<'_, F> {
    pub(super) fn len(&self) -> usize {
        self.left.fingerprints.len() + self.right.as_ref().map_or(0, |right| right.fingerprints.len())
    }

    pub(super) fn size(&self) -> JoinSize {
        let right = self.right.as_ref().map(|right| right.fingerprints.len() as u64);
        JoinSize::new(self.left.fingerprints.len() as u64, right, F::WIDTH)
    }

    /// The bits that vary among about `count` fingerprints of each side.
    pub(super) fn varying(&self, count: usize) -> F {
        let sides = std::iter::once(&self.left).chain(&self.right);
        let sample = sides.flat_map(|side| side.fingerprints.iter().step_by((side.fingerprints.len() / count).max(1)));
        mask::varying(sample.copied())
    }

    /// Copies the fingerprints to the buffers, group by group. Appends the ranges of the groups of more than
    /// `more_than` fingerprints that have some on each side. `starts` is a buffer for reuse.
    pub(super) fn deal(
        &mut self,
        groups: Groups<F>,
        starts: &mut [Vec<u32>; 2],
        more_than: usize,
        longer: &mut Vec<[Range<usize>; 2]>,
    ) {
        let [starts, right_starts] = starts;
        self.left.count(groups, starts);
        let mut end = 0;
        match &mut self.right {
            None => {
                for count in &mut *starts {
                    let range = following(&mut end, count);
                    if range.len() > more_than {
                        longer.push([range, 0..0]);
                    }
                }
            }
            Some(right) => {
                right.count(groups, right_starts);
                let mut right_end = 0;
                for (count, right_count) in starts.iter_mut().zip(&mut *right_starts) {
                    let ranges = [following(&mut end, count), following(&mut right_end, right_count)];
                    if ranges.iter().all(|range| !range.is_empty()) && total(&ranges) > more_than {
                        longer.push(ranges);
                    }
                }
                right.deal(groups, right_starts);
            }
        }
        self.left.deal(groups, starts);
    }

    /// A group in the buffers as the fingerprints of other sides.
    pub(super) fn group(&mut self, [left, right]: [Range<usize>; 2]) -> Sides<'_, F> {
        let left = self.left.group(left);
        Sides { left, right: self.right.as_mut().map(|side| side.group(right)) }
    }

    /// Copies the fingerprints back, after groups of them have used their place as a buffer.
    pub(super) fn restore(&mut self) {
        for side in std::iter::once(&mut self.left).chain(&mut self.right) {
            side.fingerprints.copy_from_slice(side.buffer);
        }
    }
}
