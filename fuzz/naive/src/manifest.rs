//! manifest.md

use crate::conventions::{Bytes, VERSION, check_plain};
use crate::plan::{Parameters, read_parameters};
use crate::{Res, require};

/// Number, file length, records, fingerprints and footer checksum of a segment.
pub type Entry = [u64; 5];

/// A run: its sequence numbers, and its segments of tombstones, of records, of the id index, and of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub first: u64,
    pub last: u64,
    /// Net records, if known.
    pub net: Option<i64>,
    pub segments: [Option<Entry>; 4],
}

/// The content of the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    pub parameters: Parameters,
    pub numbering: u64,
    pub next_id: u64,
    pub next_segment: u64,
    pub first_log: u64,
    pub flushed: u64,
    /// Bytes written to logs, to new segments, and to merged segments.
    pub written: [u64; 3],
    pub runs: Vec<Run>,
}

pub fn read_manifest(bytes: &[u8]) -> Res<Manifest> {
    require(bytes.len() <= 1 << 26, "longer than 64 MiB")?;
    let mut fields = Bytes::new(bytes);
    require(fields.take(8)? == b"fpstore\0", "magic")?;
    require(fields.uint(4)? == VERSION, "version")?;
    check_plain(bytes)?;
    let parameters = read_parameters(&mut fields)?;
    let (numbering, next_id, next_segment) = (fields.uint(1)?, fields.uint(8)?, fields.uint(8)?);
    let (first_log, flushed) = (fields.uint(8)?, fields.uint(8)?);
    let written = [fields.uint(8)?, fields.uint(8)?, fields.uint(8)?];
    require(numbering <= 2, "numbering")?;
    require((1..=1 << 63).contains(&next_segment), "next segment")?;
    require((1..=1 << 63).contains(&first_log), "first log")?;
    require(flushed <= 1 << 63, "flushed")?;
    let (mut runs, mut before, mut numbers) = (Vec::<Run>::new(), 0, Vec::new());
    for _ in 0..fields.uint(4)? {
        let (first, last, has) = (fields.uint(8)?, fields.uint(8)?, fields.uint(1)?);
        require(before < first && first <= last && last <= flushed, "sequence numbers of a run")?;
        before = last;
        let allowed: &[u64] = if parameters.id_index { &[1, 6, 7] } else { &[1, 2, 3] };
        require(has < 32 && allowed.contains(&(has & 7)), "segments that no run has")?;
        require(has & 16 == 0 || has & 2 == 2 && parameters.keys.is_some(), "keys that no run has")?;
        let net = if has & 8 == 8 { Some(fields.uint(8)? as i64) } else { None };
        let mut segments = [None; 4];
        for (bit, segment) in [0, 1, 2, 4].into_iter().zip(&mut segments) {
            if has >> bit & 1 == 1 {
                let entry = [fields.uint(8)?, fields.uint(8)?, fields.uint(8)?, fields.uint(8)?, fields.uint(4)?];
                require((1..next_segment).contains(&entry[0]), "a segment number out of range")?;
                numbers.push(entry[0]);
                *segment = Some(entry);
            }
        }
        let records = |entry: Option<Entry>| i128::from(entry.map_or(0, |entry| entry[2]));
        let possible = -records(segments[0])..=records(segments[1]);
        require(net.is_none_or(|net| possible.contains(&i128::from(net))), "net records out of range")?;
        runs.push(Run { first, last, net, segments });
    }
    let count = numbers.len();
    numbers.sort_unstable();
    numbers.dedup();
    require(numbers.len() == count, "a segment number that is twice there")?;
    require(fields.rest.len() == 4, "bytes after the last run")?;
    Ok(Manifest { parameters, numbering, next_id, next_segment, first_log, flushed, written, runs })
}
