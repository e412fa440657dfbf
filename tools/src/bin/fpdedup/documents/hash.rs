//! The first phase: reads all documents and makes their fingerprints.

use std::time::{Duration, Instant};

use anyhow::bail;
use fpsketch::Simhash;
use fpstore::Fingerprint;
use fpstore_tools::documents::{
    CHANGED, Document, DocumentId, Inputs, Location, Made, RejectOptions, Rejects, each_or_fault,
};
use fpstore_tools::progress::Progress;
use fpstore_tools::{memory, sketching};

use super::ids::NewIds;
use super::spool::{Appender, Hashed, entry, push};
use super::work::{IdsAre, Step, Work};

/// Approximate bytes of the result for a document.
const MADE: u64 = 128;
/// Time after which results are made durable.
const CHECKPOINT: Duration = Duration::from_secs(2);
pub(super) const FINGERPRINTS: &str = "fingerprints";

/// How fingerprints are made.
pub(super) struct Hashing<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) simhash: &'a Simhash,
    /// Least distinct features of a document with a fingerprint.
    pub(super) least: usize,
    pub(super) rejects: &'a RejectOptions,
    /// Whether ids are needed.
    pub(super) with_ids: bool,
    pub(super) memory: u64,
}

/// The result for a document: one that an earlier run has hashed, or a new one.
enum Outcome {
    Known,
    New { id: DocumentId, fingerprint: Option<u128>, bytes: u64 },
}

impl Hashing<'_> {
    /// Reads all documents. Those that an earlier run has hashed are read, to find faults, but not hashed again.
    pub(super) fn run<F: Fingerprint>(&self, work: &mut Work, progress: &Progress) -> anyhow::Result<()> {
        let known = work.state.documents;
        let mut fingerprints = Appender::open(work.path(FINGERPRINTS), known * entry::<F>())?;
        let mut ids = self.with_ids.then(|| NewIds::open(work)).transpose()?;
        let mut rejects = Rejects::open(self.rejects)?;
        let make = |Document { id, content, number }, place: &Location| {
            if number < known {
                return Ok(Ok(Outcome::Known));
            }
            let fingerprint = sketching::fingerprint(self.simhash, content.document(), place, self.least).ok();
            Ok(Ok(Outcome::New { id, fingerprint, bytes: content.bytes() }))
        };
        let (started, mut row, mut saved) = (Instant::now(), 0, Instant::now());
        let [before, ..] = work.state.seconds;
        let take = |made: Vec<Made<_>>| {
            for made in made {
                row += 1;
                let kept = rejects.keep(made)?;
                if row <= known {
                    continue;
                }
                let state = &mut work.state;
                let mut id = &DocumentId::None;
                let hashed = match &kept {
                    Some((place, Outcome::New { id: found, fingerprint, bytes })) => {
                        id = found;
                        state.ids = together(state.ids, found, place)?;
                        state.text_bytes += bytes;
                        state.without += u64::from(fingerprint.is_none());
                        fingerprint.map_or(Hashed::Without, |bits| Hashed::Fingerprint(sketching::words::<F>(bits)))
                    }
                    _ => {
                        state.left_out += 1;
                        Hashed::LeftOut
                    }
                };
                push(&mut fingerprints, hashed)?;
                if let Some(ids) = &mut ids {
                    state.id_bytes = ids.push(id)?;
                }
                state.documents = row;
            }
            if saved.elapsed() >= CHECKPOINT {
                fingerprints.sync()?;
                ids.as_mut().map_or(Ok(()), NewIds::sync)?;
                let [seconds, ..] = &mut work.state.seconds;
                *seconds = before + started.elapsed().as_secs_f64();
                work.save()?;
                saved = Instant::now();
            }
            Ok(())
        };
        // The results take as much memory as the documents.
        let free = memory::of_load(Some(self.memory));
        let counts = each_or_fault(self.inputs, free / 2, MADE, progress, make, take)?;
        counts.warn_of_pages(free);
        if row < known {
            bail!(CHANGED);
        }
        rejects.finish(counts.documents)?.warn();
        fingerprints.sync()?;
        ids.as_mut().map_or(Ok(()), NewIds::sync)?;
        work.done(Step::Compare)
    }
}

/// Returns the kind of ids with one more; either all documents have ids or none does.
fn together(ids: IdsAre, id: &DocumentId, place: &Location) -> anyhow::Result<IdsAre> {
    Ok(match (ids, id) {
        (IdsAre::Unknown | IdsAre::None, DocumentId::None) => IdsAre::None,
        (IdsAre::Unknown | IdsAre::Numbers, DocumentId::Number(_)) => IdsAre::Numbers,
        (IdsAre::None, _) | (_, DocumentId::None) => {
            bail!("{place}: some documents have ids and others have none; --id-column names the column of the ids")
        }
        _ => IdsAre::Texts,
    })
}
