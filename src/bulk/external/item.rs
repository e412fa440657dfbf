//! What a [`Sorter`](super::Sorter) sorts.

/// A value of fixed size that can be sorted by its leading bits and written to a run.
pub(crate) trait Item: Copy + Ord + Default + Send + Sync + 'static {
    /// Bytes of an item in a run.
    const BYTES: usize;

    /// The leading bits of its order: items with different keys are ordered as these.
    fn key(&self) -> u64;

    /// Appends the item's [`Item::BYTES`] bytes.
    fn write(&self, out: &mut Vec<u8>);

    /// The item of these bytes; any item at all if it is another number of bytes.
    fn read(bytes: &[u8]) -> Self;
}

impl Item for u64 {
    const BYTES: usize = 8;

    #[inline]
    fn key(&self) -> u64 {
        *self
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0, Self::from_le_bytes)
    }
}
