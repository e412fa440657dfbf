//! `fphash compare`: how similar two documents are, or those of every line of matches.
//!
//! Two ways. A pair ([`pair`]) is compared by what makes fingerprints or signatures of documents, and if it is asked for by its
//! texts. A filter ([`filter`]) looks at the texts behind the matches of a store, which were found by fingerprints: it
//! keeps the lines whose texts are similar.

mod filter;
mod method;
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
