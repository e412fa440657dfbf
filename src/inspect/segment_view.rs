//! The raw view of one segment file.

use crate::admin::Statistics;
use crate::bits::low_mask;
use crate::codec::BlockKind;
use crate::error::{Error, Result};
use crate::executor::Executor;
use crate::fingerprint::{Fingerprint, Id, Record, U256};
use crate::format::footer::Span;
use crate::format::{Parameters, header};
use crate::plan::{TableForm, TableLayout};
use crate::segment::{IdScratch, Scratch, Segment, SegmentRecords, Table};
use crate::version::check_width;
use std::path::Path;
use std::sync::Arc;

/// One segment file.
#[derive(Debug)]
pub struct SegmentView {
    pub(crate) segment: Arc<Segment>,
    pub(crate) executor: Arc<Executor>,
}

/// A run of bytes of a segment file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Section {
    /// Its name in format-spec/.
    pub name: String,
    /// Its offset in the file.
    pub offset: u64,
    /// Its length in bytes.
    pub length: u64,
}

/// A block of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BlockView {
    /// Its number in the table.
    pub number: usize,
    /// The page that holds it.
    pub page: u64,
    /// Its offset in the file.
    pub offset: u64,
    /// Its length in bytes.
    pub length: usize,
    /// The encoding of its keys.
    pub kind: BlockKind,
    /// Number of keys before it in the table.
    pub rank: u64,
    /// Number of its keys.
    pub count: usize,
    /// Its keys in ascending order, as they are stored; the last one is the block key, which is in the index. Empty if
    /// they are rows ([`SegmentView::fingerprints`]).
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

    /// The parameters of the segment.
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
        let end = footer.content_end();
        sections.push(section("footer", Span { offset: end, length: self.file_length().saturating_sub(end) }));
        sections.sort_by_key(|section| (section.offset, section.length));
        sections
    }

    /// Sizes and counts of this segment alone.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        crate::admin::statistics::collect(&self.segment.footer().parameters, [&*self.segment])
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

    /// Decodes every block of a table and returns the XOR of their last keys: for measuring decoding alone.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such table; `Damaged`, `Io`.
    pub fn decode_all(&self, table: usize) -> Result<u64> {
        let table = self.table(table)?;
        let mut scratch = Scratch::default();
        (0..table.index().len())
            .try_fold(0, |sum, block| Ok(sum ^ table.heads(block, &mut scratch)?.last().copied().unwrap_or(0)))
    }

    /// All records by fingerprint, then id.
    ///
    /// # Errors
    /// `InvalidInput` if the fingerprints have another width.
    pub fn records<F: Fingerprint>(&self) -> Result<impl Iterator<Item = Result<Record<F>>> + '_> {
        check_width(self.parameters(), self.path(), F::WIDTH)?;
        Ok(SegmentRecords::new(Arc::clone(&self.segment)))
    }

    /// The fingerprints of the keys of a block, in the order of the keys, in the lower bits of wide numbers.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such table or block; `Damaged`, `Io`.
    pub fn fingerprints(&self, table: usize, number: usize) -> Result<Vec<U256>> {
        let table = self.table(table)?;
        let mut scratch = Scratch::default();
        let wide = |bytes: &[u8]| {
            let mut padded = bytes.to_vec();
            padded.resize(U256::BYTES, 0);
            U256::from_le_bytes(&padded)
        };
        Ok(match table.form() {
            TableForm::Full => {
                let keys = table.block(number, &mut scratch)?;
                keys.iter().map(|&key| U256([0, 0, 0, table.layout().permutation.invert(key)])).collect()
            }
            TableForm::Rows => {
                let bytes = (self.parameters().width() / 8) as usize;
                table.rows(number, &mut scratch)?.chunks_exact(bytes).filter_map(wide).collect()
            }
            TableForm::Narrow { row, .. } => {
                let rows: Vec<u64> = table.block(number, &mut scratch)?.iter().map(|key| key & low_mask(row)).collect();
                let first = self.segment.primary_table()?;
                let known = first.index().fingerprints();
                let row = |row| {
                    let bytes = if row < known { first.row(row, &mut scratch)? } else { &[] };
                    wide(bytes).filter(|_| row < known).ok_or_else(|| Error::damaged("a narrow key names no row"))
                };
                rows.into_iter().map(row).collect::<Result<_>>()?
            }
        })
    }

    /// The form of every table.
    #[must_use]
    pub fn forms(&self) -> Vec<TableForm> {
        self.segment.tables().iter().map(Table::form).collect()
    }

    /// The ids of a fingerprint in ascending order; empty if it is not stored.
    ///
    /// # Errors
    /// `InvalidInput` if fingerprints have another width; `Damaged`, `Io`.
    pub fn get<F: Fingerprint>(&self, fingerprint: F) -> Result<Vec<Id>> {
        check_width(self.parameters(), self.path(), F::WIDTH)?;
        let mut ids = Vec::new();
        if let Some(rank) = self.segment.rank_of(fingerprint, &mut Scratch::default())? {
            self.segment.ids().ids_of(rank, &mut IdScratch::default(), |id| ids.push(id))?;
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

pub(crate) fn view(table: &Table, number: usize, scratch: &mut Scratch) -> Result<BlockView> {
    let keys = if table.form() == TableForm::Rows { &[] } else { table.block(number, scratch)? };
    let entry = table.index().block(number)?;
    Ok(BlockView {
        number,
        page: entry.map_or(0, |(place, _)| place.page),
        offset: table.block_offset(number).unwrap_or(0),
        length: entry.map_or(0, |(place, _)| place.length),
        kind: table.block_kind(number)?,
        rank: table.index().rank(number)?,
        count: entry.map_or(0, |(_, shape)| shape.count),
        keys: keys.to_vec(),
    })
}
