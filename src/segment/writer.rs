//! Writes a segment file in one forward pass.

use super::table_writer::EncodedTable;
use crate::env::{Env, ReadFile, ScratchFile, TempFile};
use crate::error::{Error, Result};
use crate::format::footer::{ALIGNMENT, Footer, Span, TRAILER, TableSections};
use crate::format::{Parameters, codes, header, index};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use xxhash_rust::xxh64::Xxh64;

/// Sections of pages from this size on begin at a multiple of the smallest page, so that a page read from a cold disk
/// is one of the device's. In smaller ones the padding would weigh more than it helps.
const ALIGNED_FROM: usize = 1 << 20;

/// A segment that is being written. Dropped without [`SegmentWriter::finish`], nothing remains of it.
pub(crate) struct SegmentWriter {
    file: Sink,
    content: Xxh64,
    footer: Footer,
    /// The pages that were appended last and belong to no table yet.
    pages: Option<Span>,
}

/// Where a segment is written to.
enum Sink {
    /// A file that is to last.
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

/// What a segment consists of, in order: pages and what describes them, table for table, and the same for the ids.
#[derive(Debug)]
pub(crate) enum SectionPart {
    /// Some of the pages of what follows.
    Pages(Vec<u8>),
    /// A table whose pages came before.
    Table(EncodedTable),
    /// What describes ids whose pages came before.
    Ids(EncodedIds),
}

/// What stands behind the pages of ids.
#[derive(Debug, Default)]
pub(crate) struct EncodedIds {
    /// The index of the pages.
    pub(crate) index: Vec<u8>,
    /// The dictionary of text ids.
    pub(crate) dictionary: Vec<u8>,
}

/// A finished segment file.
#[derive(Debug)]
pub(crate) struct Finished {
    /// Its path.
    pub(crate) path: PathBuf,
    /// Its length in bytes.
    pub(crate) length: u64,
    /// The checksum of its footer, which stands for all of it.
    pub(crate) footer_checksum: u32,
    /// The file itself, where it has no name; its path is that of its directory then.
    pub(crate) unnamed: Option<Box<dyn ReadFile>>,
}

impl SegmentWriter {
    /// Begins the file `name` in `directory`, or one without a name.
    pub(crate) fn create(
        env: &Arc<dyn Env>,
        directory: &Path,
        name: Option<&str>,
        parameters: &Parameters,
    ) -> Result<Self> {
        let footer = Footer {
            parameters: parameters.clone(),
            records: 0,
            fingerprints: 0,
            content_hash: 0,
            tables: Vec::new(),
            ids: Span::default(),
            id_index: Span::default(),
            id_dictionary: Span::default(),
        };
        let failed = |error| Error::temporary("cannot make a temporary file in", directory, error);
        let file = match name {
            Some(name) => Sink::File(TempFile::create(env, directory, name)?),
            None => Sink::Scratch(env.scratch(directory).map_err(failed)?, directory.to_owned()),
        };
        let mut writer = Self { file, content: Xxh64::new(0), footer, pages: None };
        writer.write(&header::write())?;
        Ok(writer)
    }

    /// Appends the next part.
    pub(crate) fn part(&mut self, part: &SectionPart) -> Result<()> {
        match part {
            SectionPart::Pages(pages) => self.pages(pages),
            SectionPart::Table(table) => self.table(table),
            SectionPart::Ids(ids) => {
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
        // Shorter first pieces are all there is.
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

    /// The section of the pages that came last; the next ones belong to another.
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
    pub(crate) fn finish(mut self, records: u64, fingerprints: u64) -> Result<Finished> {
        (self.footer.records, self.footer.fingerprints) = (records, fingerprints);
        self.footer.content_hash = self.content.digest();
        let footer = self.footer.write();
        self.file.write(&footer)?;
        let checksum = footer.len().checked_sub(TRAILER - 4).and_then(|at| footer.get(at..)?.first_chunk::<4>());
        let footer_checksum = checksum.map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let length = self.file.written();
        let (path, unnamed) = match self.file {
            Sink::File(file) => (file.commit()?, None),
            Sink::Scratch(file, directory) => {
                let failed = |error| Error::temporary("cannot read temporary data in", &directory, error);
                let file = file.into_reader().map_err(failed)?;
                (directory, Some(file))
            }
        };
        Ok(Finished { path, length, footer_checksum, unnamed })
    }
}
