//! The codec: blocks of sorted keys to bytes and back. Pure functions: bytes in, numbers out.
//!
//! A block holds consecutive keys of a table. Its last key (the block key) and its kind stand in the block index; every
//! other key is written as its difference from the key before it. There are three kinds of block
//! (format-spec/blocks.md):
//!
//! * [`xor`]: the paper's code, for comparison: the topmost differing bit, then the bits to the right of it.
//! * [`gap`]: for evenly spread keys: packed low bits of the gap; its high part in unary.
//! * [`flips`]: for families of near keys: the few bits that differ from an earlier key, or else the gap.
//!
//! A table with [`Codec::Xor`] has blocks of the first kind only; with [`Codec::Adaptive`] each block takes the smaller
//! of the two others. [`train()`] makes the Huffman codes of a table ([`Codes`]) from a sample of its keys;
//! all blocks of the table share them.
//!
//! To write, [`fill_block`] chooses the kind of the next block and how many keys it takes, and [`encode_block`] appends
//! its bytes. To read, [`decode_block`] takes the bytes, the table's [`Codes`] and the [`BlockShape`] from the index,
//! and decodes into a [`BlockBuffer`]. `simd` has forms of the decoders and of the comparisons in `near` for AVX2,
//! AVX-512 and NEON; the plain forms define the results.
//!
//! Bytes are hostile: decoding never panics, and reports everything as damaged that the encoder never writes.

mod block;
mod codes;
mod fill;
mod flips;
mod gap;
mod huffman;
mod kind;
mod near;
mod simd;
mod split;
mod train;
mod xor;

pub(crate) use block::{BlockBuffer, decode_block, encode_block};
pub(crate) use codes::Codes;
pub(crate) use fill::{MAX_KEYS, fill_block};
pub(crate) use near::{CHUNK, REACH};
pub(crate) use simd::{near, near_across, near_leads, near_pairs, near_rows, near_within, prefetch, prefetch_address};
pub(crate) use train::train;

pub(crate) use flips::FlipsCode;
pub(crate) use xor::SYMBOLS as XOR_SYMBOLS;

pub(crate) use kind::BlockShape;
pub use kind::{BlockKind, Codec};
