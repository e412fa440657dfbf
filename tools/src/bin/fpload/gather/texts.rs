//! Inputs that hold documents, of which fingerprints are made on the way.

use std::path::Path;

use anyhow::bail;
use fpsketch::Simhash;
use fpstore::{Fingerprint, Options, Parameters, RecordSorter};
use fpstore_tools::documents::{self, Document, DocumentId, DocumentOptions, Location};
use fpstore_tools::input::{IdRule, Ids, RawId};
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching;

use crate::args::Args;
use crate::creation;
use crate::gather::Gathered;
use crate::hasher::Hasher;
use crate::text_options::TextOptions;

/// Bytes of what is made of a document, about.
const MADE: u64 = 128;

/// Documents, none of them read.
pub(crate) struct Texts {
    inputs: documents::Inputs,
    simhash: Simhash,
    progress: Progress,
}

impl Texts {
    /// Finds out what can be seen without reading.
    pub(super) fn open(args: &Args, width: Option<u32>) -> anyhow::Result<Self> {
        let options = DocumentOptions {
            format: TextOptions::format(args.options.format)?,
            id_column: args.options.id_column.clone(),
            text_column: args.texts.text_column.clone(),
            tokens_column: args.texts.tokens_column.clone(),
            temp_dir: super::temp_dir(args),
        };
        if args.options.fingerprint_column.is_some() {
            bail!("--fingerprint-column: with --text fingerprints are made of documents");
        }
        if width.or(args.width) == Some(256) {
            bail!("fingerprints of documents have 64 or 128 bits, those of the store 256");
        }
        let inputs = documents::Inputs::new(&args.inputs, &options)?;
        let simhash = args.texts.simhash.simhash(width.or(args.width), args.texts.tokens_column.is_some())?;
        let progress = if args.common.shows_progress() { Progress::bytes(inputs.length()) } else { Progress::hidden() };
        Ok(Self { inputs, simhash, progress })
    }

    pub(super) fn width(&self) -> u32 {
        self.simhash.width()
    }

    /// The records of all documents.
    pub(super) fn gather<F: Fingerprint>(
        self,
        args: &Args,
        path: &Path,
        store: Option<&Parameters>,
        loading: &Options,
    ) -> anyhow::Result<Gathered<F>> {
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
        let mut sorter = RecordSorter::<F>::new(path, loading);
        let make = |Document { id, content }, place: &Location| {
            Ok((place.clone(), id, sketching::fingerprint(&simhash, content.document(), place)))
        };
        let take = |made: Vec<(Location, DocumentId, u128)>| {
            for (place, id, fingerprint) in made {
                let id = match &id {
                    DocumentId::None => RawId::None,
                    DocumentId::Number(number) => RawId::Number(*number),
                    DocumentId::Text(text) => RawId::Text(text.as_bytes()),
                };
                let id = rule.check(id).map_err(|message| anyhow::anyhow!("{place}: {message}"))?;
                sorter.push(words(fingerprint), id)?;
            }
            Ok(())
        };
        progress.message("reading".to_owned());
        documents::each(&inputs, args.document_memory(), MADE, &progress, make, take)?;
        progress.message("sorting".to_owned());
        let records = sorter.finish()?;
        progress.finish();
        Ok(Gathered { records, rule, hasher })
    }
}

/// The lowest bits as a fingerprint.
#[allow(clippy::cast_possible_truncation, reason = "word by word")]
fn words<F: Fingerprint>(bits: u128) -> F {
    F::from_words(|word| {
        let below = F::WORDS - 1 - word;
        if below < 2 { (bits >> (64 * below)) as u64 } else { 0 }
    })
}
