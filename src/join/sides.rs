//! The fingerprints of a group in memory, on one side or on two.

use super::hash::Groups;
use super::mask;
use crate::fingerprint::Fingerprint;
use crate::plan::join::JoinSize;

/// Fingerprints, and a buffer for as many. What is in the buffer is of no account; the order of the fingerprints neither.
#[derive(Debug)]
pub(super) struct Side<'a, F> {
    pub(super) fingerprints: &'a mut [F],
    pub(super) buffer: &'a mut [F],
}

/// Where a group lies in the buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    start: u32,
    end: u32,
}

impl Range {
    pub(super) fn start(&self) -> usize {
        self.start as usize
    }

    pub(super) fn end(&self) -> usize {
        self.end as usize
    }

    pub(super) fn len(&self) -> usize {
        self.end() - self.start()
    }

    pub(super) fn of<F>(self, buffer: &[F]) -> &[F] {
        buffer.get(self.start()..self.end()).unwrap_or_default()
    }
}

impl<F: Fingerprint> Side<'_, F> {
    /// A group in the buffer; it becomes the fingerprints.
    fn group(&mut self, range: Range) -> Side<'_, F> {
        let range = range.start()..range.end();
        let fingerprints = self.buffer.get_mut(range.clone()).unwrap_or_default();
        Side { fingerprints, buffer: self.fingerprints.get_mut(range).unwrap_or_default() }
    }

    /// Sets `starts` to where each group starts in the buffer.
    fn count(&self, groups: Groups<F>, starts: &mut Vec<u32>) {
        starts.clear();
        starts.resize(groups.count(), 0);
        for &fingerprint in &*self.fingerprints {
            if let Some(count) = starts.get_mut(groups.of(fingerprint)) {
                *count += 1;
            }
        }
    }

    /// Puts the fingerprints in the buffer, group by group. `starts` become ends.
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

/// The group of so many fingerprints that starts at `end`; the count becomes its start.
fn behind(end: &mut u32, count: &mut u32) -> Range {
    let start = *end;
    *end += std::mem::replace(count, start);
    Range { start, end: *end }
}

/// One side, pairs within which are looked for, or two, between which they are.
#[derive(Debug)]
pub(super) struct Sides<'a, F> {
    pub(super) left: Side<'a, F>,
    pub(super) right: Option<Side<'a, F>>,
}

impl<F: Fingerprint> Sides<'_, F> {
    /// Number of fingerprints.
    pub(super) fn len(&self) -> usize {
        self.left.fingerprints.len() + self.right.as_ref().map_or(0, |right| right.fingerprints.len())
    }

    pub(super) fn size(&self) -> JoinSize {
        let right = self.right.as_ref().map(|right| right.fingerprints.len() as u64);
        JoinSize::new(self.left.fingerprints.len() as u64, right, F::WIDTH)
    }

    /// The bits that vary among so many.
    pub(super) fn varying(&self, count: usize) -> F {
        let sides = std::iter::once(&self.left).chain(&self.right);
        let sample = sides.flat_map(|side| side.fingerprints.iter().step_by((side.fingerprints.len() / count).max(1)));
        mask::varying(sample.copied())
    }

    /// Puts the fingerprints in the buffers, group by group, and appends where those groups are that have more than so
    /// many, and something on each side. `starts` is for use again.
    pub(super) fn deal(
        &mut self,
        groups: Groups<F>,
        starts: &mut [Vec<u32>; 2],
        more_than: usize,
        longer: &mut Vec<[Range; 2]>,
    ) {
        let [starts, right_starts] = starts;
        self.left.count(groups, starts);
        let mut end = 0;
        match &mut self.right {
            None => {
                for count in &mut *starts {
                    let range = behind(&mut end, count);
                    if range.len() > more_than {
                        longer.push([range, Range::default()]);
                    }
                }
            }
            Some(right) => {
                right.count(groups, right_starts);
                let mut right_end = 0;
                for (count, right_count) in starts.iter_mut().zip(&mut *right_starts) {
                    let ranges = [behind(&mut end, count), behind(&mut right_end, right_count)];
                    let lengths = ranges.map(|range| range.len());
                    if !lengths.contains(&0) && lengths.iter().sum::<usize>() > more_than {
                        longer.push(ranges);
                    }
                }
                right.deal(groups, right_starts);
            }
        }
        self.left.deal(groups, starts);
    }

    /// A group in the buffers; it becomes the fingerprints.
    pub(super) fn group(&mut self, [left, right]: [Range; 2]) -> Sides<'_, F> {
        let left = self.left.group(left);
        Sides { left, right: self.right.as_mut().map(|side| side.group(right)) }
    }

    /// Fetches the fingerprints back, after groups of them have used their place.
    pub(super) fn restore(&mut self) {
        for side in std::iter::once(&mut self.left).chain(&mut self.right) {
            side.fingerprints.copy_from_slice(side.buffer);
        }
    }
}
