//! The ids of the needed documents, each with an index.
//!
//! Ids are compared as written: `7` refers to a document whose id is the number 7, and to a document whose id is that
//! text.

use std::collections::HashMap;
use std::hash::Hash;

use fpstore_tools::documents::DocumentId;

/// Most overhead of an allocation in bytes.
const ALLOCATION: usize = 24;

/// The needed ids.
#[derive(Clone, Debug, Default)]
pub(crate) struct Ids {
    numbers: HashMap<u64, u32>,
    texts: HashMap<Box<str>, u32>,
    /// Bytes of all texts.
    text: usize,
}

/// Bytes of the place of a text, for each id.
const PLACE: usize = 16;

impl Ids {
    /// Adds a needed id; false if the ids would then take more than `memory` bytes.
    pub(crate) fn want(&mut self, id: &str, memory: u64) -> bool {
        let Ok(next) = u32::try_from(self.len()) else { return false };
        let number = number(id);
        let known = match number {
            Some(number) => self.numbers.contains_key(&number),
            None => self.texts.contains_key(id),
        };
        if known {
            return true;
        }
        if self.memory_for_more(id, number.is_some()) > memory {
            return false;
        }
        match number {
            Some(number) => self.numbers.insert(number, next),
            None => {
                self.text += id.len() + ALLOCATION;
                self.texts.insert(id.into(), next)
            }
        };
        true
    }

    /// Returns the index of a needed id.
    pub(crate) fn index(&self, id: &str) -> Option<usize> {
        let index = match number(id) {
            Some(number) => self.numbers.get(&number),
            None => self.texts.get(id),
        };
        index.map(|index| *index as usize)
    }

    /// Returns the index of a document's id, if it is needed.
    pub(crate) fn of(&self, id: &DocumentId) -> Option<usize> {
        match id {
            DocumentId::None => None,
            DocumentId::Number(number) => self.numbers.get(number).map(|index| *index as usize),
            DocumentId::Text(text) => self.index(text),
        }
    }

    /// Returns the id at an index, for a message.
    pub(crate) fn name(&self, index: usize) -> Option<String> {
        let is = |found: &u32| *found as usize == index;
        let number = self.numbers.iter().find(|(_, found)| is(found)).map(|(number, _)| number.to_string());
        number.or_else(|| self.texts.iter().find(|(_, found)| is(found)).map(|(text, _)| text.to_string()))
    }

    pub(crate) fn len(&self) -> usize {
        self.numbers.len() + self.texts.len()
    }

    /// Memory in bytes.
    pub(crate) fn memory(&self) -> u64 {
        (table(&self.numbers, false) + table(&self.texts, false) + self.text + PLACE * self.len()) as u64
    }

    /// Memory with one more id. A table that grows exists twice for a while.
    fn memory_for_more(&self, id: &str, number: bool) -> u64 {
        let tables = table(&self.numbers, number) + table(&self.texts, !number);
        (tables + self.text + id.len() + ALLOCATION + PLACE * (self.len() + 1)) as u64
    }
}

/// Bytes of a table, with one more entry if `more`.
fn table<K: Eq + Hash, V>(map: &HashMap<K, V>, more: bool) -> usize {
    // A table has one more byte for each entry, and an eighth of it stays free.
    let bytes = (map.capacity() * 8 / 7) * (size_of::<(K, V)>() + 1);
    if more && map.len() == map.capacity() { 3 * bytes } else { bytes }
}

/// Parses an id that is written like a number.
fn number(id: &str) -> Option<u64> {
    let canonical = id.bytes().all(|byte| byte.is_ascii_digit()) && (id.len() == 1 || !id.starts_with('0'));
    if canonical { id.parse().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts() {
        let mut ids = Ids::default();
        for id in ["7", "a", "07", "18446744073709551615", "18446744073709551616", "7", "", "+7"] {
            assert!(ids.want(id, u64::MAX));
        }
        assert_eq!(ids.len(), 7);
        assert_eq!(["7", "a", "07", "+7", "8"].map(|id| ids.index(id)), [Some(0), Some(1), Some(2), Some(6), None]);
        assert_eq!(ids.of(&DocumentId::Number(7)), Some(0));
        assert_eq!(ids.of(&DocumentId::Text("7".into())), Some(0));
        assert_eq!(ids.of(&DocumentId::Number(u64::MAX)), Some(3));
        assert_eq!(ids.of(&DocumentId::None), None);
        assert_eq!(
            [0, 1, 6, 7].map(|index| ids.name(index)),
            [Some("7"), Some("a"), Some("+7"), None].map(|id| id.map(str::to_owned))
        );
    }

    #[test]
    fn memory_is_bounded() {
        const MEMORY: u64 = 1 << 20;
        for prefix in ["", "a rather long prefix of a text "] {
            let mut ids = Ids::default();
            let wanted = (0..).take_while(|number| ids.want(&format!("{prefix}{number}"), MEMORY)).count();
            assert!((3_000..40_000).contains(&wanted), "{wanted}");
            assert!(ids.memory() <= MEMORY);
            // An id that is there already needs no more memory.
            assert!(ids.want(&format!("{prefix}0"), 0));
        }
    }
}
