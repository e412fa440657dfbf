//! Reads evidence, as `fpdedup keep --evidence` writes it: a removed record, its keeper and how near they are a row.
//!
//! The extension of the name determines the format: TSV (`id<TAB>keeper<TAB>cluster<TAB>distance`, and a count in a
//! store without ids), or columns of these names; other columns are not read. Standard input is TSV. Evidence of a key
//! index has `shared_keys` in place of `distance`; lines of TSV have no names, so the caller tells.

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

const EVIDENCE: Contents = Contents {
    second: KEEPER,
    others: &[&[DISTANCE, SHARED_KEYS], &[CLUSTER]],
    formats: "evidence is .tsv, .txt, .csv, .ndjson or .parquet, as fpdedup keep writes it",
};

/// Why a record is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Bits in which it differs from its keeper.
    Distance(u32),
    /// Keys that it shares with its keeper.
    SharedKeys(u64),
}

impl Ground {
    /// Returns the number.
    #[must_use]
    pub fn number(self) -> u64 {
        match self {
            Self::Distance(distance) => distance.into(),
            Self::SharedKeys(keys) => keys,
        }
    }
}

/// A row of evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence<'a, F> {
    /// The removed record.
    pub record: LabelRef<'a, F>,
    /// The record that is kept in its place.
    pub keeper: LabelRef<'a, F>,
    /// The smallest record of their cluster.
    pub cluster: LabelRef<'a, F>,
    /// How near the two are.
    pub ground: Ground,
    /// The line, or the number of the row in a Parquet file; the first is 1.
    pub line: u64,
}

/// The evidence of a file, in order.
#[derive(Debug)]
pub struct EvidenceReader {
    name: Arc<str>,
    stream: Stream<Labels>,
    kind: IdKind,
    /// Whether lines of TSV are evidence of a key index.
    of_keys: bool,
}

impl EvidenceReader {
    /// Opens a file of evidence for a store with ids of this kind.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or has another format.
    pub fn open(source: &Source, kind: IdKind, temp_dir: Option<&Path>, progress: &Progress) -> anyhow::Result<Self> {
        let (stream, _) = open_stream(source, kind, &EVIDENCE, temp_dir, progress)?;
        Ok(Self { name: source.name().into(), stream, kind, of_keys: false })
    }

    /// Takes lines of TSV, whose columns have no names, as evidence of a key index.
    #[must_use]
    pub fn of_keys(self, of_keys: bool) -> Self {
        Self { of_keys, ..self }
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
                Stream::Lines(lines) => tsv(lines.line(), self.kind, self.of_keys).map(|row| (row, self.of_keys)),
                Stream::Ndjson(lines) => ndjson(lines.line()),
                Stream::Json(values) => ndjson(values.value()),
                Stream::Csv(table) => table.record().map(|(keeper, record)| {
                    let record = if let RawId::Text(record) = record { Cell::Bytes(record) } else { Cell::Bytes(b"") };
                    let ((name, number), (_, cluster)) = (table.more(0), table.more(1));
                    let row = [record, Cell::Bytes(keeper), Cell::Bytes(cluster), Cell::Bytes(number)];
                    (row, name == SHARED_KEYS)
                }),
                Stream::Parquet(rows) => rows.cell(0).and_then(|record| {
                    let row = [record, rows.cell(1)?, rows.cell(3)?, rows.cell(2)?];
                    Ok((row, rows.has_name(2, SHARED_KEYS)))
                }),
            };
            let [of_record, of_keeper, of_cluster] = &mut texts;
            let parsed = row.as_ref().map_err(Clone::clone).and_then(|([record, keeper, cluster, number], of_keys)| {
                let (record, keeper) = (record.label(self.kind, of_record)?, keeper.label(self.kind, of_keeper)?);
                let cluster = cluster.label(self.kind, of_cluster)?;
                let number = number.number().map_err(|message| format!("{}: {message}", name_of(*of_keys)))?;
                let ground = match of_keys {
                    true => Ground::SharedKeys(number),
                    false => Ground::Distance(u32::try_from(number).unwrap_or(u32::MAX)),
                };
                Ok(Evidence { record, keeper, cluster, ground, line: self.stream.number() })
            });
            take(parsed.map_err(|message: String| self.stream.place(&self.name).error(message))?)?;
        }
        Ok(())
    }
}

/// The column that says how near a record and its keeper are.
fn name_of(of_keys: bool) -> &'static str {
    if of_keys { SHARED_KEYS } else { DISTANCE }
}

/// Parses `ID<TAB>KEEPER<TAB>CLUSTER<TAB>NUMBER`. More columns may follow: a count where there are no ids, and
/// similarities.
fn tsv(line: &[u8], kind: IdKind, of_keys: bool) -> Result<[Cell<'_>; 4], String> {
    let mut cells = line.split(|&byte| byte == b'\t');
    let mut next = || cells.next().map(Cell::Bytes);
    let row = [next(), next(), next(), next()];
    if !of_keys && line.ends_with(b"\t") {
        return Err("the last column is empty, as in evidence of a key index (fphash verify --keys)".to_owned());
    }
    match row {
        [Some(record), Some(keeper), Some(cluster), Some(number)] if kind != IdKind::None || next().is_some() => {
            Ok([record, keeper, cluster, number])
        }
        _ => Err(match kind {
            IdKind::None => "expected five columns: fingerprint, keeper, cluster, distance, count".to_owned(),
            _ => format!("expected four columns: id, keeper, cluster, {}", name_of(of_keys)),
        }),
    }
}

/// Parses an object with the columns; returns also whether it is of a key index.
fn ndjson(line: &[u8]) -> Result<([Cell<'_>; 4], bool), String> {
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
    let Row { id, keeper, cluster, distance, shared_keys } =
        serde_json::from_slice(line).map_err(|error| describe(&error))?;
    let of_keys = distance.is_none();
    let number = distance.or(shared_keys).ok_or_else(|| format!("missing field `{DISTANCE}` or `{SHARED_KEYS}`"))?;
    Ok(([id, keeper, cluster, number], of_keys))
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
                let number = match one.ground {
                    Ground::Distance(distance) => distance.to_string(),
                    Ground::SharedKeys(keys) => format!("{keys} keys"),
                };
                rows.push(format!("{:?} {:?} {:?} {number} {}", one.record, one.keeper, one.cluster, one.line));
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
        let keys = Ok(vec!["Number(7) Number(3) Number(1) 2 keys 1".to_owned()]);
        let row = r#"{"id":7,"keeper":3,"cluster":1,"shared_keys":2,"jaccard":null}"#;
        assert_eq!(read("a.ndjson", row, IdKind::Number), keys);
        let line = "id,keeper,cluster,shared_keys,jaccard\n7,3,1,2,0.5\n";
        assert_eq!(
            read("a.csv", line, IdKind::Number),
            keys.map(|_| vec!["Number(7) Number(3) Number(1) 2 keys 2".to_owned()])
        );
        let both = "shared_keys,id,keeper,cluster,distance\n9,7,3,1,2\n";
        assert_eq!(read("a.csv", both, IdKind::Number), numbers(2));
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
            ("a.tsv", "1\t2\t1\t3\t\n", IdKind::Number, "a.tsv: line 1: the last column is empty"),
            ("a.tsv", "1\t2\t1\t3\n", IdKind::None, "a.tsv: line 1: expected five columns"),
            ("a.tsv", "1\t2\t1\tx\n", IdKind::Number, "a.tsv: line 1: distance: expected a number, this is 'x'"),
            ("a.tsv", "1\tb\t1\t1\n", IdKind::Number, "a.tsv: line 1: the ids of the store are decimal numbers"),
            ("a.ndjson", "{\"id\":1,\"keeper\":1}", IdKind::Number, "a.ndjson: line 1: missing field `cluster`"),
            (
                "a.ndjson",
                "{\"id\":1,\"keeper\":1,\"cluster\":1}",
                IdKind::Number,
                "missing field `distance` or `shared_keys`",
            ),
            (
                "a.csv",
                "id,keeper,cluster,shared_keys\n1,1,1,x\n",
                IdKind::Number,
                "line 2: shared_keys: expected a number",
            ),
            ("a.csv", "id,keeper\n", IdKind::Number, "a.csv: line 1: there is no column \"distance\""),
            ("a.csv", "id,keeper,distance,cluster\n1,2\n", IdKind::Number, "a.csv: line 2: expected 4 cells"),
            ("a.u64", "", IdKind::Number, "a.u64: evidence is .tsv, .txt, .csv, .ndjson or .parquet"),
        ] {
            let error = read(name, content, kind).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
