//! The earlier label of each record, where both came in the same order, and the records without one.

use crate::cluster::labels::LabelRef;
use crate::cluster::unary_counts::Counts;
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::version::Share;
use std::ops::Range;

/// Most labels without a record, before the order counts as another one.
const MOST: usize = 1 << 16;
/// Most bytes of new records, and of old ones without a label.
pub(crate) const BYTES: usize = 16 << 20;
/// Least records of a chunk but the last.
const RECORDS: u64 = 256;
/// Records between two checks of the memory used.
const LOOK: u64 = 1 << 12;

/// Labels and records in the order they were matched; lost if that takes too much memory.
#[derive(Debug)]
pub(crate) struct Order<F> {
    memory: u64,
    is_lost: bool,
    /// The lower bound of the last records' fingerprints.
    from: Option<u64>,
    chunks: Vec<Start>,
    records: u64,
    seen: u64,
    counts: Counts,
    /// Old records without a label, ascending, and their ids.
    unlabelled: Vec<(u64, Id)>,
    bytes: usize,
    /// New records in order, each with the number of old ones before it and the number of its fingerprint.
    new: Vec<(u64, u32, Record<F>)>,
    /// Labels without a record, each as the number of matched labels before it.
    unused: Vec<u64>,
}

/// The start of a chunk: a lower bound of the first 64 bits of its fingerprints, its first record, and its first count.
#[derive(Clone, Copy, Debug, Default)]
struct Start {
    from: u64,
    record: u64,
    count: u64,
}

/// Consecutive old records, and the new ones between them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct OrderChunk {
    /// Has exactly the chunk's fingerprints of the store.
    pub(crate) share: Share,
    pub(crate) records: Range<u64>,
    count: u64,
    new: Range<usize>,
}

impl<F: Fingerprint> Order<F> {
    /// Empty; chunks and counts take at most `memory` bytes.
    pub(crate) fn new(memory: u64) -> Self {
        let (chunks, counts, unlabelled, new, unused) = Default::default();
        Self {
            memory,
            is_lost: false,
            from: None,
            chunks,
            records: 0,
            seen: 0,
            counts,
            unlabelled,
            bytes: 0,
            new,
            unused,
        }
    }

    /// Adds old records by the count of each fingerprint. The first count is of the last fingerprint if the records go
    /// on with it. The first 64 bits of all are at least `from`, and less in all records that were added with another
    /// `from`.
    pub(crate) fn add_records(&mut self, from: u64, goes_on: bool, counts: &[u32]) {
        if self.is_lost {
            return;
        }
        let records: u64 = counts.iter().map(|&count| u64::from(count)).sum();
        let begins = self.from.replace(from) != Some(from);
        let is_full = |last: &Start| begins && self.records - last.record >= RECORDS;
        if records > 0 && self.chunks.last().is_none_or(is_full) {
            self.chunks.push(Start { from, record: self.records, count: self.counts.bits() });
        }
        counts.iter().enumerate().for_each(|(at, &count)| self.counts.add(count, at == 0 && goes_on));
        let before = self.records;
        self.records += records;
        let bytes = (size_of::<Start>() * self.chunks.len()) as u64 + self.counts.bits() / 8;
        if before / LOOK != self.records / LOOK && bytes > self.memory {
            self.lose();
        }
    }

    /// Adds a new record, which comes after all old ones so far and `more` others, and the number of its fingerprint.
    pub(crate) fn add_new(&mut self, more: usize, number: u32, record: Record<F>) {
        if !self.is_lost {
            self.new.push((self.records + more as u64, number, record));
        }
    }

    /// Drops everything, as it takes too much memory.
    pub(crate) fn lose(&mut self) {
        *self = Self { is_lost: true, ..Self::new(0) };
    }

    #[inline]
    pub(crate) fn meet(&mut self) {
        self.seen += 1;
    }

    pub(crate) fn skip_record(&mut self, name: LabelRef<'_, F>) {
        if !self.is_lost {
            let id = name.id();
            self.bytes += size_of_val(&id) + id.text().map_or(0, str::len);
            self.unlabelled.push((self.seen, id));
            self.seen += 1;
            if self.bytes > BYTES {
                self.lose();
            }
        }
    }

    pub(crate) fn skip_label(&mut self, label: u64) {
        if !self.is_lost {
            self.unused.push(label - self.unused.len() as u64);
            if self.unused.len() > MOST {
                self.lose();
            }
        }
    }

    /// Whether nothing was lost.
    pub(crate) fn holds(&self) -> bool {
        !self.is_lost
    }

    /// Number of chunks, at least one.
    pub(crate) fn chunks(&self) -> usize {
        self.chunks.len().max(1)
    }

    pub(crate) fn chunk(&self, at: usize) -> OrderChunk {
        let new_before = |record: u64| self.new.partition_point(|one| one.0 < record);
        // The first chunk begins before all records, and the last one ends after them.
        let first = self.chunks.get(at).filter(|_| at > 0).copied().unwrap_or_default();
        let next = self.chunks.get(at + 1);
        OrderChunk {
            share: Share::new(first.from, next.map(|next| next.from)),
            records: first.record..next.map_or(self.records, |next| next.record),
            count: first.count,
            new: new_before(first.record)..next.map_or(self.new.len(), |next| new_before(next.record)),
        }
    }

    pub(crate) fn counts(&self, chunk: &OrderChunk) -> impl Iterator<Item = u64> {
        self.counts.from(chunk.count)
    }

    pub(crate) fn new_of(&self, chunk: &OrderChunk) -> &[(u64, u32, Record<F>)] {
        self.new.get(chunk.new.clone()).unwrap_or_default()
    }

    pub(crate) fn unlabelled(&self, records: &Range<u64>) -> &[(u64, Id)] {
        let before = |record: u64| self.unlabelled.partition_point(|one| one.0 < record);
        self.unlabelled.get(before(records.start)..before(records.end)).unwrap_or_default()
    }

    /// The number of a labelled record among the labelled ones.
    pub(crate) fn labelled(&self, record: u64) -> u64 {
        record - self.unlabelled.partition_point(|one| one.0 < record) as u64
    }

    /// The labels of the labelled records with these numbers; several ranges if there are labels without a record
    /// between.
    pub(crate) fn labels(&self, labelled: Range<u64>) -> impl Iterator<Item = Range<u64>> {
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
            let (mut order, mut label, mut records) = (Order::<u64>::new(1 << 20), 0u64, Vec::new());
            order.add_records(7, false, &[steps.iter().filter(|&&step| step > 0).count() as u32]);
            for &step in &steps {
                match step {
                    0 => order.skip_label(label),
                    1 => {
                        order.skip_record(LabelRef::Number(label));
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
                match label {
                    Some(label) => {
                        let at = order.labelled(record);
                        prop_assert_eq!(order.labels(at..at + 1).flatten().collect::<Vec<u64>>(), vec![*label]);
                    }
                    None => prop_assert_eq!(order.unlabelled(&(record..record + 1)).len(), 1),
                }
            }
            let none = records.iter().filter(|label| label.is_none()).count();
            prop_assert_eq!(order.unlabelled(&(0..records.len() as u64)).len(), none);
            let count = labelled.len() as u64;
            for (from, to) in [(0, count), (count / 3, count / 2), (count, count)] {
                let found: Vec<u64> = order.labels(from..to).flatten().collect();
                prop_assert_eq!(&found[..], &labelled[from as usize..to as usize]);
            }
        }
    }

    /// A chunk: its share, records, numbers of records of each fingerprint, and new ones.
    type Parts = (Share, Range<u64>, Vec<u64>, Vec<u64>);

    fn parts(order: &Order<u64>) -> Vec<Parts> {
        let last = order.chunks() - 1;
        let mut parts = Vec::new();
        for at in 0..=last {
            let chunk = &order.chunk(at);
            let mut left = chunk.records.end - chunk.records.start;
            // The last record of a chunk may be followed by fingerprints without records, which the next chunk does not
            // have.
            let counts = order.counts(chunk).take_while(|count| {
                let more = left > 0 || at == last;
                left -= left.min(*count);
                more
            });
            let new = order.new_of(chunk).iter().map(|one| one.2.fingerprint).collect();
            parts.push((chunk.share, chunk.records.clone(), counts.collect(), new));
        }
        parts
    }

    #[test]
    fn chunks_cover_all() {
        let new = |fingerprint: u64| Record { fingerprint, id: Id::Number(0) };
        let mut order = Order::<u64>::new(1 << 20);
        assert_eq!(parts(&order), [(Share::ALL, 0..0, vec![], vec![])]);
        order.add_new(0, 0, new(1));
        order.add_records(3, false, &[0]);
        order.add_records(5, false, &[200]);
        order.add_new(20, 0, new(6));
        order.add_records(6, false, &[55, 1]);
        order.add_records(6, true, &[1]);
        order.add_new(0, 0, new(8));
        order.add_records(9, false, &[1, 0, 298]);
        order.add_records(9, true, &[1]);
        order.add_records(70, false, &[0]);
        order.add_records(80, false, &[64, 1]);
        order.add_new(0, 0, new(99));
        assert_eq!(
            parts(&order),
            [
                (Share::new(0, Some(9)), 0..257, vec![0, 200, 55, 2], vec![1, 6]),
                (Share::new(9, Some(80)), 257..557, vec![1, 0, 299], vec![8]),
                (Share::new(80, None), 557..622, vec![64, 1], vec![99]),
            ]
        );
    }

    #[test]
    fn too_much_is_lost() {
        let new = || Order::<u64>::new(1 << 10);
        let mut order = new();
        (0..MOST as u64).for_each(|label| order.skip_label(label));
        assert!(order.holds());
        order.skip_label(MOST as u64);
        assert!(!order.holds());
        let (mut order, long) = (new(), "x".repeat(1 << 10));
        (0..BYTES >> 11).for_each(|_| order.skip_record(LabelRef::Text(&long)));
        assert!(order.holds());
        (0..BYTES >> 11).for_each(|_| order.skip_record(LabelRef::Text(&long)));
        assert!(!order.holds());
        let mut order = new();
        order.add_records(0, false, &[LOOK as u32]);
        assert!(order.holds());
        order.add_records(0, true, &[LOOK as u32]);
        assert!(!order.holds());
        order.add_records(1, false, &[7]);
        order.skip_label(8);
        order.skip_record(LabelRef::Number(1));
        assert_eq!((order.holds(), order.chunks(), order.records), (false, 1, 0));
    }
}
