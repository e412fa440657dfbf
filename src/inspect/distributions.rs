//! How what the first tables of a store hold is distributed: blocks by fill, content and kind, codes by length, and
//! neighbours by how they differ.

use super::SegmentView;
use crate::error::Result;
use crate::fingerprint::{WIDTH, distance};
use crate::format::codes;
use crate::format::fields::Fields;
use crate::format::page::PageLayout;
use std::collections::BTreeMap;

/// What one pass over the first table of every segment counts; its keys are the fingerprints themselves.
///
/// In a `Vec` of counts, a value's count stands at the value's place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Distributions {
    /// Blocks by how much of the room that their page has left for them is filled, in whole percent.
    pub fill: Vec<u64>,
    /// Blocks by number of fingerprints.
    pub fingerprints: Vec<u64>,
    /// Blocks by kind.
    pub kinds: BTreeMap<String, u64>,
    /// For every Huffman code its name and its symbols by the length of their code words in bits; symbols without a
    /// code word are left out.
    pub code_lengths: BTreeMap<String, Vec<u64>>,
    /// Fingerprints by the bit length of their difference from the next smaller one, 1 to 64.
    pub gaps: Vec<u64>,
    /// Fingerprints by their Hamming distance from the next smaller one, 1 to 64.
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
        let layout = PageLayout::new(segment.parameters().block_size());
        let mut filled = 0;
        let mut previous = None;
        for block in segment.blocks(0)? {
            let block = block?;
            let slot = block.number % layout.blocks;
            if slot == 0 {
                filled = 0;
            }
            // A block may fill what those before it in the page have left over.
            let room = layout.slot_end(slot).saturating_sub(filled).max(1);
            filled += block.length;
            count(&mut self.fill, (block.length * 100 / room).min(100));
            count(&mut self.fingerprints, block.keys.len());
            *self.kinds.entry(block.kind.to_string()).or_default() += 1;
            for &key in &block.keys {
                if let Some(previous) = previous {
                    count(&mut self.gaps, (WIDTH - key.wrapping_sub(previous).leading_zeros()) as usize);
                    count(&mut self.distances, distance(key, previous) as usize);
                }
                previous = Some(key);
            }
        }
        self.add_codes(segment)
    }

    fn add_codes(&mut self, segment: &SegmentView) -> Result<()> {
        let codec = segment.parameters().codec();
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

fn count(counts: &mut Vec<u64>, value: usize) {
    if counts.len() <= value {
        counts.resize(value + 1, 0);
    }
    counts.get_mut(value).into_iter().for_each(|count| *count += 1);
}
