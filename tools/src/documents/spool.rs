//! Contents of documents in a temporary file; only their places are in memory.

use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, anyhow};

use super::Content;
use crate::rows;

const TEMPORARY: &str = "the temporary file with the texts of documents (--tmp-dir)";

/// Place of a content in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    offset: u64,
    length: u32,
    /// Whether it consists of tokens, each with its length before it.
    tokens: bool,
}

/// Contents that are being written.
#[derive(Debug)]
pub struct Spool {
    file: BufWriter<File>,
    offset: u64,
    places: Vec<Option<Place>>,
}

/// Contents for random access.
#[derive(Debug)]
pub struct Spooled {
    file: Mutex<File>,
    places: Vec<Option<Place>>,
}

impl Spool {
    /// Creates the file for `number` contents, in this directory or that of the system.
    ///
    /// # Errors
    ///
    /// If the file cannot be created.
    pub fn new(number: usize, directory: Option<&Path>) -> anyhow::Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, rows::temporary(directory)?);
        Ok(Self { file, offset: 0, places: vec![None; number] })
    }

    /// Adds a content; returns false if there is one at this index already.
    ///
    /// # Errors
    ///
    /// If it cannot be written, is longer than 4 GiB, or the index is too large.
    pub fn add(&mut self, index: usize, content: &Content) -> anyhow::Result<bool> {
        let place = self.places.get_mut(index).ok_or_else(|| anyhow!("a text that is not needed"))?;
        if place.is_some() {
            return Ok(false);
        }
        let start = self.offset;
        let mut write = |bytes: &[u8]| {
            self.offset += bytes.len() as u64;
            self.file.write_all(bytes).context(TEMPORARY)
        };
        match content {
            Content::Text(text) => write(text.as_bytes())?,
            Content::Tokens(tokens) => {
                for token in tokens {
                    write(&(token.len() as u64).to_le_bytes())?;
                    write(token.as_bytes())?;
                }
            }
        }
        let length = u32::try_from(self.offset - start).context("a text is longer than 4 GiB")?;
        *place = Some(Place { offset: start, length, tokens: matches!(content, Content::Tokens(_)) });
        Ok(true)
    }

    /// Ends writing.
    ///
    /// # Errors
    ///
    /// If the file cannot be written.
    pub fn finish(self) -> anyhow::Result<Spooled> {
        let file = self.file.into_inner().map_err(std::io::IntoInnerError::into_error).context(TEMPORARY)?;
        Ok(Spooled { file: Mutex::new(file), places: self.places })
    }
}

impl Spooled {
    /// Index of a content that was not added, if there is one.
    #[must_use]
    pub fn missing(&self) -> Option<usize> {
        self.places.iter().position(Option::is_none)
    }

    /// Bytes of a content; `None` if there is none.
    #[must_use]
    pub fn length(&self, index: usize) -> Option<u64> {
        self.place(index).map(|place| place.length.into())
    }

    fn place(&self, index: usize) -> Option<Place> {
        self.places.get(index).copied().flatten()
    }

    /// Returns a content.
    ///
    /// # Errors
    ///
    /// If there is none, or it cannot be read.
    pub fn read(&self, index: usize) -> anyhow::Result<Content> {
        let place = self.place(index).ok_or_else(|| anyhow!("a text that is not there"))?;
        let mut bytes = vec![0; place.length as usize];
        {
            let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(place.offset)).and_then(|_| file.read_exact(&mut bytes)).context(TEMPORARY)?;
        }
        if !place.tokens {
            return Ok(Content::Text(String::from_utf8(bytes).context(TEMPORARY)?));
        }
        let (mut rest, mut tokens) = (&*bytes, Vec::new());
        while let Some((length, token)) = rest.split_first_chunk() {
            let length = usize::try_from(u64::from_le_bytes(*length)).context(TEMPORARY)?;
            let (token, after) = token.split_at_checked(length).context(TEMPORARY)?;
            tokens.push(std::str::from_utf8(token).context(TEMPORARY)?.to_owned());
            rest = after;
        }
        Ok(Content::Tokens(tokens))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut spool = Spool::new(4, None).unwrap();
        let text = |text: &str| Content::Text(text.to_owned());
        let tokens = Content::Tokens(vec!["a".into(), String::new(), "é\n".into()]);
        assert!(spool.add(2, &text("zwei")).unwrap());
        assert!(spool.add(0, &text("")).unwrap());
        assert!(!spool.add(2, &text("other")).unwrap());
        assert!(spool.add(3, &tokens).unwrap());
        assert!(spool.add(4, &text("x")).is_err());
        let spooled = spool.finish().unwrap();
        assert_eq!((spooled.missing(), spooled.length(1), spooled.length(2)), (Some(1), None, Some(4)));
        let read = |index| spooled.read(index).unwrap();
        assert_eq!((read(2), read(0), read(3), read(2)), (text("zwei"), text(""), tokens, text("zwei")));
        assert!(spooled.read(1).is_err() && spooled.read(9).is_err());
    }
}
