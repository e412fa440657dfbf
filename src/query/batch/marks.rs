//! A bitmap of prefixes.

/// Maximum number of bits of a place. A bitmap of 2^18 bits has 32 KiB.
pub(crate) const MOST_BITS: u32 = 18;

/// Bits of a place that number it within a word.
pub(crate) const WORD_BITS: u32 = 6;

const WORDS: usize = 1 << (MOST_BITS - WORD_BITS);

/// Marks on up to 2^[`MOST_BITS`] places.
#[derive(Debug)]
pub(crate) struct Marks(Box<[u64; WORDS]>);

impl Default for Marks {
    fn default() -> Self {
        Self(Box::new([0; WORDS]))
    }
}

impl Marks {
    /// Clears the first 2^`bits` places.
    pub(crate) fn clear(&mut self, bits: u32) {
        self.0.iter_mut().take((1usize << bits.min(MOST_BITS)).div_ceil(64)).for_each(|word| *word = 0);
    }

    #[inline]
    pub(crate) fn set(&mut self, word: u32, places: u64) {
        // The remainder changes nothing, and costs less than a comparison.
        self.0.get_mut(word as usize % WORDS).into_iter().for_each(|word| *word |= places);
    }

    #[inline]
    pub(crate) fn word(&self, word: u64) -> u64 {
        self.0.get(word as usize % WORDS).copied().unwrap_or(0)
    }

    /// Which of at most 64 keys have a marked place: bit `i` is set if that of key `i` is marked. The place is the key
    /// without its `down` (0 to 63) lowest bits, under `mask`.
    #[inline(never)]
    pub(crate) fn among(&self, keys: &[u64], down: u32, mask: u64) -> u64 {
        keys.iter().take(64).zip(0..).fold(0, |found, (key, bit)| {
            let place = (key >> (down % 64)) & mask;
            found | (self.word(place >> WORD_BITS) >> (place % 64) & 1) << bit
        })
    }

    /// Whether a place in the words of `first` to `last` is marked.
    pub(crate) fn any(&self, first: u64, last: u64) -> bool {
        let words = (first >> WORD_BITS) as usize..=(last >> WORD_BITS) as usize;
        self.0.get(words).is_some_and(|words| words.iter().any(|&word| word != 0))
    }
}
