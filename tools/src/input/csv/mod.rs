//! Rows of columns that a first row names, of which two matter: what the record is about, and its id.
//!
//! A `#fpstore` line may stand before the row of names; no other row is a remark, because a cell may begin with `#`. A
//! fingerprint is a cell of hexadecimal digits. The id is a cell of text; an empty one is as good as none. Rows with
//! more or fewer cells than there are names are refused: they were cut, or a comma was not quoted.

mod rows;

use fpstore::Fingerprint;

use self::rows::Rows;
use super::text::parse_hex;
use super::window::Window;
use super::{Entry, RawId, Selection};

/// The records of a stream.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Rows,
    selection: Selection,
    has_header: bool,
    columns: Option<Columns>,
}

/// Where in a row the cells stand that matter.
#[derive(Clone, Copy, Debug)]
struct Columns {
    count: usize,
    value: usize,
    id: Option<usize>,
}

impl Table {
    /// Records of a stream, at whose start there is a `#fpstore` line or none, in rows of at most `limit` bytes.
    pub(crate) fn new(window: Window, selection: Selection, has_header: bool, limit: usize) -> Self {
        Self { rows: Rows::new(window, limit), selection, has_header, columns: None }
    }

    /// Number of the line on which the row begins that [`Self::next_record`] came to last, or failed on.
    pub(crate) fn line(&self) -> u64 {
        self.rows.line()
    }

    /// Whether the next row is there without waiting for the stream, as far as can be told without looking at quotes.
    pub(super) fn ready(&self) -> bool {
        self.rows.ready()
    }

    /// Goes on to the next record; `false` at the end of the stream.
    pub(crate) fn next_record(&mut self) -> Result<bool, String> {
        if self.columns.is_none() {
            self.columns = self.names()?;
        }
        Ok(self.columns.is_some() && self.rows.advance()?)
    }

    /// What the record is about that [`Self::next_record`] came to, and its id.
    pub(crate) fn record(&self) -> Result<(&[u8], RawId<'_>), String> {
        let Some(columns) = self.columns else { return Err("there are no names of columns".to_owned()) };
        if self.rows.count() != columns.count {
            let (found, expected) = (self.rows.count(), columns.count);
            return Err(format!("expected {expected} cells, as many as there are names of columns, found {found}"));
        }
        let id = match columns.id.map(|id| self.rows.cell(id)) {
            Some(text) if !text.is_empty() => RawId::Text(text),
            _ => RawId::None,
        };
        self.selection.check_id(id.is_none())?;
        Ok((self.rows.cell(columns.value), id))
    }

    /// The same of a record that is about a fingerprint.
    pub(super) fn entry<F: Fingerprint>(&self) -> Result<Entry<'_, F>, String> {
        let (fingerprint, id) = self.record()?;
        Ok(Entry { fingerprint: parse_hex(fingerprint)?, id })
    }

    /// Reads the row of names; `None` where there is no row at all.
    fn names(&mut self) -> Result<Option<Columns>, String> {
        self.rows.skip_header(self.has_header)?;
        if !self.rows.advance()? {
            return Ok(None);
        }
        let (value, id) = self.selection.find(|name| self.rows.find(name), || self.rows.list())?;
        Ok(Some(Columns { count: self.rows.count(), value, id }))
    }
}

#[cfg(test)]
mod tests {
    use super::super::LINE_LIMIT;
    use super::super::testing::{columns, input, input_with, reader, records};
    use super::*;
    use fpstore::U256;
    use proptest::prelude::*;
    use std::io::{self, Read};

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
            let mut table =
                Table::new(Window::new(Box::new(stream.chain(io::repeat(rest)))), selection, false, LINE_LIMIT);
            let error = loop {
                match table.next_record() {
                    Ok(more) => assert!(more),
                    Err(error) => break error,
                }
            };
            assert!(error.contains("longer than 1 MiB"), "{error}");
            let (text, ends) = table.rows.held();
            assert!(text <= 2 * LINE_LIMIT && ends <= 2 * LINE_LIMIT);
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
