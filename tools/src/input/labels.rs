//! Labels of clusters, as `fpdedup clusters` writes them: a record and its cluster a row.
//!
//! TSV (`id<TAB>cluster`), NDJSON and Parquet (with these names, or `fingerprint` for `id` where there are no ids), by the ending
//! of the name; standard input is TSV.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use fpstore::{Fingerprint, Id, IdKind, Label};
use serde::Deserialize;

use super::ids::text;
use super::lines::Lines;
use super::object::describe;
use super::parquet::Labels as ParquetLabels;
use super::place::excerpt;
use super::reader::reading;
use super::text::{decimal, parse_hex};
use super::window::Window;
use super::{Format, LINE_LIMIT, Place, Source};
use crate::progress::Progress;

/// Names of the columns.
#[cfg(feature = "parquet")]
pub(super) const ID: &str = "id";
#[cfg(feature = "parquet")]
pub(super) const FINGERPRINT: &str = "fingerprint";
#[cfg(feature = "parquet")]
pub(super) const CLUSTER: &str = "cluster";

/// Labels, one after another.
#[derive(Debug)]
pub struct LabelReader {
    name: Arc<str>,
    stream: Stream,
    kind: IdKind,
}

#[derive(Debug)]
enum Stream {
    Tsv(Lines),
    Ndjson(Lines),
    Parquet(Box<ParquetLabels>),
}

impl LabelReader {
    /// Opens a file of labels of a store with ids of this kind.
    ///
    /// # Errors
    ///
    /// When it cannot be opened, or is of another format.
    pub fn open(source: &Source, kind: IdKind, temp_dir: Option<&Path>, progress: &Progress) -> anyhow::Result<Self> {
        let format = match source {
            Source::Standard => Format::Hex,
            Source::File(path) => Format::of(path)?,
        };
        let lines = || source.open(progress).map(|bytes| Lines::new(Window::new(bytes), LINE_LIMIT));
        let stream = match format {
            Format::Hex => Stream::Tsv(lines()?),
            Format::Ndjson => Stream::Ndjson(lines()?),
            Format::Parquet => Stream::Parquet(Box::new(ParquetLabels::open(source, temp_dir, progress)?)),
            _ => bail!("{}: labels are .tsv, .ndjson or .parquet, as fpdedup clusters writes them", source.name()),
        };
        Ok(Self { name: source.name().into(), stream, kind })
    }

    /// Calls `take` with each record and its cluster.
    ///
    /// # Errors
    ///
    /// When there is something else, with its place; those of `take`.
    pub fn each<F: Fingerprint>(
        mut self,
        mut take: impl FnMut(&Label<F>, &Label<F>) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        while self.stream.advance().map_err(|message| self.place().error(message))? {
            let row = match &self.stream {
                Stream::Tsv(lines) => tsv(lines.line()),
                Stream::Ndjson(lines) => ndjson(lines.line()),
                Stream::Parquet(rows) => rows.row(),
            };
            let labels = row.and_then(|[record, cluster]| Ok([record.label(self.kind)?, cluster.label(self.kind)?]));
            let [record, cluster] = labels.map_err(|message: String| self.place().error(message))?;
            take(&record, &cluster)?;
        }
        Ok(())
    }

    #[cold]
    fn place(&self) -> Place {
        let (unit, number) = match &self.stream {
            Stream::Tsv(lines) | Stream::Ndjson(lines) => ("line", lines.number()),
            Stream::Parquet(rows) => ("record", rows.number()),
        };
        Place { input: Arc::clone(&self.name), unit, number }
    }
}

impl Stream {
    /// Goes on to the next row; `false` at the end.
    fn advance(&mut self) -> Result<bool, String> {
        match self {
            Self::Tsv(lines) | Self::Ndjson(lines) => {
                // What begins with '#' is no remark here: an id may.
                while lines.advance().map_err(|error| reading(&error))? {
                    if !lines.line().is_empty() {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            Self::Parquet(rows) => rows.advance(),
        }
    }
}

/// A cell of a row.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number of 64 bits or a string")]
pub(super) enum Cell<'a> {
    Number(u64),
    #[serde(borrow)]
    Text(Cow<'a, str>),
    /// A number or a text.
    #[serde(skip)]
    Bytes(&'a [u8]),
    /// A fingerprint, most significant byte first.
    #[serde(skip)]
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "of Parquet"))]
    Raw(&'a [u8]),
    #[serde(skip)]
    #[cfg_attr(not(feature = "parquet"), expect(dead_code, reason = "of Parquet"))]
    Null,
}

impl Cell<'_> {
    /// What it says in labels of a store with ids of this kind.
    fn label<F: Fingerprint>(&self, kind: IdKind) -> Result<Label<F>, String> {
        let bytes = match self {
            Self::Number(number) => match kind {
                IdKind::Number => return Ok(Label::Id(Id::Number(*number))),
                IdKind::Text => return Ok(Label::Id(Id::from(number.to_string().as_str()))),
                IdKind::None if F::WORDS == 1 => return Ok(Label::Fingerprint(F::from_words(|_| *number))),
                IdKind::None => return Err(format!("expected a fingerprint of {} bits, found {number}", F::WIDTH)),
            },
            Self::Raw(bytes) if kind == IdKind::None && bytes.len() == F::BYTES => {
                let (words, _) = bytes.as_chunks::<8>();
                let word = |number| words.get(number).map_or(0, |word| u64::from_be_bytes(*word));
                return Ok(Label::Fingerprint(F::from_words(word)));
            }
            Self::Raw(bytes) => {
                return Err(format!(
                    "found a fingerprint of {} bits, the ids of the store are {kind}",
                    8 * bytes.len()
                ));
            }
            Self::Null => return Err("a cell is empty (null)".to_owned()),
            Self::Text(text) => text.as_bytes(),
            Self::Bytes(bytes) => bytes,
        };
        match kind {
            IdKind::Number => match decimal(bytes) {
                Some(Some(number)) => Ok(Label::Id(Id::Number(number))),
                _ => Err(format!("the ids of the store are decimal numbers, this is {}", excerpt(bytes))),
            },
            IdKind::Text => text(bytes).map(|text| Label::Id(Id::from(text))),
            IdKind::None => parse_hex(bytes).map(Label::Fingerprint),
        }
    }
}

/// Reads `ID<TAB>CLUSTER`.
fn tsv(line: &[u8]) -> Result<[Cell<'_>; 2], String> {
    let mut cells = line.split(|&byte| byte == b'\t');
    match (cells.next(), cells.next(), cells.next()) {
        (Some(record), Some(cluster), None) => Ok([Cell::Bytes(record), Cell::Bytes(cluster)]),
        _ => Err("expected two columns, a record and its cluster, with a TAB between them".to_owned()),
    }
}

/// Reads an object with both columns.
fn ndjson(line: &[u8]) -> Result<[Cell<'_>; 2], String> {
    #[derive(Deserialize)]
    struct Row<'a> {
        #[serde(borrow, alias = "fingerprint")]
        id: Cell<'a>,
        #[serde(borrow)]
        cluster: Cell<'a>,
    }
    let Row { id, cluster } = serde_json::from_slice(line).map_err(|error| describe(&error))?;
    Ok([id, cluster])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, content: &[u8], kind: IdKind) -> Result<Vec<[String; 2]>, String> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        let mut rows = Vec::new();
        let reader = LabelReader::open(&Source::File(path), kind, None, &Progress::hidden());
        let read = reader.and_then(|reader| {
            reader.each::<u64>(|record, cluster| {
                rows.push([record, cluster].map(|label| format!("{label:?}")));
                Ok(())
            })
        });
        read.map(|()| rows).map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn lines_and_objects() {
        let expected = Ok(vec![["Id(Number(7))", "Id(Number(3))"].map(str::to_owned)]);
        assert_eq!(read("a.tsv", b"\n7\t3\r\n\n", IdKind::Number), expected);
        let row = br#"{"schema_version":1,"id":7,"cluster":3}"#;
        assert_eq!(read("a.ndjson", row, IdKind::Number), expected);
        assert_eq!(read("a.ndjson", br#"{"cluster":"3","id":"7"}"#, IdKind::Number), expected);
        let expected = Ok(vec![["Id(Text(\"ab\"))", "Id(Text(\"7\"))"].map(str::to_owned)]);
        assert_eq!(read("a.ndjson", br#"{"id":"a\u0062","cluster":7}"#, IdKind::Text), expected);
        let expected = Ok(vec![["Id(Text(\"#a\"))", "Id(Text(\" \"))"].map(str::to_owned)]);
        assert_eq!(read("a.tsv", b"#a\t ", IdKind::Text), expected);
        let expected = Ok(vec![["Fingerprint(31)", "Fingerprint(1)"].map(str::to_owned)]);
        assert_eq!(read("a.tsv", b"000000000000001f\t0000000000000001", IdKind::None), expected);
        let row = br#"{"fingerprint":"000000000000001F","cluster":"0000000000000001"}"#;
        assert_eq!(read("a.ndjson", row, IdKind::None), expected);
    }

    #[test]
    fn what_is_refused_names_its_place() {
        for (name, content, kind, part) in [
            ("a.tsv", "1\t2\n3\n", IdKind::Number, "a.tsv: line 2: expected two columns"),
            ("a.tsv", "1\t2\t3\n", IdKind::Number, "a.tsv: line 1: expected two columns"),
            ("a.tsv", "1\tx\n", IdKind::Number, "a.tsv: line 1: the ids of the store are decimal numbers, this is 'x'"),
            ("a.tsv", "# labels\n", IdKind::Number, "a.tsv: line 1: expected two columns"),
            ("a.tsv", "1\t\n", IdKind::Text, "a.tsv: line 1: "),
            ("a.tsv", "1\t2\n", IdKind::None, "a.tsv: line 1: expected 16 hexadecimal digits"),
            ("a.ndjson", "{\"id\":1}\n", IdKind::Number, "a.ndjson: line 1: missing field `cluster`"),
            ("a.ndjson", "{\"id\":1.5,\"cluster\":1}\n", IdKind::Number, "expected a number of 64 bits or a string"),
            ("a.csv", "id,cluster\n", IdKind::Number, "a.csv: labels are .tsv, .ndjson or .parquet"),
        ] {
            let error = read(name, content.as_bytes(), kind).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
