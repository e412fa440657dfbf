//! The manifest: one small file with the parameters of the store and the list of its runs (format-spec/manifest.md).

use super::fields::{Fields, seal};
use super::parameters::Parameters;
use crate::error::{Error, Result};
use crate::fingerprint::IdAssignment;
use std::collections::BTreeSet;

const MAGIC: &[u8; 8] = b"fpstore\0";
/// Bytes of a run without its segments, and of one segment. Bounds the count by the file's length.
const LEAST_RUN: usize = 17 + ENTRY;
/// Greatest number of a segment, a log or a write, so that there is always a next one.
pub(crate) const MOST_NUMBER: u64 = 1 << 63;
const ENTRY: usize = 36;
/// Which segments a run has: one bit each, in the order of their entries.
const REMOVALS: u8 = 1;
const RECORDS: u8 = 2;
const ID_INDEX: u8 = 4;
const KEYS: u8 = 16;
/// Set in the same byte if the run's net number of records is known.
const NET: u8 = 8;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentEntry {
    pub(crate) number: u64,
    pub(crate) file_length: u64,
    pub(crate) records: u64,
    pub(crate) fingerprints: u64,
    /// The checksum of its footer, which covers a hash of all other bytes: no other segment passes in its place.
    pub(crate) footer_checksum: u32,
}

/// A run: the result of the writes with some sequence numbers, or of merging several runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RunEntry {
    /// The first and the last sequence number.
    pub(crate) first: u64,
    pub(crate) last: u64,
    pub(crate) tombstones: Option<SegmentEntry>,
    pub(crate) records: Option<SegmentEntry>,
    /// The id index of its records, if the store has id indexes and the run has records.
    pub(crate) id_index: Option<SegmentEntry>,
    /// The keys of its records, if this is a key index and they have keys.
    pub(crate) keys: Option<SegmentEntry>,
    /// Number of records that this run adds to those of the older runs, if it is known.
    pub(crate) net: Option<i64>,
}

impl RunEntry {
    /// Its segments, in the order of the manifest.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &SegmentEntry> {
        [&self.tombstones, &self.records, &self.id_index, &self.keys].into_iter().flatten()
    }

    /// Bytes of its segments.
    pub(crate) fn bytes(&self) -> u64 {
        self.segments().fold(0, |sum, segment| segment.file_length.saturating_add(sum))
    }

    /// Number of its records.
    pub(crate) fn records(&self) -> u64 {
        self.records.map_or(0, |segment| segment.records)
    }

    /// Number of its tombstones.
    pub(crate) fn removed(&self) -> u64 {
        self.tombstones.map_or(0, |segment| segment.records)
    }
}

/// All bytes written for a store since its creation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WrittenBytes {
    /// To logs whose writes were flushed.
    pub log: u64,
    /// To segments of new records: flushed, or loaded in bulk.
    pub new: u64,
    /// To segments that were merged from others.
    pub compacted: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ManifestData {
    pub(crate) parameters: Parameters,
    pub(crate) id_assignment: IdAssignment,
    /// The next number for a record without an id, before the logs' writes.
    pub(crate) next_id: u64,
    pub(crate) next_segment: u64,
    /// The number of the first log whose writes may not all be in segments.
    pub(crate) first_log: u64,
    /// The last sequence number whose writes are in segments; of logs only later ones count.
    pub(crate) flushed: u64,
    pub(crate) written: WrittenBytes,
    pub(crate) runs: Vec<RunEntry>,
}

impl ManifestData {
    pub(crate) fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            id_assignment: IdAssignment::Undecided,
            next_id: 0,
            next_segment: 1,
            first_log: 1,
            flushed: 0,
            written: WrittenBytes::default(),
            runs: Vec::new(),
        }
    }

    /// Every segment of every run, oldest first.
    pub(crate) fn segments(&self) -> impl Iterator<Item = &SegmentEntry> {
        self.runs.iter().flat_map(RunEntry::segments)
    }

    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&super::VERSION.to_le_bytes());
        self.parameters.write(&mut out);
        out.push(match self.id_assignment {
            IdAssignment::Undecided => 0,
            IdAssignment::Auto => 1,
            IdAssignment::Explicit => 2,
        });
        let WrittenBytes { log, new, compacted } = self.written;
        for value in [self.next_id, self.next_segment, self.first_log, self.flushed, log, new, compacted] {
            out.extend_from_slice(&value.to_le_bytes());
        }
        out.extend_from_slice(&u32::try_from(self.runs.len()).unwrap_or(u32::MAX).to_le_bytes());
        for run in &self.runs {
            out.extend_from_slice(&run.first.to_le_bytes());
            out.extend_from_slice(&run.last.to_le_bytes());
            let has = |segment: Option<_>, bit| segment.map_or(0, |_| bit);
            let net = run.net.map_or(0, |_| NET);
            let index = has(run.id_index, ID_INDEX) | has(run.keys, KEYS);
            out.push(has(run.tombstones, REMOVALS) | has(run.records, RECORDS) | index | net);
            run.net.iter().for_each(|net| out.extend_from_slice(&net.to_le_bytes()));
            for segment in run.segments() {
                for value in [segment.number, segment.file_length, segment.records, segment.fingerprints] {
                    out.extend_from_slice(&value.to_le_bytes());
                }
                out.extend_from_slice(&segment.footer_checksum.to_le_bytes());
            }
        }
        seal(&mut out);
        out
    }

    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        fields.magic(MAGIC)?;
        fields.version()?;
        fields.check_seal(0)?;
        let parameters = Parameters::parse(fields)?;
        let id_assignment = match fields.u8("numbering")? {
            0 => IdAssignment::Undecided,
            1 => IdAssignment::Auto,
            2 => IdAssignment::Explicit,
            other => return Err(fields.damaged(format!("unknown numbering {other}"))),
        };
        let (next_id, next_segment) = (fields.u64("next id")?, fields.u64("next segment")?);
        let (first_log, flushed) = (fields.u64("first log")?, fields.u64("flushed")?);
        let written = WrittenBytes {
            log: fields.u64("bytes to logs")?,
            new: fields.u64("bytes of new segments")?,
            compacted: fields.u64("bytes of merged segments")?,
        };
        let count = fields.u32("runs")? as usize;
        if count > fields.remaining() / LEAST_RUN {
            return Err(fields.damaged(format!("{count} runs do not fit {} bytes", fields.remaining())));
        }
        let mut runs = Vec::with_capacity(count);
        for _ in 0..count {
            runs.push(parse_run(fields)?);
        }
        fields.checksum()?;
        fields.end()?;
        let state = Self { parameters, id_assignment, next_id, next_segment, first_log, flushed, written, runs };
        state.check()?;
        Ok(state)
    }

    /// Refuses states that no writer writes.
    pub(crate) fn check(&self) -> Result<()> {
        if self.next_segment.max(self.first_log).max(self.flushed) > MOST_NUMBER {
            return Err(Error::damaged("a number that no store reaches"));
        }
        let mut numbers = BTreeSet::new();
        if !self
            .segments()
            .all(|segment| (1..self.next_segment).contains(&segment.number) && numbers.insert(segment.number))
            || self.next_segment == 0
        {
            return Err(Error::damaged("segment numbers that are not possible"));
        }
        if self.first_log == 0 {
            return Err(Error::damaged("numbers of logs begin at 1"));
        }
        let mut before = 0;
        for run in &self.runs {
            if run.first <= before || run.last < run.first {
                return Err(Error::damaged("sequence numbers of runs do not ascend"));
            }
            before = run.last;
        }
        if before > self.flushed {
            return Err(Error::damaged("a run of sequence numbers that were not flushed"));
        }
        for run in &self.runs {
            let indexed = run.id_index.is_some() == (self.parameters.id_index() && run.records.is_some());
            if !indexed {
                return Err(Error::damaged("an id index is missing, or too many"));
            }
            if run.keys.is_some() && (self.parameters.keys().is_none() || run.records.is_none()) {
                return Err(Error::damaged("keys of no records"));
            }
            let most = |net| if net < 0 { run.removed() } else { run.records() };
            if run.net.is_some_and(|net| net.unsigned_abs() > most(net)) {
                return Err(Error::damaged("a run that adds more records than it has, or removes more"));
            }
        }
        Ok(())
    }
}

fn parse_run(fields: &mut Fields<'_>) -> Result<RunEntry> {
    let (first, last) = (fields.u64("first sequence number")?, fields.u64("last sequence number")?);
    let has = fields.u8("segments")?;
    if has & (REMOVALS | RECORDS) == 0 || has > (REMOVALS | RECORDS | ID_INDEX | NET | KEYS) {
        return Err(fields.damaged(format!("a run cannot have segments {has}")));
    }
    let net = if has & NET == 0 { None } else { Some(fields.i64("net records")?) };
    let mut segment = |bit, name: &str| -> Result<Option<SegmentEntry>> {
        if has & bit == 0 {
            return Ok(None);
        }
        Ok(Some(SegmentEntry {
            number: fields.u64(&format!("{name}, segment number"))?,
            file_length: fields.u64("file length")?,
            records: fields.u64("records")?,
            fingerprints: fields.u64("fingerprints")?,
            footer_checksum: fields.foreign_checksum("footer checksum")?,
        }))
    };
    let (tombstones, records) = (segment(REMOVALS, "removals")?, segment(RECORDS, "records")?);
    let (id_index, keys) = (segment(ID_INDEX, "id index")?, segment(KEYS, "keys")?);
    Ok(RunEntry { first, last, tombstones, records, id_index, keys, net })
}
