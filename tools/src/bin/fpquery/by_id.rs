//! `--id`: the queries are the fingerprints of records, which are left out of the answers.

use std::collections::VecDeque;
use std::path::Path;
use std::vec::IntoIter;

use fpstore::{Filters, Fingerprint, Id, Parameters, Store};
use fpstore_tools::{by_id, notice};

use crate::args::Args;

/// Returns every id with its fingerprints.
pub(crate) fn queries<F: Fingerprint>(
    args: &Args,
    path: &Path,
    parameters: &Parameters,
) -> anyhow::Result<VecDeque<(Id, IntoIter<F>)>> {
    let parse = |text: &String| by_id::parse(text, parameters.ids());
    let ids = args.ids.iter().map(parse).collect::<anyhow::Result<Vec<_>>>()?;
    let store = Store::<F>::open_read_only(path, &fpstore_tools::threads::options().with_filters(Filters::Off))?;
    let found = by_id::fingerprints(&store, &ids)?;
    for (id, fingerprints) in ids.iter().zip(&found) {
        if fingerprints.is_empty() {
            notice::answer(format_args!("no record has the id '{id}'"));
        }
    }
    Ok(ids.into_iter().zip(found.into_iter().map(IntoIterator::into_iter)).collect())
}
