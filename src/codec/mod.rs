//! The codec: blocks of sorted fingerprints to bytes and back.
//!
//! A block holds the keys of a table in a row. Its last key (the block key) stands in the block index and is not
//! repeated; every other key is written as its difference from the key before it, the first one's predecessor being
//! the previous block's key. Three kinds of block write these differences in three ways (format-spec/blocks.md):
//!
//! * [`xor`]: the paper's code, for comparison: which bit is the topmost to differ, then the bits to the right of it.
//! * [`gap`]: for values that lie about evenly: fixed low bits of the gap, packed; its high part in unary.
//! * [`flips`]: for families of near values: which few bits differ from a key not far before, or else the gap.
//!
//! A table written with [`Codec::Xor`] has blocks of the first kind only; with [`Codec::Adaptive`] each block takes the
//! smaller of the two others. The Huffman codes are trained once a table ([`Trainer`]) and shared by its blocks. Which
//! kind a block is stands in the block index.
//!
//! Everything here is pure, bytes in and numbers out. Bytes are hostile: decoding never panics, and reports as damaged
//! whatever the encoder would not have written.

mod block;
mod choice;
mod codes;
mod fill;
mod flips;
mod gap;
mod huffman;
mod kind;
mod near;
mod simd;
mod split;
mod tail;
mod train;
mod xor;

pub(crate) use block::BlockBuffer;
pub(crate) use block::decode_block;
pub(crate) use block::encode_block;
pub(crate) use codes::Codes;
pub(crate) use fill::{MAX_KEYS, fill_block};
pub(crate) use near::{CHUNK, REACH};
pub(crate) use simd::{near, near_across, near_leads, near_pairs, near_rows, prefetch};
pub(crate) use train::Trainer;

pub(crate) use flips::FlipsCode;
pub(crate) use xor::SYMBOLS as XOR_SYMBOLS;

pub use choice::Codec;
pub use kind::BlockKind;
pub(crate) use kind::BlockShape;
