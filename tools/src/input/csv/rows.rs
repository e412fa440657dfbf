//! The rows of a stream: CSV as RFC 4180 has it, and what is common beside it.
//!
//! Cells are separated by commas and may be quoted; rows end with LF, CRLF or CR, and empty ones are passed over. No row
//! is longer than a limit, whatever the stream holds.
//!
//! The parser is that of the crate `csv`, of which `csv-core` is the part that works on bytes in memory: so the longest
//! row is ours to bound.

use std::io;

use csv_core::{ReadRecordResult, Reader};

use crate::input::header;
use crate::input::place::excerpt;
use crate::input::reader::reading;
use crate::input::window::Window;

/// Most names that a message lists.
const SHOWN: usize = 20;

/// Most cells of a row.
const MOST_CELLS: usize = 2 << 20;

/// Length from which on memory is not kept for the next long row.
const LONG: usize = 4 << 20;

/// The rows of a stream, one at a time.
#[derive(Debug)]
pub(super) struct Rows {
    window: Window,
    parser: Reader,
    limit: usize,
    /// The cells of the row, one behind the other.
    text: Vec<u8>,
    /// Where each of them ends.
    ends: Vec<usize>,
    count: usize,
    /// Line feeds that were passed.
    lines: u64,
    /// Number of the line on which the row begins; the first is 1.
    line: u64,
}

impl Rows {
    /// Rows of at most `limit` bytes.
    pub(super) fn new(window: Window, limit: usize) -> Self {
        let (text, ends) = (vec![0; 1024], vec![0; 16]);
        Self { window, parser: Reader::new(), limit, text, ends, count: 0, lines: 0, line: 1 }
    }

    /// Uses up a byte-order mark at the start of the stream, and a `#fpstore` line if there is one.
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

    /// A cell; nothing if there is none of that number.
    pub(super) fn cell(&self, number: usize) -> &[u8] {
        let end_of = |number: usize| self.ends.get(number).copied().unwrap_or(0);
        let start = number.checked_sub(1).map_or(0, end_of);
        self.text.get(start..end_of(number)).unwrap_or_default()
    }

    /// All cells, for a message.
    pub(super) fn list(&self) -> String {
        let shown: Vec<String> = (0..self.count.min(SHOWN)).map(|i| excerpt(self.cell(i))).collect();
        let more = if self.count > SHOWN { ", ..." } else { "" };
        format!("{}{more}", shown.join(", "))
    }

    /// Number of the cell that holds the name.
    pub(super) fn find(&self, name: &str) -> Result<Option<usize>, String> {
        let mut found = (0..self.count).filter(|&i| self.cell(i) == name.as_bytes());
        match (found.next(), found.next()) {
            (_, Some(_)) => Err(format!("the column \"{name}\" occurs twice")),
            (column, None) => Ok(column),
        }
    }

    /// Bytes that are set aside for the cells.
    #[cfg(test)]
    pub(super) fn held(&self) -> (usize, usize) {
        (self.text.capacity(), self.ends.capacity())
    }

    /// Whether the next row is there without waiting for the stream, as far as can be told without looking at quotes.
    pub(super) fn ready(&self) -> bool {
        let data = self.window.data();
        let row = data.iter().position(|byte| !matches!(byte, b'\r' | b'\n')).and_then(|start| data.get(start..));
        row.is_some_and(|row| memchr::memchr(b'\n', row).is_some() || self.window.ended())
    }

    /// Goes on to the next row; `false` at the end of the stream.
    pub(super) fn advance(&mut self) -> Result<bool, String> {
        self.skip_line_ends().map_err(|error| reading(&error))?;
        self.line = self.lines + 1;
        if self.text.len() >= LONG {
            self.text = vec![0; 1024];
        }
        let (mut length, mut cells, mut used) = (0, 0, 0);
        loop {
            if self.window.data().is_empty() && !self.window.ended() {
                self.window.fill().map_err(|error| reading(&error))?;
                continue;
            }
            let data = self.window.data();
            let text_left = self.text.get_mut(length..).unwrap_or_default();
            // No bytes at all tell the parser that the stream has ended.
            let (result, n, written, ended) =
                self.parser.read_record(data, text_left, self.ends.get_mut(cells..).unwrap_or_default());
            let passed = data.get(..n).unwrap_or_default();
            self.lines += memchr::memchr_iter(b'\n', passed).count() as u64;
            self.window.consume(n);
            (length, cells, used) = (length + written, cells + ended, used + n);
            if used > self.limit {
                return Err(format!("the row is longer than {} MiB; is a quote not closed?", self.limit >> 20));
            }
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => self.text.resize(self.text.len() * 2, 0),
                ReadRecordResult::OutputEndsFull if cells >= MOST_CELLS => {
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
