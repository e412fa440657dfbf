//! The raw view of a store's files that `fpdump` shows: sections, blocks, keys, and every byte explained; how what is
//! in them is distributed, and what it would weigh under other parameters.
//!
//! Nothing here changes anything, and nothing here is needed to use a store. Words are those of format-spec/.

mod distributions;
mod explain;
mod what_if;

pub use crate::codec::BlockKind;
pub use crate::format::Field;
pub use distributions::{Distributions, distributions};
pub use explain::explain;
pub use what_if::{Alternative, QueryCost, what_if};

use crate::error::{Error, Result};
use crate::fingerprint::Record;
use crate::format::Parameters;
use crate::format::footer::Span;
use crate::format::header;
use crate::options::{Filters, Options};
use crate::plan::TableLayout;
use crate::segment::{Scratch, Segment, SegmentRecords, Table};
use crate::store::{Statistics, Store, statistics_of_segment};
use std::path::Path;
use std::sync::Arc;

/// Opens the segments of a store, oldest first, or a single segment file.
///
/// # Errors
/// `NotFound`, `Damaged`, `Unsupported`, `Io`.
pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Vec<SegmentView>> {
    let path = path.as_ref();
    if options.env.list(path).is_ok() {
        let segments = Store::open_read_only(path, &options.clone().with_filters(Filters::Off))?.into_segments();
        return Ok(segments.into_iter().map(|segment| SegmentView { segment }).collect());
    }
    Ok(vec![SegmentView { segment: Arc::new(Segment::open(&*options.env, path, options.read_mode)?) }])
}

/// One segment file.
#[derive(Debug)]
pub struct SegmentView {
    segment: Arc<Segment>,
}

/// A run of bytes of a segment file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// Its name in format-spec/.
    pub name: String,
    /// Where it begins.
    pub offset: u64,
    /// Its bytes.
    pub length: u64,
}

/// What is known of a block.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockView {
    /// Its number in the table.
    pub number: usize,
    /// The page that holds it.
    pub page: u64,
    /// Where it begins in the file.
    pub offset: u64,
    /// Its bytes.
    pub length: usize,
    /// How its keys are written.
    pub kind: BlockKind,
    /// Number of keys before it in the table.
    pub rank: u64,
    /// Its keys in ascending order; the last one is the block key, which stands in the index.
    pub keys: Vec<u64>,
}

impl SegmentView {
    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.segment.path()
    }

    /// Bytes of the file.
    #[must_use]
    pub fn file_length(&self) -> u64 {
        self.segment.file().length()
    }

    /// What was fixed when the store was created.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.segment.footer().parameters
    }

    /// Every section in file order, padding included: together all bytes of the file.
    #[must_use]
    pub fn sections(&self) -> Vec<Section> {
        let footer = self.segment.footer();
        let section =
            |name: &str, span: Span| Section { name: name.to_owned(), offset: span.offset, length: span.length };
        let mut sections = vec![section("header", Span { offset: 0, length: header::SIZE as u64 })];
        sections.extend(footer.padding().into_iter().map(|span| section("padding", span)));
        sections.extend(footer.sections().iter().map(|(name, span)| section(name, *span)));
        let end = footer.id_index.end();
        sections.push(section("footer", Span { offset: end, length: self.file_length().saturating_sub(end) }));
        sections.sort_by_key(|section| (section.offset, section.length));
        sections
    }

    /// Sizes and counts of this segment alone.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        statistics_of_segment(&self.segment)
    }

    /// Layout and number of blocks of every table.
    #[must_use]
    pub fn tables(&self) -> Vec<(TableLayout, usize)> {
        self.segment.tables().iter().map(|table| (table.layout().clone(), table.index().len())).collect()
    }

    /// One block of a table.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such table or block; `Damaged`, `Io`.
    pub fn block(&self, table: usize, number: usize) -> Result<BlockView> {
        view(self.table(table)?, number, &mut Scratch::default())
    }

    /// All blocks of a table.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such table; blocks that cannot be read are errors of the iterator.
    pub fn blocks(&self, table: usize) -> Result<impl Iterator<Item = Result<BlockView>> + '_> {
        let table = self.table(table)?;
        let mut scratch = Scratch::default();
        Ok((0..table.index().len()).map(move |number| view(table, number, &mut scratch)))
    }

    /// Decodes every block of a table and keeps nothing but the XOR of the last keys of all: what decoding alone costs.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such table; `Damaged`, `Io`.
    pub fn decode_all(&self, table: usize) -> Result<u64> {
        let table = self.table(table)?;
        let mut scratch = Scratch::default();
        (0..table.index().len())
            .try_fold(0, |sum, block| Ok(sum ^ table.block(block, &mut scratch)?.last().copied().unwrap_or(0)))
    }

    /// All records by fingerprint, then id.
    pub fn records(&self) -> impl Iterator<Item = Result<Record>> + '_ {
        SegmentRecords::new(&self.segment)
    }

    /// The ids of a fingerprint in ascending order; none if it is not stored.
    ///
    /// # Errors
    /// `Damaged`, `Io`.
    pub fn get(&self, fingerprint: u64) -> Result<Vec<u64>> {
        let mut ids = Vec::new();
        if let Some(rank) = self.segment.rank_of(fingerprint, &mut Scratch::default())? {
            self.segment.ids().ids_of(rank, &mut Vec::new(), &mut ids)?;
        }
        Ok(ids)
    }

    fn table(&self, number: usize) -> Result<&Table> {
        let count = self.segment.tables().len();
        self.segment.tables().get(number).ok_or_else(|| {
            Error::invalid(format!("there is no table {number}, the segment has {count} (from 0)")).at_path(self.path())
        })
    }
}

fn view(table: &Table, number: usize, scratch: &mut Scratch) -> Result<BlockView> {
    let keys = table.block(number, scratch)?;
    let place = table.index().place(number);
    Ok(BlockView {
        number,
        page: place.map_or(0, |place| place.page),
        offset: table.block_offset(number).unwrap_or(0),
        length: place.map_or(0, |place| place.length),
        kind: table.block_kind(number)?,
        rank: table.index().rank(number),
        keys: keys.to_vec(),
    })
}
