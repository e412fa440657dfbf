//! Sorting more than memory holds.
//!
//! A [`Sorter`] takes items in any order and a [`TextSorter`] records with texts. Both keep what they are given until
//! the memory they may use is full, sort it, and append it as a *run* to one temporary file without a name. What comes
//! out is read as often as wanted, by any number of threads, in *chunks*: ascending, each item once, together all of
//! them. While the caller works on a chunk the next one is made. Without runs everything stays in memory.
//!
//! Guaranteed: the buffers of a sorter, copies made to sort included, take no more than the bytes it was given, and
//! those of an iterator over chunks no more than the bytes that one was given, whatever the items are. Beyond that
//! there is what does not grow with the input: what `sort` deals to buckets with, at worst a million items a thread
//! where the items are skewed; some kilobytes a thread and run; and single records that are larger than the memory.
//! Whatever fails, or kills the process, no temporary data remain.

/// Bytes that are written or read at once, where the memory allows for it.
pub(crate) const TRANSFER: u64 = 1 << 20;

/// A number of bytes or items in memory as a length.
pub(crate) fn length(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// Bytes of so many values in memory.
pub(crate) fn bytes_of<T>(count: usize) -> u64 {
    (count as u64).saturating_mul(size_of::<T>() as u64)
}
