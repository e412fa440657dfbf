//! Reads labels, one row after another.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;
use fpstore::clusters::LabelRef;
use fpstore::{Fingerprint, Id, IdKind};
use serde::Deserialize;

use super::cell::{CLUSTER, Cell, FINGERPRINT, ID};
use super::lines::LabelLines;
use crate::input::csv::{Rows, Table};
use crate::input::lines::Lines;
use crate::input::object::describe;
use crate::input::parquet::{Batches, Labels as ParquetLabels};
use crate::input::stream::Stream;
use crate::input::window::Window;
use crate::input::{Format, LINE_LIMIT, RawId, Selection, Source, ToldBy};
use crate::progress::Progress;

/// The labels of a file, in order.
#[derive(Debug)]
pub struct LabelReader {
    name: Arc<str>,
    stream: Stream<ParquetLabels>,
    kind: IdKind,
    /// The lines, as long as all of them are as `fpdedup` writes them, in a file that can be read again.
    lines: Option<LabelLines>,
}

/// What a file has beside records, and its description in messages.
pub(super) struct Contents {
    pub(super) second: &'static str,
    /// Further columns, each with the names that it may have.
    pub(super) others: &'static [&'static [&'static str]],
    pub(super) formats: &'static str,
}

const LABELS: Contents = Contents {
    second: CLUSTER,
    others: &[],
    formats: "labels are .tsv, .txt, .csv, .ndjson or .parquet, as fpdedup clusters writes them",
};

impl LabelReader {
    /// Opens a file of labels for a store with ids of this kind.
    ///
    /// # Errors
    ///
    /// If the file cannot be opened, or has another format.
    pub fn open(source: &Source, kind: IdKind, temp_dir: Option<&Path>, progress: &Progress) -> anyhow::Result<Self> {
        let (stream, plain) = open_stream(source, kind, &LABELS, temp_dir, progress)?;
        let lines = plain.as_deref().map(LabelLines::open).transpose()?;
        Ok(Self { name: source.name().into(), stream, kind, lines })
    }

    /// Calls `take` with each record and its cluster. Returns the number of rows, and the lines if they can be copied.
    ///
    /// # Errors
    ///
    /// If a row is malformed, with its place; errors of `take` unchanged.
    pub fn each<F: Fingerprint>(
        mut self,
        mut take: impl FnMut(LabelRef<'_, F>, LabelRef<'_, F>) -> anyhow::Result<()>,
    ) -> anyhow::Result<(u64, Option<LabelLines>)> {
        let mut count = 0;
        let mut texts = [String::new(), String::new()];
        while self.stream.advance().map_err(|message| self.stream.place(&self.name).error(message))? {
            let row = match &self.stream {
                Stream::Lines(lines) => {
                    let row = tsv(lines.line(), self.kind);
                    if let (Some(kept), Ok(cells)) = (&mut self.lines, &row)
                        && !kept.add::<F>(cells, self.kind, lines.used())
                    {
                        self.lines = None;
                    }
                    row
                }
                Stream::Ndjson(lines) => ndjson(lines.line()),
                Stream::Json(values) => ndjson(values.value()),
                Stream::Csv(table) => csv(table),
                Stream::Parquet(rows) => rows.cell(0).and_then(|record| Ok([record, rows.cell(1)?])),
            };
            let [of_record, of_cluster] = &mut texts;
            let labels = row.as_ref().map_err(Clone::clone).and_then(|[record, cluster]| {
                // Many records are alone in their cluster, or are its smallest.
                let is_same = record.bytes().is_some_and(|bytes| Some(bytes) == cluster.bytes());
                let record = record.label(self.kind, of_record)?;
                Ok((record, if is_same { record } else { cluster.label(self.kind, of_cluster)? }))
            });
            let (record, cluster) = labels.map_err(|message: String| self.stream.place(&self.name).error(message))?;
            take(record, cluster)?;
            count += 1;
        }
        Ok((count, self.lines))
    }
}

/// Opens a file for a store with ids of this kind; returns also its path if it has lines that can be read again.
pub(super) fn open_stream(
    source: &Source,
    kind: IdKind,
    contents: &Contents,
    temp_dir: Option<&Path>,
    progress: &Progress,
) -> anyhow::Result<(Stream<ParquetLabels>, Option<PathBuf>)> {
    let format = match source {
        Source::Standard => Format::Hex,
        Source::File(path) => Format::of(path)?,
    };
    let mut plain = None;
    let stream = match format {
        Format::Hex => {
            let opened = source.bytes(progress, ToldBy::Content)?;
            plain = opened.plain;
            Stream::Lines(Lines::new(opened.window, LINE_LIMIT))
        }
        Format::Ndjson => Stream::Ndjson(Lines::new(Window::new(source.open(progress)?), LINE_LIMIT)),
        Format::Csv => {
            let id = if kind == IdKind::None { FINGERPRINT } else { ID }.to_owned();
            let columns = Selection { value: contents.second.to_owned(), id, id_required: true, hint: "" };
            let rows = Rows::new(Window::new(source.open(progress)?), b',', LINE_LIMIT);
            Stream::Csv(Box::new(Table::new(rows, columns, false).with_more(contents.others)))
        }
        Format::Parquet => {
            let second = [contents.second];
            let others: Vec<&[&str]> = std::iter::once(&second[..]).chain(contents.others.iter().copied()).collect();
            Stream::Parquet(Box::new(Batches::<ParquetLabels>::open(source, &others, temp_dir, progress)?))
        }
        Format::Dec | Format::Le | Format::Json | Format::Tsv | Format::File => {
            bail!("{}: {}", source.name(), contents.formats)
        }
    };
    Ok((stream, plain))
}

/// Parses `ID<TAB>CLUSTER`.
fn tsv(line: &[u8], kind: IdKind) -> Result<[Cell<'_>; 2], String> {
    // Checking a line as a whole takes a fraction of the time of checking its cells.
    if kind == IdKind::Text
        && memchr::memchr2(b'\r', 0, line).is_none()
        && let Some((record, cluster)) = std::str::from_utf8(line).ok().and_then(|line| line.split_once('\t'))
        && [record, cluster].into_iter().all(|id| (1..=Id::MAX_TEXT).contains(&id.len()))
        && memchr::memchr(b'\t', cluster.as_bytes()).is_none()
    {
        return Ok([Cell::Id(record), Cell::Id(cluster)]);
    }
    let cells = memchr::memchr(b'\t', line).and_then(|tab| Some((line.get(..tab)?, line.get(tab + 1..)?)));
    match cells {
        Some((record, cluster)) if memchr::memchr(b'\t', cluster).is_none() => {
            Ok([Cell::Bytes(record), Cell::Bytes(cluster)])
        }
        _ => Err("expected two columns, a record and its cluster, with a TAB between them".to_owned()),
    }
}

/// Returns the two columns of a row.
fn csv(table: &Table) -> Result<[Cell<'_>; 2], String> {
    match table.record()? {
        (cluster, RawId::Text(record)) => Ok([Cell::Bytes(record), Cell::Bytes(cluster)]),
        _ => Err("expected a record and its cluster".to_owned()),
    }
}

/// Parses an object with both columns.
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
    use proptest::prelude::*;

    /// Returns a line of texts, checked as a whole or cell by cell.
    fn texts(line: &[u8], as_a_whole: bool) -> Result<[String; 2], String> {
        let kind = if as_a_whole { IdKind::Text } else { IdKind::Number };
        let [record, cluster] = tsv(line, kind)?;
        let [mut a, mut b] = [String::new(), String::new()];
        let record = record.label::<u64>(IdKind::Text, &mut a)?;
        Ok([record, cluster.label(IdKind::Text, &mut b)?].map(|label| format!("{label:?}")))
    }

    proptest! {
        #[test]
        fn lines_as_a_whole_say_what_their_cells_do(
            line in prop::collection::vec(prop::sample::select(b"aaaab\t\t\r\0\xc3\xa9".to_vec()), 0..6),
            long in prop::sample::select(vec![0, 1, Id::MAX_TEXT - 1, Id::MAX_TEXT, Id::MAX_TEXT + 1]),
        ) {
            for line in [[&line[..], b"\t", &vec![b'x'; long]].concat(), [&vec![b'x'; long], &b"\t"[..], &line].concat(), line] {
                prop_assert_eq!(texts(&line, true), texts(&line, false));
            }
        }
    }

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
        read.map(|(count, _)| {
            assert_eq!(count, rows.len() as u64);
            rows
        })
        .map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn lines_and_objects() {
        let expected = Ok(vec![["Number(7)", "Number(3)"].map(str::to_owned)]);
        assert_eq!(read("a.tsv", b"\n7\t3\r\n\n", IdKind::Number), expected);
        let row = br#"{"schema_version":1,"id":7,"cluster":3}"#;
        assert_eq!(read("a.ndjson", row, IdKind::Number), expected);
        assert_eq!(read("a.csv", b"cluster,x,id\n3,,7\n", IdKind::Number), expected);
        assert_eq!(read("a.ndjson", br#"{"cluster":"3","id":"7"}"#, IdKind::Number), expected);
        let expected = Ok(vec![["Text(\"ab\")", "Text(\"7\")"].map(str::to_owned)]);
        assert_eq!(read("a.ndjson", br#"{"id":"a\u0062","cluster":7}"#, IdKind::Text), expected);
        let expected = Ok(vec![["Text(\"#a\")", "Text(\" \")"].map(str::to_owned)]);
        assert_eq!(read("a.tsv", b"#a\t ", IdKind::Text), expected);
        assert_eq!(read("a.csv", b"id,cluster\n#a,\" \"\n", IdKind::Text), expected);
        let expected = Ok(vec![["Fingerprint(31)", "Fingerprint(1)"].map(str::to_owned)]);
        assert_eq!(read("a.tsv", b"000000000000001f\t0000000000000001", IdKind::None), expected);
        let rows = b"fingerprint,cluster\n000000000000001f,0000000000000001\n";
        assert_eq!(read("a.csv", rows, IdKind::None), expected);
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
            (
                "a.csv",
                "id,label\n1,1\n",
                IdKind::Number,
                "a.csv: line 1: there is no column \"cluster\"; the columns are 'id', ",
            ),
            ("a.csv", "id,cluster\n1,1\n2\n", IdKind::Number, "a.csv: line 3: expected 2 cells"),
            ("a.u64", "", IdKind::Number, "a.u64: labels are .tsv, .txt, .csv, .ndjson or .parquet"),
        ] {
            let error = read(name, content.as_bytes(), kind).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }
}
