//! The texts of documents in a temporary file; only their places are in memory.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;

use anyhow::{Context, anyhow};
use fpstore_tools::rows;

/// Place of a text in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    offset: u64,
    length: u32,
    /// Whether the id of the document is a number.
    pub(super) number: bool,
}

/// Texts for random access.
#[derive(Debug)]
pub(super) struct Texts {
    file: File,
    places: Vec<Option<Place>>,
}

/// Texts that are being written.
#[derive(Debug)]
pub(super) struct Writer {
    file: BufWriter<File>,
    offset: u64,
    places: Vec<Option<Place>>,
}

impl Writer {
    /// Creates the file for `number` texts.
    pub(super) fn new(number: usize, directory: Option<&Path>) -> anyhow::Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, rows::temporary(directory)?);
        Ok(Self { file, offset: 0, places: vec![None; number] })
    }

    /// Adds a text; returns false if the document has one already.
    pub(super) fn add(&mut self, index: usize, number: bool, text: &str) -> anyhow::Result<bool> {
        let place = self.places.get_mut(index).ok_or_else(|| anyhow!("a text that is not needed"))?;
        if place.is_some() {
            return Ok(false);
        }
        let length = u32::try_from(text.len()).context("a text is longer than 4 GiB")?;
        self.file.write_all(text.as_bytes()).context(TEMPORARY)?;
        *place = Some(Place { offset: self.offset, length, number });
        self.offset += u64::from(length);
        Ok(true)
    }

    pub(super) fn finish(self) -> anyhow::Result<Texts> {
        let file = self.file.into_inner().map_err(std::io::IntoInnerError::into_error).context(TEMPORARY)?;
        Ok(Texts { file, places: self.places })
    }
}

const TEMPORARY: &str = "the temporary file with the texts of documents (--tmp-dir)";

impl Texts {
    /// Whether the text of a document is missing.
    pub(super) fn missing(&self) -> bool {
        self.places.iter().any(Option::is_none)
    }

    /// Returns the place of a document's text.
    pub(super) fn place(&self, index: usize) -> Option<Place> {
        self.places.get(index).copied().flatten()
    }

    pub(super) fn read(&self, place: Place) -> anyhow::Result<String> {
        let mut bytes = vec![0; place.length as usize];
        let mut file = &self.file;
        file.seek(SeekFrom::Start(place.offset)).context(TEMPORARY)?;
        file.read_exact(&mut bytes).context(TEMPORARY)?;
        String::from_utf8(bytes).context(TEMPORARY)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut writer = Writer::new(3, None).unwrap();
        assert!(writer.add(2, true, "zwei").unwrap());
        assert!(writer.add(0, false, "").unwrap());
        assert!(!writer.add(2, true, "other").unwrap());
        assert!(writer.add(3, true, "x").is_err());
        let texts = writer.finish().unwrap();
        assert!(texts.missing() && texts.place(1).is_none() && texts.place(9).is_none());
        let read = |index| texts.read(texts.place(index).unwrap()).unwrap();
        assert_eq!((read(2), read(0), read(2)), ("zwei".to_owned(), String::new(), "zwei".to_owned()));
        assert!(texts.place(2).unwrap().number);
    }
}
