//! Checks lines of records against what their writer announced.
//!
//! A first line `#fpstore ... end=1` announces a last line `#end records=N`. If that line is missing, the writer has
//! failed or the input was cut, so records may be missing. That is an error, like another number of records. After the
//! trailer only blank lines and comments may follow, or another section with the same header, as in two concatenated
//! files. In input that announces nothing such lines are comments, except a header in the middle that announces a
//! trailer: sorting puts it there.

use super::header::Header;
use super::lines::Lines;
use super::place::excerpt;
use super::window::reading;

/// Start of the last line of a section.
const TRAILER: &[u8] = b"#end records=";

/// The lines of a stream that hold records.
#[derive(Debug)]
pub(super) struct Sections {
    lines: Lines,
    /// Header in the first line.
    header: Option<Header>,
    state: State,
    /// Records of the current section.
    records: u64,
}

/// State of the current section.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// It announced no trailer.
    Open,
    /// It announced a trailer, which has not been read yet.
    Announced,
    /// It announced a trailer, which has been read.
    Ended,
}

impl Sections {
    /// Checks these lines, which begin with the header if there is one; it has not been consumed.
    pub(super) fn new(lines: Lines, header: Option<Header>) -> Self {
        let state = State::of(header.as_ref());
        Self { lines, header, state, records: 0 }
    }

    /// The lines of the stream.
    #[inline]
    pub(super) fn lines(&self) -> &Lines {
        &self.lines
    }

    /// Advances to the next line that holds a record; `false` at the end of the stream.
    #[inline]
    pub(super) fn next_record(&mut self) -> Result<bool, String> {
        while self.lines.advance().map_err(|error| reading(&error))? {
            if !self.lines.is_skipped() {
                if self.state == State::Ended {
                    return Err("a record follows the line #end, which must be the last".to_owned());
                }
                self.records += 1;
                return Ok(true);
            }
            if self.lines.line().starts_with(b"#") && self.lines.number() > 1 {
                self.comment()?;
            }
        }
        match self.state {
            State::Announced => Err(format!(
                "the writer did not finish: the last line must be #end records=N, and the input ends after {} of its \
                 records; run what wrote it again",
                self.records
            )),
            _ => Ok(false),
        }
    }

    /// Checks a line that begins with `#` and is not the first.
    #[cold]
    fn comment(&mut self) -> Result<(), String> {
        let line = self.lines.line();
        if let Some(number) = line.strip_prefix(TRAILER) {
            return match self.state {
                State::Open => Ok(()),
                State::Announced => {
                    self.state = State::Ended;
                    check_count(number, self.records)
                }
                State::Ended => Err("there is a second line #end".to_owned()),
            };
        }
        let header = match Header::parse(line) {
            Ok(Some(header)) => header,
            // In input that announces nothing the line is a comment.
            Err(message) if self.state != State::Open => return Err(message),
            _ => return Ok(()),
        };
        match self.state {
            State::Announced => {
                Err("the writer of the lines above did not finish: a line #fpstore follows them, and no \
                                     line #end before it; run it again"
                    .to_owned())
            }
            State::Open if header.end => Err(
                "this line #fpstore is not the first one: were the lines sorted, or different inputs concatenated? \
                     Put it first, and give such inputs one by one"
                    .to_owned(),
            ),
            State::Open => Ok(()),
            State::Ended if self.header.as_ref().is_some_and(|first| first.agrees(&header)) => {
                self.state = State::of(Some(&header));
                self.records = 0;
                Ok(())
            }
            State::Ended => Err("this line #fpstore differs from the first one; give such inputs one by one, \
                                 each must fit the store"
                .to_owned()),
        }
    }
}

impl State {
    fn of(header: Option<&Header>) -> Self {
        if header.is_some_and(|header| header.end) { Self::Announced } else { Self::Open }
    }
}

/// Compares the number in a trailer with the number of records before it.
fn check_count(told: &[u8], records: u64) -> Result<(), String> {
    match super::decimal::decimal(told).flatten() {
        None => Err(format!("#end records={} has no number", excerpt(told))),
        Some(told) if told == records => Ok(()),
        Some(told) => Err(format!(
            "the writer made {told} records, the input has {records}; if lines were left out or added on purpose, \
             leave out \
             \" end=1\" in the first line and the line #end"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{input, records};

    const A: &str = "00000000000000aa\t1\n";
    const B: &str = "00000000000000bb\t2\n";
    const HEAD: &str = "#fpstore width=64 hasher=x end=1\n";

    fn read(text: &str) -> Result<usize, String> {
        records::<u64>(input("a.hex", text.as_bytes())).map(|records| records.len())
    }

    #[test]
    fn what_is_whole() {
        for (text, count) in [
            (format!("{HEAD}{A}{B}#end records=2\n"), 2),
            (format!("{HEAD}{A}\n# remark\n{B}#end records=2\r\n\n  \n# remark"), 2),
            (format!("\u{feff}{HEAD}#end records=0"), 0),
            // Two concatenated files.
            (format!("{HEAD}{A}#end records=1\n{HEAD}{A}{B}#end records=2\n"), 3),
            (format!("{HEAD}{A}#end records=1\n#fpstore width=64 hasher=x\n{B}"), 2),
            // Nothing was announced.
            (format!("#fpstore width=64 hasher=x\n{A}#end records=7\n{B}#fpstore width=9\n"), 2),
            (format!("{A}#end records=7\n{B}"), 2),
        ] {
            assert_eq!(read(&text), Ok(count), "{text}");
        }
    }

    #[test]
    fn what_is_not() {
        for (text, part) in [
            (format!("{HEAD}{A}{B}"), "line 4: the writer did not finish: the last line must be #end records=N"),
            (HEAD.to_owned(), "the input ends after 0 of its records"),
            (format!("{HEAD}{A}#end records=2\n"), "line 3: the writer made 2 records, the input has 1"),
            (format!("{HEAD}{A}#end records=x\n"), "line 3: #end records='x' has no number"),
            (format!("{HEAD}{A}#end records=1\n{B}"), "line 4: a record follows the line #end"),
            (format!("{HEAD}{A}#end records=1\n#end records=1\n"), "line 4: there is a second line #end"),
            (format!("{HEAD}{A}{HEAD}{B}#end records=1\n"), "line 3: the writer of the lines above did not finish"),
            (format!("{HEAD}{A}#end records=1\n{}", HEAD.replace("=x", "=y")), "line 4: this line #fpstore differs"),
            // As after sorting.
            (
                format!("#end records=2\n{HEAD}{A}{B}"),
                "line 2: this line #fpstore is not the first one: were the lines sorted",
            ),
            (format!("{A}{HEAD}{B}"), "line 2: this line #fpstore is not the first one"),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
    }
}
