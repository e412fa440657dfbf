//! Values of fixed size that a [`Sorter`](crate::extsort::Sorter) sorts.

use crate::fingerprint::Fingerprint;
use rayon::prelude::*;

/// A value of fixed size that can be sorted by its leading bits and written to a run.
pub(crate) trait Item: Copy + Ord + Default + Send + Sync + 'static {
    const BYTES: usize;

    /// The leading bits of its order: items with different keys are ordered as these.
    fn key(&self) -> u64;

    fn write(&self, out: &mut Vec<u8>);

    /// The item of these bytes; any item at all if it is another number of bytes.
    fn read(bytes: &[u8]) -> Self;
}

impl<F: Fingerprint> Item for F {
    const BYTES: usize = <F as Fingerprint>::BYTES;

    #[inline]
    fn key(&self) -> u64 {
        self.word(0)
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        self.write_le(out);
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        F::from_le_bytes(bytes).unwrap_or_default()
    }
}

/// Ordered by the first one.
impl<A: Item, B: Item> Item for (A, B) {
    const BYTES: usize = A::BYTES + B::BYTES;

    #[inline]
    fn key(&self) -> u64 {
        self.0.key()
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        self.0.write(out);
        self.1.write(out);
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        let (first, second) = bytes.split_at_checked(A::BYTES).unwrap_or_default();
        (A::read(first), B::read(second))
    }
}

/// A fingerprint with the number of its document, in the order in which a segment holds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NumberedRecord<F> {
    pub(crate) fingerprint: F,
    pub(crate) id: u64,
}

/// The fingerprints of records, in the memory of `space`.
pub(crate) fn fingerprints<F: Fingerprint>(records: &[NumberedRecord<F>], mut space: Vec<F>) -> Vec<F> {
    records.par_iter().map(|record| record.fingerprint).collect_into_vec(&mut space);
    space
}

impl<F: Fingerprint> Item for NumberedRecord<F> {
    const BYTES: usize = <(F, u64) as Item>::BYTES;

    #[inline]
    fn key(&self) -> u64 {
        self.fingerprint.word(0)
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        (self.fingerprint, self.id).write(out);
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        let (fingerprint, id) = Item::read(bytes);
        Self { fingerprint, id }
    }
}
