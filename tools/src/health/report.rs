//! The report on fingerprints, for programs and for people.

use crate::common::SCHEMA_VERSION;
use crate::number::{float, hex};
use fpstore::Fingerprint;
use serde::Serialize;

use super::advice::{self, Finding, Value};
use super::bits::{self, Bits, FEWEST};
use super::counts::Counts;
use super::gather::Gathered;
use super::sample::Sample;

/// Largest share of records that may be all zeros or all ones.
const EMPTY: f64 = 0.01;
/// Largest share of distinct values that may have few ones or few zeros. Less than 0.2% of real fingerprints of long
/// texts have so few, and 0.1% of random ones.
const FEW: f64 = 0.01;
/// Largest share of the records that any other value may have, and least number of occurrences of a frequent value.
const FREQUENT: f64 = 0.1;
const SEEN: usize = 10;

/// What there is to say, also as the object of `fphash health --json`.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    schema_version: u32,
    pub(super) width: usize,
    /// Numbering of the bits.
    bit_order: &'static str,
    pub(super) records: u64,
    /// `None` if there are too few records for a verdict.
    pub sound: Option<bool>,
    pub(super) distinct_values: u64,
    pub(super) distinct_exact: bool,
    /// Number of records whose bits are all 0, and all 1: exact.
    pub(super) zeros: u64,
    pub(super) all_ones: u64,
    pub(super) most_frequent: Option<Frequent>,
    /// Sum of the entropies of single bits, an upper bound of the information.
    pub(super) entropy_bits: f64,
    /// Mean distance of all pairs of records, and the expected one for even bits.
    pub(super) mean_distance: Option<f64>,
    pub(super) expected_distance: f64,
    /// Standard deviation of the distances of a sample, and the expected one if the biased bits were independent.
    pub(super) standard_deviation: Option<f64>,
    pub(super) expected_standard_deviation: f64,
    pub(super) bits: Vec<Bit>,
    #[serde(flatten)]
    pub(super) defects: Bits,
    pub(super) findings: Vec<Finding>,
}

/// The most frequent value.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Frequent {
    pub(super) fingerprint: String,
    pub(super) share: f64,
    /// Whether the share is that of all records, not of a sample.
    pub(super) exact: bool,
}

/// How often a bit is 1.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Bit {
    bit: usize,
    ones: u64,
    pub(super) share: f64,
}

impl Report {
    /// Judges what was gathered.
    #[must_use]
    pub fn new<F: Fingerprint>(gathered: &Gathered<F>) -> Self {
        let Gathered { counts, sample, distinct } = gathered;
        let (distinct_values, distinct_exact) = distinct.number();
        let defects = Bits::new(counts, distinct_values);
        let (width, records) = (counts.width(), counts.records);
        let findings = if records < FEWEST {
            Vec::new()
        } else {
            let mut findings = values(counts, sample, distinct_values);
            findings.extend(few(sample, &defects));
            findings.extend(advice::of_bits(&defects, width));
            findings
        };
        let wide = float(width as u64);
        let bit = |bit| Bit { bit, ones: counts.ones(bit), share: bits::share(counts, bit) };
        Self {
            schema_version: SCHEMA_VERSION,
            width,
            bit_order: "0 is the most significant",
            records,
            sound: (records >= FEWEST).then_some(findings.is_empty()),
            distinct_values,
            distinct_exact,
            zeros: counts.zeros,
            all_ones: counts.all_ones,
            most_frequent: most_frequent(sample),
            entropy_bits: bits::entropy(counts),
            mean_distance: bits::mean_distance(counts),
            expected_distance: wide / 2.0,
            standard_deviation: sample.deviation(),
            expected_standard_deviation: bits::expected_deviation(counts),
            bits: (0..width).map(bit).collect(),
            defects,
            findings,
        }
    }
}

fn most_frequent<F: Fingerprint>(sample: &Sample<F>) -> Option<Frequent> {
    let (value, seen) = sample.most_frequent()?;
    let share = float(seen as u64) / float(sample.len() as u64);
    Some(Frequent { fingerprint: hex(value), share, exact: sample.is_all() })
}

/// Finds defects of values.
fn values<F: Fingerprint>(counts: &Counts, sample: &Sample<F>, distinct: u64) -> Vec<Finding> {
    let mut findings = Vec::new();
    if distinct < FEWEST {
        findings.push(advice::of_few_values(distinct, counts.records));
    }
    for (value, records) in [(Value::Zero, counts.zeros), (Value::AllOnes, counts.all_ones)] {
        let share = float(records) / float(counts.records.max(1));
        if share > EMPTY {
            findings.push(advice::of_value(&value, share));
        }
    }
    if let Some((value, seen)) = sample.most_frequent() {
        let share = float(seen as u64) / float(sample.len() as u64);
        let told = (0..F::WORDS).all(|i| value.word(i) == 0) || (0..F::WORDS).all(|i| value.word(i) == u64::MAX);
        if !told && seen >= SEEN && share > FREQUENT {
            findings.push(advice::of_value(&Value::Other(hex(value)), share));
        }
    }
    findings
}

/// Finds texts with few features, if their ties all become 0, or all 1.
fn few<F: Fingerprint>(sample: &Sample<F>, defects: &Bits) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !defects.dead.is_empty() || !defects.constant.is_empty() || !defects.mirrored.is_empty() {
        // These defects explain few ones or zeros.
        return findings;
    }
    // Three standard deviations below the mean of even bits: 20 of 64.
    let few = (F::WIDTH - (9 * F::WIDTH).isqrt()) / 2;
    for (digit, (share, seen)) in ["ones", "zeros"].into_iter().zip(sample.few(few)) {
        if seen >= SEEN && share > FEW {
            findings.push(advice::of_few(digit, share, few));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::distinct::mixed;
    use super::*;

    fn report(values: impl Iterator<Item = u64>) -> Report {
        let mut gathered = Gathered::new();
        gathered.add(&mut values.collect());
        Report::new(&gathered)
    }

    fn kinds(report: &Report) -> Vec<&'static str> {
        report.findings.iter().map(|finding| finding.kind).collect()
    }

    #[test]
    fn sound_fingerprints() {
        let report = report((0..20_000).map(mixed));
        assert_eq!((report.sound, kinds(&report)), (Some(true), vec![]));
        assert_eq!((report.records, report.distinct_values, report.distinct_exact), (20_000, 20_000, true));
        assert!(report.entropy_bits > 63.9 && (report.mean_distance.unwrap() - 32.0).abs() < 0.05);
        assert!((report.expected_standard_deviation - 4.0).abs() < 0.01);
        assert!((report.standard_deviation.unwrap() - 4.0).abs() < 0.1, "{:?}", report.standard_deviation);
    }

    #[test]
    fn values_that_many_records_have() {
        let with =
            |value: u64, every: u64| report((0..5000).map(move |i| if i % every == 0 { value } else { mixed(i) }));
        assert_eq!(kinds(&with(0, 50)), ["zeros"]);
        assert_eq!(kinds(&with(0, 100)), [""; 0]);
        assert_eq!(kinds(&with(u64::MAX, 50)), ["all_ones"]);
        assert_eq!(kinds(&with(77, 8)), ["frequent_value"]);
        assert_eq!(kinds(&with(77, 12)), [""; 0]);
        assert_eq!(with(77, 8).most_frequent.unwrap().fingerprint, "000000000000004d");
    }

    /// Returns fingerprints whose ties are all 0, or all 1.
    #[test]
    fn texts_of_few_features() {
        let of_two = |i: u64| mixed(2 * i) & mixed(2 * i + 1);
        let with = |every: u64, flip: u64| {
            report((0..5000).map(move |i| if i % every == 0 { of_two(i) ^ flip } else { mixed(i << 20) }))
        };
        assert_eq!(kinds(&with(50, 0)), ["few_ones"]);
        assert_eq!(kinds(&with(50, u64::MAX)), ["few_zeros"]);
        assert_eq!(kinds(&with(200, 0)), [""; 0]);
        assert!(with(50, 0).findings[0].what.starts_with("1."));
        // Too few for a verdict.
        assert_eq!(kinds(&report((0..200).map(|i| if i < 8 { of_two(i) } else { mixed(i << 20) }))), [""; 0]);
    }

    #[test]
    fn few_records_and_few_values() {
        for number in [0, 1, 99] {
            let few = report((0..number).map(|_| 0));
            assert_eq!((few.sound, kinds(&few)), (None, vec![]), "{number}");
        }
        let empty = report((0..1000).map(|_| 0));
        assert_eq!((empty.sound, kinds(&empty)), (Some(false), vec!["few_values", "zeros", "dead_bits"]));
        assert_eq!(empty.standard_deviation, Some(0.0));
    }
}
