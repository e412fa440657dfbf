//! Records of a table: finds the columns by the names in the first row.

use fpstore::Fingerprint;

use super::rows::{GivenUp, Rows};
use crate::input::selection::no_column;
use crate::input::{Digits, Entry, Quality, RawId, Selection};

/// The records of a stream.
#[derive(Debug)]
pub(crate) struct Table {
    rows: Rows,
    selection: Selection,
    has_header: bool,
    columns: Option<Columns>,
    quality: Option<(Quality, usize)>,
    /// The names of all columns.
    names: Vec<Box<[u8]>>,
    /// Other required columns: the names that each may have, the one that it has, and its position.
    more: Vec<(&'static [&'static str], &'static str, usize)>,
    /// The names of all columns but that of the fingerprints, if there is no column of ids.
    others: Option<String>,
    /// Whether the program has an option for the delimiter.
    has_options: bool,
}

/// Positions of the columns in a row.
#[derive(Clone, Copy, Debug)]
struct Columns {
    count: usize,
    value: usize,
    id: Option<usize>,
}

impl Table {
    /// Returns the records of rows; `has_header` tells whether a `#fpstore` line precedes them.
    pub(crate) fn new(rows: Rows, selection: Selection, has_header: bool) -> Self {
        Self {
            rows,
            selection,
            has_header,
            columns: None,
            quality: None,
            more: Vec::new(),
            names: Vec::new(),
            others: None,
            has_options: true,
        }
    }

    /// Leaves options out of messages.
    pub(in crate::input) fn without_options(mut self) -> Self {
        self.has_options = false;
        self
    }

    /// Adds the column of the quality.
    pub(in crate::input) fn with_quality(mut self, quality: Option<Quality>) -> Self {
        self.quality = quality.map(|quality| (quality, 0));
        self
    }

    /// Adds other required columns, each with the names that it may have.
    pub(in crate::input) fn with_more(mut self, columns: &[&'static [&'static str]]) -> Self {
        self.more = columns.iter().map(|names| (*names, "", 0)).collect();
        self
    }

    /// Returns the name of an added column, and its cell.
    pub(in crate::input) fn more(&self, number: usize) -> (&'static str, &[u8]) {
        self.more.get(number).map_or(("", b""), |(_, name, column)| (*name, self.rows.cell(*column)))
    }

    /// Whether the quality of the record that [`Self::next_record`] came to is high enough.
    pub(in crate::input) fn is_taken(&self) -> Result<bool, String> {
        let Some((quality, column)) = &self.quality else { return Ok(true) };
        // [`Self::record`] reports a row with another number of cells.
        if self.columns.is_none_or(|columns| columns.count != self.rows.count()) {
            return Ok(true);
        }
        quality.takes(quality.parse(self.rows.cell(*column))?)
    }

    /// The names of the other columns, if there is no column of ids; `None` before the first row.
    pub(in crate::input) fn others(&self) -> Option<&str> {
        self.others.as_deref()
    }

    /// Number of the line on which the row begins that [`Self::next_record`] came to last, or failed on.
    pub(crate) fn line(&self) -> u64 {
        self.rows.line()
    }

    /// Whether the next row is available without waiting for the stream, as far as can be told without parsing quotes.
    pub(in crate::input) fn ready(&self) -> bool {
        self.rows.ready()
    }

    /// Why [`Self::next_record`] failed, if the next call continues with the next row.
    pub(crate) fn given_up(&self) -> Option<GivenUp> {
        self.rows.given_up().filter(|_| self.columns.is_some())
    }

    /// Names of all columns; none if there is no row at all.
    pub(crate) fn all_names(&mut self) -> Result<&[Box<[u8]>], String> {
        if self.columns.is_none() {
            self.columns = self.names()?;
        }
        Ok(&self.names)
    }

    /// All cells of the row that [`Self::next_record`] came to.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.rows.count()).map(|number| self.rows.cell(number))
    }

    /// Advances to the next record; `false` at the end of the stream.
    pub(crate) fn next_record(&mut self) -> Result<bool, String> {
        if self.columns.is_none() {
            self.columns = self.names()?;
        }
        Ok(self.columns.is_some() && self.rows.advance()?)
    }

    /// Returns the required value of the record that [`Self::next_record`] came to, and its id.
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

    /// Returns the record with its value parsed as a fingerprint.
    pub(in crate::input) fn entry<F: Fingerprint>(&self, digits: Option<Digits>) -> Result<Entry<'_, F>, String> {
        let (fingerprint, id) = self.record()?;
        Ok(Entry { fingerprint: digits.unwrap_or_default().read(fingerprint)?, id })
    }

    /// Reads the row of names; `None` if there is no row at all.
    fn names(&mut self) -> Result<Option<Columns>, String> {
        self.rows.skip_header(self.has_header)?;
        if !self.rows.advance()? {
            return Ok(None);
        }
        let found = self.selection.find(|name| self.rows.find(name), || self.rows.list());
        let hint = || if self.has_options { self.rows.delimiter_hint() } else { String::new() };
        let (value, id) = found.map_err(|message| message + &hint())?;
        if let Some((quality, column)) = &mut self.quality {
            let found = self.rows.find(&quality.column)?;
            *column = found.ok_or_else(|| no_column(&quality.column, &self.rows.list()))?;
        }
        self.names = (0..self.rows.count()).map(|number| self.rows.cell(number).into()).collect();
        for (names, name, column) in &mut self.more {
            for possible in names.iter().rev() {
                if let Some(found) = self.rows.find(possible)? {
                    (*name, *column) = (*possible, found);
                }
            }
            if name.is_empty() {
                return Err(no_column(names.first().unwrap_or(name), &self.rows.list()));
            }
        }
        self.others = id.is_none().then(|| self.rows.list_but(value));
        Ok(Some(Columns { count: self.rows.count(), value, id }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::testing::{columns, input, input_with, reader, records};
    use crate::input::window::Window;
    use crate::input::{Format, InputOptions, LINE_LIMIT};
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
    fn quotes_that_swallow_rows_are_named() {
        let good = "fingerprint,id\n0000000000000001,a\n";
        for (rest, part) in [
            (
                "0000000000000002,\"b\n0000000000000003,c\n",
                "a.csv: line 3: the quote that opens a cell on this line is not closed",
            ),
            (
                "0000000000000002,\"b\n0000000000000003,\"c\"\n",
                "a.csv: line 3: the quote that opens a cell on this line is closed on line 4",
            ),
            ("\"x", "a.csv: line 3: the quote that opens"),
        ] {
            let error = read(&format!("{good}{rest}")).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
    }

    #[test]
    fn other_delimiters() {
        let text = "id;fingerprint\n\"a;b\";0000000000000001\nc,d;0000000000000002\n";
        let options = |delimiter| InputOptions { delimiter, ..InputOptions::default() };
        let read = |name, text: &str, delimiter| records(input_with(name, text.as_bytes(), &options(delimiter)));
        let two = vec![record(1, "a;b"), record(2, "c,d")];
        assert_eq!(read("a.csv", text, Some(b';')), Ok(two.clone()));
        let tab = text.replace(';', "\t").replace("a\tb", "a;b");
        assert_eq!(read("a.tsv", &tab, Some(b'\t')), Ok(two.clone()));
        let tsv = InputOptions { format: Some(Format::Tsv), ..InputOptions::default() };
        assert_eq!(records(input_with("a.x", tab.as_bytes(), &tsv)), Ok(two));
        for (text, part) in [
            (
                text,
                "no column \"fingerprint\"; the columns are 'id;fingerprint'; is the delimiter another one? say \
                 --delimiter ';'",
            ),
            (&tab, "say --delimiter tab"),
            ("id|fingerprint", "say --delimiter '|'"),
        ] {
            let error = read("a.csv", text, None).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        assert!(read("a.csv", "id,fingerprint", Some(b';')).unwrap_err().contains("say --delimiter ','"));
        assert!(!read("a.csv", "i;d,x", None).unwrap_err().contains("--delimiter"));
    }

    #[test]
    fn a_row_without_an_end_takes_bounded_memory() {
        for rest in [b'x', b',', b'\n'] {
            let head = io::Cursor::new(b"fingerprint,id\n0000000000000001,a\n0000000000000001,\"".to_vec());
            let selection = columns(None, None).selection();
            let stream = if rest == b',' { io::Cursor::new(b"fingerprint\n".to_vec()) } else { head };
            let mut table = Table::new(
                Rows::new(Window::new(Box::new(stream.chain(io::repeat(rest)))), b',', LINE_LIMIT),
                selection,
                false,
            );
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
    fn a_row_that_is_too_long_is_passed_over() {
        for long in ["x".repeat(3 << 20), format!("\"{}\"", "x,\n".repeat(1 << 20)), ",".repeat(3 << 20)] {
            let text = format!("fingerprint,id\n1,{long}\n0000000000000002,b\n");
            let window = Window::new(Box::new(io::Cursor::new(text.clone())));
            let rows = Rows::new(window, b',', LINE_LIMIT);
            let mut table = Table::new(rows, columns(None, None).selection(), false);
            assert!(table.next_record().is_err() && table.given_up() == Some(GivenUp::TooLong));
            assert!(table.next_record().unwrap() && table.given_up().is_none());
            let (fingerprint, id) = table.record().unwrap();
            assert_eq!((fingerprint, id.is_none()), (b"0000000000000002".as_slice(), false));
            assert_eq!(table.line(), text.lines().count() as u64);
            assert!(!table.next_record().unwrap());
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
