//! The records of one input, whatever its format.

use std::io;
use std::sync::Arc;

use fpstore::Fingerprint;

use super::csv::Table;
use super::le::Integers;
use super::lines::Lines;
use super::opened::Body;
use super::parquet::Rows;
use super::{Entry, Input, InputOptions, LINE_LIMIT, Place, RawId, Selection, Source, ndjson, text};
use crate::progress::Progress;

/// The records of one input, in order.
#[derive(Debug)]
pub struct Reader<F: Fingerprint> {
    name: Arc<str>,
    stream: Stream<F>,
}

#[derive(Debug)]
enum Stream<F: Fingerprint> {
    Hex(Lines),
    Dec(Lines),
    Ndjson(Lines, Selection, String),
    Csv(Box<Table>),
    Le(Integers<F>),
    Parquet(Box<Rows<F>>),
}

impl<F: Fingerprint> Reader<F> {
    /// Opens an input whose width is known.
    ///
    /// # Errors
    ///
    /// Those of [`Input::open`] and [`Input::reader`].
    pub fn open(source: &Source, options: &InputOptions, progress: &Progress) -> anyhow::Result<Self> {
        Input::open(source, options, progress)?.reader()
    }

    /// Begins to read an input.
    pub(super) fn new(input: Input) -> anyhow::Result<Self> {
        let Input { name, selection, header, body, .. } = input;
        let stream = match body {
            Body::Hex(window) => Stream::Hex(Lines::new(window, LINE_LIMIT)),
            Body::Dec(window) => Stream::Dec(Lines::new(window, LINE_LIMIT)),
            Body::Ndjson(window) => Stream::Ndjson(Lines::new(window, LINE_LIMIT), selection, String::new()),
            Body::Csv(window) => Stream::Csv(Box::new(Table::new(window, selection, header.is_some(), LINE_LIMIT))),
            Body::Le(window) => Stream::Le(Integers::new(window)),
            Body::Parquet(parquet) => {
                Stream::Parquet(Box::new(parquet.rows().map_err(|message| anyhow::anyhow!("{name}: {message}"))?))
            }
        };
        Ok(Self { name, stream })
    }

    /// The next record, or `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// When the input cannot be read on, or holds something that is no record; the error names the place.
    #[inline]
    pub fn next_entry(&mut self) -> anyhow::Result<Option<Entry<'_, F>>> {
        let Self { name, stream } = self;
        if let Stream::Le(integers) = stream {
            let entry = |fingerprint| Entry { fingerprint, id: RawId::None };
            return match integers.next_integer() {
                Ok(integer) => Ok(integer.map(entry)),
                Err(error) => Err(stream.place(name).error(reading(&error))),
            };
        }
        match stream.advance() {
            Ok(true) => {}
            Ok(false) => return Ok(None),
            Err(message) => return Err(stream.place(name).error(message)),
        }
        let (unit, number) = stream.position();
        let entry = match stream {
            Stream::Hex(lines) => text::hex_line(lines.line()),
            Stream::Dec(lines) => text::dec_line(lines.line()),
            Stream::Ndjson(lines, selection, unescaped) => ndjson::line(lines.line(), selection, unescaped),
            Stream::Csv(table) => table.entry(),
            Stream::Parquet(rows) => rows.entry(),
            // Returned above.
            Stream::Le(_) => return Ok(None),
        };
        match entry {
            Ok(entry) => Ok(Some(entry)),
            Err(message) => Err(Place { input: Arc::clone(name), unit, number }.error(message)),
        }
    }

    /// Appends fingerprints that come next, have no ids, and are there already, if that is quicker than one after
    /// another.
    pub fn take_ready(&mut self, fingerprints: &mut Vec<F>) {
        if let Stream::Le(integers) = &mut self.stream {
            integers.take_ready(fingerprints);
        }
    }

    /// Whether the next record (or a line that holds none) is there without waiting for the input.
    #[must_use]
    pub fn ready(&self) -> bool {
        match &self.stream {
            Stream::Hex(lines) | Stream::Dec(lines) | Stream::Ndjson(lines, ..) => lines.ready(),
            Stream::Csv(table) => table.ready(),
            Stream::Le(integers) => integers.ready(),
            // It is a file.
            Stream::Parquet(_) => true,
        }
    }

    /// Where the record stands that [`Self::next_entry`] gave last, or failed on.
    #[must_use]
    pub fn here(&self) -> Place {
        self.stream.place(&self.name)
    }
}

impl<F: Fingerprint> Stream<F> {
    /// Goes on to what should be the next record; `false` at the end.
    #[inline]
    fn advance(&mut self) -> Result<bool, String> {
        match self {
            Self::Hex(lines) | Self::Dec(lines) | Self::Ndjson(lines, ..) => lines.next_record(),
            Self::Csv(table) => table.next_record(),
            Self::Parquet(rows) => rows.advance(),
            Self::Le(integers) => Ok(integers.ready()),
        }
    }

    /// What is counted, and where it stands.
    #[inline]
    fn position(&self) -> (&'static str, u64) {
        match self {
            Self::Hex(lines) | Self::Dec(lines) | Self::Ndjson(lines, ..) => ("line", lines.number()),
            Self::Csv(table) => ("line", table.line()),
            Self::Le(integers) => ("record", integers.number()),
            Self::Parquet(rows) => ("record", rows.number()),
        }
    }

    /// Where it stands.
    #[cold]
    fn place(&self, name: &Arc<str>) -> Place {
        let (unit, number) = self.position();
        Place { input: Arc::clone(name), unit, number }
    }
}

/// What a failed read means for the user.
pub(crate) fn reading(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => format!("the compressed data ends too early; was the file cut? ({error})"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{input, reader, records};
    use super::*;
    use std::io::Write;

    type Records = Result<Vec<(u64, Option<String>)>, String>;

    /// A file whose bytes are given as they are.
    fn raw(name: &str, bytes: &[u8]) -> Records {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        records(Input::open(&Source::File(path), &InputOptions::default(), &Progress::hidden()))
    }

    #[test]
    fn compressed_input_and_its_cuts() {
        let text: String =
            (0..20_000_u64).map(|i| format!("{:016x}\t{i}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        let expected = raw("a.tsv", text.as_bytes()).unwrap();
        assert_eq!(expected.len(), 20_000);

        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(text.as_bytes()).unwrap();
        let gz = gz.finish().unwrap();
        let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
        for (name, bytes) in [("a.tsv.gz", gz), ("a.tsv.zst", zst)] {
            assert_eq!(raw(name, &bytes).unwrap(), expected);
            let twice = [expected.clone(), expected.clone()].concat();
            assert_eq!(raw(name, &[bytes.clone(), bytes.clone()].concat()).unwrap(), twice);
            for length in [0, 1, 5, 11, bytes.len() / 2, bytes.len() - 1] {
                let error = raw(name, &bytes[..length]).unwrap_err();
                assert!(error.contains(name), "{length}: {error}");
            }
        }
    }

    #[test]
    fn remarks_blanks_and_marks_are_counted_but_no_records() {
        let text =
            b"\xef\xbb\xbf#fpstore width=64 hasher=x\r\n\r\n  \n# remark\n0000000000000001\r\n#fpstore width=9\nno";
        let mut reader = reader::<u64>("a.hex", text);
        assert_eq!(reader.next_entry().unwrap(), Some(Entry { fingerprint: 1, id: RawId::None }));
        assert_eq!(reader.here().number, 5);
        assert!(reader.next_entry().unwrap_err().to_string().contains("a.hex: line 7: expected 16"));
    }

    #[test]
    fn text_ids_in_every_text_format() {
        let expected = Ok(vec![(10, Some("/a b".to_owned())), (11, Some("\u{e9}\"".to_owned()))]);
        for (name, text) in [
            ("a.tsv", "000000000000000a\t/a b\n000000000000000B\t\u{e9}\"\n"),
            ("a.csv", "id,fingerprint\n/a b,000000000000000a\n\"\u{e9}\"\"\",000000000000000B\n"),
            (
                "a.ndjson",
                "{\"id\":\"/a b\",\"fingerprint\":\"000000000000000a\"}\n{\"id\":\"\\u00e9\\\"\",\"fingerprint\":11}\n",
            ),
        ] {
            for ending in ["", ".gz", ".zst"] {
                assert_eq!(records::<u64>(input(&format!("{name}{ending}"), text.as_bytes())), expected, "{name}");
            }
        }
    }
}
