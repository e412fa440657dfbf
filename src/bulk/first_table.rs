//! The first table, whose keys are the fingerprints themselves.

use crate::fingerprint::Fingerprint;
use crate::format::Parameters;
use crate::segment::{EncodedTable, RowEncoder, TableEncoder};

/// Encodes fingerprints as they come: compressed, or as rows where they are wide.
pub(super) enum FirstTable {
    Keys(Box<TableEncoder>),
    Rows(RowEncoder),
}

impl FirstTable {
    /// An encoder whose code is trained on the first fingerprints that come.
    pub(super) fn new<F: Fingerprint>(parameters: &Parameters, sample: &[F]) -> Self {
        if F::WIDTH > 64 {
            return Self::Rows(RowEncoder::new(F::WIDTH));
        }
        Self::trained(parameters, &F::leading_words(sample))
    }

    /// An encoder of fingerprints of 64 bits whose code is trained on these.
    pub(super) fn trained(parameters: &Parameters, sample: &[u64]) -> Self {
        Self::Keys(Box::new(TableEncoder::new(parameters, 0, sample)))
    }

    pub(super) fn push<F: Fingerprint>(&mut self, fingerprints: &[F]) {
        match self {
            Self::Keys(encoder) => encoder.push(&F::leading_words(fingerprints)),
            Self::Rows(encoder) => encoder.push(fingerprints),
        }
    }

    /// The pages that are done.
    pub(super) fn pages(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Keys(encoder) => encoder.pages(),
            Self::Rows(encoder) => encoder.pages(),
        }
    }

    pub(super) fn finish(self) -> (Vec<u8>, EncodedTable) {
        match self {
            Self::Keys(encoder) => encoder.finish(),
            Self::Rows(encoder) => encoder.finish(),
        }
    }
}
