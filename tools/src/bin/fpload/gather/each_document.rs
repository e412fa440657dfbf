//! Makes records of documents while they are read.

use std::ffi::OsStr;
use std::path::Path;

use fpsketch::TooFew;
use fpstore::IdRef;
use fpstore_tools::documents::{self, Content, Document, DocumentId, Fault, FaultKind, Location, Made, Rejects};
use fpstore_tools::input::IdRule;
use fpstore_tools::output::check_apart;
use fpstore_tools::progress::Progress;

use crate::args::Args;

/// Passes every document through `make`, on all threads, and its result with its id to `push`, in the order of the
/// input. `make` also gets the least number of features, and `bytes` are about those of a result. Returns the rejected
/// documents, which the caller finishes, and the number of all.
pub(crate) fn each_document<T: Send>(
    (args, path): (&Args, &Path),
    inputs: &documents::Inputs,
    (rule, progress): (&mut IdRule, &Progress),
    bytes: u64,
    make: impl Fn(&Content, &Location, usize) -> Result<T, TooFew> + Sync,
    mut push: impl FnMut(IdRef<'_>, T) -> anyhow::Result<()> + Send,
) -> anyhow::Result<(Rejects, u64)> {
    let leave = &args.texts.leave;
    let read: Vec<&OsStr> = args.inputs.iter().map(AsRef::as_ref).chain([path.as_os_str()]).collect();
    check_apart(&[("--rejects", leave.rejects.rejects.as_deref())], &read)?;
    let (mut rejects, least) = (Rejects::open(&leave.rejects)?, leave.least());
    let make = |Document { id, content, .. }, place: &Location| {
        let made = make(&content, place, least);
        Ok(made.map(|made| (id, made)).map_err(|few| Fault::features(few, least, content.bytes())))
    };
    let take = |made: Vec<Made<Result<(DocumentId, T), Fault>>>| {
        for made in made {
            let Some((place, (id, made))) = rejects.keep(made)? else { continue };
            match rule.check(id.raw()) {
                Ok(id) => push(id, made)?,
                Err(message) => rejects.leave_out(&place, &Fault::new(FaultKind::Id, message))?,
            }
        }
        Ok(())
    };
    progress.message("reading".to_owned());
    let counts = documents::each_or_fault(inputs, args.document_memory(), bytes, progress, make, take)?;
    counts.warn_of_pages(args.document_memory());
    progress.message("sorting".to_owned());
    Ok((rejects, counts.documents))
}
