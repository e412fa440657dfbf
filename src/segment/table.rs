//! One table of a segment, open for reading.

use super::block_index::BlockIndex;
use super::file::{Pages, SegmentFile};
use super::filter::Filter;
use crate::codec::{BlockBuffer, BlockKind, Codes, decode_block};
use crate::error::{Error, Result};
use crate::format::fields::Fields;
use crate::format::footer::TableSections;
use crate::format::index::{self, IndexShape};
use crate::format::page::{PageLayout, Stream};
use crate::format::{CHECKSUM, Parameters, codes};
use crate::plan::TableLayout;
use crate::plan::filter_shape::FilterShape;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

/// Buffers that reading reuses from block to block.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    page: Vec<u8>,
    block: BlockBuffer,
}

/// A table: index and codes in memory, blocks in the file.
#[derive(Debug)]
pub(crate) struct Table {
    file: Arc<SegmentFile>,
    layout: TableLayout,
    filter_shape: Option<FilterShape>,
    index: BlockIndex,
    codes: Codes,
    pages: Pages,
    filter: OnceLock<Filter>,
    is_first: bool,
}

impl Table {
    /// Reads index and codes of table `number`.
    pub(crate) fn open(
        file: &Arc<SegmentFile>,
        number: u8,
        sections: &TableSections,
        layout: TableLayout,
        parameters: &Parameters,
    ) -> Result<Self> {
        let page_layout = PageLayout::new(parameters.block_size());
        let mut buffer = Vec::new();
        let place = |error: Error| error.at_path(file.path());
        let bytes = file.read(sections.codes, &mut buffer)?;
        let codes =
            codes::parse(&mut Fields::new(bytes, sections.codes.offset), parameters.codec(), number).map_err(place)?;
        let bytes = file.read(sections.index, &mut buffer)?;
        let mut index = BlockIndex::new(page_layout);
        let mut fields = Fields::new(bytes, sections.index.offset);
        let shape =
            IndexShape { blocks: sections.blocks, layout: page_layout, codec: parameters.codec(), table: number };
        index::parse(&mut fields, shape, |entry| index.push(entry)).map_err(place)?;
        index.complete();
        if index.data_length() != sections.data.length {
            return Err(place(
                Error::damaged("the index does not describe the table's pages").at_offset(sections.index.offset),
            ));
        }
        let pages = Pages::new(file, sections.data, page_layout.size, Stream::Data(number));
        let radius = parameters.design().radii(parameters.max_distance()).get(usize::from(number)).copied().flatten();
        Ok(Self {
            file: Arc::clone(file),
            filter_shape: FilterShape::new(index.fingerprints(), layout.leading, radius),
            layout,
            index,
            codes,
            pages,
            filter: OnceLock::new(),
            is_first: number == 0,
        })
    }

    /// How fingerprints become keys, and how many of a key's bits lead.
    pub(crate) fn layout(&self) -> &TableLayout {
        &self.layout
    }

    /// Whether it is the segment's first table, whose keys are the fingerprints themselves.
    pub(crate) fn is_first(&self) -> bool {
        self.is_first
    }

    /// The block index.
    pub(crate) fn index(&self) -> &BlockIndex {
        &self.index
    }

    /// The prefix filter, if it has been made.
    #[inline]
    pub(crate) fn filter(&self) -> Option<&Filter> {
        self.filter.get()
    }

    /// What its prefix filter looks like; `None` for a table that needs none.
    pub(crate) fn filter_shape(&self) -> Option<FilterShape> {
        self.filter_shape
    }

    /// Makes the prefix filter, unless it is there or none is needed; leaves off when `stop` is set.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading the table.
    pub(crate) fn build_filter(&self, stop: &AtomicBool) -> Result<()> {
        if self.filter.get().is_none()
            && let Some(shape) = self.filter_shape
            && let Some(filter) = Filter::build(self, shape, stop)?
        {
            // Somebody else may have been faster, with the same filter.
            let _ = self.filter.set(filter);
        }
        Ok(())
    }

    /// Says that a block will be read soon: the reads of all that are announced go out together.
    #[inline]
    pub(crate) fn will_read(&self, block: usize) {
        if let Some(place) = self.index.place(block) {
            self.pages.will_read(&self.file, place.page);
        }
    }

    /// In a pass over all blocks: brings a later one near while this one is decoded.
    #[inline]
    pub(crate) fn prefetch_ahead(&self, block: usize) {
        const AHEAD: usize = 8;
        self.prefetch_block(block + AHEAD);
    }

    /// Brings a block's bytes near, if the file is in memory and there is such a block.
    #[inline]
    pub(crate) fn prefetch_block(&self, block: usize) {
        if let Some(place) = self.index.place(block) {
            self.pages.prefetch(&self.file, place.page, place.offset, place.length);
        }
    }

    /// Offset of a block in the file.
    pub(crate) fn block_offset(&self, block: usize) -> Option<u64> {
        let place = self.index.place(block)?;
        Some(self.pages.place(place.page).offset + place.offset as u64)
    }

    /// The keys of a block in ascending order.
    ///
    /// # Errors
    /// `Damaged` if its page's checksum does not hold or its bytes are none that are ever written; `Io`.
    #[inline]
    pub(crate) fn block<'a>(&self, block: usize, scratch: &'a mut Scratch) -> Result<&'a [u64]> {
        let Some((place, shape)) = self.index.block(block) else { return Err(self.no_block(block)) };
        let bytes = self.pages.get_from(&self.file, place.page, place.offset, &mut scratch.page)?;
        decode_block(&self.codes, bytes, place.length, shape, &mut scratch.block)
            .map_err(|error| self.block_error(block, error))
    }

    /// How a block is written.
    pub(crate) fn block_kind(&self, block: usize) -> Result<BlockKind> {
        self.index.shape(block).map(|shape| shape.kind).ok_or_else(|| self.no_block(block))
    }

    #[cold]
    fn no_block(&self, block: usize) -> Error {
        Error::invalid(format!("there is no block {block}")).at_path(self.file.path())
    }

    #[cold]
    fn block_error(&self, block: usize, error: Error) -> Error {
        error.at_path(self.file.path()).at_offset(self.block_offset(block).unwrap_or_default())
    }

    /// Checks that nothing but zeros follows the last block of a page.
    ///
    /// # Errors
    /// `Damaged` if something does, or if the page's checksum does not hold; `Io`.
    pub(super) fn check_page_padding(&self, number: u64, scratch: &mut Scratch) -> Result<()> {
        let page = self.pages.get(&self.file, number, &mut scratch.page)?;
        let used = self.index.page_used(number);
        match page.get(used..page.len().saturating_sub(CHECKSUM)) {
            Some(padding) if padding.iter().all(|&byte| byte == 0) => Ok(()),
            _ => Err(Error::damaged("padding of a page is not zero")
                .at_path(self.file.path())
                .at_offset(self.pages.place(number).offset)),
        }
    }

    /// Bytes of memory: index and code tables, no filter.
    pub(crate) fn resident_bytes(&self) -> u64 {
        self.index.resident_bytes() + self.codes.resident_bytes() + self.pages.resident_bytes()
    }

    pub(super) fn pages(&self) -> &Pages {
        &self.pages
    }
}
