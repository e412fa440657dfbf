//! Inputs that hold documents, whose keys are made while they are read.

use std::ffi::OsStr;
use std::path::Path;

use fpstore::keys::KeySorter;
use fpstore::{KeyFormat, Parameters};
use fpstore_tools::documents::{
    self, Document, DocumentId, DocumentOptions, Fault, FaultKind, Location, Made, Rejects,
};
use fpstore_tools::input::{IdRule, Ids, RawId};
use fpstore_tools::output::check_apart;
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching::BandMaker;

use super::gathered::Gathered;
use crate::args::Args;
use crate::hasher::Hasher;
use crate::writing::options;

/// Approximate bytes of the result for a document.
const MADE: u64 = 1024;

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
    let inputs = documents::Inputs::new(&args.inputs, &described)?;
    let progress = if args.common.shows_progress() { Progress::bytes(inputs.length()) } else { Progress::hidden() };
    let leave = &args.texts.leave;
    let read: Vec<&OsStr> = args.inputs.iter().map(AsRef::as_ref).chain([path.as_os_str()]).collect();
    check_apart(&[("--rejects", leave.rejects.rejects.as_deref())], &read)?;
    let (mut rejects, least) = (Rejects::open(&leave.rejects)?, leave.least());
    let mut rule = IdRule::new(ids);
    let mut sorter = KeySorter::new(path, &options(args), format);
    let make = |Document { id, content, .. }, _: &Location| {
        let keys = maker.keys(&content, least);
        Ok(keys.map(|keys| (id, keys)).map_err(|few| Fault::features(few, least, content.bytes())))
    };
    let take = |made: Vec<Made<Result<(DocumentId, Keys), Fault>>>| {
        for made in made {
            let Some((place, (id, (keys, sketch)))) = rejects.keep(made)? else { continue };
            let id = match &id {
                DocumentId::None => RawId::None,
                DocumentId::Number(number) => RawId::Number(*number),
                DocumentId::Text(text) => RawId::Text(text.as_bytes()),
            };
            match rule.check(id) {
                Ok(id) => sorter.push(id, &keys, &sketch)?,
                Err(message) => rejects.leave_out(&place, &Fault::new(FaultKind::Id, message))?,
            }
        }
        Ok(())
    };
    progress.message("reading".to_owned());
    let counts = documents::each_or_fault(&inputs, args.document_memory(), MADE, &progress, make, take)?;
    counts.warn_of_pages(args.document_memory());
    progress.message("sorting".to_owned());
    let records = sorter.finish()?;
    progress.finish();
    let left_out = rejects.finish(counts.documents)?;
    left_out.warn();
    Ok(Gathered { records, rule, hasher, left_out })
}
