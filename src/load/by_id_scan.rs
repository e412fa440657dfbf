//! The records of ids among all records: one pass over these, and a merge join of the candidates with the ids.
//!
//! Neither side has to fit into memory. Both are sorted by the hash of the id, then the id. A bitmap of hashes leaves
//! out most other records.

use crate::bits::bit_length;
use crate::error::Result;
use crate::extsort::{TextChunk, TextSorter, Workspace};
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::load::records::RecordSorter;
use crate::load::sorted_ids::SortedIds;
use crate::segment::id_hash_of;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Bits of the bitmap an id, if there is memory for them.
const BITS_PER_ID: u64 = 16;

/// Ends the id in a line; no text id has it.
const END: u8 = 0;

/// Most unknown ids that are named.
const NAMED: usize = 5;

#[derive(Debug, Default)]
pub(crate) struct Unknown {
    pub(crate) count: u64,
    pub(crate) some: BTreeSet<Id>,
}

impl Unknown {
    pub(crate) fn add(&mut self, id: Id) {
        self.count += 1;
        self.some.insert(id);
        self.keep_few();
    }

    pub(crate) fn and(mut self, other: Self) -> Self {
        self.count += other.count;
        self.some.extend(other.some);
        self.keep_few();
        self
    }

    fn keep_few(&mut self) {
        while self.some.len() > NAMED {
            self.some.pop_last();
        }
    }
}

pub(crate) fn push<F: Fingerprint>(found: &Mutex<RecordSorter<F>>, fingerprint: F, id: &Id) -> Result<()> {
    found.lock().unwrap_or_else(PoisonError::into_inner).push(fingerprint, id.as_ref())
}

/// Finds the records of ids among `records`. Takes a third of the memory.
pub(crate) fn find<F: Fingerprint>(
    records: impl Iterator<Item = Result<Record<F>>>,
    ids: &SortedIds,
    workspace: &Workspace,
    found: &Mutex<RecordSorter<F>>,
) -> Result<Unknown> {
    let wanted = Bitmap::new(ids, workspace.memory / 16)?;
    let memory = workspace.memory / 4;
    let mut sorter = TextSorter::<u64>::new(workspace, memory);
    let mut line = Vec::new();
    for record in records {
        let Record { fingerprint, id } = record?;
        let Some(hash) = id_hash_of(id.as_ref()).filter(|&hash| wanted.has(hash)) else { continue };
        line.clear();
        line.extend_from_slice(name(&id).as_bytes());
        line.push(END);
        fingerprint.write_le(&mut line);
        sorter.push(hash, &line)?;
    }
    drop(wanted);
    let stored = sorter.finish()?;
    let mut stored = stored.chunks(memory / 4).flat_map(lines).peekable();
    let mut unknown = Unknown::default();
    for id in ids.ids() {
        let id = id?;
        let hash = id_hash_of(id.as_ref()).unwrap_or(0);
        let mut is_known = false;
        loop {
            let order = match stored.peek() {
                Some(Ok((other, line))) => (*other, split::<F>(line).0).cmp(&(hash, name(&id).as_bytes())),
                Some(Err(_)) => Ordering::Less,
                None => Ordering::Greater,
            };
            if order == Ordering::Greater {
                break;
            }
            let Some((_, line)) = stored.next().transpose()? else { break };
            if order == Ordering::Equal {
                is_known = true;
                push(found, split(&line).1, &id)?;
            }
        }
        if !is_known {
            unknown.add(id);
        }
    }
    Ok(unknown)
}

/// The id as a text that has the order of ids.
fn name(id: &Id) -> Cow<'_, str> {
    match id {
        Id::Text(text) => Cow::Borrowed(text),
        Id::Number(number) | Id::Count(number) => Cow::Owned(format!("{number:020}")),
    }
}

fn split<F: Fingerprint>(line: &[u8]) -> (&[u8], F) {
    let (name, fingerprint) = line.split_at(line.len().saturating_sub(F::BYTES));
    (name.strip_suffix(&[END]).unwrap_or_default(), F::from_le_bytes(fingerprint).unwrap_or_default())
}

fn lines(chunk: Result<TextChunk<u64>>) -> Box<dyn Iterator<Item = Result<(u64, Vec<u8>)>>> {
    match chunk {
        Err(error) => Box::new(std::iter::once(Err(error))),
        Ok(chunk) => Box::new((0..chunk.len()).filter_map(move |number| {
            let entry = chunk.entries.get(number)?;
            Some(Ok((entry.0, chunk.text(entry).to_vec())))
        })),
    }
}

/// A set of hashes by their leading bits; it may have others too.
struct Bitmap {
    words: Vec<u64>,
    bits: u32,
}

impl Bitmap {
    fn new(ids: &SortedIds, bytes: u64) -> Result<Self> {
        let most = bit_length(bytes.saturating_mul(8)).saturating_sub(1);
        let bits = bit_length(ids.given().saturating_mul(BITS_PER_ID)).min(most).max(6);
        let mut bitmap = Self { words: vec![0; 1 << (bits - 6)], bits };
        for id in ids.ids() {
            let place = id_hash_of(id?.as_ref()).and_then(|hash| bitmap.place(hash));
            if let Some((word, bit)) = place
                && let Some(word) = bitmap.words.get_mut(word)
            {
                *word |= bit;
            }
        }
        Ok(bitmap)
    }

    fn place(&self, hash: u64) -> Option<(usize, u64)> {
        let place = hash >> (64 - self.bits);
        Some((usize::try_from(place >> 6).ok()?, 1 << (place & 63)))
    }

    fn has(&self, hash: u64) -> bool {
        let place = self.place(hash).and_then(|(word, bit)| Some(self.words.get(word)? & bit != 0));
        place.unwrap_or(true)
    }
}
