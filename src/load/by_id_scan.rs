//! The records of ids among all records: one pass over these, and a merge join of the candidates with the ids.
//!
//! Neither side has to fit into memory. Both are sorted by the hash of the id, then the id. A bitmap of hashes leaves
//! out most other records.

use crate::bits::bit_length;
use crate::bitset::Bitset;
use crate::error::Result;
use crate::extsort::{TextChunk, TextSorter, Workspace};
use crate::fingerprint::{Fingerprint, Id, IdRef, Record};
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
    /// Distinct ids that were looked up.
    pub(crate) looked_up: u64,
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
        self.looked_up += other.looked_up;
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
    let (wanted, shift) = wanted(ids, workspace.memory / 16)?;
    let place = |hash: u64| (hash >> shift) as usize;
    let memory = workspace.memory / 4;
    let mut sorter = TextSorter::<u64>::new(workspace, memory);
    let mut line = Vec::new();
    for record in records {
        let Record { fingerprint, id } = record?;
        let Some(hash) = id_hash_of(id.as_ref()).filter(|&hash| wanted.has(place(hash))) else { continue };
        write_line(id.as_ref(), fingerprint, &mut line);
        sorter.push(hash, &line)?;
    }
    drop(wanted);
    let stored = sorter.finish()?;
    let mut stored = stored.chunks(memory / 4).flat_map(lines).peekable();
    let mut unknown = Unknown::default();
    for id in ids.ids() {
        let (hash, id) = id?;
        let name = name(&id);
        unknown.looked_up += 1;
        let mut is_known = false;
        loop {
            let order = match stored.peek() {
                Some(Ok((other, line))) => (*other, split::<F>(line).0).cmp(&(hash, name.as_bytes())),
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
            unknown.add(id.clone());
        }
    }
    Ok(unknown)
}

/// Writes an id and a fingerprint as a line; lines have the order of ids.
pub(super) fn write_line<F: Fingerprint>(id: IdRef<'_>, fingerprint: F, line: &mut Vec<u8>) {
    line.clear();
    line.extend_from_slice(name_of(id).as_bytes());
    line.push(END);
    fingerprint.write_le(line);
}

/// The id as a text that has the order of ids.
pub(super) fn name(id: &Id) -> Cow<'_, str> {
    name_of(id.as_ref())
}

fn name_of(id: IdRef<'_>) -> Cow<'_, str> {
    match id {
        IdRef::Text(text) => Cow::Borrowed(text),
        IdRef::Number(number) => Cow::Owned(format!("{number:020}")),
        IdRef::None => Cow::Borrowed(""),
    }
}

pub(super) fn split<F: Fingerprint>(line: &[u8]) -> (&[u8], F) {
    let (name, fingerprint) = line.split_at(line.len().saturating_sub(F::BYTES));
    (name.strip_suffix(&[END]).unwrap_or_default(), F::from_le_bytes(fingerprint).unwrap_or_default())
}

pub(super) fn lines(chunk: Result<TextChunk<u64>>) -> Box<dyn Iterator<Item = Result<(u64, Vec<u8>)>>> {
    match chunk {
        Err(error) => Box::new(std::iter::once(Err(error))),
        Ok(chunk) => Box::new((0..chunk.len()).filter_map(move |number| {
            let entry = chunk.entries.get(number)?;
            Some(Ok((entry.0, chunk.text(entry).to_vec())))
        })),
    }
}

/// The hashes of ids without this many of their last bits, in this many bytes.
fn wanted(ids: &SortedIds, bytes: u64) -> Result<(Bitset, u32)> {
    let most = bit_length(bytes.saturating_mul(8)).saturating_sub(1);
    let bits = bit_length(ids.given().saturating_mul(BITS_PER_ID)).min(most).max(6);
    let (mut wanted, shift) = (Bitset::new(1 << bits), 64 - bits);
    for id in ids.ids() {
        wanted.insert((id?.0 >> shift) as usize);
    }
    Ok((wanted, shift))
}
