//! Flips blocks: for families of near values.
//!
//! Among real fingerprints many keys differ in a few bits from one not far before them. Such a key is written as one
//! Huffman symbol, which says from which key it differs, in how many bits, and which is the topmost of them; and the
//! rank of the other flipped bits among all combinations of bits below. A key that is near no other one is written by
//! its upper half, as a gap, and its lower half, as it stands; the symbol then says how long the gap is and, where the
//! bits of a table are biased, what the most biased ones are.
//!
//! Both forms are the same instructions with other operands ([`code::Step`]), so that a decoder need not branch on what
//! it cannot foresee. Symbols run in two lanes, even keys and odd ones, so that it waits for two lookups at a time; all
//! other bits are read backward from the block's end.
//!
//! A table's code has only the symbols that pay. A *quick* one refers to the key before alone and flips four bits at
//! most, which decodes fastest; a *dense* one is taken where it saves much ([`super::train`]).
//!
//! Not every key can be written: an upper half may be too far from the one before. Other kinds of block can.

pub(crate) use crate::codec::flips::frame::FRAME;

mod choose;
mod code;
mod combinations;
mod decode;
mod encode;
mod frame;
pub(crate) mod lanes;
mod profile;
mod symbols;
#[cfg(test)]
mod tests;
mod training;

pub(crate) use code::FlipsCode;
// For wide registers; see `codec::simd`.
#[cfg(target_arch = "x86_64")]
pub(super) use code::{SLOW, Step};
#[cfg(target_arch = "x86_64")]
pub(super) use combinations::{MASKS, unrank};
pub(super) use decode::decode;
pub(super) use encode::{cost, encode};
pub(super) use lanes::Lanes;
#[cfg(test)]
pub(super) use lanes::ascending;
pub(super) use profile::Profile;
pub(super) use symbols::BACKS;
pub(super) use training::Training;
