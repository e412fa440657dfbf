//! A segment open for reading.

use super::file::{PageBuffer, SegmentFile};
use super::id_reader::Ids;
use super::name::filters_path;
use super::obsolete_files::ObsoleteFiles;
use super::sketches::Sketches;
use super::table::{Scratch, Table};
use crate::bits::low_mask;
use crate::env::{Env, PageCache, ReadMode};
use crate::error::{Error, Result};
use crate::executor::Mutex;
use crate::fingerprint::Fingerprint;
use crate::format::fields::Fields;
use crate::format::footer::{Footer, Span, TRAILER};
use crate::format::header;
use std::path::Path;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct Segment {
    file: Arc<SegmentFile>,
    footer: Footer,
    footer_checksum: u32,
    tables: Vec<Table>,
    ids: Ids,
    sketches: Option<Sketches>,
    /// Removes the file after the last reader, if it is set.
    obsolete_files: Mutex<Option<Arc<ObsoleteFiles>>>,
}

impl Drop for Segment {
    fn drop(&mut self) {
        if let Some(obsolete_files) = self.obsolete_files.get_mut() {
            obsolete_files.remove(self.file.path());
            obsolete_files.remove(&filters_path(self.file.path()));
        }
    }
}

impl Segment {
    /// Opens a segment file and checks everything but its pages, and of block indexes all chunks but the last.
    pub(crate) fn open(env: &dyn Env, path: &Path, mode: ReadMode) -> Result<Self> {
        Self::of_file(open_file(env, path, mode)?)
    }

    /// As [`Segment::open`]; keeps pages in this cache.
    pub(crate) fn open_cached(env: &dyn Env, path: &Path, mode: ReadMode, cache: &Arc<PageCache>) -> Result<Self> {
        Self::of_file(open_file(env, path, mode)?.with_cache(cache))
    }

    pub(crate) fn of_file(file: SegmentFile) -> Result<Self> {
        let file = Arc::new(file);
        let path = file.path();
        let (footer, footer_checksum) = read_footer(&file)?;
        let tables = Table::open_all(&file, &footer)?.collect::<Result<_>>()?;
        let ids = Ids::open(&file, &footer)?;
        if ids.fingerprints() != footer.fingerprints {
            return Err(Error::damaged("the index of ids does not cover the segment's fingerprints")
                .at_path(path)
                .at_offset(footer.id_index.offset));
        }
        let sketches = Sketches::open(&file, &footer);
        Ok(Self { footer, footer_checksum, tables, ids, sketches, obsolete_files: Mutex::default(), file })
    }

    pub(crate) fn path(&self) -> &Path {
        self.file.path()
    }

    pub(crate) fn file(&self) -> &SegmentFile {
        &self.file
    }

    pub(crate) fn footer(&self) -> &Footer {
        &self.footer
    }

    /// Has the file removed when the last reader drops the segment, if the store is still open then.
    pub(crate) fn mark_obsolete(&self, obsolete_files: &Arc<ObsoleteFiles>) {
        *self.obsolete_files.lock() = Some(Arc::clone(obsolete_files));
    }

    /// Undoes [`Segment::mark_obsolete`].
    pub(crate) fn keep(&self) {
        *self.obsolete_files.lock() = None;
    }

    /// The checksum of the footer, which covers a hash of the whole file.
    pub(crate) fn footer_checksum(&self) -> u32 {
        self.footer_checksum
    }

    pub(crate) fn tables(&self) -> &[Table] {
        &self.tables
    }

    /// The table whose keys are the fingerprints themselves.
    pub(crate) fn primary_table(&self) -> Result<&Table> {
        self.tables.first().ok_or_else(|| Error::damaged("a segment without tables").at_path(self.path()))
    }

    pub(crate) fn ids(&self) -> &Ids {
        &self.ids
    }

    /// The sketches of the run's records, in a segment of keys.
    pub(super) fn sketches(&self) -> Option<&Sketches> {
        self.sketches.as_ref()
    }

    /// The sketch of the record of this rank in the run's records; empty if records have none.
    pub(crate) fn sketch<'a>(&'a self, rank: u64, buffer: &'a mut PageBuffer) -> Result<&'a [u8]> {
        self.sketches.as_ref().map_or(Ok(&[]), |sketches| sketches.get(&self.file, rank, buffer))
    }

    /// Checks that a segment of keys has no key beyond its format, and a sketch of each of the run's records or none.
    pub(crate) fn check_keys(&self, records: u64) -> Result<()> {
        let bits = self.footer.parameters.keys().map_or(64, |keys| u32::from(keys.key_bits()));
        if self.primary_table()?.index().last_key() > low_mask(bits) {
            let error = Error::damaged(format!("a key of more than {bits} bits")).at_path(self.path());
            return Err(error.at_offset(self.footer.tables.first().map_or(0, |table| table.index.offset)));
        }
        self.sketches.as_ref().map_or(Ok(()), |sketches| sketches.check(&self.file, records))
    }

    pub(crate) fn rank_of<F: Fingerprint>(&self, fingerprint: F, scratch: &mut Scratch) -> Result<Option<u64>> {
        self.primary_table()?.rank_of(fingerprint, scratch)
    }

    pub(crate) fn resident_bytes(&self) -> u64 {
        let sketches = self.sketches.as_ref().map_or(0, Sketches::resident_bytes);
        self.tables.iter().map(Table::resident_bytes).sum::<u64>() + self.ids.resident_bytes() + sketches
    }
}

/// Number of fingerprints of all these segments; counts one several times if several segments have it.
pub(crate) fn fingerprints_of(segments: &[Arc<Segment>]) -> u64 {
    segments.iter().map(|segment| segment.footer().fingerprints).sum()
}

/// Opens the file and checks its header.
pub(super) fn open_file(env: &dyn Env, path: &Path, mode: ReadMode) -> Result<SegmentFile> {
    let file = env.open(path, mode).map_err(|error| Error::io("cannot open", path, error))?;
    let file = SegmentFile::new(path, file);
    let mut buffer = Vec::new();
    let bytes = file.read(Span { offset: 0, length: header::SIZE as u64 }, &mut buffer)?;
    header::parse(&mut Fields::new(bytes, 0)).map_err(|error| error.at_path(path))?;
    Ok(file)
}

pub(crate) fn read_footer(file: &SegmentFile) -> Result<(Footer, u32)> {
    let mut buffer = Vec::new();
    let place = |error: Error| error.at_path(file.path());
    let length = file.length();
    let trailer = Span { offset: length.saturating_sub(TRAILER as u64), length: TRAILER as u64 };
    let bytes = file.read(trailer, &mut buffer)?;
    let (span, checksum) = Footer::locate(bytes, length).map_err(place)?;
    let bytes = file.read(span, &mut buffer)?;
    let footer = Footer::parse(&mut Fields::new(bytes, span.offset)).map_err(place)?;
    Ok((footer, checksum))
}
