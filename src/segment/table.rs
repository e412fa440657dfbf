//! One table of a segment, open for reading.

use super::block_index::BlockIndex;
use super::file::{PageBuffer, Pages, SegmentFile};
use super::filter::{Filter, FilterBuilder};
use crate::codec::{BlockBuffer, BlockKind, Codes, decode_block};
use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::format::fields::Fields;
use crate::format::footer::{Footer, TableSections};
use crate::format::index::{IndexCodec, IndexShape, rows_per_page};
use crate::format::page::{PageLayout, Stream};
use crate::format::{CHECKSUM, Parameters, codes};
use crate::plan::filter_shape::FilterShape;
use crate::plan::{TableForm, TableLayout};
use std::cmp::Ordering;
use std::sync::atomic::{self, AtomicBool};
use std::sync::{Arc, OnceLock};

#[derive(Debug, Default)]
pub(crate) struct Scratch {
    page: PageBuffer,
    block: BlockBuffer,
    heads: Vec<u64>,
}

/// A table: codes in memory, blocks in the file, and the index read when it is needed.
#[derive(Debug)]
pub(crate) struct Table {
    file: Arc<SegmentFile>,
    layout: TableLayout,
    form: TableForm,
    filter_shape: Option<FilterShape>,
    index: BlockIndex,
    codes: Codes,
    pages: Pages,
    filter: OnceLock<Filter>,
    filter_failed: AtomicBool,
    filter_is_saved: AtomicBool,
    /// Whether building a filter has shown that its keys are spread unevenly.
    is_skewed: AtomicBool,
    is_first: bool,
}

impl Table {
    /// The tables of a segment, one by one.
    pub(super) fn open_all(file: &Arc<SegmentFile>, footer: &Footer) -> Result<impl Iterator<Item = Result<Self>>> {
        let layouts = footer.parameters.design().tables(footer.parameters.width())?;
        Ok((0..=u8::MAX).zip(&footer.tables).zip(layouts).map(|((number, sections), layout)| {
            let form = footer.form(number.into(), layout.leading);
            let table = Self::open(file, number, sections, layout, &footer.parameters, form)?;
            if table.index.fingerprints() != footer.fingerprints {
                let error = Error::damaged(format!("table {number} does not hold the segment's fingerprints"));
                return Err(error.at_path(file.path()).at_offset(sections.index.offset));
            }
            Ok(table)
        }))
    }

    pub(crate) fn open(
        file: &Arc<SegmentFile>,
        number: u8,
        sections: &TableSections,
        layout: TableLayout,
        parameters: &Parameters,
        form: TableForm,
    ) -> Result<Self> {
        let page_layout = PageLayout::of_table(parameters, number.into());
        let mut buffer = Vec::new();
        let place = |error: Error| error.at_path(file.path());
        let bytes = file.read(sections.codes, &mut buffer)?;
        let codec = IndexCodec::of_table(parameters, number.into());
        let mut fields = Fields::new(bytes, sections.codes.offset);
        let codes = codes::parse(&mut fields, codec.of_codes(), number).map_err(place)?;
        let shape = IndexShape { blocks: sections.blocks, layout: page_layout, codec, table: number };
        let index = BlockIndex::open(file, sections.index, shape, form.shift())?;
        let damaged = |message| place(Error::damaged(message).at_offset(sections.index.offset));
        if index.data_length() != sections.data.length {
            return Err(damaged("the index does not describe the table's pages"));
        }
        // Keys ascend from block to block.
        if index.last_key() > form.greatest_key() {
            return Err(damaged("a narrow key has more bits than those of its table"));
        }
        let pages = Pages::new(file, sections.data, page_layout.size, Stream::Data(number));
        let radius = parameters.design().radii(parameters.max_distance()).get(usize::from(number)).copied().flatten();
        Ok(Self {
            file: Arc::clone(file),
            filter_shape: FilterShape::of_table(form, index.fingerprints(), layout.leading, radius),
            layout,
            form,
            index,
            codes,
            pages,
            filter: OnceLock::new(),
            filter_failed: AtomicBool::new(false),
            filter_is_saved: AtomicBool::new(false),
            is_skewed: AtomicBool::new(false),
            is_first: number == 0,
        })
    }

    /// How fingerprints become keys, and how many leading bits a key has.
    pub(crate) fn layout(&self) -> &TableLayout {
        &self.layout
    }

    #[inline]
    pub(crate) fn form(&self) -> TableForm {
        self.form
    }

    /// Number of leading bits by which its keys can be searched.
    pub(crate) fn leading(&self) -> u32 {
        self.form.searchable(self.layout.leading)
    }

    /// Whether it is the segment's primary table, whose keys are the fingerprints themselves.
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    pub(crate) fn index(&self) -> &BlockIndex {
        &self.index
    }

    #[inline]
    pub(crate) fn filter(&self) -> Option<&Filter> {
        self.filter.get()
    }

    pub(crate) fn set_filter_failed(&self) {
        self.filter_failed.store(true, atomic::Ordering::Relaxed);
    }

    /// Whether building the prefix filter failed, and there is none.
    pub(crate) fn filter_failed(&self) -> bool {
        self.filter_failed.load(atomic::Ordering::Relaxed) && self.filter.get().is_none()
    }

    /// The prefix filter that it should have.
    pub(crate) fn filter_shape(&self) -> Option<FilterShape> {
        self.filter_shape.map(|shape| if self.is_skewed() { FilterShape::Bloom(shape.smaller()) } else { shape })
    }

    /// Whether building a filter has shown that its keys are spread too unevenly for lines.
    pub(crate) fn is_skewed(&self) -> bool {
        self.is_skewed.load(atomic::Ordering::Relaxed)
    }

    /// Whether a file has the prefix filter.
    pub(crate) fn filter_is_saved(&self) -> bool {
        self.filter_is_saved.load(atomic::Ordering::Relaxed)
    }

    pub(super) fn set_filter_saved(&self) {
        self.filter_is_saved.store(true, atomic::Ordering::Relaxed);
    }

    /// Takes a filter from a file, of keys that are skewed or not.
    pub(crate) fn set_saved_filter(&self, filter: Filter, is_skewed: bool) {
        self.is_skewed.fetch_or(is_skewed, atomic::Ordering::Relaxed);
        if self.filter.set(filter).is_ok() {
            self.set_filter_saved();
        }
    }

    /// Builds a prefix filter of this shape, unless there is one; stops when `stop` is set.
    pub(crate) fn build_filter(&self, shape: FilterShape, stop: &AtomicBool) -> Result<()> {
        if self.filter.get().is_none()
            && let Some(filter) = self.new_filter(shape, stop)?
        {
            // Another thread may have set one first.
            let _ = self.filter.set(filter);
        }
        Ok(())
    }

    /// A filter of this shape, or the smaller one if there is no memory for it or keys are skewed; `None` if there is no
    /// memory for that either, or `stop` was set.
    fn new_filter(&self, shape: FilterShape, stop: &AtomicBool) -> Result<Option<Filter>> {
        let smaller = FilterShape::Bloom(shape.smaller());
        let Some(mut builder) = FilterBuilder::new(shape).or_else(|| FilterBuilder::new(smaller)) else {
            return Ok(None);
        };
        let mut scratch = Scratch::default();
        for block in 0..self.index.len() {
            // The keys of one block already touch many pages of a filter, which the kernel has to clear.
            if stop.load(atomic::Ordering::Relaxed) {
                return Ok(None);
            }
            self.prefetch_ahead(block);
            if !builder.enter(self.heads(block, &mut scratch)?) {
                break;
            }
        }
        let filter = builder.finish();
        if filter.is_none() && shape != smaller {
            self.is_skewed.store(true, atomic::Ordering::Relaxed);
            return self.new_filter(smaller, stop);
        }
        Ok(filter)
    }

    /// Announces that a block will be read soon, and prefetches its bytes if the file is in memory; the reads of all
    /// announced blocks overlap.
    pub(crate) fn announce(&self, block: usize) -> Result<()> {
        if let Some((place, _)) = self.index.block(block)? {
            self.pages.announce(&self.file, place.page, place.offset, place.length);
        }
        Ok(())
    }

    /// Whether pages that were read may be in a cache.
    #[inline]
    pub(crate) fn is_cached(&self) -> bool {
        self.file.is_cached()
    }

    /// Announces a block, unless its page may be in a cache: the caller then announces it after others that it
    /// approached, so that looking them up overlaps, too. Returns the greatest 64-bit number that begins with the
    /// block's last key; `None` if there is no such block.
    #[inline]
    pub(crate) fn approach(&self, block: usize) -> Result<Option<u64>> {
        let Some((place, shape)) = self.index.block(block)? else { return Ok(None) };
        if self.file.is_cached() {
            self.pages.approach(&self.file, place.page);
        } else {
            self.pages.announce(&self.file, place.page, place.offset, place.length);
        }
        Ok(Some(self.index.greatest(shape.last)))
    }

    /// In a pass over all blocks: prefetches a later one while this one is decoded.
    #[inline]
    pub(crate) fn prefetch_ahead(&self, block: usize) {
        const AHEAD: usize = 8;
        if let Ok(Some(place)) = self.index.place(block + AHEAD) {
            self.pages.prefetch(&self.file, place.page, place.offset, place.length);
        }
    }

    pub(crate) fn block_offset(&self, block: usize) -> Option<u64> {
        let place = self.index.place(block).ok()??;
        Some(self.pages.place(place.page).offset + place.offset as u64)
    }

    /// The stored keys of a block in ascending order; not for rows. Fails with `Damaged` if its page's checksum does
    /// not hold or no writer makes its bytes.
    #[inline]
    pub(crate) fn block<'a>(&self, block: usize, scratch: &'a mut Scratch) -> Result<&'a [u64]> {
        let Some((place, shape)) = self.index.block(block)? else { return Err(self.no_block(block)) };
        let bytes = self.pages.get_from(&self.file, place.page, place.offset, &mut scratch.page)?;
        decode_block(&self.codes, bytes, place.length, shape, &mut scratch.block)
            .map_err(|error| self.block_error(block, error))
    }

    /// The keys of a block, extended with zeros to 64 bits; of rows, their 64 leading bits.
    pub(crate) fn heads<'a>(&self, block: usize, scratch: &'a mut Scratch) -> Result<&'a [u64]> {
        if self.form == TableForm::Full {
            return self.block(block, scratch);
        }
        let mut heads = std::mem::take(&mut scratch.heads);
        heads.clear();
        match self.form {
            TableForm::Rows => {
                let head = |row: &[u8]| row.last_chunk::<8>().map_or(0, |&word| u64::from_le_bytes(word));
                heads.extend(self.rows(block, scratch)?.chunks_exact(self.row_bytes()).map(head));
            }
            _ => heads.extend(self.block(block, scratch)?.iter().map(|key| key << self.form.shift())),
        }
        scratch.heads = heads;
        Ok(&scratch.heads)
    }

    fn row_bytes(&self) -> usize {
        (self.layout.permutation.width() / 8) as usize
    }

    pub(crate) fn rows<'a>(&'a self, block: usize, scratch: &'a mut Scratch) -> Result<&'a [u8]> {
        let Some((place, _)) = self.index.block(block)? else { return Err(self.no_block(block)) };
        let bytes = self.pages.get_from(&self.file, place.page, place.offset, &mut scratch.page)?;
        Ok(bytes.get(..place.length).unwrap_or_default())
    }

    /// The row with this number, as little-endian bytes; empty if there is none.
    #[inline]
    pub(crate) fn row<'a>(&'a self, number: u64, scratch: &'a mut Scratch) -> Result<&'a [u8]> {
        let (page, offset) = self.row_place(number);
        let bytes = self.pages.get_from(&self.file, page, offset, &mut scratch.page)?;
        Ok(bytes.get(..self.row_bytes()).unwrap_or_default())
    }

    /// Prefetches a row, or announces that it will be read soon.
    #[inline]
    pub(crate) fn prefetch_row(&self, number: u64) {
        let (page, offset) = self.row_place(number);
        self.pages.announce(&self.file, page, offset, self.row_bytes());
    }

    #[inline]
    fn row_place(&self, number: u64) -> (u64, usize) {
        let bytes = self.row_bytes();
        let rows = rows_per_page(bytes) as u64;
        (number / rows, (number % rows) as usize * bytes)
    }

    pub(crate) fn fingerprints<F: Fingerprint>(
        &self,
        block: usize,
        scratch: &mut Scratch,
        out: &mut Vec<F>,
    ) -> Result<()> {
        out.clear();
        self.append_fingerprints(block, scratch, out)
    }

    /// Appends the keys of a block of a table with whole fingerprints: these are permuted if it is not the first one.
    pub(crate) fn append_fingerprints<F: Fingerprint>(
        &self,
        block: usize,
        scratch: &mut Scratch,
        out: &mut Vec<F>,
    ) -> Result<()> {
        if self.form == TableForm::Rows {
            out.extend(self.rows(block, scratch)?.chunks_exact(F::BYTES).filter_map(F::from_le_bytes));
        } else {
            out.extend(self.block(block, scratch)?.iter().map(|&key| F::from_words(|_| key)));
        }
        Ok(())
    }

    /// The fingerprint with this rank in the primary table; `Damaged` if there is none.
    pub(crate) fn fingerprint_at<F: Fingerprint>(&self, rank: u64, scratch: &mut Scratch) -> Result<F> {
        let mut fingerprints = Vec::new();
        let place = self.index.block_of_rank(rank)?;
        if let Some((block, _)) = place {
            self.fingerprints(block, scratch, &mut fingerprints)?;
        }
        let found = place.and_then(|(_, position)| fingerprints.get(position).copied());
        found.ok_or_else(|| Error::damaged("there is no fingerprint of this rank").at_path(self.file.path()))
    }

    pub(crate) fn rank_of<F: Fingerprint>(&self, fingerprint: F, scratch: &mut Scratch) -> Result<Option<u64>> {
        // For most absent fingerprints this reads one line of memory and no block.
        if self.filter().is_some_and(|filter| !filter.passes(fingerprint.word(0))) {
            return Ok(None);
        }
        let block = self.block_of(fingerprint, 0, scratch)?;
        if block == self.index.len() {
            return Ok(None);
        }
        if self.form == TableForm::Full
            && let Some(rank) = self.index.rank_in_dense(block, fingerprint.word(0))?
        {
            return Ok(Some(rank));
        }
        let position = match self.form {
            TableForm::Rows => position_of(self.rows(block, scratch)?, fingerprint),
            _ => self.block(block, scratch)?.binary_search(&fingerprint.word(0)).ok(),
        };
        position.map(|position| Ok(self.index.rank(block)? + position as u64)).transpose()
    }

    /// The only block of the primary table that can hold a fingerprint, which is in no block before `least`; the number
    /// of blocks if there is none.
    ///
    /// Rows that begin with the same 64 bits may extend over many pages. A binary search over those reads one row a
    /// step. If `least` is one of them, the search proceeds from there in growing steps: in ascending order, the next
    /// fingerprint is most often in one of the next pages.
    pub(super) fn block_of<F: Fingerprint>(
        &self,
        fingerprint: F,
        least: usize,
        scratch: &mut Scratch,
    ) -> Result<usize> {
        let word = fingerprint.word(0);
        let first = self.index.find(word)?;
        let mut low = first.max(least);
        if self.form != TableForm::Rows || self.index.key(low)?.is_none_or(|key| key > word) {
            return Ok(low);
        }
        // The last row of that block is greater, whatever follows the 64 bits.
        let mut high = word.checked_add(1).map_or(Ok(self.index.len()), |next| self.index.find(next))?;
        let mut step = if least > first { 1 } else { usize::MAX };
        while low < high {
            let middle = low + ((high - low) / 2).min(step - 1);
            if self.last_row::<F>(middle, scratch)? < fingerprint {
                (low, step) = (middle + 1, step.saturating_mul(2));
            } else {
                high = middle;
            }
        }
        Ok(low)
    }

    fn last_row<F: Fingerprint>(&self, block: usize, scratch: &mut Scratch) -> Result<F> {
        let rows = self.rows(block, scratch)?;
        let row = rows.len().checked_sub(F::BYTES).and_then(|start| F::from_le_bytes(rows.get(start..)?));
        Ok(row.unwrap_or_default())
    }

    pub(crate) fn block_kind(&self, block: usize) -> Result<BlockKind> {
        self.index.shape(block)?.map(|shape| shape.kind).ok_or_else(|| self.no_block(block))
    }

    #[cold]
    fn no_block(&self, block: usize) -> Error {
        Error::invalid(format!("there is no block {block}")).at_path(self.file.path())
    }

    #[cold]
    fn block_error(&self, block: usize, error: Error) -> Error {
        error.at_path(self.file.path()).at_offset(self.block_offset(block).unwrap_or_default())
    }

    pub(super) fn check_page_padding(&self, number: u64, scratch: &mut Scratch) -> Result<()> {
        let page = self.pages.get(&self.file, number, &mut scratch.page)?;
        let used = self.index.page_used(number)?;
        match page.get(used..page.len().saturating_sub(CHECKSUM)) {
            Some(padding) if padding.iter().all(|&byte| byte == 0) => Ok(()),
            _ => Err(Error::damaged("padding of a page is not zero")
                .at_path(self.file.path())
                .at_offset(self.pages.place(number).offset)),
        }
    }

    pub(crate) fn resident_bytes(&self) -> u64 {
        self.index.resident_bytes() + self.codes.resident_bytes() + self.pages.resident_bytes()
    }

    pub(super) fn pages(&self) -> &Pages {
        &self.pages
    }
}

fn position_of<F: Fingerprint>(rows: &[u8], fingerprint: F) -> Option<usize> {
    let row = |number: usize| rows.get(number * F::BYTES..)?.get(..F::BYTES).and_then(F::from_le_bytes);
    let (mut low, mut high) = (0, rows.len() / F::BYTES);
    while low < high {
        let middle = low + (high - low) / 2;
        match row(middle)?.cmp(&fingerprint) {
            Ordering::Less => low = middle + 1,
            Ordering::Equal => return Some(middle),
            Ordering::Greater => high = middle,
        }
    }
    None
}
