//! `--text`: queries are documents, whose fingerprints are made like the store's.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

use anyhow::{Context, bail};
use fpsketch::Simhash;
use fpstore::{Fingerprint, Parameters};
use fpstore_tools::documents::{self, Document, DocumentId, Fault, Inputs, Location, Rejects};
use fpstore_tools::input::Header;
use fpstore_tools::progress::Progress;
use fpstore_tools::sketching::{self, UNKNOWN};

use crate::args::Args;

/// Approximate bytes of the result for a document.
const MADE: u64 = 128;

/// The place, id and fingerprint of a document.
pub(crate) type Made = (Location, DocumentId, u128);

/// Documents as they become fingerprints.
#[derive(Debug)]
pub(crate) struct Texts {
    /// The last batch is empty, or an error; otherwise the thread has ended too early.
    batches: Receiver<anyhow::Result<Vec<Made>>>,
    made: VecDeque<Made>,
    /// The end or the error, if [`Self::ready`] has received it.
    end: Option<anyhow::Result<()>>,
}

impl Texts {
    /// Starts reading the documents, on a thread that reads ahead as memory allows. Returns also the header of the
    /// fingerprints.
    pub(crate) fn open<F: Fingerprint>(args: &Args, store: &Parameters, memory: u64) -> anyhow::Result<(Self, Header)> {
        let texts = &args.texts;
        let options = texts.documents(&args.options)?;
        let simhash = simhash::<F>(args, store)?;
        let header = Header { width: Some(F::WIDTH), hasher: Some(simhash.identity()), end: true, ..Header::default() };
        let inputs = Inputs::new(&names(args), &options)?;
        let (sender, batches) = sync_channel(1);
        let leave = &texts.leave;
        let (mut rejects, least) = (Rejects::open(&leave.rejects)?, leave.least());
        let read = move || {
            let make = |Document { id, content, .. }, place: &Location| {
                let fingerprint = sketching::fingerprint(&simhash, content.document(), place, least);
                Ok(fingerprint
                    .map(|fingerprint| (id, fingerprint))
                    .map_err(|few| Fault::features(few, least, content.bytes())))
            };
            let take = |batch: Vec<documents::Made<Result<(DocumentId, u128), Fault>>>| {
                let mut made = Vec::with_capacity(batch.len());
                let failed = batch.into_iter().try_for_each(|document| {
                    let kept = rejects.keep(document)?;
                    made.extend(kept.map(|(place, (id, fingerprint))| (place, id, fingerprint)));
                    Ok(())
                });
                // Queries before the failed document are answered. If the receiver is gone, no more answers are wanted.
                if !made.is_empty() {
                    sender.send(Ok(made))?;
                }
                failed
            };
            let read = documents::each_or_fault(&inputs, memory, MADE, &Progress::hidden(), make, take);
            let left_out = read.and_then(|counts| rejects.finish(counts.documents));
            let end = left_out.map(|left_out| {
                left_out.warn();
                Vec::new()
            });
            drop(sender.send(end));
        };
        thread::Builder::new().name("documents".to_owned()).spawn(read).context("cannot start a thread")?;
        Ok((Self { batches, made: VecDeque::new(), end: None }, header))
    }

    /// Returns the next document, or `None` at the end, after which it must not be called again.
    pub(crate) fn next_made(&mut self) -> anyhow::Result<Option<Made>> {
        if self.made.is_empty() {
            match self.end.take() {
                Some(end) => end?,
                None => self.made = self.batches.recv().context("the reading thread has ended early")??.into(),
            }
        }
        Ok(self.made.pop_front())
    }

    /// Whether the next document, or the end, is available without waiting.
    pub(crate) fn ready(&mut self) -> bool {
        if self.made.is_empty() && self.end.is_none() {
            match self.batches.try_recv() {
                Ok(Ok(made)) if made.is_empty() => self.end = Some(Ok(())),
                Ok(Ok(made)) => self.made = made.into(),
                Ok(Err(error)) => self.end = Some(Err(error)),
                // The next call reports a thread that has ended too early.
                Err(_) => {}
            }
        }
        !self.made.is_empty() || self.end.is_some()
    }
}

/// Returns the inputs on the command line, by default standard input.
pub(crate) fn names(args: &Args) -> Vec<OsString> {
    match (&args.input, args.queries.as_slice()) {
        (Some(input), _) => vec![input.clone()],
        (None, []) => vec!["-".into()],
        (None, names) => names.iter().map(OsString::from).collect(),
    }
}

/// Returns the simhash of the store's fingerprints.
fn simhash<F: Fingerprint>(args: &Args, store: &Parameters) -> anyhow::Result<Simhash> {
    let (options, given) = (&args.texts.simhash, args.texts.tokens_column.is_some());
    let simhash = match store.hasher() {
        Some(recorded) if options.like.is_none() => options.simhash_as(recorded, None, given)?,
        None if !options.any() => bail!("--text: {UNKNOWN}"),
        _ => options.simhash(Some(F::WIDTH), given)?,
    };
    if simhash.width() != F::WIDTH {
        let (preset, width) = (simhash.preset(), simhash.width());
        bail!("{preset} makes fingerprints of {width} bits here, those of the store have {}", F::WIDTH);
    }
    Ok(simhash)
}
