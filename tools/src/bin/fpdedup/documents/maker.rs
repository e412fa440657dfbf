//! What documents are compared by: fingerprints, or the keys and the sketch of a MinHash signature.

use fpsketch::{Preparation, Simhash};
use fpstore::KeyFormat;
use fpstore_tools::documents::{Content, Location};
use fpstore_tools::sketching::{self, BandMaker};

/// Makes the bytes of a document, always as many.
pub(super) enum Maker {
    Simhash(Box<Simhash>),
    Bands(Box<BandMaker>),
}

impl Maker {
    /// Names the definition.
    pub(super) fn identity(&self) -> String {
        match self {
            Self::Simhash(simhash) => format!("{} {}", simhash.identity(), simhash.width()),
            Self::Bands(bands) => bands.identity(),
        }
    }

    /// Bytes of a document.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Simhash(_) => size_of::<u128>(),
            Self::Bands(_) => self.keys() * size_of::<u64>() + self.format().sketch_bytes(),
        }
    }

    /// Appends the bytes of a document. Returns false if it has fewer features than `least`, or none.
    pub(super) fn make(&self, content: &Content, place: &Location, least: usize, out: &mut Vec<u8>) -> bool {
        match self {
            Self::Simhash(simhash) => {
                let made = sketching::fingerprint(simhash, content.document(), place, least);
                made.is_ok_and(|bits| {
                    out.extend(bits.to_le_bytes());
                    true
                })
            }
            Self::Bands(bands) => bands.keys(content, least).is_ok_and(|(keys, sketch)| {
                out.extend(keys.iter().flat_map(|key| key.to_le_bytes()));
                out.extend_from_slice(&sketch);
                !keys.is_empty()
            }),
        }
    }

    /// The features of texts.
    pub(super) fn preparation(&self) -> &Preparation {
        match self {
            Self::Simhash(simhash) => simhash.preparation(),
            Self::Bands(bands) => bands.preparation(),
        }
    }

    /// Keys of a document.
    pub(super) fn keys(&self) -> usize {
        match self {
            Self::Simhash(_) => 0,
            Self::Bands(bands) => bands.keys_of_document(),
        }
    }

    /// The format of keys and sketches.
    pub(super) fn format(&self) -> KeyFormat {
        match self {
            Self::Simhash(_) => KeyFormat::default(),
            Self::Bands(bands) => bands.format(KeyFormat::default().with_key_bits(64)),
        }
    }
}
