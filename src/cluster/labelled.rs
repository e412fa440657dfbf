//! Records and their labels from before, brought together by their ids.

use crate::cluster::keys::{Key, Line};
use crate::cluster::sorted::Walk;
use crate::error::Result;
use crate::extsort::Sorted;

/// An id that more records or labels than this have is not brought together with any.
const MANY: usize = 1 << 12;

/// An id whose records all were in the same cluster.
#[derive(Debug)]
pub(crate) struct One<K> {
    pub(crate) id: K,
    pub(crate) label: K,
    /// The numbers of their fingerprints.
    pub(crate) numbers: Vec<u64>,
}

/// What has no counterpart that is certain.
#[derive(Debug)]
pub(crate) enum Unlabelled<K> {
    /// A record that is new, or may be: the number of its fingerprint.
    Number(u64),
    /// The label of a record that is not there, or may be another one by now.
    Label(K),
}

/// Goes through all ids, ascending.
pub(crate) struct Labelled<'a, K: Key> {
    lines: Walk<'a, Line<K>>,
    records: Walk<'a, (K, u64)>,
}

impl<'a, K: Key> Labelled<'a, K> {
    /// Both take so many bytes of memory.
    pub(crate) fn new(lines: &'a Sorted<Line<K>>, records: &'a Sorted<(K, u64)>, memory: u64) -> Self {
        Self { lines: Walk::new(lines, memory), records: Walk::new(records, memory) }
    }

    /// The next id.
    pub(crate) fn peek(&mut self) -> Result<Option<K>> {
        let heads = [self.lines.peek()?.map(|line| line.0), self.records.peek()?.map(|one| one.0)];
        Ok(heads.into_iter().flatten().min())
    }

    /// The records of the next id, if it is certain and they were in one cluster; else they are told to `unlabelled`.
    pub(crate) fn next(
        &mut self,
        is_certain: bool,
        unlabelled: &mut dyn FnMut(Unlabelled<K>) -> Result<()>,
    ) -> Result<Option<One<K>>> {
        let Some(id) = self.peek()? else { return Ok(None) };
        let numbers = self.numbers(id, unlabelled)?;
        let (labels, lines) = self.labels(id, unlabelled)?;
        match &labels[..] {
            &[label] if is_certain && lines == numbers.len() && lines <= MANY => Ok(Some(One { id, label, numbers })),
            _ => {
                numbers.into_iter().try_for_each(|number| unlabelled(Unlabelled::Number(number)))?;
                labels.into_iter().try_for_each(|label| unlabelled(Unlabelled::Label(label)))?;
                Ok(None)
            }
        }
    }

    /// The numbers of the records with an id; not more than one more than [`MANY`].
    fn numbers(&mut self, id: K, unlabelled: &mut dyn FnMut(Unlabelled<K>) -> Result<()>) -> Result<Vec<u64>> {
        let mut numbers = Vec::new();
        while let Some((_, number)) = self.records.next_if(|one| one.0 == id)? {
            if numbers.len() > MANY {
                unlabelled(Unlabelled::Number(number))?;
            } else {
                numbers.push(number);
            }
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
