//! How evenly keys are spread over the lines of a filter.

use super::super::Permutation;
use super::super::filter_shape::{LineShape, MOST_ENTRIES};
use crate::fingerprint::leading_ones;
use rayon::prelude::*;

/// Lines that are counted, at least.
const LINES: u64 = 1 << 12;

/// The share of the distinct prefixes that find no place in their lines, by a sample of lines.
#[expect(clippy::cast_precision_loss, reason = "an estimate")]
pub(super) fn share(fingerprints: &[u64], permutation: &Permutation, shape: LineShape) -> f64 {
    let stride = (shape.lines / LINES).max(1);
    let (bits, flipped) = (leading_ones(shape.prefix()), leading_ones(shape.flipped));
    let line = |first: &u64| shape.line(first & flipped);
    let firsts = fingerprints.par_iter().map(|&value| permutation.apply(value) & bits);
    let mut counted: Vec<u64> = firsts.filter(|first| line(first) % stride == 0).collect();
    counted.par_sort_unstable();
    counted.dedup();
    let missing = |one: &[u64]| one.len().saturating_sub(MOST_ENTRIES);
    let missing: usize = counted.chunk_by(|a, b| line(a) == line(b)).map(missing).sum();
    missing as f64 / counted.len().max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::filter_shape::FilterShape;
    use crate::plan::{Design, mix};

    #[test]
    fn few_of_evenly_spread_keys_have_no_place_and_most_of_uneven_ones() {
        let layout = Design::Tables { parts: 2 }.tables(64).unwrap().pop().unwrap();
        let Some(FilterShape::Lines(shape)) = FilterShape::new(300_000, 20, Some(1)) else { panic!() };
        let even: Vec<u64> = (0..300_000).map(|number| mix(number * 77)).collect();
        let uneven: Vec<u64> = even.iter().map(|value| value & mix(value + 1) | value << 60).collect();
        let shares = [even, uneven].map(|values| share(&values, &layout.permutation, shape));
        assert!((0.006..0.011).contains(&shares[0]) && shares[1] > 0.3, "{shares:?}");
    }
}
