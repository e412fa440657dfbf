//! Distributions of blocks, codes and neighbouring fingerprints of table 0: drawings for people, counts for programs.

use std::collections::BTreeMap;
use std::io::{self, Write};

use fpstore::inspect::Distributions;
use serde::Serialize;

use crate::draw::{Bar, Pen, bars};

/// Pairs of a value and its number of occurrences, without values that do not occur.
type Counts = Vec<(usize, u64)>;

/// The field `distributions` of `stats --json`, about all of table 0.
#[derive(Serialize)]
pub(crate) struct DistributionReport {
    /// Blocks by the share of their space that is used, in whole percent.
    fill_percent: Counts,
    /// Blocks by number of fingerprints.
    fingerprints_per_block: Counts,
    /// Blocks by kind.
    block_kinds: BTreeMap<String, u64>,
    /// For each Huffman code, symbols by the length of their code in bits.
    code_lengths: BTreeMap<String, Counts>,
    /// Fingerprints by the bit length of the gap to the next smaller one.
    gap_bits: Counts,
    /// Fingerprints by the Hamming distance from the next smaller one.
    neighbour_distances: Counts,
}

impl DistributionReport {
    pub(crate) fn new(distributions: &Distributions) -> Self {
        Self {
            fill_percent: pairs(&distributions.fill),
            fingerprints_per_block: pairs(&distributions.fingerprints),
            block_kinds: distributions.kinds.clone(),
            code_lengths: distributions.code_lengths.iter().map(|(name, code)| (name.clone(), pairs(code))).collect(),
            gap_bits: pairs(&distributions.gaps),
            neighbour_distances: pairs(&distributions.distances),
        }
    }
}

fn pairs(counts: &[u64]) -> Counts {
    counts.iter().copied().enumerate().filter(|(_, count)| *count > 0).collect()
}

/// Draws all distributions.
pub(crate) fn draw(distributions: &Distributions, out: &mut dyn Write) -> io::Result<()> {
    let pen = Pen::of_stdout();
    let kinds = distributions.kinds.iter().map(|(kind, &count)| Bar { label: kind.clone(), count });
    pen.draw("blocks of table 0 by fill, in percent of their space", &bars(&distributions.fill), out)?;
    pen.draw("blocks by number of fingerprints", &bars(&distributions.fingerprints), out)?;
    pen.draw("blocks by kind", &kinds.collect::<Vec<_>>(), out)?;
    for (name, lengths) in &distributions.code_lengths {
        pen.draw(&format!("code '{name}': symbols by length of their code word, in bits"), &bars(lengths), out)?;
    }
    pen.draw("fingerprints by gap to the next smaller one, in bits", &bars(&distributions.gaps), out)?;
    pen.draw("fingerprints by Hamming distance from the next smaller one", &bars(&distributions.distances), out)
}
