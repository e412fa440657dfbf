//! Records and their labels from before, brought together by their ids.

use super::previous::{Key, Line};
use super::sorted::Walk;
use crate::bulk::Sorted;
use crate::error::Result;

/// An id that more records or labels than this have is not brought together with any.
const MANY: usize = 1 << 12;

/// An id whose records all were in the same cluster.
#[derive(Debug)]
pub(super) struct One<K> {
    pub(super) id: K,
    pub(super) label: K,
    /// The numbers of their fingerprints.
    pub(super) numbers: Vec<u64>,
}

/// What has no counterpart that is certain.
#[derive(Debug)]
pub(super) enum Unlabelled<K> {
    /// A record that is new, or may be: the number of its fingerprint.
    Number(u64),
    /// The label of a record that is not there, or may be another one by now.
    Label(K),
}

/// Goes through all ids, ascending.
#[derive(Debug)]
pub(super) struct Labelled<'a, K: Key> {
    lines: Walk<'a, Line<K>>,
    /// Records that may have had a label.
    old: Walk<'a, (K, u64)>,
    /// Records that are new. The old ones may have them too.
    new: Walk<'a, (K, u64)>,
}

impl<'a, K: Key> Labelled<'a, K> {
    /// Each of the three takes so many bytes of memory.
    pub(super) fn new(
        lines: &'a Sorted<Line<K>>,
        old: &'a Sorted<(K, u64)>,
        new: &'a Sorted<(K, u64)>,
        memory: u64,
    ) -> Self {
        Self { lines: Walk::new(lines, memory), old: Walk::new(old, memory), new: Walk::new(new, memory) }
    }

    /// The next id whose records were in one cluster. All before it is told to `unlabelled`.
    pub(super) fn next_labelled(
        &mut self,
        unlabelled: &mut dyn FnMut(Unlabelled<K>) -> Result<()>,
    ) -> Result<Option<One<K>>> {
        loop {
            let heads = [
                self.lines.peek()?.map(|line| line.0),
                self.old.peek()?.map(|one| one.0),
                self.new.peek()?.map(|one| one.0),
            ];
            let Some(id) = heads.into_iter().flatten().min() else { return Ok(None) };
            let numbers = self.numbers(id, unlabelled)?;
            let (labels, lines) = self.labels(id, unlabelled)?;
            match &labels[..] {
                // Two clusters may have the same label if its id is on two fingerprints.
                &[label] if lines == numbers.len() && lines <= MANY && (lines == 1 || label != id) => {
                    return Ok(Some(One { id, label, numbers }));
                }
                _ => {
                    numbers.into_iter().try_for_each(|number| unlabelled(Unlabelled::Number(number)))?;
                    labels.into_iter().try_for_each(|label| unlabelled(Unlabelled::Label(label)))?;
                }
            }
        }
    }

    /// The numbers of old records with an id that are not new; not more than one more than [`MANY`].
    fn numbers(&mut self, id: K, unlabelled: &mut dyn FnMut(Unlabelled<K>) -> Result<()>) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        while let Some(one) = self.old.next_if(|one| one.0 == id)? {
            while let Some((_, number)) = self.new.next_if(|new| *new < one)? {
                unlabelled(Unlabelled::Number(number))?;
            }
            if self.new.peek()? == Some(one) {
                continue;
            }
            if numbers.len() > MANY {
                unlabelled(Unlabelled::Number(one.1))?;
            } else {
                numbers.push(one.1);
            }
        }
        while let Some((_, number)) = self.new.next_if(|new| new.0 == id)? {
            unlabelled(Unlabelled::Number(number))?;
        }
        Ok(numbers)
    }

    /// The labels of an id, equal ones once, not more than one more than [`MANY`]; and how many times it had one.
    fn labels(&mut self, id: K, unlabelled: &mut dyn FnMut(Unlabelled<K>) -> Result<()>) -> Result<(Vec<K>, usize)> {
        let (mut labels, mut lines) = (Vec::new(), 0);
        while let Some((_, (label, _))) = self.lines.next_if(|line| line.0 == id)? {
            lines += 1;
            if labels.last() == Some(&label) {
                continue;
            }
            if labels.len() > MANY {
                unlabelled(Unlabelled::Label(label))?;
            } else {
                labels.push(label);
            }
        }
        Ok((labels, lines))
    }
}
