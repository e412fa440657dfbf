//! Which label from before is of which record, where both came in the same order.

use std::ops::Range;

/// Labels or records of which the other has none, before they count as being in another order.
const MOST: usize = 1 << 16;

/// Labels and records as they met.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// Of each lot of records: the first 64 bits of its first fingerprint, and its first record's number.
    lots: Vec<(u64, u64)>,
    /// All records of lots.
    records: u64,
    /// Records that were met or skipped.
    seen: u64,
    /// Records without a label, ascending.
    unlabelled: Vec<u64>,
    /// Labels without a record, each as the number of labels with a record before it.
    unused: Vec<u64>,
}

impl Order {
    /// Adds records: a lot, or more of the last one if that begins at the same place.
    pub(super) fn add_records(&mut self, from: u64, count: usize) {
        if self.lots.last().is_none_or(|last| last.0 != from) {
            self.lots.push((from, self.records));
        }
        self.records += count as u64;
    }

    /// The next record has the next label.
    #[inline]
    pub(super) fn meet(&mut self) {
        self.seen += 1;
    }

    /// The next record has no label.
    pub(super) fn skip_record(&mut self) {
        if self.unlabelled.len() <= MOST {
            self.unlabelled.push(self.seen);
        }
        self.seen += 1;
    }

    /// This label, which comes next, is of no record.
    pub(super) fn skip_label(&mut self, label: u64) {
        if self.unused.len() <= MOST {
            self.unused.push(label - self.unused.len() as u64);
        }
    }

    /// Whether all has been kept.
    pub(super) fn holds(&self) -> bool {
        self.unlabelled.len() <= MOST && self.unused.len() <= MOST
    }

    /// The lots: from which first 64 bits of fingerprints to below which, the first one's from 0 and the last one's without an end;
    /// and the number of the first record.
    pub(super) fn lots(&self) -> impl Iterator<Item = (u64, Option<u64>, u64)> {
        let first = self.lots.is_empty().then_some((0, None, 0));
        let to = self.lots.iter().skip(1).map(|lot| Some(lot.0)).chain(std::iter::once(None));
        let lots = self.lots.iter().enumerate().zip(to);
        first.into_iter().chain(lots.map(|((lot, &(from, record)), to)| (if lot == 0 { 0 } else { from }, to, record)))
    }

    /// Records of the lot that begins with this one.
    pub(super) fn end_of(&self, record: u64) -> u64 {
        let next = self.lots.partition_point(|lot| lot.1 <= record);
        self.lots.get(next).map_or(self.records, |lot| lot.1)
    }

    /// The number of a record among those with a label, if it has one.
    pub(super) fn labelled(&self, record: u64) -> Option<u64> {
        let before = self.unlabelled.partition_point(|&one| one < record);
        (self.unlabelled.get(before) != Some(&record)).then(|| record - before as u64)
    }

    /// The labels of records with labels, which have these numbers among those; several ranges where labels of no record are in between.
    pub(super) fn labels(&self, labelled: Range<u64>) -> impl Iterator<Item = Range<u64>> {
        let Range { mut start, end } = labelled;
        let mut before = self.unused.partition_point(|&one| one <= start);
        std::iter::from_fn(move || {
            if start >= end {
                return None;
            }
            while self.unused.get(before).is_some_and(|&one| one <= start) {
                before += 1;
            }
            let to = self.unused.get(before).map_or(end, |&next| next.min(end));
            let range = start + before as u64..to + before as u64;
            start = to;
            Some(range)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn each_record_has_the_label_that_it_met(steps in prop::collection::vec(0u8..6, 0..80)) {
            let (mut order, mut label, mut records) = (Order::default(), 0u64, Vec::new());
            order.add_records(7, steps.iter().filter(|&&step| step > 0).count());
            for &step in &steps {
                match step {
                    0 => order.skip_label(label),
                    1 => {
                        order.skip_record();
                        records.push(None);
                    }
                    _ => {
                        order.meet();
                        records.push(Some(label));
                    }
                }
                label += u64::from(step != 1);
            }
            let labelled: Vec<u64> = records.iter().flatten().copied().collect();
            for (record, label) in (0..).zip(&records) {
                let found = order.labelled(record).map(|at| order.labels(at..at + 1).flatten().collect::<Vec<u64>>());
                prop_assert_eq!(found, label.map(|label| vec![label]));
            }
            let count = labelled.len() as u64;
            for (from, to) in [(0, count), (count / 3, count / 2), (count, count)] {
                let found: Vec<u64> = order.labels(from..to).flatten().collect();
                prop_assert_eq!(&found[..], &labelled[from as usize..to as usize]);
            }
        }
    }

    #[test]
    fn lots_cover_all() {
        let mut order = Order::default();
        assert_eq!(order.lots().collect::<Vec<_>>(), [(0, None, 0)]);
        order.add_records(5, 3);
        order.add_records(9, 4);
        assert_eq!(order.lots().collect::<Vec<_>>(), [(0, Some(9), 0), (9, None, 3)]);
        assert_eq!([0, 3].map(|record| order.end_of(record)), [3, 7]);
    }

    #[test]
    fn too_many_are_another_order() {
        let mut order = Order::default();
        (0..=MOST as u64).for_each(|label| order.skip_label(label));
        assert!(!order.holds());
    }
}
