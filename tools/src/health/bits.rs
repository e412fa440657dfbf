//! Finds defects of single bits and of pairs of bits in the counts.

use crate::number::float;
use serde::Serialize;

use super::counts::Counts;

/// For fewer records there is no verdict, and fewer distinct values are a finding of their own.
pub(super) const FEWEST: u64 = 100;
/// A bit is biased if its share of ones, or of zeros, is smaller.
const BIASED: f64 = 0.25;
/// Number of standard errors beyond that, so that the bias is not chance.
const CERTAIN: f64 = 3.0;
/// Two bits are strongly correlated if the absolute coefficient is larger.
const CORRELATED: f64 = 0.5;
/// For few values, it must also exceed this number of standard errors of independent bits.
const CERTAIN_PAIR: f64 = 5.0;
/// Most correlated pairs that are listed.
const NAMED: usize = 10;

/// Defects of bits.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(super) struct Bits {
    /// Never 1.
    pub(super) dead: Vec<usize>,
    /// Always 1.
    pub(super) constant: Vec<usize>,
    /// Bits that are always equal, or always opposite, to an earlier bit.
    pub(super) mirrored: Vec<Mirrored>,
    /// Bits that are nearly always 0, or nearly always 1.
    pub(super) biased: Vec<usize>,
    /// The most strongly correlated pairs, without mirrored bits.
    pub(super) correlated: Vec<Correlated>,
    /// Number of all strongly correlated pairs.
    pub(super) correlated_pairs: usize,
}

/// A bit that repeats an earlier one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Mirrored {
    pub(super) bit: usize,
    /// The first bit that it mirrors.
    pub(super) of: usize,
    pub(super) opposite: bool,
}

/// Two bits that often agree, or often differ.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub(super) struct Correlated {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) phi: f64,
}

impl Bits {
    /// Finds the defects in the counts of fingerprints with this number of distinct values.
    pub(super) fn new(counts: &Counts, distinct: u64) -> Self {
        let mut bits = Self::default();
        if counts.records < FEWEST {
            return bits;
        }
        let mut own = Vec::new();
        for bit in 0..counts.width() {
            match counts.ones(bit) {
                0 => bits.dead.push(bit),
                ones if ones == counts.records => bits.constant.push(bit),
                _ if distinct < FEWEST => {}
                _ => {
                    if is_biased(share(counts, bit), distinct.min(counts.records)) {
                        bits.biased.push(bit);
                    }
                    match own.iter().find_map(|&earlier| mirrored(counts, bit, earlier)) {
                        Some(mirrored) => bits.mirrored.push(mirrored),
                        None => own.push(bit),
                    }
                }
            }
        }
        let least = CORRELATED.max(CERTAIN_PAIR / float(distinct.max(1)).sqrt());
        let mut correlated: Vec<Correlated> = Vec::new();
        let mut rest = own.as_slice();
        while let Some((&a, later)) = rest.split_first() {
            let pairs = later.iter().map(|&b| Correlated { a, b, phi: phi(counts, a, b) });
            correlated.extend(pairs.filter(|pair| pair.phi.abs() > least));
            rest = later;
        }
        correlated.sort_by(|x, y| y.phi.abs().total_cmp(&x.phi.abs()));
        bits.correlated_pairs = correlated.len();
        correlated.truncate(NAMED);
        bits.correlated = correlated;
        bits
    }
}

/// Whether a bit is biased, in records worth this number of independent ones.
fn is_biased(share: f64, records: u64) -> bool {
    let error = (BIASED * (1.0 - BIASED) / float(records.max(1))).sqrt();
    share.min(1.0 - share) < BIASED - CERTAIN * error
}

fn mirrored(counts: &Counts, bit: usize, of: usize) -> Option<Mirrored> {
    let different = counts.different(bit, of);
    let opposite = different == counts.records;
    (different == 0 || opposite).then_some(Mirrored { bit, of, opposite })
}

/// Returns the share of fingerprints whose bit is 1.
pub(super) fn share(counts: &Counts, bit: usize) -> f64 {
    float(counts.ones(bit)) / float(counts.records.max(1))
}

/// Returns the correlation of two bits that both vary: from -1, always opposite, to 1, always equal.
fn phi(counts: &Counts, a: usize, b: usize) -> f64 {
    let (share_a, share_b) = (share(counts, a), share(counts, b));
    let both = float(counts.both(a, b)) / float(counts.records.max(1));
    (both - share_a * share_b) / (share_a * (1.0 - share_a) * share_b * (1.0 - share_b)).sqrt()
}

/// Returns the sum of the entropies of single bits, an upper bound of the information in a fingerprint.
pub(super) fn entropy(counts: &Counts) -> f64 {
    let part = |share: f64| if share > 0.0 { -share * share.log2() } else { 0.0 };
    (0..counts.width()).map(|bit| share(counts, bit)).map(|share| part(share) + part(1.0 - share)).sum()
}

/// Returns the mean Hamming distance of all pairs of records, if there are two. It is exact: a bit differs in as many
/// pairs as there are choices of a record with a 1 and a record with a 0.
pub(super) fn mean_distance(counts: &Counts) -> Option<f64> {
    let records = float(counts.records);
    let of = |bit| share(counts, bit) * (1.0 - share(counts, bit));
    (counts.records > 1).then(|| (0..counts.width()).map(of).sum::<f64>() * 2.0 * records / (records - 1.0))
}

/// Returns the standard deviation of distances if the bits have these shares of ones and are independent.
pub(super) fn expected_deviation(counts: &Counts) -> f64 {
    let differ = |bit| 2.0 * share(counts, bit) * (1.0 - share(counts, bit));
    (0..counts.width()).map(differ).map(|differ| differ * (1.0 - differ)).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Uniformly distributed bits, some of which were altered.
    fn spoilt(number: u64, spoil: impl Fn(u64, u64) -> u64) -> Counts {
        let value = |i| super::super::distinct::mixed(i);
        Counts::of(&(0..number).map(|i| spoil(value(i), value(i + number))).collect::<Vec<u64>>())
    }

    /// Returns the mask of a bit, counted from the most significant one.
    fn mask(bit: u32) -> u64 {
        1 << (63 - bit)
    }

    #[test]
    fn even_bits_are_sound() {
        for number in [100, 1000, 50_000] {
            assert_eq!(Bits::new(&spoilt(number, |value, _| value), number), Bits::default(), "{number}");
        }
    }

    #[test]
    fn every_defect_is_found() {
        let counts = spoilt(5000, |value, other| {
            let mut value = value & !(mask(0) | mask(40)) | mask(7);
            // Bit 12 repeats bit 11, and bit 13 is its opposite.
            let eleven = value & mask(11) != 0;
            value &= !(mask(12) | mask(13));
            value |= if eleven { mask(12) } else { mask(13) };
            // Bit 20 is 1 in an eighth of all fingerprints, bit 21 in seven eighths.
            value = if other & 7 == 0 { value | mask(20) } else { value & !mask(20) };
            value = if other & 56 == 0 { value & !mask(21) } else { value | mask(21) };
            // Bit 31 is equal to bit 30, except in an eighth of them.
            let thirty = (value & mask(30) != 0) != (other & 448 == 0);
            if thirty { value | mask(31) } else { value & !mask(31) }
        });
        let bits = Bits::new(&counts, 5000);
        assert_eq!((bits.dead, bits.constant, bits.biased), (vec![0, 40], vec![7], vec![20, 21]));
        let mirrors = [Mirrored { bit: 12, of: 11, opposite: false }, Mirrored { bit: 13, of: 11, opposite: true }];
        assert_eq!(bits.mirrored, mirrors);
        assert_eq!((bits.correlated_pairs, bits.correlated[0].a, bits.correlated[0].b), (1, 30, 31));
        assert!((bits.correlated[0].phi - 0.75).abs() < 0.03, "{:?}", bits.correlated);
    }

    #[test]
    fn few_records_and_few_values_do_not_tell() {
        assert_eq!(Bits::new(&spoilt(99, |value, _| value & !mask(5)), 99), Bits::default());
        // Two values are equal or opposite in every bit.
        let two = Bits::new(&spoilt(1000, |value, _| if value & 1 == 0 { 0xff } else { 0xf0f }), 2);
        assert_eq!((two.dead.len(), two.constant.len(), two.mirrored.len(), two.correlated_pairs), (52, 4, 0, 0));
        assert!(!is_biased(0.2, 100) && is_biased(0.2, 10_000) && is_biased(0.8, 10_000) && is_biased(0.1, 100));
        assert!(!is_biased(0.25, u64::MAX) && !is_biased(0.0, 1));
    }

    #[test]
    fn entropy_of_known_bits() {
        let counts = Counts::of(&[0_u64, mask(0), mask(1), mask(0) | mask(1), mask(2), 0, 0, 0]);
        let quarter = 0.811_278_124_459_132_8;
        assert!((entropy(&counts) - (2.0 * quarter + 0.543_564_443_199_595_7)).abs() < 1e-9, "{}", entropy(&counts));
        assert!(entropy(&Counts::new(64)).abs() < 1e-12);
        // Twice 3/8 * 5/8 and once 7/32 * 25/32.
        let deviation = (0.468_75_f64 + 175.0 / 1024.0).sqrt();
        assert!((expected_deviation(&counts) - deviation).abs() < 1e-12);
    }

    proptest! {
        #[test]
        fn as_by_comparing_everything(values in prop::collection::vec(any::<u64>(), 2..40)) {
            let counts = Counts::of(&values);
            let pairs = || values.iter().enumerate().flat_map(|(i, a)| values[i + 1..].iter().map(move |b| a ^ b));
            let mean = pairs().map(|flips| f64::from(flips.count_ones())).sum::<f64>() / pairs().count() as f64;
            prop_assert!((mean_distance(&counts).unwrap() - mean).abs() < 1e-9);
            // Pearson's coefficient of the two columns.
            let column = |bit: u32| values.iter().map(|value| f64::from((value & mask(bit) != 0) as u8)).collect::<Vec<f64>>();
            let (a, b) = (column(3), column(17));
            let centred = |column: &[f64]| {
                let mean = column.iter().sum::<f64>() / column.len() as f64;
                column.iter().map(|value| value - mean).collect::<Vec<f64>>()
            };
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let (a, b) = (centred(&a), centred(&b));
            let expected = product(&a, &b) / (product(&a, &a) * product(&b, &b)).sqrt();
            prop_assert!(expected.is_nan() || (phi(&counts, 3, 17) - expected).abs() < 1e-9);
        }
    }
}
