//! The number of levels of a join before it compares fingerprints.
//!
//! If at most e errors (differing bits) are left in some bits, these are cut into e + c parts. Two near fingerprints
//! agree in at least c of the parts: the paper's choose-c-of-m designs. A join groups by the first part that agrees and
//! then, level by level, by the next one. More levels mean more tables, and fewer comparisons in each.

use super::masks::binomial;

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JoinSize {
    pub(crate) items: f64,
    /// Pairs of them that may be near.
    pub(crate) pairs: f64,
    pub(crate) words: u32,
}

impl JoinSize {
    /// A self-join of `left` fingerprints, or a join with `right` ones.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(crate) fn new(left: u64, right: Option<u64>, width: u32) -> Self {
        let left = left as f64;
        let right = right.map(|right| right as f64);
        let pairs = right.map_or(left * left / 2.0, |right| left * right);
        Self { items: left + right.unwrap_or(0.0), pairs, words: width / 64 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct JoinWay {
    /// Number of parts that agree where fingerprints are compared; 0 compares all with all.
    pub(crate) levels: u32,
    pub(crate) nanos: f64,
}

/// Nanoseconds to group a fingerprint, a word: count, move, check for another one.
const GROUP: f64 = 8.0;
/// Nanoseconds to compare two fingerprints, a word.
const COMPARE: f64 = 0.25;
/// Most levels: the number of tables grows with the choices of the parts.
const MOST_LEVELS: u32 = 6;

/// The cheapest way to join fingerprints in which at most `errors` errors are left in `bits` bits that vary.
pub(crate) fn cheapest(size: JoinSize, bits: u32, errors: u32) -> JoinWay {
    let words = f64::from(size.words);
    let way = |levels: u32| {
        let parts = errors + levels;
        let tables = binomial(parts, levels);
        let agreeing = f64::from(bits) * f64::from(levels) / f64::from(parts.max(1));
        let compared = size.pairs * (-agreeing).exp2();
        let grouped = (1..=levels).map(|level| binomial(errors + level, level)).sum::<f64>();
        let nanos = grouped * size.items * GROUP + tables * compared * COMPARE;
        JoinWay { levels, nanos: nanos * words }
    };
    // Every part needs a bit.
    let most = MOST_LEVELS.min(bits.saturating_sub(errors));
    (0..=most).map(way).min_by(|a, b| a.nanos.total_cmp(&b.nanos)).unwrap_or_else(|| way(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(items: f64, width: u32, k: u32) -> u32 {
        cheapest(JoinSize::new(items as u64, None, width), width, k).levels
    }

    #[test]
    fn more_fingerprints_are_divided_by_more_levels() {
        assert_eq!([30.0, 1e5, 1e6, 2e7, 1e8, 5e9, 1e10].map(|items| levels(items, 64, 3)), [0, 1, 1, 2, 2, 2, 3]);
        assert_eq!([20.0, 1e6, 1e7, 1e8].map(|items| levels(items, 256, 31)), [0, 2, 2, 3]);
    }

    #[test]
    fn what_cannot_be_divided_is_compared() {
        let size = JoinSize::new(1_000_000, None, 64);
        assert_eq!(cheapest(size, 3, 3).levels, 0);
        assert_eq!(cheapest(size, 0, 0).levels, 0);
        assert_eq!(cheapest(size, 20, 0).levels, 1);
    }
}
