//! Labels of clusters, as `fpdedup clusters` writes them: a record and its cluster a row.
//!
//! TSV (`id<TAB>cluster`), NDJSON and Parquet (with these names, or `fingerprint` for `id` where there are no ids), by the ending
//! of the name; standard input is TSV.

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;

use anyhow::bail;
use fpstore::{Fingerprint, Id, IdKind, IdRef, Label};
use serde::Deserialize;

use super::lines::Lines;
use super::ndjson::describe;
use super::parquet::Labels as ParquetLabels;
use super::reader::next_line;
use super::text::parse_hex;
use super::window::Window;
use super::{Format, IdRule, Ids, Place, RawId, Source};
use crate::progress::Progress;

/// Names of the columns.
pub(super) const ID: &str = "id";
pub(super) const FINGERPRINT: &str = "fingerprint";
pub(super) const CLUSTER: &str = "cluster";

/// Labels, one after another.
#[derive(Debug)]
pub struct LabelReader {
    name: Arc<str>,
    stream: Stream,
    kind: IdKind,
    rule: IdRule,
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
        let lines = || source.open(progress).map(|bytes| Lines::new(Window::new(bytes)));
        let stream = match format {
            Format::Hex => Stream::Tsv(lines()?),
            Format::Ndjson => Stream::Ndjson(lines()?),
            Format::Parquet => Stream::Parquet(Box::new(ParquetLabels::open(source, temp_dir, progress)?)),
            _ => bail!("{}: labels are .tsv, .ndjson or .parquet, as fpdedup clusters writes them", source.name()),
        };
        Ok(Self { name: source.name().into(), stream, kind, rule: IdRule::new(Ids::Is(kind)) })
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
                Stream::Parquet(rows) => rows.row().map(|row| row.map(Cell::from)),
            };
            let (kind, rule) = (self.kind, &mut self.rule);
            let labels = row.and_then(|[record, cluster]| {
                Ok([label(kind, rule, record.raw())?, label(kind, rule, cluster.raw())?])
            });
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
            Self::Tsv(lines) | Self::Ndjson(lines) => next_line(lines),
            Self::Parquet(rows) => rows.advance(),
        }
    }
}

/// A cell of a row.
#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a number of 64 bits or a string")]
enum Cell<'a> {
    Number(u64),
    #[serde(borrow)]
    Text(Cow<'a, str>),
    #[serde(skip)]
    Bytes(&'a [u8]),
    #[serde(skip)]
    None,
}

impl<'a> Cell<'a> {
    fn raw(&self) -> RawId<'_> {
        match self {
            Self::Number(number) => RawId::Number(*number),
            Self::Text(text) => RawId::Text(text.as_bytes()),
            Self::Bytes(bytes) => RawId::Text(bytes),
            Self::None => RawId::None,
        }
    }
}

impl<'a> From<RawId<'a>> for Cell<'a> {
    fn from(id: RawId<'a>) -> Self {
        match id {
            RawId::Number(number) => Self::Number(number),
            RawId::Text(bytes) => Self::Bytes(bytes),
            RawId::None => Self::None,
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

/// A label of a store with ids of this kind.
fn label<F: Fingerprint>(kind: IdKind, rule: &mut IdRule, cell: RawId<'_>) -> Result<Label<F>, String> {
    if kind != IdKind::None {
        return Ok(match rule.check(cell)? {
            IdRef::Number(number) => Label::Id(Id::Number(number)),
            IdRef::Text(text) => Label::Id(Id::from(text)),
            IdRef::None => return Err("a cell is empty".to_owned()),
        });
    }
    Ok(Label::Fingerprint(match cell {
        RawId::Text(bytes) if bytes.len() == F::BYTES && F::WORDS > 1 => {
            let (words, _) = bytes.as_chunks::<8>();
            F::from_words(|number| words.get(number).map_or(0, |word| u64::from_be_bytes(*word)))
        }
        RawId::Text(text) => parse_hex(text)?,
        RawId::Number(number) if F::WORDS == 1 => F::from_words(|_| number),
        _ => return Err(format!("expected a fingerprint of {} bits", F::WIDTH)),
    }))
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
        assert_eq!(read("a.tsv", b"# labels\n7\t3\r\n\n", IdKind::Number), expected);
        let row = br#"{"schema_version":1,"id":7,"cluster":3}"#;
        assert_eq!(read("a.ndjson", row, IdKind::Number), expected);
        assert_eq!(read("a.ndjson", br#"{"cluster":"3","id":"7"}"#, IdKind::Number), expected);
        let expected = Ok(vec![["Id(Text(\"a\\n\"))", "Id(Text(\"7\"))"].map(str::to_owned)]);
        assert_eq!(read("a.ndjson", br#"{"id":"a\n","cluster":7}"#, IdKind::Text), expected);
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
            ("a.tsv", "1\tx\n", IdKind::Number, "a.tsv: line 1: "),
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
