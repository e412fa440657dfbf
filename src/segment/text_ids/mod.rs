//! The ids of a segment where they are texts: URLs, paths, names (format-spec/text-ids.md).
//!
//! Texts follow the fingerprints of the first table, an order in which neighbours have nothing in common. So what makes
//! them small is not what stands before them but a *dictionary*: texts that were chosen from a sample of the store
//! because they hold what many others hold too. The texts are cut into *frames* of up to 4 KiB, each of which zstd
//! compresses on its own, with the dictionary as if it stood in front. To read one id costs one frame, and all of
//! them together still take no more bytes than what `zstd -3` makes of the whole list in one piece.
//!
//! [`TextEncoder`] makes frames, index and dictionary; [`TextIds`] reads them. Frames are read when they are asked for,
//! checked each time, and the last one is kept in a [`TextScratch`]. Bytes from disk are not believed: a frame says how
//! large it becomes, that is bounded, and zstd is given no more room than that.

mod dictionary;
pub(crate) mod encoder;
pub(super) mod packing;

#[cfg(test)]
mod tests;
