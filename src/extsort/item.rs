//! Values of fixed size that a [`Sorter`](crate::extsort::Sorter) sorts.

use crate::fingerprint::Fingerprint;

/// A value of fixed size that can be sorted by its leading bits and written to a run.
pub(crate) trait Item: Copy + Ord + Default + Send + Sync + 'static {
    /// Number of 64-bit words.
    const WORDS: usize;

    /// A word. Word 0 has the leading bits of the items' order: items with different ones are ordered as these.
    fn word(&self, number: usize) -> u64;

    /// The item of these words.
    fn from_words(word: impl Fn(usize) -> u64) -> Self;
}

impl<F: Fingerprint> Item for F {
    const WORDS: usize = <F as Fingerprint>::WORDS;

    #[inline]
    fn word(&self, number: usize) -> u64 {
        Fingerprint::word(*self, number)
    }

    #[inline]
    fn from_words(word: impl Fn(usize) -> u64) -> Self {
        <F as Fingerprint>::from_words(word)
    }
}

/// Ordered by the first one.
impl<A: Item, B: Item> Item for (A, B) {
    const WORDS: usize = A::WORDS + B::WORDS;

    #[inline]
    fn word(&self, number: usize) -> u64 {
        match number.checked_sub(A::WORDS) {
            None => self.0.word(number),
            Some(number) => self.1.word(number),
        }
    }

    #[inline]
    fn from_words(word: impl Fn(usize) -> u64) -> Self {
        (A::from_words(&word), B::from_words(|number| word(A::WORDS + number)))
    }
}

/// A fingerprint with the number of its document, in the order in which a segment holds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NumberedRecord<F> {
    pub(crate) fingerprint: F,
    pub(crate) id: u64,
}

impl<F: Fingerprint> Item for NumberedRecord<F> {
    const WORDS: usize = <(F, u64) as Item>::WORDS;

    #[inline]
    fn word(&self, number: usize) -> u64 {
        (self.fingerprint, self.id).word(number)
    }

    #[inline]
    fn from_words(word: impl Fn(usize) -> u64) -> Self {
        let (fingerprint, id) = Item::from_words(word);
        Self { fingerprint, id }
    }
}
