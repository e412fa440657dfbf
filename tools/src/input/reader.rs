//! The records of one input, whatever its format.

use std::sync::Arc;

use anyhow::{anyhow, bail};
use fpstore::Fingerprint;

use super::csv::{Rows, Table};
use super::le::Integers;
use super::lines::Lines;
use super::opened::{Body, first_line};
use super::parquet::Rows as ParquetRows;
use super::sections::Sections;
use super::values::Values;
use super::window::reading;
use super::{
    Digits, Entry, Input, InputOptions, LINE_LIMIT, Place, Quality, RawId, Selection, Source, header, ndjson, object,
    text,
};
use crate::notice;
use crate::number::count_of;
use crate::progress::Progress;

/// The records of one input, in order.
#[derive(Debug)]
pub struct Reader<F: Fingerprint> {
    name: Arc<str>,
    stream: Stream<F>,
    digits: Option<Digits>,
    quality: Option<Quality>,
    /// Records skipped for their quality.
    below_quality: u64,
    /// Whether there was a record, or the warning that there is none.
    any: bool,
}

#[derive(Debug)]
enum Stream<F: Fingerprint> {
    Lines(Sections),
    Ndjson(Lines, Objects),
    Json(Values, Objects),
    Csv(Box<Table>),
    Le(Integers<F>),
    Parquet(Box<ParquetRows<F>>),
}

/// Reads JSON objects, and keeps a few of their values.
#[derive(Debug)]
struct Objects {
    selection: Selection,
    /// The last id with escapes, unescaped.
    unescaped: String,
    /// The keys of the first record without an id, except that of its fingerprint.
    others: Option<String>,
}

impl Objects {
    fn new(selection: Selection) -> Self {
        Self { selection, unescaped: String::new(), others: None }
    }

    fn entry<'a, F: Fingerprint>(
        &'a mut self,
        object: &'a [u8],
        digits: Option<Digits>,
    ) -> Result<Entry<'a, F>, String> {
        let entry = ndjson::line(object, &self.selection, digits, &mut self.unescaped);
        if self.others.is_none() && entry.as_ref().is_ok_and(|entry| entry.id.is_none()) {
            self.others = Some(ndjson::others(object, &self.selection));
        }
        entry
    }
}

impl Input {
    /// Starts reading the records, with fingerprints of one width.
    ///
    /// # Errors
    ///
    /// If the input is known to have fingerprints of another width.
    pub fn reader<F: Fingerprint>(self) -> anyhow::Result<Reader<F>> {
        if let Some(header) = &self.header {
            let place = first_line(&self.name);
            header::check_width(header.width, F::WIDTH).map_err(|message| place.error(message))?;
        }
        if let (Some(named), Body::Le(_)) = (self.named, &self.body)
            && named != F::WIDTH
        {
            bail!(
                "{}: the name promises {named}-bit fingerprints, those of the store have {} bits; if it is wrong, say \
                 --format le",
                self.name,
                F::WIDTH
            );
        }
        if let Body::Parquet(parquet) = &self.body {
            let name = &self.name;
            let checked = header::check_width(parquet.width(), F::WIDTH);
            checked.map_err(|message| anyhow!("{name}: column \"{}\": {message}", self.selection.value))?;
        }
        Reader::new(self)
    }
}

impl<F: Fingerprint> Reader<F> {
    /// Opens an input of known width.
    ///
    /// # Errors
    ///
    /// Errors of [`Input::open`] and [`Input::reader`].
    pub fn open(source: &Source, options: &InputOptions, progress: &Progress) -> anyhow::Result<Self> {
        Input::open(source, options, progress)?.reader()
    }

    /// Starts reading an input.
    fn new(input: Input) -> anyhow::Result<Self> {
        let Input { name, selection, header, digits, quality, body, .. } = input;
        let stream = match body {
            Body::Lines(window) => Stream::Lines(Sections::new(Lines::new(window, LINE_LIMIT), header)),
            Body::Ndjson(window) => Stream::Ndjson(Lines::new(window, LINE_LIMIT), Objects::new(selection)),
            Body::Json(window) => Stream::Json(Values::new(window, LINE_LIMIT), Objects::new(selection)),
            Body::Csv(window, delimiter) => {
                let rows = Rows::new(window, delimiter, LINE_LIMIT);
                let table = Table::new(rows, selection, header.is_some());
                Stream::Csv(Box::new(table.with_quality(quality.clone())))
            }
            Body::Le(window) => Stream::Le(Integers::new(window)),
            Body::Parquet(parquet) => {
                Stream::Parquet(Box::new(parquet.rows().map_err(|message| anyhow!("{name}: {message}"))?))
            }
        };
        Ok(Self { name, stream, digits, quality, below_quality: 0, any: false })
    }

    /// Returns the next record, or `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// If the input cannot be read, or holds something that is not a record; the error names the place.
    #[inline]
    pub fn next_entry(&mut self) -> anyhow::Result<Option<Entry<'_, F>>> {
        let Self { name, stream, digits, quality, below_quality, any } = self;
        if let Stream::Le(integers) = stream {
            return match integers.next_integer() {
                Ok(Some(fingerprint)) => {
                    *any = true;
                    Ok(Some(Entry { fingerprint, id: RawId::None }))
                }
                Ok(None) => {
                    warn_of_none(name, any);
                    Ok(None)
                }
                Err(error) => Err(stream.place(name).error(reading(&error))),
            };
        }
        loop {
            let taken = match stream.advance() {
                Ok(true) => {
                    *any = true;
                    quality.as_ref().map_or(Ok(true), |quality| stream.is_taken(quality))
                }
                Ok(false) => {
                    warn_of_none(name, any);
                    say_passed_over(name, quality.as_ref(), *below_quality);
                    return Ok(None);
                }
                Err(message) => Err(message),
            };
            match taken {
                Ok(true) => break,
                Ok(false) => *below_quality += 1,
                Err(message) => return Err(stream.place(name).error(message)),
            }
        }
        let (unit, number) = stream.position();
        let entry = match stream {
            Stream::Lines(sections) => {
                let line = sections.lines().line();
                let entry = match digits {
                    None | Some(Digits::Hex) => text::hex_line(line),
                    Some(digits) => text::digits_line(line, *digits),
                };
                entry.map_err(|message| if number == 1 { message + text::other_format(line) } else { message })
            }
            Stream::Ndjson(lines, objects) => objects.entry(lines.line(), *digits),
            Stream::Json(values, objects) => objects.entry(values.value(), *digits),
            Stream::Csv(table) => table.entry(*digits),
            Stream::Parquet(rows) => rows.entry(*digits),
            // Handled above.
            Stream::Le(_) => return Ok(None),
        };
        match entry {
            Ok(entry) => Ok(Some(entry)),
            Err(message) => Err(Place { input: Arc::clone(name), unit, number }.error(message)),
        }
    }

    /// Number of records skipped so far for their quality.
    #[must_use]
    pub fn below_quality(&self) -> u64 {
        self.below_quality
    }

    /// The columns beside that of the fingerprints, if there was a record and there is no column of ids; for a message.
    #[must_use]
    pub(super) fn others(&self) -> Option<&str> {
        let others = match &self.stream {
            Stream::Ndjson(_, objects) | Stream::Json(_, objects) => objects.others.as_deref(),
            Stream::Csv(table) => table.others(),
            Stream::Parquet(rows) => rows.others(),
            Stream::Lines(_) | Stream::Le(_) => None,
        };
        others.filter(|others| !others.is_empty())
    }

    /// Name of the input, for messages.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Appends the fingerprints that follow, if they have no ids and are available already: faster than one by one.
    pub fn take_ready(&mut self, fingerprints: &mut Vec<F>) {
        if let Stream::Le(integers) = &mut self.stream {
            integers.take_ready(fingerprints);
        }
    }

    /// Whether the next record (or a line without one) is available without waiting for the input.
    #[must_use]
    pub fn ready(&self) -> bool {
        match &self.stream {
            Stream::Lines(sections) => sections.lines().ready(),
            Stream::Ndjson(lines, _) => lines.ready(),
            Stream::Json(values, _) => values.ready(),
            Stream::Csv(table) => table.ready(),
            Stream::Le(integers) => integers.ready(),
            // A file is always available.
            Stream::Parquet(_) => true,
        }
    }

    /// The place of the record that [`Self::next_entry`] returned last, or failed on.
    #[must_use]
    pub fn here(&self) -> Place {
        self.stream.place(&self.name)
    }
}

impl<F: Fingerprint> Stream<F> {
    /// Advances to the next record; `false` at the end.
    #[inline]
    fn advance(&mut self) -> Result<bool, String> {
        match self {
            Self::Lines(sections) => sections.next_record(),
            Self::Ndjson(lines, _) => lines.next_record(),
            Self::Json(values, _) => values.next_record(),
            Self::Csv(table) => table.next_record(),
            Self::Parquet(rows) => rows.advance(),
            Self::Le(integers) => Ok(integers.ready()),
        }
    }

    /// Whether the quality of the record that [`Self::advance`] came to is high enough.
    fn is_taken(&self, quality: &Quality) -> Result<bool, String> {
        match self {
            Self::Ndjson(lines, _) => quality.takes(object::number(lines.line(), &quality.column)?),
            Self::Json(values, _) => quality.takes(object::number(values.value(), &quality.column)?),
            Self::Csv(table) => table.is_taken(),
            Self::Parquet(rows) => quality.takes(rows.quality()?),
            // Rejected when the input was opened.
            Self::Lines(_) | Self::Le(_) => Ok(true),
        }
    }

    /// The unit of the position, and the position.
    #[inline]
    fn position(&self) -> (&'static str, u64) {
        match self {
            Self::Lines(sections) => ("line", sections.lines().number()),
            Self::Ndjson(lines, _) => ("line", lines.number()),
            Self::Json(values, _) => ("line", values.number()),
            Self::Csv(table) => ("line", table.line()),
            Self::Le(integers) => ("record", integers.number()),
            Self::Parquet(rows) => ("record", rows.number()),
        }
    }

    /// The place of the current record.
    #[cold]
    fn place(&self, name: &Arc<str>) -> Place {
        let (unit, number) = self.position();
        Place { input: Arc::clone(name), unit, number }
    }
}

/// Warns of an input without records, which may not be the intended one.
#[cold]
pub(crate) fn warn_of_none(name: &str, any: &mut bool) {
    if !std::mem::replace(any, true) {
        notice::warn(format_args!("{name} holds no records"));
    }
}

/// Reports the number of records skipped for their quality.
#[cold]
fn say_passed_over(name: &str, quality: Option<&Quality>, number: u64) {
    if let (Some(Quality { least, .. }), 1..) = (quality, number) {
        notice::say(format_args!("{name}: passed over {} below --min-quality {least}", count_of(number, "record")));
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{input, reader, records};
    use super::*;
    use std::io::Write;

    type Records = Result<Vec<(u64, Option<String>)>, String>;

    /// Reads a file of these bytes.
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
