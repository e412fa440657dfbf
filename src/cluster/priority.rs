//! The order of fingerprints by the priority of their best records.

use crate::cluster::keeper::Keeper;
use crate::error::Result;
use crate::extsort::{Sorter, TextSorter, Workspace};
use crate::fingerprint::{Fingerprint, Id, IdKind};

/// Sorts fingerprints by the priority of their best ids; of equal ones the smallest fingerprint comes first.
///
/// The key of a fingerprint sorts as the [`Keeper`] compares. Behind it stand, in 64 bits, the number of fingerprints
/// added before and the fingerprint's own number.
pub(crate) struct Priorities<'k, F: Fingerprint> {
    keeper: &'k Keeper,
    memory: u64,
    added: u32,
    keys: Keys<F>,
}

enum Keys<F: Fingerprint> {
    Numbers(Sorter<(u128, u64)>),
    Fingerprints(Sorter<(F, u64)>),
    /// By rank, then the id's bytes, a zero byte, which no id has, and the 64 bits.
    Texts(Box<TextSorter<u64>>),
}

impl<'k, F: Fingerprint> Priorities<'k, F> {
    pub(crate) fn new(kind: IdKind, keeper: &'k Keeper, workspace: &Workspace) -> Self {
        let memory = workspace.memory;
        let keys = match kind {
            IdKind::Number => Keys::Numbers(Sorter::new(workspace, memory)),
            IdKind::None => Keys::Fingerprints(Sorter::new(workspace, memory)),
            IdKind::Text => Keys::Texts(Box::new(TextSorter::new(workspace, memory))),
        };
        Self { keeper, memory, added: 0, keys }
    }

    /// Adds a fingerprint with its number and its best id. They come in the order of fingerprints.
    pub(crate) fn add(&mut self, fingerprint: F, number: u32, best: &Id) -> Result<()> {
        let is_largest = matches!(self.keeper, Keeper::Largest);
        let rank = if let Keeper::Ranked(rank) = self.keeper { rank(best).unwrap_or(u64::MAX) } else { 0 };
        // Texts are read backwards for the largest.
        let added = if is_largest && matches!(self.keys, Keys::Texts(_)) { !self.added } else { self.added };
        let tie = u64::from(added) << 32 | u64::from(number);
        self.added += 1;
        match &mut self.keys {
            Keys::Numbers(sorter) => {
                let id = best.number().unwrap_or(0);
                sorter.push((u128::from(rank) << 64 | u128::from(if is_largest { !id } else { id }), tie))
            }
            Keys::Fingerprints(sorter) => {
                let key =
                    F::from_words(|word| if is_largest { !fingerprint.word(word) } else { fingerprint.word(word) });
                sorter.push((key, tie))
            }
            Keys::Texts(sorter) => {
                let mut text = best.text().unwrap_or_default().as_bytes().to_vec();
                text.push(0);
                text.extend_from_slice(&tie.to_be_bytes());
                sorter.push(rank, &text)
            }
        }
    }

    /// Sets the position of each added number, from `first` on; returns the next one.
    pub(crate) fn finish(self, positions: &mut [u32], first: u32) -> Result<u32> {
        let backwards = matches!((self.keeper, &self.keys), (Keeper::Largest, Keys::Texts(_)));
        let mut next = 0;
        let mut place = |tie: u64| {
            #[expect(clippy::cast_possible_truncation, reason = "the number stands in the low half")]
            if let Some(slot) = positions.get_mut(tie as u32 as usize) {
                *slot = first + if backwards { self.added - 1 - next } else { next };
            }
            next += 1;
        };
        match self.keys {
            Keys::Numbers(sorter) => {
                for item in sorter.finish()?.items(self.memory) {
                    place(item?.1);
                }
            }
            Keys::Fingerprints(sorter) => {
                for item in sorter.finish()?.items(self.memory) {
                    place(item?.1);
                }
            }
            Keys::Texts(sorter) => {
                for chunk in sorter.finish()?.chunks(self.memory) {
                    for (_, text) in chunk?.records() {
                        place(text.last_chunk().map_or(0, |tie| u64::from_be_bytes(*tie)));
                    }
                }
            }
        }
        Ok(first + self.added)
    }
}
