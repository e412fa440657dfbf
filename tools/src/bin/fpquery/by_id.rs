//! `--id`: the queries are the fingerprints of records, which are left out of the answers.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::path::Path;
use std::vec::IntoIter;

use fpstore::{Filters, Fingerprint, Id, Options, Parameters, Store};
use fpstore_tools::by_id;

use crate::PROGRAM;
use crate::args::Args;

/// Every id with its fingerprints.
pub(crate) fn queries<F: Fingerprint>(
    args: &Args,
    path: &Path,
    parameters: &Parameters,
) -> anyhow::Result<VecDeque<(Id, IntoIter<F>)>> {
    let parse = |text: &String| by_id::parse(text, parameters.ids());
    let ids = args.ids.iter().map(parse).collect::<anyhow::Result<Vec<_>>>()?;
    let store = Store::<F>::open_read_only(path, &Options::new().with_filters(Filters::Off))?;
    let found = by_id::fingerprints(PROGRAM, args.common, &store, &ids)?;
    for (id, fingerprints) in ids.iter().zip(&found) {
        if fingerprints.is_empty() {
            // Not a warning: this is the answer. If standard error is gone, nothing can be told.
            let _ = writeln!(io::stderr().lock(), "{PROGRAM}: no record has the id '{id}'");
        }
    }
    Ok(ids.into_iter().zip(found.into_iter().map(IntoIterator::into_iter)).collect())
}
