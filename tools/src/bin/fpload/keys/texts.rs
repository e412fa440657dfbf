//! Inputs that hold documents, whose keys are made while they are read.

use std::path::Path;

use fpstore::keys::KeySorter;
use fpstore::{IdRef, KeyFormat, Parameters};
use fpstore_tools::documents::{Content, DocumentOptions, Inputs, Location};
use fpstore_tools::input::{IdRule, Ids};
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching::BandMaker;

use super::gathered::Gathered;
use crate::args::Args;
use crate::gather::each_document;
use crate::hasher::Hasher;
use crate::writing::options;

/// The keys and the sketch of a document.
type Keys = (Vec<u64>, Vec<u8>);

/// Reads all documents and makes their records.
pub(super) fn gather(
    args: &Args,
    path: &Path,
    format: KeyFormat,
    maker: &BandMaker,
    ids: Ids,
    store: Option<&Parameters>,
) -> anyhow::Result<Gathered> {
    let hasher = Hasher::new(Some(&maker.identity()));
    if let Some(store) = store {
        hasher.check(store)?;
    }
    let described = DocumentOptions { temp_dir: args.temp_dir(), ..args.texts.documents(&args.options)? };
    let inputs = Inputs::new(&args.inputs, &described)?;
    let progress = if args.common.shows_progress() { Progress::bytes(inputs.length()) } else { Progress::hidden() };
    let mut rule = IdRule::new(ids);
    let mut sorter = KeySorter::new(path, &options(args), format);
    let make = |content: &Content, _: &Location, least| maker.keys(content, least);
    let push = |id: IdRef<'_>, (keys, sketch): Keys| Ok(sorter.push(id, &keys, &sketch)?);
    let (rejects, documents) = each_document((args, path), &inputs, (&mut rule, &progress), maker.made(), make, push)?;
    let records = sorter.finish()?;
    progress.finish();
    let left_out = rejects.finish(documents)?;
    left_out.warn();
    Ok(Gathered { records, rule, hasher, left_out })
}
