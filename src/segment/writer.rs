//! Writes a segment file in one forward pass.

use super::table_writer::EncodedTable;
use crate::env::{Env, ReadFile, ScratchFile, TempFile};
use crate::error::{Error, Result};
use crate::extsort::Spool;
use crate::format::footer::{ALIGNMENT, Footer, Span, TRAILER, TableSections};
use crate::format::manifest::SegmentEntry;
use crate::format::{Parameters, codes, header, index};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh64::Xxh64;

/// Sections of pages from this size on begin at a multiple of the smallest page, so that a page read from a cold disk
/// is one of the device's. In smaller ones the padding would cost more than it helps.
const ALIGNED_FROM: usize = 1 << 20;

/// A segment that is being written. If the caller drops it without [`SegmentWriter::finish`], nothing remains.
pub(crate) struct SegmentWriter {
    file: Sink,
    content: Xxh64,
    footer: Footer,
    /// The last pages, which belong to no section yet.
    pages: Option<Span>,
}

enum Sink {
    File(TempFile),
    /// A file without a name, and its directory.
    Scratch(Box<dyn ScratchFile>, PathBuf),
}

impl Sink {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::File(file) => file.write(bytes),
            Self::Scratch(file, directory) => {
                let failed = |error| Error::temporary("cannot write temporary data to", directory, error);
                file.append(bytes).map_err(failed)
            }
        }
    }

    fn written(&self) -> u64 {
        match self {
            Self::File(file) => file.written(),
            Self::Scratch(file, _) => file.length(),
        }
    }
}

/// What follows the pages of a section.
pub(crate) enum SectionEnd {
    /// The description of a table.
    Table(EncodedTable),
    /// All pages of ids, of which none were written, and their description.
    Ids(Spool, EncodedIds),
}

/// The description of the pages of ids: index and dictionary.
#[derive(Debug, Default)]
pub(crate) struct EncodedIds {
    pub(crate) index: Vec<u8>,
    pub(crate) dictionary: Vec<u8>,
}

#[derive(Debug)]
pub(crate) struct Built {
    /// Its path; the directory's path if the file has no name.
    pub(crate) path: PathBuf,
    pub(crate) entry: SegmentEntry,
    pub(crate) unnamed: Option<Box<dyn ReadFile>>,
}

impl SegmentWriter {
    pub(crate) fn create(
        env: &Arc<dyn Env>,
        directory: &Path,
        name: Option<&str>,
        parameters: &Parameters,
    ) -> Result<Self> {
        let footer = Footer::new(parameters.clone());
        let failed = |error| Error::temporary("cannot make a temporary file in", directory, error);
        let file = match name {
            Some(name) => Sink::File(TempFile::create(env, directory, name)?),
            None => Sink::Scratch(env.scratch(directory).map_err(failed)?, directory.to_owned()),
        };
        let mut writer = Self { file, content: Xxh64::new(0), footer, pages: None };
        writer.write(&header::write())?;
        Ok(writer)
    }

    /// Ends the section of the pages before.
    pub(crate) fn end(&mut self, end: &SectionEnd) -> Result<()> {
        match end {
            SectionEnd::Table(table) => self.table(table),
            SectionEnd::Ids(pages, ids) => {
                pages.visit(1, |pages| self.pages(pages))?;
                self.footer.ids = self.end_of_pages();
                self.footer.id_index = self.section(&ids.index)?;
                self.footer.id_dictionary = self.section(&ids.dictionary)?;
                Ok(())
            }
        }
    }

    fn table(&mut self, table: &EncodedTable) -> Result<()> {
        // A design has at most 256 tables.
        let number = u8::try_from(self.footer.tables.len()).unwrap_or(u8::MAX);
        let sections = TableSections {
            data: self.end_of_pages(),
            codes: self.section(&codes::write(&table.codes, number))?,
            index: self.section(&index::write(&table.index, table.codec, number))?,
            blocks: table.index.len() as u64,
        };
        self.footer.tables.push(sections);
        Ok(())
    }

    pub(crate) fn pages(&mut self, pages: &[u8]) -> Result<()> {
        // A shorter first piece is the whole section.
        if self.pages.is_none() && pages.len() >= ALIGNED_FROM {
            let padding = self.file.written().next_multiple_of(ALIGNMENT) - self.file.written();
            self.write(&vec![0; usize::try_from(padding).unwrap_or(0)])?;
        }
        let mut span = self.end_of_pages();
        self.write(pages)?;
        span.length += pages.len() as u64;
        self.pages = Some(span);
        Ok(())
    }

    /// Ends the section of the last pages.
    fn end_of_pages(&mut self) -> Span {
        self.pages.take().unwrap_or(Span { offset: self.file.written(), length: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.content.update(bytes);
        self.file.write(bytes)
    }

    fn section(&mut self, bytes: &[u8]) -> Result<Span> {
        let offset = self.file.written();
        self.write(bytes)?;
        Ok(Span { offset, length: bytes.len() as u64 })
    }

    /// Writes the footer, which counts records and distinct fingerprints, and makes the file durable under its name.
    pub(crate) fn finish(mut self, number: u64, records: u64, fingerprints: u64) -> Result<Built> {
        (self.footer.records, self.footer.fingerprints) = (records, fingerprints);
        // In segments of keys, the last pages are those of sketches.
        let sketches = self.end_of_pages();
        self.footer.sketches = self.footer.sketches.map(|_| sketches);
        self.footer.content_hash = self.content.digest();
        let footer = self.footer.write();
        self.file.write(&footer)?;
        let checksum = footer.len().checked_sub(TRAILER - 4).and_then(|at| footer.get(at..)?.first_chunk::<4>());
        let footer_checksum = checksum.map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let file_length = self.file.written();
        let entry = SegmentEntry { number, file_length, records, fingerprints, footer_checksum };
        let (path, unnamed) = match self.file {
            Sink::File(file) => (file.commit()?, None),
            Sink::Scratch(file, directory) => {
                let failed = |error| Error::temporary("cannot read temporary data in", &directory, error);
                let file = file.into_reader().map_err(failed)?;
                (directory, Some(file))
            }
        };
        Ok(Built { path, entry, unnamed })
    }
}
