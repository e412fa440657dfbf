//! Stores assembled by hand, with a hostile file.

use fpstore::{Fingerprint, Id};
use naive::conventions::{VERSION, crc32};
use naive::segment::Id as NaiveId;

/// Their directory.
pub(crate) const STORE: &str = "store";

/// A manifest with these parameters, numbering, next segment, first log and last flushed sequence number, and the entry
/// of a run, if there is one.
pub(crate) fn manifest(parameters: &[u8], numbering: u8, [segment, log, flushed]: [u64; 3], run: &[u8]) -> Vec<u8> {
    let mut out = [b"fpstore\0", &(VERSION as u32).to_le_bytes()[..], parameters, &[numbering]].concat();
    for number in [0, segment, log, flushed, 0, 0, 0] {
        out.extend(number.to_le_bytes());
    }
    out.extend(u32::from(!run.is_empty()).to_le_bytes());
    out.extend(run);
    let sum = crc32(out.iter().copied());
    out.extend(sum.to_le_bytes());
    out
}

/// The fingerprint from the naive reader.
pub(crate) fn of_words<F: Fingerprint>(words: &[u64]) -> F {
    F::from_words(|number| words[number])
}

/// The id from the naive reader.
pub(crate) fn with_id(id: &NaiveId) -> Id {
    match id {
        NaiveId::Number(number) => Id::Number(*number),
        NaiveId::Text(text) => Id::Text(text.as_str().into()),
        NaiveId::Count(count) => Id::Count(*count),
    }
}
