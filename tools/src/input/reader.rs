//! The records of one input, whatever its format.

use std::io;
use std::sync::Arc;

use super::le::Integers;
use super::lines::{Lines, is_skipped};
use super::{Entry, Format, InputOptions, Place, Selection, Source, header, ndjson, text};
use crate::progress::Progress;

/// The records of one input, in order.
#[derive(Debug)]
pub struct Reader {
    name: Arc<str>,
    stream: Stream,
}

#[derive(Debug)]
enum Stream {
    Hex(Lines),
    Dec(Lines),
    Ndjson(Lines, Selection),
    Le(Integers),
}

impl Reader {
    /// Opens an input.
    ///
    /// # Errors
    ///
    /// When its format is not known or it cannot be opened.
    pub fn open(source: &Source, options: &InputOptions, progress: &Progress) -> anyhow::Result<Self> {
        let format = options.format_of(source)?;
        let bytes = source.open(progress)?;
        let stream = match format {
            Format::Hex => Stream::Hex(Lines::new(bytes)),
            Format::Dec => Stream::Dec(Lines::new(bytes)),
            Format::Ndjson => Stream::Ndjson(Lines::new(bytes), options.selection()),
            Format::Le => Stream::Le(Integers::new(bytes)),
        };
        Ok(Self { name: source.name().into(), stream })
    }

    /// The next record, or `None` at the end of the input.
    ///
    /// # Errors
    ///
    /// When the input cannot be read on, or holds something that is no record; the error names the place.
    #[inline]
    pub fn next_entry(&mut self) -> anyhow::Result<Option<Entry>> {
        let result = match &mut self.stream {
            Stream::Hex(lines) => next_record(lines, text::hex_line),
            Stream::Dec(lines) => next_record(lines, text::dec_line),
            Stream::Ndjson(lines, selection) => next_record(lines, |line| ndjson::line(line, selection)),
            Stream::Le(integers) => integers.next_entry().map_err(|error| reading(&error)),
        };
        result.map_err(|message| self.here().error(message))
    }

    /// Appends fingerprints without ids that come next and are there already, if that is quicker than one after
    /// another.
    pub(super) fn take_ready(&mut self, fingerprints: &mut Vec<u64>) {
        if let Stream::Le(integers) = &mut self.stream {
            integers.take_ready(fingerprints);
        }
    }

    /// Whether the next record (or a line that holds none) is there without waiting for the input.
    #[must_use]
    pub fn ready(&self) -> bool {
        match &self.stream {
            Stream::Hex(lines) | Stream::Dec(lines) | Stream::Ndjson(lines, _) => lines.ready(),
            Stream::Le(integers) => integers.ready(),
        }
    }

    /// Where the record stands that [`Self::next_entry`] gave last, or failed on.
    #[must_use]
    pub fn here(&self) -> Place {
        let (unit, number) = match &self.stream {
            Stream::Hex(lines) | Stream::Dec(lines) | Stream::Ndjson(lines, _) => ("line", lines.number()),
            Stream::Le(integers) => ("record", integers.number()),
        };
        Place { input: Arc::clone(&self.name), unit, number }
    }
}

/// Goes on to the next line that holds a record and decodes it.
#[inline]
fn next_record(lines: &mut Lines, decode: impl Fn(&[u8]) -> Result<Entry, String>) -> Result<Option<Entry>, String> {
    loop {
        let first = lines.number() == 0;
        let Some(line) = lines.next_line().map_err(|error| reading(&error))? else { return Ok(None) };
        if first {
            header::check(line, fpstore::WIDTH)?;
        }
        if !is_skipped(line) {
            return decode(line).map(Some);
        }
    }
}

/// What a failed read means for the user.
fn reading(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => format!("the compressed data ends too early; was the file cut? ({error})"),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::path::Path;

    const NO_OPTIONS: InputOptions = InputOptions { format: None, fingerprint_column: None, id_column: None };

    fn read(path: &Path, options: &InputOptions) -> Result<Vec<Entry>, String> {
        let mut reader =
            Reader::open(&Source::File(path.to_owned()), options, &Progress::hidden()).map_err(|e| format!("{e:#}"))?;
        let mut entries = Vec::new();
        while let Some(entry) = reader.next_entry().map_err(|e| e.to_string())? {
            entries.push(entry);
        }
        Ok(entries)
    }

    #[test]
    fn compressed_input_and_its_cuts() {
        let dir = tempfile::tempdir().unwrap();
        let text: String =
            (0..20_000_u64).map(|i| format!("{:016x}\t{i}\n", i.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
        let plain = dir.path().join("a.tsv");
        std::fs::write(&plain, &text).unwrap();
        let expected = read(&plain, &NO_OPTIONS).unwrap();
        assert_eq!(expected.len(), 20_000);

        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(text.as_bytes()).unwrap();
        let gz = gz.finish().unwrap();
        let zst = zstd::encode_all(text.as_bytes(), 1).unwrap();
        for (name, bytes) in [("a.tsv.gz", gz), ("a.tsv.zst", zst)] {
            let path = dir.path().join(name);
            std::fs::write(&path, &bytes).unwrap();
            assert_eq!(read(&path, &NO_OPTIONS).unwrap(), expected);
            std::fs::write(&path, [bytes.clone(), bytes.clone()].concat()).unwrap();
            assert_eq!(read(&path, &NO_OPTIONS).unwrap(), [expected.clone(), expected.clone()].concat());
            for length in [0, 1, 5, 11, bytes.len() / 2, bytes.len() - 1] {
                std::fs::write(&path, &bytes[..length]).unwrap();
                let error = read(&path, &NO_OPTIONS).unwrap_err();
                assert!(error.contains(name), "{length}: {error}");
            }
        }
    }

    #[test]
    fn remarks_blanks_and_marks_are_counted_but_no_records() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.hex");
        let text =
            b"\xef\xbb\xbf#fpstore width=64 hasher=x\r\n\r\n  \n# remark\n0000000000000001\r\n#fpstore width=9\nno";
        std::fs::write(&path, text).unwrap();
        let mut reader = Reader::open(&Source::File(path), &NO_OPTIONS, &Progress::hidden()).unwrap();
        assert_eq!(reader.next_entry().unwrap(), Some(Entry { fingerprint: 1, id: None }));
        assert_eq!(reader.here().number, 5);
        assert!(reader.next_entry().unwrap_err().to_string().contains("a.hex: line 7: expected 16"));
    }

    #[test]
    fn a_header_of_another_width_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        std::fs::write(&path, "#fpstore width=128\n").unwrap();
        assert!(read(&path, &NO_OPTIONS).unwrap_err().contains("a: line 1: the input is of 128-bit"));
    }
}
