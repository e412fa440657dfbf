//! Splits a JSON text into values: objects one after another, in any layout, or the elements of an array.
//!
//! A value is found by its brackets and quotes, and is not parsed here; the parser reports what is wrong with malformed
//! text. No value is longer than a limit. Between objects, lines that begin with `#` are comments, as among lines of
//! JSON.

use std::io;
use std::ops::Range;

use super::header::BYTE_ORDER_MARK;
use super::recognise::first_record;
use super::window::Window;
use super::window::reading;

/// Message about brackets that are not closed.
const UNCLOSED: &str = "the input ends inside the object that begins here; is a bracket missing, or was it cut?";

/// The values of a stream.
#[derive(Debug)]
pub(crate) struct Values {
    window: Window,
    limit: usize,
    place: Where,
    /// Number of line feeds so far.
    lines: u64,
    /// Number of the line on which the value begins; the first is 1.
    line: u64,
    value: Range<usize>,
    /// Set if the value is longer than the limit, none of which has been consumed: whether it is in an array.
    too_long: Option<bool>,
}

/// Position in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Where {
    /// At the start.
    Start,
    /// Outside an array.
    Outside,
    /// After the bracket that opens an array.
    Opened,
    /// After an element.
    Element,
    /// After a comma.
    Comma,
}

impl Values {
    /// Returns a reader of values of at most `limit` bytes.
    pub(crate) fn new(window: Window, limit: usize) -> Self {
        Self { window, limit, place: Where::Start, lines: 0, line: 1, value: 0..0, too_long: None }
    }

    /// Number of the line on which the value begins that [`Self::next_record`] came to last, or failed on.
    pub(crate) fn number(&self) -> u64 {
        self.line
    }

    /// The value that [`Self::next_record`] came to.
    pub(crate) fn value(&self) -> &[u8] {
        self.window.taken(self.value.clone())
    }

    /// Whether the next value is available without waiting for the stream.
    pub(super) fn ready(&self) -> bool {
        let data = self.window.data();
        let start = data.iter().position(|byte| !byte.is_ascii_whitespace() && *byte != b',');
        let value = start.and_then(|start| data.get(start..));
        value.is_some_and(|value| {
            !value.starts_with(b"]") && Scan::default().end(value, self.place != Where::Outside).is_some()
        })
    }

    /// Whether [`Self::next_record`] failed because the value is too long. The next call skips the value.
    pub(crate) fn is_too_long(&self) -> bool {
        self.too_long.is_some()
    }

    /// Advances to the next value; `false` at the end of the stream.
    pub(crate) fn next_record(&mut self) -> Result<bool, String> {
        if let Some(inside) = self.too_long.take()
            && !self.pass_over(inside).map_err(|error| reading(&error))?
        {
            return Err(UNCLOSED.to_owned());
        }
        loop {
            let next = self.peek().map_err(|error| reading(&error))?;
            self.line = self.lines + 1;
            self.place = match (self.place, next) {
                (Where::Start | Where::Outside, None) => return Ok(false),
                (_, None) => return Err("the input ends inside an array, which is not closed; was it cut?".to_owned()),
                (Where::Start | Where::Outside, Some(b'[')) => Where::Opened,
                (Where::Opened | Where::Element, Some(b']')) => Where::Outside,
                (Where::Element, Some(b',')) => Where::Comma,
                (Where::Element, Some(byte)) => {
                    let found = char::from(byte).escape_debug();
                    return Err(format!("expected a comma or ] after an element of the array, found '{found}'"));
                }
                (Where::Comma, Some(b']')) => return Err("the array has a comma after its last element".to_owned()),
                (place, Some(_)) => {
                    let inside = matches!(place, Where::Opened | Where::Comma);
                    self.place = if inside { Where::Element } else { Where::Outside };
                    return self.cut(inside).map(|()| true);
                }
            };
            self.window.consume(1);
        }
    }

    /// Skips blanks, and comments outside arrays, and returns the next byte.
    fn peek(&mut self) -> io::Result<Option<u8>> {
        let mut comment = false;
        loop {
            if self.place == Where::Start {
                while BYTE_ORDER_MARK.starts_with(self.window.data()) && !self.window.ended() {
                    self.window.fill()?;
                }
                if self.window.data().starts_with(BYTE_ORDER_MARK) {
                    self.window.consume(BYTE_ORDER_MARK.len());
                }
                self.place = Where::Outside;
            }
            let data = self.window.data();
            let passed = match comment {
                true => memchr::memchr(b'\n', data),
                false => data.iter().position(|byte| !byte.is_ascii_whitespace()),
            };
            let length = passed.unwrap_or(data.len());
            self.lines += lines(data.get(..length).unwrap_or_default());
            let found = data.get(length).copied();
            self.window.consume(length);
            match found {
                Some(b'#') if self.place == Where::Outside => comment = true,
                Some(_) if comment => comment = false,
                Some(byte) => return Ok(Some(byte)),
                None if self.window.ended() => return Ok(None),
                None => self.window.fill()?,
            }
        }
    }

    /// Takes the value that begins here.
    fn cut(&mut self, inside: bool) -> Result<(), String> {
        let mut scan = Scan::default();
        let end = loop {
            if let Some(end) = scan.end(self.window.data(), inside) {
                break end;
            }
            let data = self.window.data();
            if self.window.ended() && data.len() <= self.limit && data.contains(&b'\n') {
                return Err(UNCLOSED.to_owned());
            }
            if data.len() > self.limit || self.window.ended() {
                break data.len();
            }
            self.window.fill().map_err(|error| reading(&error))?;
        };
        if end > self.limit {
            self.too_long = Some(inside);
            return Err(format!("the object is longer than {} MiB", self.limit >> 20));
        }
        self.value = self.window.take(end);
        self.lines += lines(self.window.taken(self.value.clone()));
        Ok(())
    }

    /// Skips the rest of a value; returns whether it has an end.
    #[cold]
    fn pass_over(&mut self, inside: bool) -> io::Result<bool> {
        let mut scan = Scan::default();
        loop {
            let data = self.window.data();
            let end = scan.end(data, inside);
            let ended = self.window.ended();
            let passed = end.unwrap_or(if ended { data.len() } else { scan.at });
            self.lines += lines(data.get(..passed).unwrap_or_default());
            self.window.consume(passed);
            if end.is_some() || ended {
                return Ok(end.is_some());
            }
            scan.at = 0;
            self.window.fill()?;
        }
    }
}

/// Returns the first object of a stream that begins with an object or an array of objects, and whether it is the only
/// one. Consumes nothing; `None` if the object does not end within `limit` bytes.
pub(crate) fn first(window: &mut Window, limit: usize) -> io::Result<Option<(&[u8], bool)>> {
    let text = window.data().strip_prefix(BYTE_ORDER_MARK).unwrap_or(window.data());
    let mark = window.data().len() - text.len();
    let begin = first_record(text).and_then(|begin| Some(begin + memchr::memchr(b'{', text.get(begin..)?)?));
    let Some(start) = begin.map(|begin| mark + begin) else { return Ok(None) };
    let mut scan = Scan::default();
    let mut end = None;
    loop {
        let rest = window.data().get(start..).unwrap_or_default();
        end = end.or_else(|| scan.end(rest, false));
        let next = end.and_then(|end| rest.get(end..)?.iter().position(|byte| !byte.is_ascii_whitespace()));
        if next.is_some() || window.ended() || rest.len() > limit {
            let rest = window.data().get(start..).unwrap_or_default();
            return Ok(end.and_then(|end| Some((rest.get(..end)?, next.is_none()))));
        }
        window.fill()?;
    }
}

fn lines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Looks for the end of a value in a growing buffer.
#[derive(Debug, Default)]
struct Scan {
    /// Number of bytes examined.
    at: usize,
    /// Number of open brackets.
    depth: usize,
    quoted: bool,
}

impl Scan {
    /// Returns the end of the value, if it is in the buffer. A string that continues on the next line is malformed and
    /// ends the value there, so that the next line begins a value again. `inside` an array, a comma or bracket ends a
    /// value that is neither object nor array.
    fn end(&mut self, value: &[u8], inside: bool) -> Option<usize> {
        while let Some(&byte) = value.get(self.at) {
            if self.quoted {
                let rest = value.get(self.at..)?;
                let Some(next) = memchr::memchr3(b'"', b'\\', b'\n', rest) else {
                    self.at = value.len();
                    return None;
                };
                let at = self.at + next;
                match value.get(at) {
                    Some(b'\n') => return Some(at),
                    // The escaped byte is examined together with the backslash.
                    Some(b'\\') if value.get(at + 1).is_none() => {
                        self.at = at;
                        return None;
                    }
                    Some(b'\\') => self.at = at + 2,
                    _ => (self.at, self.quoted) = (at + 1, false),
                }
                continue;
            }
            match byte {
                b'"' => self.quoted = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' if self.depth == 0 && inside => return Some(self.at),
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(self.at + 1);
                    }
                }
                b',' if self.depth == 0 && inside => return Some(self.at),
                b'\n' if self.depth == 0 => return Some(self.at),
                _ => {}
            }
            self.at += 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read;

    const LIMIT: usize = 1 << 20;

    /// Returns all values with their lines, from a stream that returns `step` bytes at a time, and the error that ends
    /// them.
    fn all(text: &[u8], step: usize) -> (Vec<(u64, String)>, Option<String>) {
        struct Steps(io::Cursor<Vec<u8>>, usize);
        impl Read for Steps {
            fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
                let most = self.1.min(buf.len());
                self.0.read(&mut buf[..most])
            }
        }
        let mut values = Values::new(Window::new(Box::new(Steps(io::Cursor::new(text.to_vec()), step))), LIMIT);
        let mut found = Vec::new();
        loop {
            match values.next_record() {
                Ok(true) => found.push((values.number(), String::from_utf8_lossy(values.value()).into_owned())),
                Ok(false) => return (found, None),
                Err(error) => return (found, Some(format!("{}: {error}", values.number()))),
            }
        }
    }

    #[test]
    fn objects_however_they_are_laid_out() {
        let pretty = "{\n  \"a\": [1, {\"b\": \"}\\\"]\"}],\n  \"c\": 2\n}";
        let values = [(1, "{\"a\":1}"), (2, pretty), (6, "{}"), (6, "{\"b\":{}}"), (8, "{\"c\":\"\\\\\"}")];
        let values: Vec<(u64, String)> = values.into_iter().map(|(line, value)| (line, value.to_owned())).collect();
        for text in [
            format!("\u{feff}{{\"a\":1}}\n{pretty}\n{{}} {{\"b\":{{}}}}\n# {{comment\n {{\"c\":\"\\\\\"}}"),
            format!("[{{\"a\":1}},\n{pretty},\n{{}},{{\"b\":{{}}}}\n\n,{{\"c\":\"\\\\\"}}]\n"),
            format!("[{{\"a\":1}}\n,{pretty}]\n[{{}},{{\"b\":{{}}}}]\n\n[{{\"c\":\"\\\\\"}}]"),
        ] {
            for step in [1, 2, 3, usize::MAX] {
                assert_eq!(all(text.as_bytes(), step), (values.clone(), None), "{text}");
            }
        }
        for empty in ["", "[]", " [ ]\n[\n] ", "\u{feff}\n# x"] {
            assert_eq!(all(empty.as_bytes(), 1), (vec![], None), "{empty}");
        }
    }

    #[test]
    fn what_is_none_comes_out_as_it_stands() {
        for (text, expected) in [
            ("x y\n{}", vec![(1, "x y"), (2, "{}")]),
            ("[1, \"a,\", null]", vec![(1, "1"), (1, "\"a,\""), (1, "null")]),
            // A line that was cut affects no other.
            ("{\"a\":\"b\n{}\n{\"c\"", vec![(1, "{\"a\":\"b"), (2, "{}"), (3, "{\"c\"")]),
        ] {
            let expected = expected.into_iter().map(|(line, value)| (line, value.to_owned())).collect();
            assert_eq!(all(text.as_bytes(), 1), (expected, None), "{text}");
        }
        for (text, error) in [
            ("[{}\n{}]", "2: expected a comma or ] after an element of the array, found '{'"),
            ("[{},\n]", "2: the array has a comma after its last element"),
            ("[{}\n", "2: the input ends inside an array, which is not closed; was it cut?"),
            ("[{},", "1: the input ends inside an array, which is not closed; was it cut?"),
            (
                "{}\n{\"a\":1\n{\"b\":2}\n",
                "2: the input ends inside the object that begins here; is a bracket missing, or was it cut?",
            ),
        ] {
            let (values, found) = all(text.as_bytes(), 1);
            assert_eq!((values, found), (vec![(1, "{}".to_owned())], Some(error.to_owned())), "{text}");
        }
    }

    #[test]
    fn the_first_object_and_whether_it_is_alone() {
        for (text, object, alone) in [
            ("{\"a\": 1}", "{\"a\": 1}", true),
            ("\u{feff}# {comment}\n {\n\"a\": {}\n}\n \n", "{\n\"a\": {}\n}", true),
            ("{}\n{}", "{}", false),
            ("[ {\"a\":[]}]", "{\"a\":[]}", false),
        ] {
            let mut window = Window::new(Box::new(io::Cursor::new(text.as_bytes().to_vec())));
            window.fill().unwrap();
            assert_eq!(first(&mut window, LIMIT).unwrap(), Some((object.as_bytes(), alone)), "{text}");
            assert_eq!(window.data(), text.as_bytes());
        }
        for (text, rest) in [("{\"", b'x'), ("{", b' ')] {
            let mut window = Window::new(Box::new(text.as_bytes().chain(io::repeat(rest))));
            window.fill().unwrap();
            assert_eq!(first(&mut window, LIMIT).unwrap(), None);
            assert!(window.data().len() <= 4 * LIMIT);
        }
    }

    #[test]
    fn a_value_without_an_end_takes_bounded_memory() {
        for head in ["[{}, {\"", "[{}, {", "{}\n{\"a\":[", "[{},x"] {
            let stream = head.as_bytes().chain(io::repeat(b'x'));
            let mut values = Values::new(Window::new(Box::new(stream)), LIMIT);
            assert_eq!(values.next_record(), Ok(true));
            assert_eq!(values.next_record(), Err("the object is longer than 1 MiB".to_owned()), "{head}");
        }
    }

    #[test]
    fn the_value_after_one_that_is_too_long() {
        let long = |length: usize| format!("{{\"a\":\n[\"{}\"]}}", "\\\"{".repeat(length / 3));
        for length in [LIMIT, 5 * LIMIT] {
            for (open, comma, close) in [("[", ",", "]"), ("", " ", ""), ("", "\n", "")] {
                let text = format!("{open}{{}}{comma}{}{comma}{{\"b\":1}}{close}", long(length));
                let mut values = Values::new(Window::new(Box::new(io::Cursor::new(text.into_bytes()))), LIMIT);
                assert_eq!((values.next_record(), values.is_too_long()), (Ok(true), false));
                assert!(values.next_record().is_err() && values.is_too_long());
                assert_eq!((values.next_record(), values.value()), (Ok(true), b"{\"b\":1}".as_slice()));
                assert_eq!((values.is_too_long(), values.number()), (false, 2 + u64::from(comma == "\n") * 2));
                assert_eq!(values.next_record(), Ok(false));
                // A value without an end hides nothing after it silently.
                let text = format!("{open}{{}}{comma}{{\"c\":{}{comma}{{\"b\":1}}{close}", long(length));
                let mut values = Values::new(Window::new(Box::new(io::Cursor::new(text.into_bytes()))), LIMIT);
                assert_eq!(values.next_record(), Ok(true));
                assert!(values.next_record().is_err() && values.is_too_long());
                let expected = if open == "[" { "inside an array, which is not closed" } else { UNCLOSED };
                assert!(values.next_record().unwrap_err().contains(expected));
            }
        }
    }

    #[test]
    fn ready_knows_what_is_there() {
        let mut values = Values::new(Window::new(Box::new(io::Cursor::new(b"[{},{}, {\"a\"".to_vec()))), LIMIT);
        assert!(values.next_record().unwrap() && values.ready());
        assert!(values.next_record().unwrap() && !values.ready());
        // The stream may continue after the last value.
        let mut values = Values::new(Window::new(Box::new(io::Cursor::new(b"[{}]\n".to_vec()))), LIMIT);
        assert!(values.next_record().unwrap() && !values.ready());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_serde_writes_is_cut_as_it_was(texts in proptest::collection::vec(any::<(String, [String; 2])>(), 0..9), pretty: bool, step in 1..9_usize) {
            let objects: Vec<_> =
                texts.iter().map(|(a, b)| serde_json::json!({"a": a, "b": {"c": b}})).collect();
            let print = |value: &serde_json::Value| {
                if pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) }.unwrap()
            };
            let array = print(&serde_json::Value::Array(objects.clone()));
            let lines: String = objects.iter().map(|object| print(object) + "\n").collect();
            for text in [array, lines] {
                let (values, error) = all(text.as_bytes(), step);
                prop_assert_eq!(error, None);
                let parsed: Vec<serde_json::Value> =
                    values.iter().map(|(_, value)| serde_json::from_str(value).unwrap()).collect();
                prop_assert_eq!(&parsed, &objects);
            }
        }
    }
}
