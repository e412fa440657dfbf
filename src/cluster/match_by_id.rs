//! Records and their earlier labels, matched by their ids.

use crate::cluster::keys::{Key, Line};
use crate::error::Result;
use crate::extsort::{Sorted, Walk};

/// An id with more records or labels than this is not matched.
const MANY: usize = 1 << 12;

/// An id whose records were all in one cluster.
#[derive(Debug)]
pub(crate) struct One<K> {
    pub(crate) id: K,
    pub(crate) label: K,
    pub(crate) numbers: Vec<u64>,
}

/// A record or label without a certain counterpart.
#[derive(Debug)]
pub(crate) enum Unlabelled<K> {
    /// The fingerprint's number of a record that is or may be new.
    Number(u64),
    /// The label of a record that is missing or may have changed.
    Label(K),
}

/// Visits all ids, ascending.
pub(crate) struct Labelled<'a, K: Key> {
    lines: Walk<'a, Line<K>>,
    records: Walk<'a, (K, u64)>,
}

impl<'a, K: Key> Labelled<'a, K> {
    pub(crate) fn new(lines: &'a Sorted<Line<K>>, records: &'a Sorted<(K, u64)>, memory: u64) -> Self {
        Self { lines: Walk::new(lines, memory), records: Walk::new(records, memory) }
    }

    pub(crate) fn peek(&mut self) -> Result<Option<K>> {
        let heads = [self.lines.peek()?.map(|line| line.0), self.records.peek()?.map(|one| one.0)];
        Ok(heads.into_iter().flatten().min())
    }

    /// The records of the next id, if it is certain and they were in one cluster; else passes them to `unlabelled`.
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

    /// The numbers of the records with an id, at most [`MANY`] and one.
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

    /// The distinct labels of an id, at most [`MANY`] and one, and the number of all its labels.
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
