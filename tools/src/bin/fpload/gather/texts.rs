//! Inputs that hold documents, whose fingerprints are made while they are read.

use anyhow::bail;
use fpsketch::Simhash;
use fpstore::bulk::RecordSorter;
use fpstore::{Fingerprint, IdRef, Parameters};
use fpstore_tools::documents::{self, Content, DocumentOptions, Location};
use fpstore_tools::input::{IdRule, Ids};
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching;

use crate::args::Args;
use crate::creation;
use crate::gather::each_document::each_document;
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
        let make = |content: &Content, place: &Location, least| {
            sketching::fingerprint(&simhash, content.document(), place, least)
        };
        let push = |id: IdRef<'_>, fingerprint| Ok(sorter.push(sketching::words(fingerprint), id)?);
        let (rejects, documents) = each_document((args, path), &inputs, (&mut rule, &progress), MADE, make, push)?;
        let records = sorter.finish()?;
        progress.finish();
        let left_out = rejects.finish(documents)?;
        left_out.warn();
        Ok(Gathered { records, rule, hasher, passed_over: PassedOver { left_out, ..PassedOver::default() } })
    }
}
