//! A record on its way to a segment.

use crate::extsort::item::Item;
use crate::fingerprint::Fingerprint;
use rayon::prelude::*;

/// A fingerprint with the number of its document, in the order in which a segment holds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct NumberedRecord<F> {
    /// The fingerprint.
    pub(crate) fingerprint: F,
    /// The document's number.
    pub(crate) id: u64,
}

/// The fingerprint of each.
pub(crate) fn fingerprints<F: Fingerprint>(entries: &[NumberedRecord<F>]) -> Vec<F> {
    entries.par_iter().map(|entry| entry.fingerprint).collect()
}

impl<F: Fingerprint> Item for NumberedRecord<F> {
    const BYTES: usize = <F as Fingerprint>::BYTES + 8;

    #[inline]
    fn key(&self) -> u64 {
        self.fingerprint.word(0)
    }

    #[inline]
    fn write(&self, out: &mut Vec<u8>) {
        self.fingerprint.write_le(out);
        self.id.write(out);
    }

    #[inline]
    fn read(bytes: &[u8]) -> Self {
        let (fingerprint, id) = bytes.split_at_checked(<F as Fingerprint>::BYTES).unwrap_or_default();
        Self { fingerprint: F::from_le_bytes(fingerprint).unwrap_or_default(), id: u64::read(id) }
    }
}
