//! Rows of columns that a first row names: CSV as RFC 4180 has it, and what is common beside it.
//!
//! Cells are separated by commas and may be quoted; rows end with LF, CRLF or CR, and empty ones are passed over. A
//! `#fpstore` line may stand before the row of names; no other row is a remark, because a cell may begin with `#`. The
//! fingerprint is a cell of hexadecimal digits. The id is a cell of text; an empty one is as good as none. Rows with
//! more or fewer cells than there are names are refused: they were cut, or a comma was not quoted.
//!
//! The parser is that of the crate `csv`, of which `csv-core` is the part that works on bytes in memory: so the longest
//! row is ours to bound.

use std::io;

use csv_core::{ReadRecordResult, Reader};
use fpstore::Fingerprint;

use super::place::excerpt;
use super::reader::reading;
use super::text::parse_hex;
use super::window::Window;
use super::{Entry, LINE_LIMIT, RawId, Selection, header};

/// Most names that a message lists.
const SHOWN: usize = 20;

/// The rows of a stream.
#[derive(Debug)]
pub(super) struct Table {
    window: Window,
    parser: Reader,
    row: Row,
    /// Line feeds that were passed.
    lines: u64,
    /// Number of the line on which the row begins; the first is 1.
    line: u64,
    selection: Selection,
    has_header: bool,
    columns: Option<Columns>,
}

/// Cells, one behind the other, and where each ends.
#[derive(Debug, Default)]
struct Row {
    text: Vec<u8>,
    ends: Vec<usize>,
    count: usize,
}

/// Where in a row the cells stand that matter.
#[derive(Clone, Copy, Debug)]
struct Columns {
    count: usize,
    fingerprint: usize,
    id: Option<usize>,
}

impl Table {
    /// Rows of a stream, at whose start there is a `#fpstore` line or none.
    pub(super) fn new(window: Window, selection: Selection, has_header: bool) -> Self {
        let row = Row { text: vec![0; 1024], ends: vec![0; 16], count: 0 };
        Self { window, parser: Reader::new(), row, lines: 0, line: 1, selection, has_header, columns: None }
    }

    /// Number of the line on which the row begins that [`Self::next_record`] came to last, or failed on.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Whether the next row is there without waiting for the stream, as far as can be told without looking at quotes.
    pub(super) fn ready(&self) -> bool {
        let data = self.window.data();
        let row = data.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).and_then(|start| data.get(start..));
        row.is_some_and(|row| memchr::memchr(b'\n', row).is_some() || self.window.ended())
    }

    /// Goes on to the next record; `false` at the end of the stream.
    pub(super) fn next_record(&mut self) -> Result<bool, String> {
        if self.columns.is_none() {
            self.columns = self.names()?;
        }
        Ok(self.columns.is_some() && self.advance()?)
    }

    /// The record that [`Self::next_record`] came to.
    pub(super) fn entry<F: Fingerprint>(&self) -> Result<Entry<'_, F>, String> {
        let Some(columns) = self.columns else { return Err("there are no names of columns".to_owned()) };
        if self.row.count != columns.count {
            let (found, expected) = (self.row.count, columns.count);
            return Err(format!("expected {expected} cells, as many as there are names of columns, found {found}"));
        }
        let fingerprint = parse_hex(self.row.cell(columns.fingerprint))?;
        let id = match columns.id.map(|id| self.row.cell(id)) {
            Some(text) if !text.is_empty() => RawId::Text(text),
            _ if self.selection.id_required => return Err(format!("there is no \"{}\"", self.selection.id)),
            _ => RawId::None,
        };
        Ok(Entry { fingerprint, id })
    }

    /// Reads the row of names; `None` where there is no row at all.
    fn names(&mut self) -> Result<Option<Columns>, String> {
        header::skip(&mut self.window, self.has_header).map_err(|error| reading(&error))?;
        if !self.advance()? {
            return Ok(None);
        }
        let fingerprint = self.column(&self.selection.fingerprint)?;
        let id = self.column(&self.selection.id)?;
        let missing = |name: &str| format!("there is no column \"{name}\"; the columns are {}", self.row.list());
        if id.is_none() && self.selection.id_required {
            return Err(missing(&self.selection.id));
        }
        let fingerprint = fingerprint.ok_or_else(|| missing(&self.selection.fingerprint))?;
        Ok(Some(Columns { count: self.row.count, fingerprint, id }))
    }

    /// Number of the column with that name.
    fn column(&self, name: &str) -> Result<Option<usize>, String> {
        let mut found = (0..self.row.count).filter(|&i| self.row.cell(i) == name.as_bytes());
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(format!("the column \"{name}\" occurs twice")),
            (column, None) => Ok(column),
        }
    }

    /// Goes on to the next row; `false` at the end of the stream.
    fn advance(&mut self) -> Result<bool, String> {
        self.skip_line_ends().map_err(|error| reading(&error))?;
        self.line = self.lines + 1;
        let (mut length, mut cells, mut used) = (0, 0, 0);
        loop {
            if self.window.data().is_empty() && !self.window.ended() {
                self.window.fill().map_err(|error| reading(&error))?;
                continue;
            }
            let data = self.window.data();
            let Row { text, ends, .. } = &mut self.row;
            let text_left = text.get_mut(length..).unwrap_or_default();
            // No bytes at all tell the parser that the stream has ended.
            let (result, n, written, ended) =
                self.parser.read_record(data, text_left, ends.get_mut(cells..).unwrap_or_default());
            let passed = data.get(..n).unwrap_or_default();
            self.lines += memchr::memchr_iter(b'\n', passed).count() as u64;
            self.window.consume(n);
            (length, cells, used) = (length + written, cells + ended, used + n);
            if used > LINE_LIMIT {
                return Err(format!("the row is longer than {} MiB; is a quote not closed?", LINE_LIMIT >> 20));
            }
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => text.resize(text.len() * 2, 0),
                ReadRecordResult::OutputEndsFull => ends.resize(ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    self.row.count = cells;
                    return Ok(true);
                }
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    /// Passes over empty rows and the rest of a CRLF, so that what follows begins a row.
    fn skip_line_ends(&mut self) -> io::Result<()> {
        loop {
            let data = self.window.data();
            let length = data.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            let ends = data.get(..length).unwrap_or_default();
            self.lines += memchr::memchr_iter(b'\n', ends).count() as u64;
            self.window.consume(length);
            if !self.window.data().is_empty() || self.window.ended() {
                return Ok(());
            }
            self.window.fill()?;
        }
    }
}

impl Row {
    /// A cell; nothing if there is none of that number.
    fn cell(&self, number: usize) -> &[u8] {
        let end_of = |number: usize| self.ends.get(number).copied().unwrap_or(0);
        let start = number.checked_sub(1).map_or(0, end_of);
        self.text.get(start..end_of(number)).unwrap_or_default()
    }

    /// All cells, for a message.
    fn list(&self) -> String {
        let shown: Vec<String> = (0..self.count.min(SHOWN)).map(|i| excerpt(self.cell(i))).collect();
        let more = if self.count > SHOWN { ", ..." } else { "" };
        format!("{}{more}", shown.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{columns, input, input_with, reader, records};
    use super::*;
    use fpstore::U256;
    use proptest::prelude::*;
    use std::io::Read;

    type Records = Result<Vec<(u64, Option<String>)>, String>;

    fn read(text: &str) -> Records {
        records(input("a.csv", text.as_bytes()))
    }

    fn record(fingerprint: u64, id: &str) -> (u64, Option<String>) {
        (fingerprint, Some(id.to_owned()))
    }

    #[test]
    fn rows() {
        let two = Ok(vec![record(1, "a"), record(2, "b")]);
        for text in [
            "fingerprint,id\n0000000000000001,a\n0000000000000002,b",
            "\u{feff}fingerprint,id\r\n0000000000000001,a\r\n\r\n0000000000000002,b\r\n",
            "#fpstore width=64\nid,x,fingerprint\na,,0000000000000001\nb,\"\n\",0x0000000000000002\n\n",
            "\u{feff}#fpstore\r\n\"id\",\"fingerprint\"\r\n\"a\",\"0000000000000001\"\r\n\"b\",\"0000000000000002\"",
        ] {
            assert_eq!(read(text), two, "{text}");
        }
        assert_eq!(read("fingerprint\n0000000000000001\n"), Ok(vec![(1, None)]));
        assert_eq!(read("fingerprint,id\n0000000000000001,\n"), Ok(vec![(1, None)]));
        let quoted = "fingerprint,id\n0000000000000001,\"a, \"\"b\"\"\"\n#000000000000001,x\n";
        assert!(read(quoted).unwrap_err().contains("line 3: expected 16"), "no remark");
        for empty in ["", "\n", "\u{feff}", "#fpstore", "fingerprint", "fingerprint,id\r\n"] {
            assert_eq!(read(empty), Ok(vec![]), "{empty}");
        }
    }

    #[test]
    fn columns_by_name() {
        let text = b"simhash,n,id\n0000000000000001,7,x\n";
        let read = |fingerprint, id| records::<u64>(input_with("a.csv", text, &columns(fingerprint, id)));
        assert_eq!(read(Some("simhash"), Some("n")), Ok(vec![record(1, "7")]));
        assert_eq!(read(Some("simhash"), None), Ok(vec![record(1, "x")]));
        for (fingerprint, id, part) in [
            (None, None, "line 1: there is no column \"fingerprint\"; the columns are 'simhash', 'n', 'id'"),
            (Some("simhash"), Some("doc"), "line 1: there is no column \"doc\"; the columns are 'simhash'"),
        ] {
            let error = read(fingerprint, id).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn what_is_refused_and_how() {
        for (row, part) in [
            ("0000000000000001", "line 4: expected 2 cells"),
            ("0000000000000001,a,b", "line 4: expected 2 cells, as many as there are names of columns, found 3"),
            ("1,a", "line 4: expected 16 hexadecimal digits"),
            (",a", "line 4: expected 16 hexadecimal digits"),
        ] {
            let error = read(&format!("fingerprint,id\n0000000000000001,\"a\nb\"\n{row}\n")).unwrap_err();
            assert!(error.contains("a.csv: ") && error.contains(part), "{error}");
        }
        assert!(read("id,id,fingerprint\n").unwrap_err().contains("the column \"id\" occurs twice"));
        let required = input_with("a.csv", b"fingerprint,id\n0000000000000001,\n", &columns(None, Some("id")));
        assert!(records::<u64>(required).unwrap_err().contains("line 2: there is no \"id\""));
        let many: Vec<String> = (0..100).map(|i| format!("c{i}")).collect();
        assert!(read(&many.join(",")).unwrap_err().ends_with("'c19', ..."));
    }

    #[test]
    fn a_row_without_an_end_takes_bounded_memory() {
        for rest in [b'x', b',', b'\n'] {
            let head = io::Cursor::new(b"fingerprint,id\n0000000000000001,a\n0000000000000001,\"".to_vec());
            let selection = columns(None, None).selection();
            let stream = if rest == b',' { io::Cursor::new(b"fingerprint\n".to_vec()) } else { head };
            let mut table = Table::new(Window::new(Box::new(stream.chain(io::repeat(rest)))), selection, false);
            let error = loop {
                match table.next_record() {
                    Ok(more) => assert!(more),
                    Err(error) => break error,
                }
            };
            assert!(error.contains("longer than 1 MiB"), "{error}");
            assert!(table.row.text.len() <= 2 * LINE_LIMIT && table.row.ends.len() <= 2 * LINE_LIMIT);
        }
    }

    #[test]
    fn ready_knows_what_is_there() {
        let mut reader = reader::<u64>("a.csv", b"fingerprint\n0000000000000001\r\n0000000000000002\r\n\r\n");
        assert!(reader.next_entry().unwrap().is_some());
        assert!(reader.ready());
        assert!(reader.next_entry().unwrap().is_some());
        assert!(!reader.ready());
    }

    fn comes_back<F: Fingerprint>(rows: &[([u64; 4], String)], ending: &str) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["title", "fingerprint", "id"]).unwrap();
        let mut expected = Vec::new();
        for (words, id) in rows {
            let fingerprint = F::from_words(|i| words[i]);
            writer.write_record([id, &crate::number::hex(fingerprint), id]).unwrap();
            expected.push((fingerprint, (!id.is_empty()).then(|| id.clone())));
        }
        let text = writer.into_inner().unwrap();
        assert_eq!(records(input(&format!("a.csv{ending}"), &text)), Ok(expected));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn what_the_crate_writes_comes_back(rows: Vec<([u64; 4], String)>, quotes in "[\",\r\nx]{0,9}") {
            let mut rows = rows;
            rows.push(([1; 4], quotes));
            comes_back::<u64>(&rows, "");
            comes_back::<u128>(&rows, ".gz");
            comes_back::<U256>(&rows, ".zst");
        }
    }
}
