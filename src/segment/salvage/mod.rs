//! What can still be read of a damaged segment.
//!
//! The footer has to be the one that the manifest names; without it nothing tells what the bytes are. Everything else may be
//! damaged, each part for itself: a table whose codes or index do not hold is left out, a page whose checksum does not hold
//! is lost for its table alone. Nothing here guesses. What cannot be told from what the checksums vouch for is not told.

pub(crate) mod ids;

pub(crate) use ids::SalvagedIds;

use super::Table;
use super::file::{Pages, SegmentFile};
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

/// A segment parts of which may be damaged.
#[derive(Debug)]
pub(crate) struct Salvage {
    file: Arc<SegmentFile>,
    footer: Footer,
    tables: Vec<Option<Table>>,
    /// The pages of rows, where the fingerprints are wide.
    rows: Pages,
}

impl Salvage {
    /// Opens the segment that a manifest's entry means; nothing if its footer is not there, or not the one.
    ///
    /// # Errors
    /// `Io` if the file is there and cannot be opened.
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
        let layouts = footer.parameters.design().tables(parameters.width())?;
        let open = |((number, sections), layout): ((u8, _), crate::plan::TableLayout)| {
            let form = footer.form(number.into(), layout.leading);
            let table = Table::open(&file, number, sections, layout, &footer.parameters, form).ok();
            table.filter(|table| table.index().fingerprints() == footer.fingerprints)
        };
        let tables = (0..=u8::MAX).zip(&footer.tables).zip(layouts).map(open).collect();
        let data = footer.tables.first().map_or(Span::default(), |table| table.data);
        let rows = Pages::new(&file, data, MIN_SIZE, Stream::Data(0));
        Ok(Some(Self { tables, rows, footer, file }))
    }

    /// What the segment holds and where.
    pub(crate) fn footer(&self) -> &Footer {
        &self.footer
    }

    /// A table, if its codes and its index hold.
    pub(crate) fn table(&self, number: usize) -> Option<&Table> {
        self.tables.get(number).and_then(Option::as_ref)
    }

    /// The tables behind the first whose codes and index hold.
    pub(crate) fn other_tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.iter().skip(1).flatten()
    }

    /// Number of pages of rows; they need no index.
    pub(crate) fn row_pages(&self) -> u64 {
        self.rows.count()
    }

    /// Where a page of rows begins in the file.
    pub(crate) fn row_page_offset(&self, page: u64) -> u64 {
        self.rows.place(page).offset
    }

    /// How many rows a page has.
    pub(crate) fn rows_in<F: Fingerprint>(&self, page: u64) -> u64 {
        let full = rows_per_page(F::BYTES) as u64;
        self.footer.fingerprints.saturating_sub(page.saturating_mul(full)).min(full)
    }

    /// The rows of a page; none if it does not hold.
    pub(crate) fn rows<F: Fingerprint>(&self, page: u64, buffer: &mut Vec<u8>) -> Option<Vec<F>> {
        let count = usize::try_from(self.rows_in::<F>(page)).ok()?;
        let bytes = self.rows.get(&self.file, page, buffer).ok()?.get(..count.checked_mul(F::BYTES)?)?;
        let rows: Vec<F> = bytes.chunks_exact(F::BYTES).filter_map(F::from_le_bytes).collect();
        rows.is_sorted_by(|a, b| a < b).then_some(rows)
    }

    /// The ids, as far as they can be read.
    ///
    /// # Errors
    /// `Damaged` if parts that hold contradict each other; `Io`.
    pub(crate) fn ids(&self) -> Result<SalvagedIds> {
        SalvagedIds::open(&self.file, &self.footer)
    }
}

/// The footer that an entry names, if it is there. Its trailer may be damaged: the entry says all that is in it.
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
