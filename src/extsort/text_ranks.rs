//! The order of texts, as numbers.

use crate::error::Result;
use crate::extsort::text_sorter::TextSorter;
use crate::extsort::workspace::Workspace;
use crate::options::{LEAST_LOAD_MEMORY, Options};
use std::path::Path;

/// Ends a text in a key. A zero byte within the text is followed by [`ESCAPED`], so no text's key begins another's.
const END: [u8; 2] = [0, 0];
const ESCAPED: u8 = 1;

/// Ranks any number of texts within a given memory: equal texts have the same rank, and a text that comes first by its
/// bytes has a lower one.
#[derive(Debug)]
pub struct TextRanks {
    sorter: TextSorter<u64>,
    memory: u64,
    key: Vec<u8>,
}

impl TextRanks {
    /// Returns an object without texts. Its buffers take about `memory` bytes; the rest goes to a file without a name
    /// in the directory.
    #[must_use]
    pub fn new(directory: &Path, options: &Options, memory: u64) -> Self {
        let memory = memory.max(LEAST_LOAD_MEMORY);
        let options = options.clone().with_temp_dir(Some(directory));
        let sorter = TextSorter::new(&Workspace::of_memory(directory, &options, memory), memory);
        Self { sorter, memory, key: Vec::new() }
    }

    /// Adds a text; `number` is the caller's own, and each is added once.
    ///
    /// # Errors
    /// If a temporary file cannot be written. All further calls fail as well.
    pub fn push(&mut self, number: u64, text: &[u8]) -> Result<()> {
        self.key.clear();
        for (part, piece) in text.split(|byte| *byte == 0).enumerate() {
            if part > 0 {
                self.key.extend_from_slice(&[0, ESCAPED]);
            }
            self.key.extend_from_slice(piece);
        }
        self.key.extend_from_slice(&END);
        self.key.extend_from_slice(&number.to_be_bytes());
        let mut head = [0; 8];
        head.iter_mut().zip(text).for_each(|(to, from)| *to = *from);
        self.sorter.push(u64::from_be_bytes(head), &self.key)
    }

    /// Calls `each` with the number of every text and its rank, in ascending order. Ranks count distinct texts from 0.
    ///
    /// # Errors
    /// If a temporary file cannot be written or read.
    pub fn visit(self, mut each: impl FnMut(u64, u64)) -> Result<()> {
        let (mut last, mut rank) = (None::<Vec<u8>>, 0);
        for chunk in self.sorter.finish()?.chunks(self.memory) {
            for (_, key) in chunk?.records() {
                let Some((text, number)) = key.split_last_chunk() else { continue };
                match &mut last {
                    Some(last) if last == text => {}
                    Some(last) => {
                        rank += 1;
                        text.clone_into(last);
                    }
                    None => last = Some(text.to_vec()),
                }
                each(u64::from_be_bytes(*number), rank);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn ranks(texts: &[Vec<u8>], memory: u64) -> Vec<u64> {
        let mut all = TextRanks::new(&std::env::temp_dir(), &Options::new().with_threads(1), memory);
        (0u64..).zip(texts).for_each(|(number, text)| all.push(number, text).unwrap());
        let mut ranks = vec![u64::MAX; texts.len()];
        all.visit(|number, rank| ranks[usize::try_from(number).unwrap()] = rank).unwrap();
        ranks
    }

    fn expected(texts: &[Vec<u8>]) -> Vec<u64> {
        let distinct: Vec<&Vec<u8>> = texts.iter().collect::<BTreeSet<_>>().into_iter().collect();
        texts.iter().map(|text| distinct.binary_search(&text).unwrap() as u64).collect()
    }

    proptest! {
        #[test]
        fn by_bytes_whatever_they_are(
            texts in prop::collection::vec(prop::collection::vec(prop::sample::select(vec![0, 1, 2, 255]), 0..12), 0..40),
        ) {
            prop_assert_eq!(ranks(&texts, 1 << 20), expected(&texts));
        }
    }

    #[test]
    fn more_than_memory_holds() {
        let texts: Vec<Vec<u8>> = (0..20_000u64).map(|i| format!("{:020}", i * 7919 % 9973).into_bytes()).collect();
        assert_eq!(ranks(&texts, 0), expected(&texts));
    }
}
