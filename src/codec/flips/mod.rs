//! Flips blocks: for families of near keys.
//!
//! Many real fingerprints differ in a few bits from another one a few keys earlier. The encoder writes such a key as
//! one Huffman symbol and a rank. The symbol says which earlier key is the reference, how many bits differ, and which
//! of them is the topmost; the rank selects the other flipped bits among all combinations of lower bits. Every other
//! key is written as a gap of upper halves and a plain lower half; its symbol tells the gap's bit length and, if bits
//! of the table are biased, the most biased bits.
//!
//! Both forms are the same instructions with other operands ([`code::Step`]), which avoids unpredictable branches.
//! Symbols stand in two lanes, even keys and odd keys, so that two lookups overlap; all values are read backward from
//! the block's end.
//!
//! A table's code has only the symbols that pay. A *quick* code refers only to the key before and flips at most four
//! bits; it decodes fastest. A *dense* code is used where it saves much ([`super::train`]). A flips block cannot write
//! a key whose upper half is too far from the one before; a gap block can.
//!
//! Files: `symbols` is the alphabet, `choose` selects symbols, `training` and `code` make the code and its tables,
//! `encode` and `decode` are the block, `combinations` the ranks.

mod choose;
mod code;
mod combinations;
mod decode;
mod encode;
mod lanes;
mod symbols;
#[cfg(test)]
mod tests;
mod training;

pub(crate) use code::FlipsCode;
// For `codec::simd`.
#[cfg(target_arch = "aarch64")]
pub(super) use code::deposit;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use code::{SLOW, Step};
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use combinations::{MASKS, unrank};
pub(super) use decode::decode;
pub(super) use encode::{cost, encode};
pub(super) use lanes::{FRAME, Lanes};
pub(super) use symbols::{BACKS, Profile};
pub(super) use training::Training;
