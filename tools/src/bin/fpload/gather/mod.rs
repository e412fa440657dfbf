//! Reads all inputs to their end, in the order of the command line.

mod each_document;
mod fingerprints;
mod gathered;
mod load;
mod texts;

use fpstore::{Fingerprint, Parameters};

use crate::args::Args;
pub(crate) use each_document::each_document;
use fingerprints::Fingerprints;
pub(crate) use gathered::{Gathered, PassedOver};
pub(crate) use load::Load;
use texts::Texts;

/// The inputs of a load, none of which has been read.
pub(crate) enum Inputs {
    /// Inputs of fingerprints.
    Fingerprints(Box<Fingerprints>),
    /// Inputs of documents.
    Texts(Box<Texts>),
}

impl Inputs {
    /// Opens the inputs, after all checks that need no reading (names, formats). `store` has the parameters of an
    /// existing store.
    pub(crate) fn open(args: &Args, store: Option<&Parameters>) -> anyhow::Result<Self> {
        Ok(if args.text {
            Self::Texts(Box::new(Texts::open(args, store)?))
        } else {
            args.texts.check_unused()?;
            Self::Fingerprints(Box::new(Fingerprints::open(args)?))
        })
    }

    /// Width of the first input, if it is known, or of the fingerprints of the documents.
    pub(crate) fn width(&self) -> Option<u32> {
        match self {
            Self::Fingerprints(fingerprints) => fingerprints.width(),
            Self::Texts(texts) => Some(texts.width()),
        }
    }

    /// Reads the records of all inputs.
    pub(crate) fn gather<F: Fingerprint>(self, load: Load<'_>) -> anyhow::Result<Gathered<F>> {
        match self {
            Self::Fingerprints(fingerprints) => fingerprints.gather(load),
            Self::Texts(texts) => texts.gather(load),
        }
    }
}
