//! The first phase: reads all documents and makes what they are compared by.

use std::time::{Duration, Instant};

use anyhow::bail;
use fpstore_tools::documents::{
    CHANGED, Document, DocumentId, Inputs, Location, Made, RejectOptions, Rejects, each_or_fault,
};
use fpstore_tools::memory;
use fpstore_tools::progress::Progress;

use super::ids::NewIds;
use super::maker::Maker;
use super::spool::{Appender, Hashed, push};
use super::work::{IdsAre, Step, Work};

/// Approximate bytes of the result for a document, beside what is made of it.
const BESIDE: u64 = 112;
/// Time after which results are made durable.
const CHECKPOINT: Duration = Duration::from_secs(2);
pub(super) const ENTRIES: &str = "entries";

/// How documents are read.
pub(super) struct Hashing<'a> {
    pub(super) inputs: &'a Inputs,
    pub(super) maker: &'a Maker,
    /// Least distinct features of a document that is compared.
    pub(super) least: usize,
    pub(super) rejects: &'a RejectOptions,
    /// Whether ids are needed.
    pub(super) with_ids: bool,
    pub(super) memory: u64,
}

/// The result for a document: one that an earlier run has hashed, or a new one.
enum Outcome {
    Known,
    New { id: DocumentId, made: Option<Vec<u8>>, bytes: u64 },
}

impl Hashing<'_> {
    /// Reads all documents. Those that an earlier run has hashed are read, to find faults, but not hashed again.
    pub(super) fn run(&self, work: &mut Work, progress: &Progress) -> anyhow::Result<()> {
        let known = work.state.documents;
        let length = self.maker.bytes();
        let mut entries = Appender::open(work.path(ENTRIES), known * (1 + length as u64))?;
        let mut ids = self.with_ids.then(|| NewIds::open(work)).transpose()?;
        let mut rejects = Rejects::open(self.rejects)?;
        let make = |Document { id, content, number }, place: &Location| {
            if number < known {
                return Ok(Ok(Outcome::Known));
            }
            let mut made = Vec::with_capacity(length);
            let made = self.maker.make(&content, place, self.least, &mut made).then_some(made);
            Ok(Ok(Outcome::New { id, made, bytes: content.bytes() }))
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
                    Some((place, Outcome::New { id: found, made, bytes })) => {
                        id = found;
                        state.ids = together(state.ids, found, place)?;
                        state.text_bytes += bytes;
                        state.without += u64::from(made.is_none());
                        made.as_deref().map_or(Hashed::Without, Hashed::Made)
                    }
                    _ => {
                        state.left_out += 1;
                        Hashed::LeftOut
                    }
                };
                push(&mut entries, hashed, length)?;
                if let Some(ids) = &mut ids {
                    state.id_bytes = ids.push(id)?;
                }
                state.documents = row;
            }
            if saved.elapsed() >= CHECKPOINT {
                entries.sync()?;
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
        let counts = each_or_fault(self.inputs, free / 2, BESIDE + length as u64, progress, make, take)?;
        counts.warn_of_pages(free);
        if row < known {
            bail!(CHANGED);
        }
        rejects.finish(counts.documents)?.warn();
        entries.sync()?;
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
