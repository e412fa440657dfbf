//! Distributions over the primary tables of a store: of blocks, codes, and the differences of neighbours.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, U256};
use crate::format::codes;
use crate::format::fields::Fields;
use crate::format::index::IndexCodec;
use crate::format::page::PageLayout;
use crate::inspect::segment_view::SegmentView;
use std::collections::BTreeMap;

/// Counts of one pass over the primary table of every segment, whose keys are the fingerprints.
///
/// A `Vec` of counts is indexed by the value.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Distributions {
    /// Blocks by the share of the remaining space of their page that they fill, in whole percent.
    pub fill: Vec<u64>,
    /// Blocks by number of fingerprints.
    pub fingerprints: Vec<u64>,
    /// Blocks by kind.
    pub kinds: BTreeMap<String, u64>,
    /// For the name of every Huffman code, its symbols by the length of their code words in bits. Symbols without a
    /// code word do not count.
    pub code_lengths: BTreeMap<String, Vec<u64>>,
    /// Fingerprints by the bit length of their difference from the next smaller one, from 1 on.
    pub gaps: Vec<u64>,
    /// Fingerprints by their Hamming distance from the next smaller one, from 1 on.
    pub distances: Vec<u64>,
}

/// Counts over all segments.
///
/// # Errors
/// `Damaged`, `Io`.
pub fn distributions(segments: &[SegmentView]) -> Result<Distributions> {
    let mut counts = Distributions::default();
    segments.iter().try_for_each(|segment| counts.add(segment))?;
    Ok(counts)
}

impl Distributions {
    fn add(&mut self, segment: &SegmentView) -> Result<()> {
        let layout = PageLayout::of_table(segment.parameters(), 0);
        let mut filled = 0;
        let mut previous = None;
        let table = segment.segment.primary_table()?;
        for number in 0..table.index().len() {
            let length = table.index().place(number)?.map_or(0, |place| place.length);
            let slot = number % layout.blocks;
            if slot == 0 {
                filled = 0;
            }
            // A block may fill the space that those before it in the page have left.
            let space = layout.slot_end(slot).saturating_sub(filled).max(1);
            filled += length;
            count(&mut self.fill, (length * 100 / space).min(100));
            *self.kinds.entry(table.block_kind(number)?.to_string()).or_default() += 1;
            let keys = segment.fingerprints(0, number)?;
            count(&mut self.fingerprints, keys.len());
            for key in keys {
                if let Some(previous) = previous {
                    count(&mut self.gaps, gap_bits(previous, key) as usize);
                    count(&mut self.distances, key.distance(previous) as usize);
                }
                previous = Some(key);
            }
        }
        self.add_codes(segment)
    }

    fn add_codes(&mut self, segment: &SegmentView) -> Result<()> {
        let codec = IndexCodec::of_table(segment.parameters(), 0).of_codes();
        let Some(table) = segment.segment.footer().tables.first() else { return Ok(()) };
        let (mut buffer, place) = (Vec::new(), table.codes);
        let bytes = segment.segment.file().read(place, &mut buffer)?;
        let codes = codes::parse(&mut Fields::new(bytes, place.offset), codec, 0)
            .map_err(|error| error.at_path(segment.path()))?;
        if let Some((name, lengths)) = codes.word_lengths() {
            let counts = self.code_lengths.entry(name.to_owned()).or_default();
            lengths.into_iter().for_each(|length| count(counts, length.into()));
        }
        Ok(())
    }
}

fn gap_bits(less: U256, greater: U256) -> u32 {
    let mut borrow = false;
    let mut difference = [0; U256::WORDS];
    for (number, word) in difference.iter_mut().enumerate().rev() {
        let (without, first) = greater.word(number).overflowing_sub(less.word(number));
        let (value, second) = without.overflowing_sub(u64::from(borrow));
        (*word, borrow) = (value, first || second);
    }
    let zeros = difference.iter().take_while(|&&word| word == 0).count();
    let next = difference.get(zeros).map_or(0, |word| word.leading_zeros());
    U256::WIDTH - (zeros as u32 * 64 + next)
}

fn count(counts: &mut Vec<u64>, value: usize) {
    if counts.len() <= value {
        counts.resize(value + 1, 0);
    }
    counts.get_mut(value).into_iter().for_each(|count| *count += 1);
}
