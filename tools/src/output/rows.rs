//! Rows of an output.

use std::ops::Range;

use fpstore::{Fingerprint, Id};

use crate::common::SCHEMA_VERSION;
use crate::number::{push_decimal, push_hex, push_id, push_json_id, push_json_text, rounded};

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name in CSV, NDJSON and Parquet.
    pub name: &'static str,
    /// Kind of its values.
    pub kind: Kind,
}

/// Kind of the values in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Fingerprints.
    Fingerprint,
    /// Numbers.
    Number,
    /// Real numbers, which may be missing.
    Real,
    /// Texts.
    Text,
    /// Ids: numbers or texts.
    Id,
}

impl Column {
    /// Returns a column of fingerprints.
    #[must_use]
    pub const fn fingerprint(name: &'static str) -> Self {
        Self { name, kind: Kind::Fingerprint }
    }

    /// Returns a column of numbers.
    #[must_use]
    pub const fn number(name: &'static str) -> Self {
        Self { name, kind: Kind::Number }
    }

    /// Returns a column of real numbers.
    #[must_use]
    pub const fn real(name: &'static str) -> Self {
        Self { name, kind: Kind::Real }
    }

    /// Returns a column of texts.
    #[must_use]
    pub const fn text(name: &'static str) -> Self {
        Self { name, kind: Kind::Text }
    }

    /// Returns a column of ids.
    #[must_use]
    pub const fn id(name: &'static str) -> Self {
        Self { name, kind: Kind::Id }
    }
}

/// Representation of rows.
#[derive(Clone, Copy, Debug)]
pub enum Style {
    /// Lines with TABs.
    Tsv,
    /// Rows with commas. Cells are quoted if necessary (RFC 4180); rows end with LF.
    Csv,
    /// JSON objects with the names of these columns, one a line.
    Json(&'static [Column]),
    /// Separate cells.
    Columns,
}

/// Bytes after which rows should be written.
const FULL: usize = 1 << 18;

/// Rows that are filled cell by cell, from left to right.
#[derive(Debug)]
pub struct Rows {
    style: Style,
    /// Text of the lines, or the concatenated bytes of the cells.
    text: Vec<u8>,
    /// End of each cell, for separate cells.
    ends: Vec<usize>,
    /// Next column.
    column: usize,
    /// Start of the last cell in `text`.
    cell: usize,
    count: u64,
    /// Start of the current row in `text` and in `ends`.
    row: (usize, usize),
    /// Cells with which later rows may begin: ranges of bytes and of cells, and the number of columns.
    kept: Option<(Range<usize>, Range<usize>, usize)>,
    /// The last cells of lines that differ before them, and the end of each. Empty but for its memory, which is used
    /// again.
    tails: (Vec<u8>, Vec<usize>),
}

impl Rows {
    /// Returns no rows.
    #[must_use]
    pub fn new(style: Style) -> Self {
        Self {
            style,
            text: Vec::new(),
            ends: Vec::new(),
            column: 0,
            cell: 0,
            count: 0,
            row: (0, 0),
            kept: None,
            tails: Default::default(),
        }
    }

    /// Drops all rows, but not their memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
        (self.count, self.kept) = (0, None);
        self.begin_row();
    }

    /// Number of rows.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Bytes of memory of the text.
    pub(super) fn memory(&self) -> usize {
        self.text.capacity()
    }

    /// Whether there are enough rows to write them.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.text.len() >= FULL
    }

    /// Appends a fingerprint.
    pub fn fingerprint<F: Fingerprint>(&mut self, fingerprint: F) {
        self.begin();
        match self.style {
            Style::Tsv | Style::Csv => push_hex(&mut self.text, fingerprint),
            Style::Json(_) => {
                self.text.push(b'"');
                push_hex(&mut self.text, fingerprint);
                self.text.push(b'"');
            }
            Style::Columns => (0..F::WORDS).for_each(|number| self.text.extend(fingerprint.word(number).to_be_bytes())),
        }
        self.end();
    }

    /// Appends a number.
    pub fn number(&mut self, number: u64) {
        self.begin();
        match self.style {
            Style::Columns => self.text.extend(number.to_be_bytes()),
            _ => push_decimal(&mut self.text, number),
        }
        self.end();
    }

    /// Appends a real number, or that it is missing: an empty cell, or null.
    pub fn real(&mut self, number: Option<f64>) {
        self.begin();
        match (self.style, number) {
            (Style::Columns, Some(number)) => self.text.extend(number.to_bits().to_be_bytes()),
            (Style::Json(_), None) => self.text.extend_from_slice(b"null"),
            (_, Some(number)) => self.text.extend_from_slice(number.to_string().as_bytes()),
            (_, None) => {}
        }
        self.end();
    }

    /// Appends a similarity that is an estimate, with four digits.
    pub fn estimate(&mut self, similarity: Option<f64>) {
        self.real(similarity.map(rounded));
    }

    /// Appends a text without TABs and line ends.
    pub fn word(&mut self, text: &str) {
        self.begin();
        match self.style {
            Style::Json(_) => push_json_text(&mut self.text, text),
            Style::Csv => push_cell(&mut self.text, text.as_bytes(), b','),
            Style::Tsv | Style::Columns => self.text.extend_from_slice(text.as_bytes()),
        }
        self.end();
    }

    /// Appends an id or a count.
    pub fn id(&mut self, id: &Id) {
        self.begin();
        match (self.style, id.number()) {
            (Style::Columns, Some(number)) => self.text.extend(number.to_be_bytes()),
            (Style::Json(_), _) => push_json_id(&mut self.text, id),
            (Style::Csv, None) => push_cell(&mut self.text, id.text().unwrap_or_default().as_bytes(), b','),
            _ => push_id(&mut self.text, id),
        }
        self.end();
    }

    /// Appends the last cell of the row once more, which costs less than to format it again. Not after
    /// [`Rows::again`], and not as the first cell.
    pub fn same(&mut self) {
        let last = self.cell..self.text.len();
        self.begin();
        self.text.extend_from_within(last);
        self.end();
    }

    /// Appends whole rows as lines with TABs, which `append` writes.
    ///
    /// # Errors
    ///
    /// Errors of `append`.
    pub fn lines<E>(&mut self, count: u64, append: impl FnOnce(&mut Vec<u8>) -> Result<(), E>) -> Result<(), E> {
        append(&mut self.text)?;
        self.count += count;
        self.begin_row();
        Ok(())
    }

    /// Keeps the cells of the current row for [`Rows::again`].
    pub fn keep(&mut self) {
        self.kept = Some((self.row.0..self.text.len(), self.row.1..self.ends.len(), self.column));
    }

    /// Begins a row with the kept cells.
    pub fn again(&mut self) {
        if let Some((bytes, cells, column)) = self.kept.clone() {
            let (from, to) = (bytes.start, self.text.len());
            self.text.extend_from_within(bytes);
            for cell in cells {
                self.ends.extend(self.ends.get(cell).map(|end| end - from + to));
            }
            self.column = column;
        }
    }

    /// Appends a row for each of some ids with each of some others, all behind the cells of the current row. In text
    /// each id is formatted once, and its bytes are copied. [`Rows::again`] has to follow another [`Rows::keep`].
    pub fn product(&mut self, ones: &[Id], others: &[Id]) {
        if ones.is_empty() || others.is_empty() {
            self.text.truncate(self.row.0);
            self.ends.truncate(self.row.1);
            return self.begin_row();
        }
        if matches!(self.style, Style::Columns) {
            self.keep();
            for (number, one) in ones.iter().enumerate() {
                for (place, other) in others.iter().enumerate() {
                    // The first row has its cells already.
                    if number + place > 0 {
                        self.again();
                    }
                    self.id(one);
                    self.id(other);
                    self.end_row();
                }
            }
            return;
        }
        let (head, column) = (self.row.0..self.text.len(), self.column);
        let (mut tails, mut ends) = std::mem::take(&mut self.tails);
        for other in others {
            self.column = column + 1;
            self.id(other);
            self.end_line();
            ends.push(self.text.len() - head.end);
        }
        tails.extend(self.text.drain(head.end..));
        for (number, one) in ones.iter().enumerate() {
            let row = if number == 0 { head.start } else { self.text.len() };
            if number > 0 {
                self.text.extend_from_within(head.clone());
            }
            self.column = column;
            self.id(one);
            let before = row..self.text.len();
            let mut from = 0;
            for &end in &ends {
                if from > 0 {
                    self.text.extend_from_within(before.clone());
                }
                self.text.extend_from_slice(tails.get(from..end).unwrap_or_default());
                from = end;
            }
        }
        self.count += (ones.len() * others.len()) as u64;
        self.begin_row();
        tails.clear();
        ends.clear();
        self.tails = (tails, ends);
    }

    /// Ends a row.
    pub fn end_row(&mut self) {
        self.end_line();
        self.count += 1;
        self.begin_row();
    }

    fn end_line(&mut self) {
        match self.style {
            Style::Tsv | Style::Csv => self.text.push(b'\n'),
            Style::Json(_) => self.text.extend_from_slice(b"}\n"),
            Style::Columns => {}
        }
    }

    fn begin_row(&mut self) {
        self.column = 0;
        self.row = (self.text.len(), self.ends.len());
    }

    fn begin(&mut self) {
        match self.style {
            Style::Tsv if self.column > 0 => self.text.push(b'\t'),
            Style::Csv if self.column > 0 => self.text.push(b','),
            Style::Json(columns) => {
                if self.column == 0 {
                    self.text.extend_from_slice(b"{\"schema_version\":");
                    push_decimal(&mut self.text, SCHEMA_VERSION.into());
                }
                self.text.extend_from_slice(b",\"");
                self.text.extend_from_slice(columns.get(self.column).map_or("", |column| column.name).as_bytes());
                self.text.extend_from_slice(b"\":");
            }
            _ => {}
        }
        self.cell = self.text.len();
    }

    fn end(&mut self) {
        if matches!(self.style, Style::Columns) {
            self.ends.push(self.text.len());
        }
        self.column += 1;
    }

    /// Text of all rows.
    #[must_use]
    pub fn text(&self) -> &[u8] {
        &self.text
    }

    /// Returns the cells of a column, of `columns` columns.
    #[cfg_attr(not(any(feature = "parquet", test)), expect(dead_code, reason = "for Parquet"))]
    pub(super) fn cells(&self, column: usize, columns: usize) -> impl Iterator<Item = &[u8]> {
        let cell = move |number: usize| {
            let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
            self.text.get(start..*self.ends.get(number)?)
        };
        (column..self.ends.len()).step_by(columns.max(1)).filter_map(cell)
    }
}

/// Appends a cell of CSV. It is quoted if it begins or ends with a space, because some readers strip such spaces.
pub(crate) fn push_cell(out: &mut Vec<u8>, cell: &[u8], delimiter: u8) {
    let special = |byte: &u8| *byte == delimiter || matches!(byte, b'"' | b'\r' | b'\n');
    if cell.iter().any(special) || cell.first() == Some(&b' ') || cell.last() == Some(&b' ') {
        out.push(b'"');
        for &byte in cell {
            if byte == b'"' {
                out.push(b'"');
            }
            out.push(byte);
        }
        out.push(b'"');
    } else {
        out.extend_from_slice(cell);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(style: Style) -> Rows {
        let mut rows = Rows::new(style);
        for (row, id) in [Id::Number(7), Id::from("a\"b")].iter().enumerate() {
            if row == 0 {
                rows.fingerprint(0x1f_u64);
                rows.number(3);
                rows.keep();
            } else {
                rows.again();
            }
            rows.id(id);
            rows.end_row();
        }
        rows
    }

    #[test]
    fn each_id_with_each_other() {
        const COLUMNS: [Column; 3] = [Column::fingerprint("f"), Column::id("a"), Column::id("b")];
        let ids = [Id::Number(7), Id::from("a\"b"), Id::from(","), Id::from(""), Id::Number(1 << 60)];
        for style in [Style::Tsv, Style::Csv, Style::Json(&COLUMNS), Style::Columns] {
            let [mut at_once, mut singly] = [(); 2].map(|()| Rows::new(style));
            for (ones, others) in
                [(0..5, 1..4), (2..3, 0..2), (1..4, 2..3), (0..1, 4..5), (0..0, 0..1), (1..4, 2..2), (0..5, 0..5)]
            {
                let (ones, others) = (&ids[ones], &ids[others]);
                at_once.fingerprint(0x1f_u64);
                at_once.product(ones, others);
                for (one, other) in ones.iter().flat_map(|one| others.iter().map(move |other| (one, other))) {
                    singly.fingerprint(0x1f_u64);
                    singly.id(one);
                    singly.id(other);
                    singly.end_row();
                }
            }
            assert_eq!((at_once.text, at_once.ends, at_once.count), (singly.text, singly.ends, singly.count));
        }
    }

    #[test]
    fn the_same_cell_again() {
        const COLUMNS: [Column; 2] = [Column::id("a"), Column::id("b")];
        for style in [Style::Tsv, Style::Csv, Style::Json(&COLUMNS), Style::Columns] {
            let [mut again, mut anew] = [(); 2].map(|()| Rows::new(style));
            for id in [Id::Number(7), Id::from("a\"b"), Id::from(",")] {
                again.id(&id);
                again.same();
                again.end_row();
                (0..2).for_each(|_| anew.id(&id));
                anew.end_row();
            }
            assert_eq!((again.text, again.ends), (anew.text, anew.ends));
        }
    }

    #[test]
    fn csv_is_quoted_where_it_has_to_be() {
        for text in ["a", "a b", "#a", "a,b", "\"", "a\"\"b", " a", "a ", "a'b", "\u{e4}\u{feff}"] {
            let mut rows = Rows::new(Style::Csv);
            rows.id(&Id::from(text));
            rows.number(1);
            rows.end_row();
            let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(rows.text());
            let read: Vec<_> = reader.records().map(Result::unwrap).collect();
            assert_eq!(read, [csv::StringRecord::from(vec![text, "1"])]);
            assert_eq!(rows.text().starts_with(b"\""), text.contains([',', '"']) || text.trim() != text, "{text}");
        }
    }

    #[test]
    fn lines_objects_and_cells() {
        const COLUMNS: [Column; 3] = [Column::fingerprint("f"), Column::number("n"), Column::id("id")];
        let tsv = fill(Style::Tsv);
        assert_eq!(tsv.text(), b"000000000000001f\t3\t7\n000000000000001f\t3\ta\"b\n");
        assert_eq!((tsv.count(), tsv.is_full()), (2, false));
        let csv = fill(Style::Csv);
        assert_eq!(csv.text(), b"000000000000001f,3,7\n000000000000001f,3,\"a\"\"b\"\n");
        let json = fill(Style::Json(&COLUMNS));
        let lines: Vec<serde_json::Value> = json
            .text()
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| serde_json::from_slice(line).unwrap())
            .collect();
        let object =
            |id: serde_json::Value| serde_json::json!({"schema_version": 1, "f": "000000000000001f", "n": 3, "id": id});
        assert_eq!(lines, [object(7.into()), object("a\"b".into())]);
        let columns = fill(Style::Columns);
        let ids: Vec<&[u8]> = columns.cells(2, 3).collect();
        assert_eq!(ids, [&7u64.to_be_bytes()[..], b"a\"b"]);
        assert!(columns.cells(0, 3).all(|cell| cell == 0x1f_u64.to_be_bytes()));
    }
}
