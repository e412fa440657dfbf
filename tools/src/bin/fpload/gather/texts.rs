//! Inputs that hold documents, whose fingerprints are made while they are read.

use std::ffi::OsStr;

use anyhow::bail;
use fpsketch::Simhash;
use fpstore::bulk::RecordSorter;
use fpstore::{Fingerprint, Parameters};
use fpstore_tools::documents::{
    self, Document, DocumentId, DocumentOptions, Fault, FaultKind, Location, Made, Rejects,
};
use fpstore_tools::input::{IdRule, Ids, RawId};
use fpstore_tools::output::check_apart;
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching;

use crate::args::Args;
use crate::creation;
use crate::gather::{Gathered, Load, PassedOver};
use crate::hasher::Hasher;

/// Approximate bytes of the result for a document.
const MADE: u64 = 128;

/// Documents, none of which has been read.
pub(crate) struct Texts {
    inputs: documents::Inputs,
    simhash: Simhash,
    progress: Progress,
}

impl Texts {
    /// Checks the inputs as far as possible without reading.
    pub(super) fn open(args: &Args, store: Option<&Parameters>) -> anyhow::Result<Self> {
        let width = store.map(Parameters::width).or(args.width);
        let texts = &args.texts;
        let options = texts.documents(&args.options)?;
        let options = DocumentOptions { temp_dir: args.temp_dir(), ..options };
        if width == Some(256) {
            bail!("fingerprints of documents have 64 or 128 bits, those of the store 256");
        }
        let inputs = documents::Inputs::new(&args.inputs, &options)?;
        let (sketch, given) = (&texts.simhash, texts.tokens_column.is_some());
        let simhash = match store.and_then(Parameters::hasher) {
            Some(recorded) if sketch.like.is_none() => sketch.simhash_as(recorded, width, given)?,
            _ => sketch.simhash(width, given)?,
        };
        let progress = if args.common.shows_progress() { Progress::bytes(inputs.length()) } else { Progress::hidden() };
        Ok(Self { inputs, simhash, progress })
    }

    pub(super) fn width(&self) -> u32 {
        self.simhash.width()
    }

    /// Reads all documents and makes their records.
    pub(super) fn gather<F: Fingerprint>(self, load: Load<'_>) -> anyhow::Result<Gathered<F>> {
        let Load { args, path, store, options } = load;
        let Self { inputs, simhash, progress } = self;
        if simhash.width() != F::WIDTH {
            bail!(
                "{} makes fingerprints of {} bits, those of the store have {}",
                simhash.preset(),
                simhash.width(),
                F::WIDTH
            );
        }
        let hasher = Hasher::new(Some(&simhash.identity()));
        if let Some(store) = store {
            hasher.check(store)?;
        }
        let ids = store.map_or_else(|| creation::wanted_ids(args), |store| Ids::Is(store.ids()));
        let mut rule = IdRule::new(ids);
        let mut sorter = RecordSorter::<F>::new(path, options);
        let leave = &args.texts.leave;
        let read: Vec<&OsStr> = args.inputs.iter().map(AsRef::as_ref).chain([path.as_os_str()]).collect();
        check_apart(&[("--rejects", leave.rejects.rejects.as_deref())], &read)?;
        let (mut rejects, least) = (Rejects::open(&leave.rejects)?, leave.least());
        let make = |Document { id, content, .. }, place: &Location| {
            let fingerprint = sketching::fingerprint(&simhash, content.document(), place, least);
            Ok(fingerprint
                .map(|fingerprint| (id, fingerprint))
                .map_err(|few| Fault::features(few, least, content.bytes())))
        };
        let take = |made: Vec<Made<Result<(DocumentId, u128), Fault>>>| {
            for made in made {
                let Some((place, (id, fingerprint))) = rejects.keep(made)? else { continue };
                let id = match &id {
                    DocumentId::None => RawId::None,
                    DocumentId::Number(number) => RawId::Number(*number),
                    DocumentId::Text(text) => RawId::Text(text.as_bytes()),
                };
                match rule.check(id) {
                    Ok(id) => sorter.push(sketching::words(fingerprint), id)?,
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
        Ok(Gathered { records, rule, hasher, passed_over: PassedOver { left_out, ..PassedOver::default() } })
    }
}
