//! `--text`: queries are documents, of which fingerprints are made as those of the store were.

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

/// Bytes of what is made of a document, about.
const MADE: u64 = 128;

/// A document's place, id and fingerprint.
pub(crate) type Made = (Location, DocumentId, u128);

/// Documents as they become fingerprints.
#[derive(Debug)]
pub(crate) struct Texts {
    /// The last one is empty, or an error: without either, the thread has ended too early.
    lots: Receiver<anyhow::Result<Vec<Made>>>,
    made: VecDeque<Made>,
    /// What came last, if it was seen too early.
    end: Option<anyhow::Result<()>>,
}

impl Texts {
    /// Begins to read the documents, on a thread of its own that is so much ahead as memory allows. Returns also what the
    /// fingerprints are.
    pub(crate) fn open<F: Fingerprint>(args: &Args, store: &Parameters, memory: u64) -> anyhow::Result<(Self, Header)> {
        let texts = &args.texts;
        let options = texts.documents(&args.options)?;
        let simhash = simhash::<F>(args, store)?;
        let header = Header { width: Some(F::WIDTH), hasher: Some(simhash.identity()), end: true, ..Header::default() };
        let inputs = Inputs::new(&names(args), &options)?;
        let (sender, lots) = sync_channel(1);
        let leave = &texts.leave;
        let (mut rejects, least) = (Rejects::open(&leave.rejects)?, leave.least());
        let read = move || {
            let make = |Document { id, content }, place: &Location| {
                let fingerprint = sketching::fingerprint(&simhash, content.document(), place, least);
                Ok(fingerprint
                    .map(|fingerprint| (id, fingerprint))
                    .map_err(|few| Fault::features(few, least, content.bytes())))
            };
            let take = |lot: Vec<documents::Made<Result<(DocumentId, u128), Fault>>>| {
                let mut made = Vec::with_capacity(lot.len());
                let failed = lot.into_iter().try_for_each(|document| {
                    let kept = rejects.keep(document)?;
                    made.extend(kept.map(|(place, (id, fingerprint))| (place, id, fingerprint)));
                    Ok(())
                });
                // What stands before the one that failed is answered. If the receiver is gone, no more answers are wanted.
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
        Ok((Self { lots, made: VecDeque::new(), end: None }, header))
    }

    /// The next document, until there is none; after that it is not called again.
    pub(crate) fn next_made(&mut self) -> anyhow::Result<Option<Made>> {
        if self.made.is_empty() {
            match self.end.take() {
                Some(end) => end?,
                None => self.made = self.lots.recv().context("reading the documents has broken off")??.into(),
            }
        }
        Ok(self.made.pop_front())
    }

    /// Whether it is there, or known that there is none, without waiting.
    pub(crate) fn ready(&mut self) -> bool {
        if self.made.is_empty() && self.end.is_none() {
            match self.lots.try_recv() {
                Ok(Ok(made)) if made.is_empty() => self.end = Some(Ok(())),
                Ok(Ok(made)) => self.made = made.into(),
                Ok(Err(error)) => self.end = Some(Err(error)),
                // Whether the thread has ended too early is told by the next call.
                Err(_) => {}
            }
        }
        !self.made.is_empty() || self.end.is_some()
    }
}

/// What the command line names: standard input, if nothing.
pub(crate) fn names(args: &Args) -> Vec<OsString> {
    match (&args.input, args.queries.as_slice()) {
        (Some(input), _) => vec![input.clone()],
        (None, []) => vec!["-".into()],
        (None, names) => names.iter().map(OsString::from).collect(),
    }
}

/// What makes fingerprints like those of the store.
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
