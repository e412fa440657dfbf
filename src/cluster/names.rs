//! The names of records: their ids or, without ids, their fingerprints.

use crate::cluster::labels::LabelRef;
use crate::fingerprint::{Fingerprint, IdKind};

#[derive(Debug)]
pub(crate) enum Names<F> {
    Numbers(Vec<u64>),
    /// All texts, and the end of each.
    Texts(String, Vec<usize>),
    Fingerprints(Vec<F>),
}

impl<F: Fingerprint> Names<F> {
    pub(crate) fn new(kind: IdKind, count: usize, bytes: usize) -> Self {
        match kind {
            IdKind::Number => Self::Numbers(Vec::with_capacity(count)),
            IdKind::Text => Self::Texts(String::with_capacity(bytes), Vec::with_capacity(count)),
            IdKind::None => Self::Fingerprints(Vec::with_capacity(count)),
        }
    }

    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Numbers(all) => size_of_val(&all[..]),
            Self::Texts(text, ends) => text.len() + size_of_val(&ends[..]),
            Self::Fingerprints(all) => size_of_val(&all[..]),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, name: LabelRef<'_, F>) {
        match (self, name) {
            (Self::Numbers(all), LabelRef::Number(number)) => all.push(number),
            (Self::Texts(texts, ends), LabelRef::Text(text)) => {
                texts.push_str(text);
                ends.push(texts.len());
            }
            (Self::Fingerprints(all), LabelRef::Fingerprint(fingerprint)) => all.push(fingerprint),
            // A segment has ids of one kind.
            _ => {}
        }
    }

    #[inline]
    pub(crate) fn get(&self, at: usize) -> Option<LabelRef<'_, F>> {
        match self {
            Self::Numbers(all) => all.get(at).map(|&number| LabelRef::Number(number)),
            Self::Texts(texts, ends) => {
                let start = at.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
                texts.get(start..*ends.get(at)?).map(LabelRef::Text)
            }
            Self::Fingerprints(all) => all.get(at).map(|&fingerprint| LabelRef::Fingerprint(fingerprint)),
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = LabelRef<'_, F>> {
        (0..).map_while(|at| self.get(at))
    }
}
