//! Reads evidence, as `fpdedup keep --evidence` writes it: a removed record, its keeper and their distance a row; of a
//! key index the number of keys that they share instead of the distance.
//!
//! The extension of the name determines the format: TSV (`id<TAB>keeper<TAB>cluster<TAB>distance`, and a count in a
//! store without ids), or columns of these names; other columns are not read. Standard input is TSV.

use std::path::Path;
use std::sync::Arc;

use fpstore::clusters::LabelRef;
use fpstore::{Fingerprint, IdKind};
use serde::Deserialize;

use super::cell::{CLUSTER, Cell, DISTANCE, KEEPER, SHARED_KEYS};
use super::reader::{Contents, open_stream};
use crate::input::object::describe;
use crate::input::parquet::Labels;
use crate::input::stream::Stream;
use crate::input::{RawId, Source};
use crate::progress::Progress;

const FORMATS: &str = "evidence is .tsv, .txt, .csv, .ndjson or .parquet, as fpdedup keep writes it";
const EVIDENCE: Contents = Contents { second: KEEPER, others: &[DISTANCE, CLUSTER], formats: FORMATS };
const OF_KEYS: Contents = Contents { second: KEEPER, others: &[SHARED_KEYS, CLUSTER], formats: FORMATS };

/// A row of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence<'a, F> {
    /// The removed record.
    pub record: LabelRef<'a, F>,
    /// The record that is kept in its place.
    pub keeper: LabelRef<'a, F>,
    /// The smallest record of their cluster.
    pub cluster: LabelRef<'a, F>,
    /// Bits in which the two differ; in a key index, keys that they share.
    pub measure: u32,
    /// The line, or the number of the row in a Parquet file; the first is 1.
    pub line: u64,
}

/// The evidence of a file, in order.
#[derive(Debug)]
pub struct EvidenceReader {
    name: Arc<str>,
    stream: Stream<Labels>,
    kind: IdKind,
    /// The column of the measure.
    measure: &'static str,
}

impl EvidenceReader {
    /// Opens a file of evidence for a store with ids of this kind.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or has another format.
    pub fn open(source: &Source, kind: IdKind, temp_dir: Option<&Path>, progress: &Progress) -> anyhow::Result<Self> {
        let (stream, _) = open_stream(source, kind, &EVIDENCE, temp_dir, progress)?;
        Ok(Self { name: source.name().into(), stream, kind, measure: DISTANCE })
    }

    /// As [`EvidenceReader::open`], for a key index.
    ///
    /// # Errors
    ///
    /// As [`EvidenceReader::open`].
    pub fn open_of_keys(
        source: &Source,
        kind: IdKind,
        temp_dir: Option<&Path>,
        progress: &Progress,
    ) -> anyhow::Result<Self> {
        let (stream, _) = open_stream(source, kind, &OF_KEYS, temp_dir, progress)?;
        Ok(Self { name: source.name().into(), stream, kind, measure: SHARED_KEYS })
    }

    /// Calls `take` with each row.
    ///
    /// # Errors
    ///
    /// If a row is malformed, with its place; errors of `take` unchanged.
    pub fn each<F: Fingerprint>(
        mut self,
        mut take: impl FnMut(Evidence<'_, F>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        let mut texts = [String::new(), String::new(), String::new()];
        while self.stream.advance().map_err(|message| self.stream.place(&self.name).error(message))? {
            let row = match &self.stream {
                Stream::Lines(lines) => tsv(lines.line(), self.kind, self.measure),
                Stream::Ndjson(lines) => ndjson(lines.line(), self.measure),
                Stream::Json(values) => ndjson(values.value(), self.measure),
                Stream::Csv(table) => table.record().map(|(keeper, record)| {
                    let record = if let RawId::Text(record) = record { Cell::Bytes(record) } else { Cell::Bytes(b"") };
                    [record, Cell::Bytes(keeper), Cell::Bytes(table.more(1)), Cell::Bytes(table.more(0))]
                }),
                Stream::Parquet(rows) => {
                    rows.cell(0).and_then(|record| Ok([record, rows.cell(1)?, rows.cell(3)?, rows.cell(2)?]))
                }
            };
            let [of_record, of_keeper, of_cluster] = &mut texts;
            let parsed = row.as_ref().map_err(Clone::clone).and_then(|[record, keeper, cluster, measure]| {
                let (record, keeper) = (record.label(self.kind, of_record)?, keeper.label(self.kind, of_keeper)?);
                let cluster = cluster.label(self.kind, of_cluster)?;
                let measure = measure.number().map_err(|message| format!("{}: {message}", self.measure))?;
                let measure = u32::try_from(measure).unwrap_or(u32::MAX);
                Ok(Evidence { record, keeper, cluster, measure, line: self.stream.number() })
            });
            take(parsed.map_err(|message: String| self.stream.place(&self.name).error(message))?)?;
        }
        Ok(())
    }
}

/// Parses `ID<TAB>KEEPER<TAB>CLUSTER<TAB>MEASURE`. More columns may follow: a count where there are no ids, and
/// similarities.
fn tsv<'a>(line: &'a [u8], kind: IdKind, measure: &str) -> Result<[Cell<'a>; 4], String> {
    let mut cells = line.split(|&byte| byte == b'\t');
    let mut next = || cells.next().map(Cell::Bytes);
    let row = [next(), next(), next(), next()];
    match row {
        [Some(record), Some(keeper), Some(cluster), Some(measured)] if kind != IdKind::None || next().is_some() => {
            Ok([record, keeper, cluster, measured])
        }
        _ => Err(match kind {
            IdKind::None => "expected five columns: fingerprint, keeper, cluster, distance, count".to_owned(),
            _ => format!("expected four columns: id, keeper, cluster, {measure}"),
        }),
    }
}

/// Parses an object with the columns.
fn ndjson<'a>(line: &'a [u8], measure: &str) -> Result<[Cell<'a>; 4], String> {
    #[derive(Deserialize)]
    struct Row<'a> {
        #[serde(borrow, alias = "fingerprint")]
        id: Cell<'a>,
        #[serde(borrow)]
        keeper: Cell<'a>,
        #[serde(borrow)]
        cluster: Cell<'a>,
        #[serde(borrow)]
        distance: Option<Cell<'a>>,
        #[serde(borrow)]
        shared_keys: Option<Cell<'a>>,
    }
    let row: Row<'a> = serde_json::from_slice(line).map_err(|error| describe(&error))?;
    let measured = if measure == SHARED_KEYS { row.shared_keys } else { row.distance };
    let measured = measured.ok_or_else(|| format!("missing field `{measure}`"))?;
    Ok([row.id, row.keeper, row.cluster, measured])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, content: &str, kind: IdKind) -> Result<Vec<String>, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        let mut rows = Vec::new();
        let reader = EvidenceReader::open(&Source::File(path), kind, None, &Progress::hidden());
        let read = reader.and_then(|reader| {
            reader.each::<u64>(|one| {
                rows.push(format!("{:?} {:?} {:?} {} {}", one.record, one.keeper, one.cluster, one.measure, one.line));
                Ok(())
            })
        });
        read.map(|()| rows).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn rows_of_every_format() {
        let numbers = |line| Ok(vec![format!("Number(7) Number(3) Number(1) 2 {line}")]);
        assert_eq!(read("a.tsv", "\n7\t3\t1\t2\r\n", IdKind::Number), numbers(2));
        assert_eq!(read("a.csv", "distance,keeper,x,cluster,id\n2,3,,1,7\n", IdKind::Number), numbers(2));
        let row = r#"{"schema_version":1,"id":7,"keeper":3,"cluster":1,"distance":2}"#;
        assert_eq!(read("a.ndjson", row, IdKind::Number), numbers(1));
        let texts = Ok(vec!["Text(\"a b\") Text(\"3\") Text(\"3\") 0 1".to_owned()]);
        assert_eq!(read("a.tsv", "a b\t3\t3\t0\t0.5", IdKind::Text), texts);
        let fingerprints = Ok(vec!["Fingerprint(31) Fingerprint(1) Fingerprint(1) 4 1".to_owned()]);
        let line = "000000000000001f\t0000000000000001\t0000000000000001\t4\t9";
        assert_eq!(read("a.tsv", line, IdKind::None), fingerprints);
    }

    #[test]
    fn malformed_rows_name_their_place() {
        for (name, content, kind, part) in [
            ("a.tsv", "1\t2\t1\t3\n1\t2\n", IdKind::Number, "a.tsv: line 2: expected four columns"),
            ("a.tsv", "1\t2\t1\t3\n", IdKind::None, "a.tsv: line 1: expected five columns"),
            ("a.tsv", "1\t2\t1\tx\n", IdKind::Number, "a.tsv: line 1: distance: expected a number, this is 'x'"),
            ("a.tsv", "1\tb\t1\t1\n", IdKind::Number, "a.tsv: line 1: the ids of the store are decimal numbers"),
            ("a.ndjson", "{\"id\":1,\"keeper\":1}", IdKind::Number, "a.ndjson: line 1: missing field `cluster`"),
            ("a.csv", "id,keeper\n", IdKind::Number, "a.csv: line 1: there is no column \"distance\""),
            ("a.csv", "id,keeper,distance,cluster\n1,2\n", IdKind::Number, "a.csv: line 2: expected 4 cells"),
            ("a.u64", "", IdKind::Number, "a.u64: evidence is .tsv, .txt, .csv, .ndjson or .parquet"),
        ] {
            let error = read(name, content, kind).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
