//! The first table, whose keys are the fingerprints themselves.

use crate::fingerprint::Fingerprint;
use crate::format::parameters::Parameters;
use crate::segment::row_writer::RowEncoder;
use crate::segment::table_writer::{EncodedTable, TableEncoder};

/// Encodes fingerprints as they come: compressed, or as rows if they are wide.
pub(crate) enum FirstTable {
    Keys(Box<TableEncoder>),
    Rows(RowEncoder),
}

impl FirstTable {
    /// An encoder whose code is trained on these first fingerprints.
    pub(crate) fn new<F: Fingerprint>(parameters: &Parameters, sample: &[F]) -> Self {
        if F::WIDTH > 64 {
            return Self::Rows(RowEncoder::new(F::WIDTH));
        }
        Self::trained(parameters, &F::leading_words(sample))
    }

    /// An encoder of 64-bit fingerprints whose code is trained on these.
    pub(crate) fn trained(parameters: &Parameters, sample: &[u64]) -> Self {
        Self::Keys(Box::new(TableEncoder::new(parameters, 0, sample)))
    }

    pub(crate) fn push<F: Fingerprint>(&mut self, fingerprints: &[F]) {
        match self {
            Self::Keys(encoder) => encoder.push(&F::leading_words(fingerprints)),
            Self::Rows(encoder) => encoder.push(fingerprints),
        }
    }

    pub(crate) fn pages(&mut self) -> &mut Vec<u8> {
        match self {
            Self::Keys(encoder) => encoder.pages(),
            Self::Rows(encoder) => encoder.pages(),
        }
    }

    pub(crate) fn finish(self) -> (Vec<u8>, EncodedTable) {
        match self {
            Self::Keys(encoder) => encoder.finish(),
            Self::Rows(encoder) => encoder.finish(),
        }
    }
}
