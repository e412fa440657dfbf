//! Finds quotes that are not closed, which the parser accepts.
//!
//! A cell that begins with a quote ends at the next quote that is not doubled, and only a delimiter or the end of the
//! row may follow. So a quote that is not closed is found at the end of the input, or earlier, if the next quote closes
//! it in the middle of a cell.

/// State of the row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// At the start of a cell.
    Begin,
    /// In a cell without quotes.
    Plain,
    /// After the quote that opens a cell.
    Quoted,
    /// After a quote in such a cell: it closes the cell, or a second quote follows.
    Closing,
}

/// A malformed quote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unsound {
    /// Number of the line on which the quote opens.
    pub(super) line: u64,
    pub(super) message: String,
    /// Whether it is closed on the same line, so that other rows are unaffected.
    pub(super) is_one_line: bool,
}

/// Follows the bytes that the parser consumes.
#[derive(Debug)]
pub(super) struct Quotes {
    delimiter: u8,
    state: State,
    /// Number of line feeds so far.
    lines: u64,
    /// Number of the line on which the last quote opened a cell; the first is 1.
    opened: u64,
}

impl Quotes {
    pub(super) fn new(delimiter: u8) -> Self {
        Self { delimiter, state: State::Begin, lines: 0, opened: 0 }
    }

    /// Number of line feeds so far.
    pub(super) fn lines(&self) -> u64 {
        self.lines
    }

    /// Skips bytes of an abandoned row; the next bytes are taken as the start of a row.
    pub(super) fn give_up(&mut self, bytes: &[u8]) {
        self.lines += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.state = State::Begin;
    }

    /// Checks that the input may end here.
    pub(super) fn end(&self) -> Result<(), Unsound> {
        if self.state != State::Quoted {
            return Ok(());
        }
        let message = "the quote that opens a cell on this line is not closed before the input ends; close it, or \
                       write \
                       a quote that is part of the text twice in a cell that is quoted";
        Err(Unsound { line: self.opened, message: message.to_owned(), is_one_line: false })
    }

    /// Follows bytes. After a malformed quote it only counts line feeds.
    pub(super) fn pass(&mut self, bytes: &[u8]) -> Result<(), Unsound> {
        let (mut at, mut counted) = (0, 0);
        let count =
            |from: usize, to: usize| memchr::memchr_iter(b'\n', bytes.get(from..to).unwrap_or_default()).count() as u64;
        while let Some(&byte) = bytes.get(at) {
            let rest = bytes.get(at..).unwrap_or_default();
            let ends = byte == self.delimiter || matches!(byte, b'\n' | b'\r');
            let skipped = match self.state {
                State::Begin | State::Plain | State::Closing if ends => {
                    self.state = State::Begin;
                    1
                }
                State::Begin if byte == b'"' => {
                    self.lines += count(counted, at);
                    counted = at;
                    (self.opened, self.state) = (self.lines + 1, State::Quoted);
                    1
                }
                State::Begin | State::Plain => {
                    self.state = State::Plain;
                    memchr::memchr3(self.delimiter, b'\n', b'\r', rest).unwrap_or(rest.len())
                }
                State::Quoted => match memchr::memchr(b'"', rest) {
                    Some(next) => {
                        self.state = State::Closing;
                        next + 1
                    }
                    None => rest.len(),
                },
                State::Closing if byte == b'"' => {
                    self.state = State::Quoted;
                    1
                }
                State::Closing => {
                    let closed = self.lines + count(counted, at) + 1;
                    let found = char::from(byte).escape_debug();
                    let message = format!(
                        "the quote that opens a cell on this line is closed on line {closed}, where '{found}' follows \
                         instead of the end of the cell; is one not closed? a quote that is part of the text is \
                         written \
                         twice"
                    );
                    self.give_up(bytes.get(counted..).unwrap_or_default());
                    return Err(Unsound { line: self.opened, message, is_one_line: closed == self.opened });
                }
            };
            at += skipped;
        }
        self.lines += count(counted, bytes.len());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the error in a text that is passed in pieces of `step` bytes, and its number of line feeds.
    fn watched(text: &[u8], step: usize) -> (Option<Unsound>, u64) {
        let mut quotes = Quotes::new(b',');
        let passed = text.chunks(step).try_for_each(|piece| quotes.pass(piece));
        (passed.and_then(|()| quotes.end()).err(), quotes.lines())
    }

    #[test]
    fn quotes_that_are_closed() {
        for text in
            ["", "a,b\n", "\"a\",\"\"\r\n\"b\"\"\",c\"d\"\n5\" disk,x\"", "\"a\nb\"", "\"a\"\r\"b\"", "\"\"\"\"\"\""]
        {
            for step in 1..4 {
                let lines = text.matches('\n').count() as u64;
                assert_eq!(watched(text.as_bytes(), step), (None, lines), "{text}");
            }
        }
    }

    #[test]
    fn quotes_that_are_not() {
        for (text, line, part) in [
            ("\"", 1, "before the input ends"),
            ("a,b\n1,\"x\n2,y\n3,z\n", 2, "before the input ends"),
            ("a\n\"\"\"\n", 2, "before the input ends"),
            ("a,b\n1,\"x\n2,\"y\"\n", 2, "closed on line 3, where 'y' follows"),
            ("a\n\"b\" \n", 2, "closed on line 2, where ' ' follows"),
            ("\"a\n\nb\",\"c\nd\"e", 3, "closed on line 4, where 'e' follows"),
        ] {
            for step in [1, 2, 100] {
                let (error, _) = watched(text.as_bytes(), step);
                let error = error.unwrap();
                assert!(error.line == line && error.message.contains(part), "{text}: {error:?}");
                assert_eq!(error.is_one_line, part.contains(&format!("closed on line {line},")));
            }
        }
    }

    proptest! {
        #[test]
        fn what_the_crate_writes_is_sound(rows: Vec<[String; 2]>, step in 1..9_usize) {
            let mut csv = csv::Writer::from_writer(Vec::new());
            for row in rows {
                csv.write_record(row).unwrap();
            }
            let text = csv.into_inner().unwrap();
            prop_assert_eq!(watched(&text, step).0, None);
        }
    }
}
