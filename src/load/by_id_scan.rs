//! The records of ids among all records: one pass over these, and a join of what may be wanted with the ids.
//!
//! Neither side has to fit into memory. Both are sorted by the hash of the id, then the id. A bitmap of hashes leaves out most
//! records that no id is meant by.

use crate::bits::bit_length;
use crate::error::{Error, Result};
use crate::extsort::{TextChunk, TextSorter, Workspace};
use crate::fingerprint::{Fingerprint, Id, Record};
use crate::load::records::RecordSorter;
use crate::load::sorted_ids::SortedIds;
use crate::load::unknown::{Unknown, push};
use crate::segment::id_hash_of;
use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::Write;
use std::sync::Mutex;

/// Bits of the bitmap for each id, where there is memory for them.
const BITS_PER_ID: u64 = 16;

/// Ends the id in a line: no text id has it.
const END: char = '\0';

/// Finds the records of ids among `records`. Takes a third of this memory.
pub(crate) fn find<F: Fingerprint>(
    records: impl Iterator<Item = Result<Record<F>>>,
    ids: &SortedIds,
    workspace: &Workspace,
    found: &Mutex<RecordSorter<F>>,
) -> Result<Unknown> {
    let wanted = Bitmap::new(ids, workspace.memory / 16)?;
    let memory = workspace.memory / 4;
    let mut sorter = TextSorter::<u64>::new(workspace, memory);
    let mut line = String::new();
    for record in records {
        let Record { fingerprint, id } = record?;
        let Some(hash) = id_hash_of(id.as_ref()).filter(|&hash| wanted.has(hash)) else { continue };
        line.clear();
        line.push_str(&name(&id));
        line.push(END);
        // Writing to a string does not fail.
        (0..F::WORDS).for_each(|word| _ = write!(line, "{:016x}", fingerprint.word(word)));
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
                Some(Ok((other, line))) => (*other, split(line).0).cmp(&(hash, &*name(&id))),
                Some(Err(_)) => Ordering::Less,
                None => Ordering::Greater,
            };
            if order == Ordering::Greater {
                break;
            }
            let Some((_, line)) = stored.next().transpose()? else { break };
            if order == Ordering::Equal {
                is_known = true;
                push(found, fingerprint(split(&line).1)?, &id)?;
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

/// The id of a line, and the digits of its fingerprint.
fn split(line: &str) -> (&str, &str) {
    line.rsplit_once(END).unwrap_or_default()
}

fn fingerprint<F: Fingerprint>(digits: &str) -> Result<F> {
    let mut words = [0; 4];
    for (word, number) in words.iter_mut().zip(0..F::WORDS) {
        let digits = digits.get(16 * number..16 * number + 16).unwrap_or_default();
        *word = u64::from_str_radix(digits, 16).map_err(|_| Error::damaged("temporary data hold no fingerprint"))?;
    }
    Ok(F::from_words(|number| words.get(number).copied().unwrap_or(0)))
}

/// The lines of a chunk with their hashes.
fn lines(chunk: Result<TextChunk<u64>>) -> Box<dyn Iterator<Item = Result<(u64, String)>>> {
    match chunk {
        Err(error) => Box::new(std::iter::once(Err(error))),
        Ok(chunk) => Box::new((0..chunk.len()).filter_map(move |number| {
            let entry = chunk.entries.get(number)?;
            let text = std::str::from_utf8(chunk.text(entry));
            let text = text.map_err(|_| Error::damaged("temporary data hold no text"));
            Some(text.map(|text| (entry.0, text.to_owned())))
        })),
    }
}

/// Hashes, told apart by their leading bits.
struct Bitmap {
    words: Vec<u64>,
    bits: u32,
}

impl Bitmap {
    /// Those of ids, in so many bytes.
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

    /// The word that knows of a hash, and the bit in it.
    fn place(&self, hash: u64) -> Option<(usize, u64)> {
        let place = hash >> (64 - self.bits);
        Some((usize::try_from(place >> 6).ok()?, 1 << (place & 63)))
    }

    fn has(&self, hash: u64) -> bool {
        let place = self.place(hash).and_then(|(word, bit)| Some(self.words.get(word)? & bit != 0));
        place.unwrap_or(true)
    }
}
