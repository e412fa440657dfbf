//! The header of a flips block, and the state of its decoder.

#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::codec) struct Lanes {
    /// The next bit of the symbols of even keys and of odd keys.
    pub(in crate::codec) symbols: [usize; 2],
    /// The bit above the next value.
    pub(in crate::codec) values: usize,
    pub(in crate::codec) done: usize,
    /// Whether the block holds something that no encoder writes.
    pub(in crate::codec) damaged: bool,
}

/// Bits of the header, and of the padding between the lanes, in a full block.
pub(crate) const FRAME: u32 = 16 + 7;

/// Up to this many keys, one byte tells where the second lane begins: the first one has half of the symbols, of at most
/// 12 bits each.
pub(crate) const SHORT: usize = 340;

/// Bytes of the header of a block with this many keys.
pub(crate) fn head(keys: usize) -> usize {
    match keys {
        0 => 0,
        1..=SHORT => 1,
        _ => 2,
    }
}
