//! How far the making of a segment has come that is merged from others: the file `MERGE` (format-spec/store.md).

use super::fields::{Fields, seal};
use super::footer::{Span, TableSections, end_of};
use super::manifest::MOST_NUMBER;
use crate::error::Result;

/// First bytes of the file.
const MAGIC: &[u8; 8] = b"fpmerge\0";
/// Most tables of a design.
const MOST_TABLES: u32 = 256;

/// What of a segment is written, and of what it is made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergeProgress {
    /// The numbers of all segments of the runs that become one, oldest run first.
    pub(crate) inputs: Vec<u64>,
    /// Bytes of the segment that are written: up to the end of a table.
    pub(crate) length: u64,
    /// Their hash.
    pub(crate) content_hash: u64,
    /// The tables that are written.
    pub(crate) tables: Vec<TableSections>,
}

impl MergeProgress {
    /// The file's bytes.
    pub(crate) fn write(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let mut number = |value: u64| out.extend_from_slice(&value.to_le_bytes());
        number(u64::from(super::VERSION) | (self.tables.len() as u64) << 32);
        [self.length, self.content_hash, self.inputs.len() as u64].into_iter().for_each(&mut number);
        self.inputs.iter().copied().for_each(&mut number);
        for table in &self.tables {
            number(table.blocks);
            for span in [table.data, table.codes, table.index] {
                number(span.offset);
                number(span.length);
            }
        }
        seal(&mut out);
        out
    }

    /// Reads the file.
    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        fields.magic(MAGIC)?;
        fields.version()?;
        fields.check_seal(0)?;
        let count = fields.u32("tables")?;
        let (length, content_hash) = (fields.u64("length")?, fields.hash("content hash")?);
        let inputs = fields.u64("segments")?;
        if count == 0 || count > MOST_TABLES || inputs == 0 || inputs > fields.remaining() as u64 / 8 {
            return Err(fields.damaged("no merge has so many tables and segments"));
        }
        let inputs: Vec<u64> = (0..inputs).map(|_| fields.u64("segment number")).collect::<Result<_>>()?;
        let (mut tables, mut spans) = (Vec::new(), Vec::new());
        for _ in 0..count {
            let blocks = fields.u64("blocks")?;
            let mut span = |name: &str| -> Result<Span> {
                let span = Span { offset: fields.u64(&format!("{name} offset"))?, length: fields.u64(name)? };
                spans.push(span);
                Ok(span)
            };
            tables.push(TableSections { data: span("data")?, codes: span("codes")?, index: span("index")?, blocks });
        }
        fields.checksum()?;
        fields.end()?;
        if end_of(&spans)? != length || inputs.iter().any(|number| !(1..MOST_NUMBER).contains(number)) {
            return Err(fields.damaged("what is written does not end with a table, or numbers are not possible"));
        }
        Ok(Self { inputs, length, content_hash, tables })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> MergeProgress {
        let table = |from: u64| TableSections {
            data: Span { offset: from, length: 10 },
            codes: Span { offset: from + 10, length: 2 },
            index: Span { offset: from + 12, length: 5 },
            blocks: 3,
        };
        MergeProgress { inputs: vec![3, 1, 9], length: 4113, content_hash: 7, tables: vec![table(16), table(4096)] }
    }

    fn parse(bytes: &[u8]) -> Result<MergeProgress> {
        MergeProgress::parse(&mut Fields::new(bytes, 0))
    }

    #[test]
    fn round_trip_and_every_flip_and_cut_is_noticed() {
        let bytes = sample().write();
        assert_eq!(parse(&bytes).unwrap(), sample());
        for at in 0..bytes.len() {
            assert!(parse(&bytes[..at]).is_err(), "cut at {at}");
            for bit in 0..8 {
                let mut bytes = bytes.clone();
                bytes[at] ^= 1 << bit;
                assert!(parse(&bytes).is_err(), "byte {at} bit {bit}");
            }
        }
    }

    #[test]
    fn what_no_writer_writes_is_refused() {
        let changes: [fn(&mut MergeProgress); 8] = [
            |progress| progress.tables.clear(),
            |progress| progress.inputs.clear(),
            |progress| progress.inputs[1] = 0,
            |progress| progress.length += 1,
            |progress| progress.length -= 1,
            |progress| progress.tables[0].data.offset = 15,
            |progress| progress.tables[1].data.offset = 4095,
            |progress| progress.tables[1].codes.length = u64::MAX,
        ];
        for (number, change) in changes.into_iter().enumerate() {
            let mut progress = sample();
            change(&mut progress);
            assert!(parse(&progress.write()).is_err(), "{number}");
        }
    }
}
