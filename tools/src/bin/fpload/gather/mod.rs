//! Reads all inputs to their end, in the order of the command line.

mod fingerprints;
mod gathered;
mod texts;

use std::path::Path;

use fpstore::{Fingerprint, Options, Parameters};

use crate::args::Args;
use fingerprints::Fingerprints;
pub(crate) use gathered::{Gathered, PassedOver};
use texts::Texts;

/// The inputs of a load, none of them read.
pub(crate) enum Inputs {
    /// They hold fingerprints.
    Fingerprints(Box<Fingerprints>),
    /// They hold documents.
    Texts(Box<Texts>),
}

impl Inputs {
    /// What can be seen to be wrong without reading (names, formats) is found first. `store` is what is known of the store, if
    /// it is there already.
    pub(crate) fn open(args: &Args, store: Option<&Parameters>) -> anyhow::Result<Self> {
        Ok(if args.text {
            Self::Texts(Box::new(Texts::open(args, store)?))
        } else {
            args.texts.check_unused()?;
            Self::Fingerprints(Box::new(Fingerprints::open(args)?))
        })
    }

    /// The width that the first input says its fingerprints have, or that those of the documents will have.
    pub(crate) fn width(&self) -> Option<u32> {
        match self {
            Self::Fingerprints(fingerprints) => fingerprints.width(),
            Self::Texts(texts) => Some(texts.width()),
        }
    }

    /// The records of all inputs, for the store at `path`, which has these parameters if it is there already.
    pub(crate) fn gather<F: Fingerprint>(
        self,
        args: &Args,
        path: &Path,
        store: Option<&Parameters>,
        loading: &Options,
    ) -> anyhow::Result<Gathered<F>> {
        match self {
            Self::Fingerprints(fingerprints) => fingerprints.gather(args, path, store, loading),
            Self::Texts(texts) => texts.gather(args, path, store, loading),
        }
    }
}
