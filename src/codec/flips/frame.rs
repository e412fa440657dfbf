//! What stands in front of a flips block.

/// Size in bits of what stands in front of the symbols, and of what is lost between the lanes, if a block is full.
pub(crate) const FRAME: u32 = 16 + 7;

/// Up to this many keys where the second lane begins is told in one byte: the first one has half of the symbols, of at
/// most 12 bits each.
pub(crate) const SHORT: usize = 340;

/// Bytes that tell where the second lane begins, in a block with so many keys.
pub(crate) fn head(keys: usize) -> usize {
    match keys {
        0 => 0,
        1..=SHORT => 1,
        _ => 2,
    }
}
