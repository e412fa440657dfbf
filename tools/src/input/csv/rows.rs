//! Splits a stream into rows: CSV by RFC 4180 and its common variants.
//!
//! Cells are separated by commas or by another delimiter, and may be quoted. Rows end with LF, CRLF or CR; empty rows
//! are skipped. No row is longer than a limit, whatever the stream holds.
//!
//! The parser is `csv-core`, on which the crate `csv` is built. The reader of `csv` hides its buffer and accepts rows
//! of any length. This reader bounds the length of a row, goes on after a row that was too long, reports a quote that
//! is not closed with its line, and tells whether the next row is available without waiting.

use std::{io, mem};

use csv_core::{ReadRecordResult, Reader, ReaderBuilder};

use super::quotes::{Quotes, Unsound};
use crate::input::header;
use crate::input::place::excerpt;
use crate::input::recognise::{UTF_16, is_utf_16};
use crate::input::window::{Window, reading};

/// Most names in a message.
const SHOWN: usize = 20;

/// Most cells of a row.
const MOST_CELLS: usize = 2 << 20;

/// From this length on memory is released after a long row.
const LONG: usize = 4 << 20;

/// Why a row was abandoned, if other rows can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// The row is longer than the limit.
    TooLong,
    /// The row has a malformed quote.
    Malformed,
}

/// The rows of a stream, one at a time.
#[derive(Debug)]
pub(crate) struct Rows {
    window: Window,
    delimiter: u8,
    parser: Reader,
    quotes: Quotes,
    limit: usize,
    /// The cells of the row, concatenated.
    text: Vec<u8>,
    /// The end of each cell in `text`.
    ends: Vec<usize>,
    count: usize,
    /// Why the row was abandoned, if it was.
    given_up: Option<GivenUp>,
    /// Whether the rest of the row has not been consumed.
    has_rest: bool,
    /// Number of the line on which the row begins, or on which a malformed quote opens; the first is 1.
    line: u64,
}

impl Rows {
    /// Returns a reader of rows of at most `limit` bytes.
    pub(crate) fn new(window: Window, delimiter: u8, limit: usize) -> Self {
        let (text, ends) = (vec![0; 1024], vec![0; 16]);
        let parser = ReaderBuilder::new().delimiter(delimiter).build();
        let quotes = Quotes::new(delimiter);
        Self {
            window,
            delimiter,
            parser,
            quotes,
            limit,
            text,
            ends,
            count: 0,
            given_up: None,
            has_rest: false,
            line: 1,
        }
    }

    /// Hint of a message about a missing column: the delimiter may be another one.
    pub(super) fn delimiter_hint(&self) -> String {
        let others = [(b';', "';'"), (b'\t', "tab"), (b'|', "'|'"), (b',', "','")];
        let cell = self.cell(0);
        let digits = cell.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        if matches!(digits, 16 | 32 | 64) && self.count == 1 {
            return "; if these are lines of fingerprints, say --format hex".to_owned();
        }
        if is_utf_16(cell) {
            return UTF_16.to_owned();
        }
        let found = others.iter().find(|(byte, _)| *byte != self.delimiter && cell.contains(byte));
        match found {
            Some((_, name)) if self.count == 1 => format!("; is the delimiter another one? say --delimiter {name}"),
            _ => String::new(),
        }
    }

    /// Consumes a byte-order mark at the start of the stream, and a `#fpstore` line if there is one.
    pub(super) fn skip_header(&mut self, has_header: bool) -> Result<(), String> {
        header::skip(&mut self.window, has_header).map_err(|error| reading(&error))
    }

    /// Number of the line on which the row begins that [`Self::advance`] came to last, or failed on.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Number of cells of the row.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns a cell; empty if there is no cell of that number.
    pub(super) fn cell(&self, number: usize) -> &[u8] {
        let end_of = |number: usize| self.ends.get(number).copied().unwrap_or(0);
        let start = number.checked_sub(1).map_or(0, end_of);
        self.text.get(start..end_of(number)).unwrap_or_default()
    }

    /// Lists all cells, for a message.
    pub(super) fn list(&self) -> String {
        self.list_but(usize::MAX)
    }

    /// Lists all cells but one, for a message.
    pub(super) fn list_but(&self, one: usize) -> String {
        let cells = || (0..self.count).filter(|number| *number != one);
        let shown: Vec<String> = cells().take(SHOWN).map(|i| excerpt(self.cell(i))).collect();
        let more = if cells().count() > SHOWN { ", ..." } else { "" };
        format!("{}{more}", shown.join(", "))
    }

    /// Returns the number of the cell that holds the name.
    pub(super) fn find(&self, name: &str) -> Result<Option<usize>, String> {
        let mut found = (0..self.count).filter(|&i| self.cell(i) == name.as_bytes());
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(format!("the column \"{name}\" occurs twice")),
            (column, None) => Ok(column),
        }
    }

    /// Why [`Self::advance`] failed, if the next call continues with the next row.
    pub(super) fn given_up(&self) -> Option<GivenUp> {
        self.given_up
    }

    /// Bytes allocated for the cells, and number of ends allocated.
    #[cfg(test)]
    pub(super) fn held(&self) -> (usize, usize) {
        (self.text.capacity(), self.ends.capacity())
    }

    /// Whether the next row is available without waiting for the stream, as far as can be told without parsing quotes.
    pub(super) fn ready(&self) -> bool {
        let data = self.window.data();
        let row = data.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).and_then(|start| data.get(start..));
        row.is_some_and(|row| memchr::memchr(b'\n', row).is_some() || self.window.ended())
    }

    /// Advances to the next row; `false` at the end of the stream.
    pub(super) fn advance(&mut self) -> Result<bool, String> {
        let given_up = self.given_up.take();
        let mut passing = mem::take(&mut self.has_rest);
        if !passing {
            self.begin()?;
        }
        let (mut length, mut cells, mut used) = (0, 0, 0);
        loop {
            if self.window.data().is_empty() && !self.window.ended() {
                self.window.fill().map_err(|error| reading(&error))?;
                continue;
            }
            let data = self.window.data();
            let text_left = self.text.get_mut(length..).unwrap_or_default();
            // An empty slice tells the parser that the stream has ended.
            let (result, n, written, ended) =
                self.parser.read_record(data, text_left, self.ends.get_mut(cells..).unwrap_or_default());
            let passed = data.get(..n).unwrap_or_default();
            let sound = match given_up {
                Some(GivenUp::Malformed) if passing => {
                    self.quotes.give_up(passed);
                    Ok(())
                }
                _ if data.is_empty() => self.quotes.end(),
                _ => self.quotes.pass(passed),
            };
            self.window.consume(n);
            if let Err(Unsound { line, message, is_one_line }) = sound {
                self.line = line;
                self.given_up = is_one_line.then_some(GivenUp::Malformed);
                self.has_rest = result != ReadRecordResult::Record;
                return Err(message);
            }
            (length, cells, used) = (length + written, cells + ended, used + n);
            if used > self.limit && !passing {
                self.given_up = Some(GivenUp::TooLong);
                self.has_rest = result != ReadRecordResult::Record;
                return Err(format!("the row is longer than {} MiB; is a quote not closed?", self.limit >> 20));
            }
            match result {
                ReadRecordResult::InputEmpty => {}
                // The rest of a row that is too long: each part replaces the previous one.
                ReadRecordResult::OutputFull if passing => length = 0,
                ReadRecordResult::OutputEndsFull if passing => cells = 0,
                ReadRecordResult::Record if passing => {
                    (passing, length, cells, used) = (false, 0, 0, 0);
                    self.begin()?;
                }
                ReadRecordResult::OutputFull => self.text.resize(self.text.len() * 2, 0),
                ReadRecordResult::OutputEndsFull if cells >= MOST_CELLS => {
                    (self.given_up, self.has_rest) = (Some(GivenUp::TooLong), true);
                    return Err(format!("the row has more than {MOST_CELLS} cells"));
                }
                ReadRecordResult::OutputEndsFull => self.ends.resize(self.ends.len() * 2, 0),
                ReadRecordResult::Record => {
                    self.count = cells;
                    return Ok(true);
                }
                ReadRecordResult::End => return Ok(false),
            }
        }
    }

    /// Begins a row.
    fn begin(&mut self) -> Result<(), String> {
        self.skip_line_ends().map_err(|error| reading(&error))?;
        self.line = self.quotes.lines() + 1;
        if self.text.len() >= LONG {
            self.text = vec![0; 1024];
        }
        Ok(())
    }

    /// Skips empty rows and the rest of a CRLF.
    fn skip_line_ends(&mut self) -> io::Result<()> {
        loop {
            let data = self.window.data();
            let length = data.iter().take_while(|byte| matches!(byte, b'\r' | b'\n')).count();
            // No quote is open between rows.
            let _ = self.quotes.pass(data.get(..length).unwrap_or_default());
            self.window.consume(length);
            if !self.window.data().is_empty() || self.window.ended() {
                return Ok(());
            }
            self.window.fill()?;
        }
    }
}
