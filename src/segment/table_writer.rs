//! Sorted keys to the pages and the index of a table, in one forward pass.

use super::pieces::Pieces;
use crate::codec::{Codec, Codes, Trainer, encode_block, fill_block};
use crate::format::Parameters;
use crate::format::index::BlockEntry;
use crate::format::page::{self, PageLayout, Stream};

/// What stands behind the pages of a table.
#[derive(Debug)]
pub(crate) struct EncodedTable {
    /// The codes that the blocks use.
    pub(crate) codes: Codes,
    /// The block index.
    pub(crate) index: Vec<BlockEntry>,
}

/// Encodes the sorted, distinct keys of table `number`. Its pages go to `pages` as they are done.
///
/// # Errors
/// That of `pages`, if they are not taken any more.
pub(crate) fn encode_table<E>(
    parameters: &Parameters,
    number: u8,
    keys: &[u64],
    mut pages: Pieces<'_, E>,
) -> Result<EncodedTable, E> {
    let codes = train(parameters.codec(), keys);
    let layout = PageLayout::new(parameters.block_size());
    let mut table = EncodedTable { codes, index: Vec::new() };
    let (mut rest, mut base, mut page) = (keys, 0, Vec::with_capacity(layout.size));
    for page_number in 0.. {
        if rest.is_empty() {
            break;
        }
        for slot in 0..layout.blocks {
            if rest.is_empty() {
                break;
            }
            // Each block ends within its share of the page, so what one leaves over the next one has.
            let budget = layout.slot_end(slot) - page.len();
            let (kind, count) = fill_block(&table.codes, base, rest, budget);
            let (block, behind) = rest.split_at(count.min(rest.len()));
            let before = page.len();
            encode_block(&table.codes, kind, base, block, &mut page);
            let key = block.last().copied().unwrap_or(base);
            let narrow = |value: usize| u16::try_from(value).unwrap_or(u16::MAX);
            table.index.push(BlockEntry { key, count: narrow(block.len()), length: narrow(page.len() - before), kind });
            base = key.wrapping_add(1);
            rest = behind;
        }
        let size = if rest.is_empty() { page.len() + crate::format::CHECKSUM } else { layout.size };
        page::close(&mut page, size, Stream::Data(number), page_number);
        pages.append(&mut page)?;
    }
    pages.finish()?;
    Ok(table)
}

fn train(codec: Codec, keys: &[u64]) -> Codes {
    let mut trainer = Trainer::new(codec);
    trainer.sample(keys);
    trainer.finish()
}
