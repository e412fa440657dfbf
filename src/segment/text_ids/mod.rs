//! The text ids of a segment: URLs, paths, names (format-spec/text-ids.md).
//!
//! Texts stand in the order of the primary table, where neighbours have nothing in common. So a *dictionary* makes them
//! small: texts chosen from a sample because they share much with others. The texts are cut into *frames* of up to 4
//! KiB; zstd compresses each one on its own, with the dictionary as its history. Reading one id costs one frame, and
//! all frames together take no more bytes than `zstd -3` makes of the whole list at once.
//!
//! `encoder` makes frames, index and dictionary; `dictionary` chooses the texts; `packing` compresses and decompresses
//! one frame. `super::id_unit` reads frames on demand, checks each one, and keeps the last. Bytes are hostile: the size
//! that a frame states is bounded, and zstd gets no more space than that.

mod dictionary;
pub(crate) mod encoder;
pub(super) mod packing;

#[cfg(test)]
mod tests;
