//! Sorted keys to the pages and the index of a table, as they come.

use crate::codec::{Codes, MAX_KEYS, encode_block, fill_block, train};
use crate::format::Parameters;
use crate::format::index::{BlockEntry, IndexCodec};
use crate::format::page::{self, PageLayout, Stream};

#[derive(Debug)]
pub(crate) struct EncodedTable {
    pub(crate) codes: Codes,
    pub(crate) index: Vec<BlockEntry>,
    /// The kinds that its blocks may have.
    pub(crate) codec: IndexCodec,
}

/// Encodes the keys of one table. Finished pages gather until the caller takes them. The result does not depend on how
/// the keys are cut into pieces.
pub(crate) struct TableEncoder {
    table: EncodedTable,
    number: u8,
    layout: PageLayout,
    /// The least key that may come next.
    base: u64,
    /// Keys without a block, because later ones might join them in it.
    waiting: Vec<u64>,
    page: Vec<u8>,
    slot: usize,
    pub(crate) pages: Vec<u8>,
    closed: u64,
}

impl TableEncoder {
    /// An encoder for table `number`, whose code is trained on a sample: sorted, distinct keys, in gapless runs.
    pub(crate) fn new(parameters: &Parameters, number: u8, sample: &[u64]) -> Self {
        let codes = train(parameters.codec(), sample);
        let layout = PageLayout::new(parameters.block_size());
        Self {
            table: EncodedTable { codes, index: Vec::new(), codec: IndexCodec::Keys(parameters.codec()) },
            number,
            layout,
            base: 0,
            waiting: Vec::new(),
            page: Vec::with_capacity(layout.size),
            slot: 0,
            pages: Vec::new(),
            closed: 0,
        }
    }

    /// Appends keys; over all calls they ascend and are distinct.
    pub(crate) fn push(&mut self, mut keys: &[u64]) {
        while self.waiting.len() + keys.len() > MAX_KEYS {
            if self.waiting.is_empty() {
                keys = self.blocks(keys, MAX_KEYS);
                continue;
            }
            // Enough keys for the waiting ones to fill their blocks.
            let mut waiting = std::mem::take(&mut self.waiting);
            let (more, rest) = keys.split_at(keys.len().min(MAX_KEYS));
            let before = waiting.len();
            waiting.extend_from_slice(more);
            let left = self.blocks(&waiting, MAX_KEYS.min(waiting.len() - 1)).len();
            if left <= more.len() {
                // The waiting keys are done: continue in the slice itself.
                keys = keys.get(more.len() - left..).unwrap_or_default();
                waiting.clear();
            } else {
                waiting.drain(..before + more.len() - left);
                keys = rest;
            }
            self.waiting = waiting;
        }
        self.waiting.extend_from_slice(keys);
    }

    /// Makes blocks while more than `least` keys are left; returns the rest.
    fn blocks<'k>(&mut self, mut keys: &'k [u64], least: usize) -> &'k [u64] {
        while keys.len() > least {
            // There is a next block, so this full page is not the last.
            if self.slot == self.layout.blocks {
                self.close(self.layout.size);
            }
            // Each block ends within its share of the page; the next one may use what a block leaves.
            let budget = self.layout.slot_end(self.slot) - self.page.len();
            let (kind, count) = fill_block(&self.table.codes, self.base, keys, budget);
            let (block, behind) = keys.split_at(count.min(keys.len()));
            let before = self.page.len();
            encode_block(&self.table.codes, kind, self.base, block, &mut self.page);
            let key = block.last().copied().unwrap_or(self.base);
            let narrow = |value: usize| u16::try_from(value).unwrap_or(u16::MAX);
            let (count, length) = (narrow(block.len()), narrow(self.page.len() - before));
            self.table.index.push(BlockEntry { key, count, length, kind });
            self.base = key.wrapping_add(1);
            self.slot += 1;
            keys = behind;
        }
        keys
    }

    fn close(&mut self, size: usize) {
        page::close(&mut self.page, size, Stream::Data(self.number), self.closed);
        self.pages.append(&mut self.page);
        self.closed += 1;
        self.slot = 0;
    }

    /// Encodes the waiting keys and closes the last page; returns the remaining pages and their description.
    pub(crate) fn finish(mut self) -> (Vec<u8>, EncodedTable) {
        let waiting = std::mem::take(&mut self.waiting);
        self.blocks(&waiting, 0);
        if self.slot > 0 {
            self.close(self.page.len() + crate::format::CHECKSUM);
        }
        (self.pages, self.table)
    }
}
