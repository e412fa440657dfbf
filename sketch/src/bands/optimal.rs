//! Chooses the bands and rows whose curve fits a threshold best.
//!
//! Both areas are integrals of polynomials in s. The Gauss-Legendre rule with enough nodes is exact except for
//! rounding, so two choices compare as their true areas do. datasketch integrates adaptively, to the same values.

use std::f64::consts::PI;

use super::Bands;
use crate::error::{Error, Result};

/// Most places: the work grows with their square.
const MOST: usize = 4096;

impl Bands {
    /// Returns the bands and rows that minimise the weighted sum of two areas, false candidates below the threshold and
    /// missed ones above it. They are those that datasketch's `MinHashLSH` chooses.
    ///
    /// # Errors
    ///
    /// If the threshold or a weight is not from 0 to 1, or there are more than 4096 places.
    pub fn optimal(threshold: f64, places: usize, false_positive: f64, false_negative: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&threshold) {
            return Err(Error::new(format!("the threshold {threshold} is not from 0 to 1")));
        }
        if ![false_positive, false_negative].iter().all(|weight| (0.0..=1.0).contains(weight)) {
            return Err(Error::new("the weights of false candidates and of missed ones are numbers from 0 to 1"));
        }
        if !(1..=MOST).contains(&places) {
            return Err(Error::new(format!("optimal bands exist for 1 to {MOST} places, not {places}")));
        }
        let nodes = nodes(places / 2 + 1);
        let mut best = (f64::INFINITY, Bands { bands: 1, rows: 1 });
        for bands in 1..=places {
            for rows in 1..=places / bands {
                let curve = Bands { bands, rows };
                let below = integral(&nodes, 0.0, threshold, |s| curve.probability(s));
                let above = integral(&nodes, threshold, 1.0, |s| 1.0 - curve.probability(s));
                let error = below * false_positive + above * false_negative;
                if error < best.0 {
                    best = (error, curve);
                }
            }
        }
        Ok(best.1)
    }
}

fn integral(nodes: &[(f64, f64)], from: f64, to: f64, curve: impl Fn(f64) -> f64) -> f64 {
    let half = (to - from) / 2.0;
    let sum: f64 = nodes.iter().map(|(place, weight)| weight * curve(from + half * (1.0 + place))).sum();
    half * sum
}

/// Returns the nodes (in -1 to 1) and weights of the rule with `count` nodes, which is exact for polynomials of degree
/// 2n - 1. The nodes are the roots of Legendre's polynomial, found by Newton's method from a good first guess.
#[allow(clippy::cast_precision_loss, reason = "small numbers")]
fn nodes(count: usize) -> Vec<(f64, f64)> {
    let n = count as f64;
    (0..count)
        .map(|i| {
            let mut x = (PI * (i as f64 + 0.75) / (n + 0.5)).cos();
            let mut slope = 1.0;
            for _ in 0..100 {
                let (mut before, mut value) = (0.0, 1.0);
                for k in 0..count {
                    let k = k as f64;
                    (before, value) = (value, ((2.0 * k + 1.0) * x * value - k * before) / (k + 1.0));
                }
                slope = n * (x * value - before) / (x * x - 1.0);
                let step = value / slope;
                x -= step;
                if step.abs() < 1e-15 {
                    break;
                }
            }
            (x, 2.0 / ((1.0 - x * x) * slope * slope))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Line {
        threshold: f64,
        num_perm: usize,
        fp_weight: f64,
        fn_weight: f64,
        b: usize,
        r: usize,
    }

    #[test]
    fn as_datasketch_chooses() {
        let mut seen = 0;
        for line in include_str!("../../tests/vectors/datasketch_lsh_params.ndjson").lines() {
            let Line { threshold, num_perm, fp_weight, fn_weight, b, r } = serde_json::from_str(line).unwrap();
            let found = Bands::optimal(threshold, num_perm, fp_weight, fn_weight).unwrap();
            assert_eq!((found.bands, found.rows), (b, r), "{threshold} {num_perm} {fp_weight}");
            seen += 1;
        }
        assert_eq!(seen, 30);
    }

    #[test]
    fn polynomials_are_integrated_exactly() {
        for count in [1, 2, 5, 33, 129] {
            let nodes = nodes(count);
            for degree in [0, 1, count, 2 * count - 1] {
                let power = i32::try_from(degree).unwrap();
                let found = integral(&nodes, 0.0, 1.0, |s| s.powi(power));
                assert!((found - 1.0 / f64::from(power + 1)).abs() < 1e-13, "{count} nodes, degree {degree}: {found}");
            }
        }
    }

    #[test]
    fn what_is_refused() {
        for (threshold, places, weight) in
            [(1.5, 128, 0.5), (f64::NAN, 128, 0.5), (0.5, 0, 0.5), (0.5, 5000, 0.5), (0.5, 9, 2.0)]
        {
            assert!(Bands::optimal(threshold, places, weight, 0.5).is_err(), "{threshold} {places} {weight}");
        }
    }
}
