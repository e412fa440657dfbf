//! The readable parts of a damaged segment.
//!
//! The footer must be the one that the manifest names; without it the bytes have no meaning. Every other part may be
//! damaged: a table with damaged codes or index is left out, and a page whose checksum does not hold is lost for its
//! table alone. Only bytes whose checksums hold are used; nothing is guessed.
//!
//! [`Salvage::open`] finds the footer and opens the tables. `repair` reads fingerprints from the primary table, from
//! the rows, or from another table, ids unit by unit from [`SalvagedIds`] (`ids`), and sketches page by page.

mod ids;

pub(crate) use ids::{SalvagedIds, SalvagedUnit};

use super::Table;
use super::file::{PageBuffer, Pages, SegmentFile};
use super::sketches::Sketches;
use crate::env::{Env, ReadMode};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::format::Parameters;
use crate::format::fields::Fields;
use crate::format::footer::{Footer, Span};
use crate::format::index::rows_per_page;
use crate::format::manifest::SegmentEntry;
use crate::format::page::{MIN_SIZE, Stream};
use std::io;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Salvage {
    file: Arc<SegmentFile>,
    footer: Footer,
    tables: Vec<Option<Table>>,
    /// The pages of rows, if the fingerprints are wide.
    rows: Pages,
    sketches: Option<Sketches>,
}

impl Salvage {
    /// Opens the segment of a manifest's entry; `None` if the file, or the footer that the entry names, is missing.
    /// `Io` if the file exists and cannot be opened.
    pub(crate) fn open(
        env: &dyn Env,
        path: &Path,
        parameters: &Parameters,
        entry: &SegmentEntry,
    ) -> Result<Option<Self>> {
        let file = match env.open(path, ReadMode::Pread) {
            Ok(file) => Arc::new(SegmentFile::new(path, file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(Error::io("cannot open", path, error)),
        };
        let Some(footer) = footer_of(&file, parameters, entry) else { return Ok(None) };
        let sound = |table: &Table| table.index().damages().is_empty();
        let tables = Table::open_all(&file, &footer)?.map(|table| table.ok().filter(sound)).collect();
        let data = footer.tables.first().map_or(Span::default(), |table| table.data);
        let rows = Pages::new(&file, data, MIN_SIZE, Stream::Data(0));
        let sketches = Sketches::open(&file, &footer);
        Ok(Some(Self { tables, rows, sketches, footer, file }))
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(crate) fn footer(&self) -> &Footer {
        &self.footer
    }

    pub(crate) fn primary_table(&self) -> Option<&Table> {
        self.tables.first().and_then(Option::as_ref)
    }

    /// The secondary tables whose codes and index are sound.
    pub(crate) fn other_tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().skip(1).flatten()
    }

    /// Number of pages of rows, which need no index.
    pub(crate) fn row_pages(&self) -> u64 {
        self.rows.count()
    }

    /// The rows of a page; if it is damaged, its offset in place of each row.
    pub(crate) fn rows<F: Fingerprint>(&self, page: u64, buffer: &mut PageBuffer) -> Vec<std::result::Result<F, u64>> {
        let full = rows_per_page(F::BYTES);
        let before = page.saturating_mul(full as u64);
        let count = usize::try_from(self.footer.fingerprints.saturating_sub(before)).unwrap_or(full).min(full);
        let bytes = self.rows.get(&self.file, page, buffer).ok().and_then(|bytes| bytes.get(..count * F::BYTES));
        match bytes {
            Some(bytes) => bytes.chunks_exact(F::BYTES).filter_map(F::from_le_bytes).map(Ok).collect(),
            None => vec![Err(self.rows.place(page).offset); count],
        }
    }

    /// Checks that there is a sketch of each of so many records, if records have sketches.
    pub(crate) fn check_sketches(&self, records: u64) -> Result<()> {
        self.sketches.as_ref().map_or(Ok(()), |sketches| sketches.check(&self.file, records))
    }

    /// The sketch of the record of this rank; the offset of its page if that is damaged.
    pub(crate) fn sketch<'a>(&'a self, rank: u64, buffer: &'a mut PageBuffer) -> std::result::Result<&'a [u8], u64> {
        let sketches = self.sketches.as_ref().ok_or(0_u64)?;
        sketches.get(&self.file, rank, buffer).map_err(|error| error.offset().unwrap_or(0))
    }

    pub(crate) fn ids(&self) -> SalvagedIds {
        SalvagedIds::open(&self.file, &self.footer)
    }
}

/// The footer that an entry names, if it is there. The entry repeats the trailer, so the trailer may be damaged.
fn footer_of(file: &SegmentFile, parameters: &Parameters, entry: &SegmentEntry) -> Option<Footer> {
    let span = Footer::expected(parameters, entry.file_length)?;
    let length = span.end().min(file.length()).checked_sub(span.offset)?;
    let mut buffer = Vec::new();
    let mut bytes = file.read(Span { length, ..span }, &mut buffer).ok()?.to_vec();
    bytes.resize(usize::try_from(span.length).ok()?, 0);
    Footer::set_trailer(&mut bytes, entry.footer_checksum);
    let footer = Footer::parse(&mut Fields::new(&bytes, span.offset)).ok()?;
    let is_the_one = footer.parameters == *parameters
        && (footer.records, footer.fingerprints) == (entry.records, entry.fingerprints);
    is_the_one.then_some(footer)
}
