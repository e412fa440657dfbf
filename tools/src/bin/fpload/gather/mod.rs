//! Reads all inputs to their end, in the order of the command line.

mod fingerprints;
mod texts;

use std::path::{Path, PathBuf};

use fpstore::{Fingerprint, Options, Parameters, SortedRecords};
use fpstore_tools::documents::LeftOut;
use fpstore_tools::input::IdRule;

use crate::args::Args;
use crate::hasher::Hasher;
use fingerprints::Fingerprints;
use texts::Texts;

/// The inputs of a load, none of them read.
pub(crate) enum Inputs {
    /// They hold fingerprints.
    Fingerprints(Box<Fingerprints>),
    /// They hold documents.
    Texts(Box<Texts>),
}

/// What was in the inputs and is not among the records.
#[derive(Default)]
pub(crate) struct PassedOver {
    /// Documents that were left out.
    pub(crate) left_out: LeftOut,
    /// Records of too low a quality.
    pub(crate) below_quality: u64,
}

/// What was read.
pub(crate) struct Gathered<F: Fingerprint> {
    pub(crate) records: SortedRecords<F>,
    pub(crate) rule: IdRule,
    pub(crate) hasher: Hasher,
    pub(crate) passed_over: PassedOver,
}

impl Inputs {
    /// What can be seen to be wrong without reading (names, formats) is found first. `store` is what is known of the store, if
    /// it is there already.
    pub(crate) fn open(args: &Args, store: Option<&Parameters>) -> anyhow::Result<Self> {
        Ok(if args.texts.text {
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

/// Where temporary files go, as the load itself has it: the system's place for them may be memory.
pub(crate) fn temp_dir(args: &Args) -> Option<PathBuf> {
    let around = |store: &Path| store.ancestors().find(|above| above.is_dir()).unwrap_or(Path::new(".")).to_owned();
    args.tmp_dir.clone().or_else(|| args.store.as_deref().map(around))
}
