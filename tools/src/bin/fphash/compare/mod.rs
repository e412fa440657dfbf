//! `fphash compare`: the similarity of two documents, or of the documents on every line of matches.
//!
//! There are two modes. A pair ([`pair`]) is compared by fingerprints or signatures, and on request by its texts. A
//! filter ([`filter`]) reads the texts behind the matches of a store, which were found by fingerprints, and keeps the
//! lines whose texts are similar.

mod filter;
mod pair;
mod side;
mod threshold;

use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;

use crate::args::CompareArgs;

pub(crate) fn run(args: &CompareArgs, common: Common) -> anyhow::Result<Outcome> {
    match &args.matches {
        Some(matches) => filter::run(args, matches, common),
        None => pair::run(args, common),
    }
}
