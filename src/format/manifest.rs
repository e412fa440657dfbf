//! The manifest: one small file that says what the store is and which segments it consists of
//! (format-spec/manifest.md).

use super::fields::{Fields, seal};
use super::parameters::Parameters;
use crate::error::{Error, Result};

/// First bytes of a manifest.
const MAGIC: &[u8; 8] = b"fpstore\0";
/// Bytes behind the last segment's entry: the checksum.
const BEHIND: usize = super::CHECKSUM;
/// Bytes of one segment's entry.
const ENTRY: usize = 36;

/// Who gives a store's records their ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Numbering {
    /// Nobody yet: the first load decides.
    #[default]
    Undecided,
    /// The store, from a counter that never reuses a number.
    Own,
    /// The user.
    Given,
}

/// One segment of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SegmentEntry {
    /// Its number, from which its file name is made.
    pub(crate) number: u64,
    /// Length of its file in bytes.
    pub(crate) file_length: u64,
    /// Its records.
    pub(crate) records: u64,
    /// Its distinct fingerprints.
    pub(crate) fingerprints: u64,
    /// The checksum of its footer, which covers a hash of all other bytes: no other segment passes in its place.
    pub(crate) footer_checksum: u32,
}

/// The state of a store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ManifestData {
    pub(crate) parameters: Parameters,
    pub(crate) numbering: Numbering,
    /// The next number for a record without an id.
    pub(crate) next_id: u64,
    /// The number of the next segment.
    pub(crate) next_segment: u64,
    /// Oldest first.
    pub(crate) segments: Vec<SegmentEntry>,
}

impl ManifestData {
    /// The state of a new store.
    pub(crate) fn new(parameters: Parameters) -> Self {
        Self { parameters, numbering: Numbering::Undecided, next_id: 0, next_segment: 1, segments: Vec::new() }
    }

    /// The file's bytes.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&super::VERSION.to_le_bytes());
        self.parameters.write(&mut out);
        out.push(match self.numbering {
            Numbering::Undecided => 0,
            Numbering::Own => 1,
            Numbering::Given => 2,
        });
        out.extend_from_slice(&self.next_id.to_le_bytes());
        out.extend_from_slice(&self.next_segment.to_le_bytes());
        out.extend_from_slice(&u32::try_from(self.segments.len()).unwrap_or(u32::MAX).to_le_bytes());
        for segment in &self.segments {
            for value in [segment.number, segment.file_length, segment.records, segment.fingerprints] {
                out.extend_from_slice(&value.to_le_bytes());
            }
            out.extend_from_slice(&segment.footer_checksum.to_le_bytes());
        }
        seal(&mut out);
        out
    }

    /// Reads the file.
    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        fields.magic(MAGIC)?;
        fields.version()?;
        fields.check_seal(0)?;
        let parameters = Parameters::parse(fields)?;
        let numbering = match fields.u8("numbering")? {
            0 => Numbering::Undecided,
            1 => Numbering::Own,
            2 => Numbering::Given,
            other => return Err(fields.damaged(format!("unknown numbering {other}"))),
        };
        let (next_id, next_segment) = (fields.u64("next id")?, fields.u64("next segment")?);
        let count = fields.u32("segments")? as usize;
        let left = fields.remaining();
        if left.checked_sub(BEHIND) != count.checked_mul(ENTRY) {
            return Err(fields.damaged(format!("{count} segments do not take {left} bytes")));
        }
        let mut segments = Vec::with_capacity(count);
        for _ in 0..count {
            segments.push(SegmentEntry {
                number: fields.u64("segment number")?,
                file_length: fields.u64("file length")?,
                records: fields.u64("records")?,
                fingerprints: fields.u64("fingerprints")?,
                footer_checksum: fields.foreign_checksum("footer checksum")?,
            });
        }
        fields.checksum()?;
        fields.end()?;
        if next_segment == 0 || segments.first().is_some_and(|first| first.number == 0) {
            return Err(Error::damaged("segment numbers begin at 1"));
        }
        let ascending = segments.iter().zip(segments.iter().skip(1)).all(|(a, b)| a.number < b.number);
        if !ascending || segments.last().is_some_and(|last| last.number >= next_segment) {
            return Err(Error::damaged("segment numbers do not ascend"));
        }
        Ok(Self { parameters, numbering, next_id, next_segment, segments })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> ManifestData {
        let segment = |number| SegmentEntry { number, file_length: 5, records: 3, fingerprints: 2, footer_checksum: 9 };
        ManifestData {
            numbering: Numbering::Own,
            next_id: 3,
            next_segment: 8,
            segments: vec![segment(2), segment(7)],
            ..ManifestData::new(Parameters::new(3))
        }
    }

    #[test]
    fn round_trip_and_every_flip_and_cut_is_noticed() {
        let bytes = sample().write();
        assert_eq!(ManifestData::parse(&mut Fields::new(&bytes, 0)).unwrap(), sample());
        for at in 0..bytes.len() {
            assert!(ManifestData::parse(&mut Fields::new(&bytes[..at], 0)).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                assert!(ManifestData::parse(&mut Fields::new(&bytes, 0)).is_err(), "byte {at} bit {bit}");
            }
        }
    }
}
