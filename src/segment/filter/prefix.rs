//! A look-up in a filter.

/// What a query looks up in a filter.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FilterPrefix {
    /// The query's key up to the filter's last bit, with some bits flipped.
    pub(super) first: u64,
    /// The number of a line, or of a word of a Bloom filter.
    pub(super) place: u32,
    /// The numbers of the bits in the word, or the number of flipped bits.
    pub(super) bits: u32,
}

/// How near keys have to be to a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Nearness {
    /// In the leading part of the table.
    pub(crate) radius: u32,
    /// In all bits.
    pub(crate) distance: u32,
}
