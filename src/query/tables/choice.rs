//! The cheapest design for some queries, and the cheapest prefix in each of its tables.
//!
//! In each table, a fingerprint costs a step for every prefix within the radius, more for a prefix that passes the
//! filter, and a comparison for every query with that prefix. The number of those depends on the likeness of the
//! queries. It is measured on a sample, for the designs that would be best for evenly spread queries.

use crate::fingerprint::Fingerprint;
use crate::plan::masks::number_of_masks;
use crate::plan::{Design, Permutation, Timings};
use crate::query::tables::table::{Shape, Size};
use rayon::prelude::*;
use std::fmt;

/// Maximum number of prefixes of a fingerprint in one table.
const MOST_FLIPS: f64 = 65_536.0;
/// Longest prefix: enough for 2^26 queries with a filter.
const LONGEST: u32 = 48;
/// Queries whose likeness is measured.
const SAMPLE: usize = 8192;
/// Designs for which it is measured.
const MEASURED: usize = 6;

/// A design and the prefixes of its tables.
#[derive(Clone, Debug)]
pub(crate) struct Choice<F> {
    design: Design,
    pub(crate) shapes: Vec<Shape<F>>,
}

/// The queries to choose for.
#[derive(Clone, Copy, Debug)]
struct Known<'a, F> {
    queries: usize,
    /// Some of them, in order; none if they count as evenly spread.
    sample: &'a [F],
}

/// A choice with its cost.
struct Priced<F> {
    choice: Choice<F>,
    nanos: f64,
    bytes: u64,
}

impl<F: Fingerprint> Choice<F> {
    /// One table without a prefix.
    pub(crate) fn comparing_all(distance: u32) -> Self {
        let shapes = vec![Shape { mask: F::default(), prefix: 0, radius: distance }];
        Self { design: Design::Tables { parts: 1 }, shapes }
    }

    /// A design with its cheapest prefixes.
    #[cfg(test)]
    pub(crate) fn of(design: Design, distinct: &[F], distance: u32) -> Self {
        let known = Known { queries: distinct.len(), sample: &[] };
        known.price(design, distance).map(|priced| priced.choice).unwrap()
    }

    /// The cheapest choice for these distinct queries within `bytes` of memory.
    pub(crate) fn cheapest(distinct: &[F], distance: u32, bytes: u64) -> Self {
        let price = |sample: &[F], designs: Vec<Design>| {
            let known = Known { queries: distinct.len(), sample };
            let priced = designs.into_par_iter().filter_map(|design| known.price(design, distance));
            let mut priced: Vec<Priced<F>> = priced.filter(|priced| priced.bytes <= bytes).collect();
            priced.sort_by(|a, b| a.nanos.total_cmp(&b.nanos));
            priced
        };
        let even = price(&[], candidates(F::WIDTH));
        let step = distinct.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<F> = distinct.iter().step_by(step).copied().collect();
        let measured = price(&sample, even.iter().take(MEASURED).map(|priced| priced.choice.design).collect());
        let best = measured.into_iter().next();
        let all = compare_nanos::<F>(distinct.len());
        best.filter(|best| best.nanos < all).map_or_else(|| Self::comparing_all(distance), |best| best.choice)
    }
}

impl<F: Fingerprint> Known<'_, F> {
    /// The cheapest prefixes of a design, if it fits the width.
    fn price(&self, design: Design, distance: u32) -> Option<Priced<F>> {
        let layouts = design.tables(F::WIDTH).ok()?;
        let mut priced = Priced { choice: Choice { design, shapes: Vec::new() }, nanos: 0.0, bytes: 0 };
        for (layout, radius) in layouts.iter().zip(design.radii(distance)) {
            let Some(radius) = radius else { continue };
            let alike = self.alike(&layout.permutation);
            let prices = alike.iter().zip(0..).take(layout.leading as usize + 1);
            let prices = prices.filter_map(|(&alike, prefix)| Some((prefix, self.nanos(prefix, radius, alike)?)));
            let (prefix, nanos) = prices.min_by(|a, b| a.1.total_cmp(&b.1))?;
            let shape = Shape { mask: leading(&layout.permutation, prefix), prefix, radius };
            priced.choice.shapes.push(shape);
            priced.nanos += nanos;
            priced.bytes += Size::of(self.queries, prefix).bytes(self.queries, F::BYTES);
        }
        Some(priced)
    }

    /// Nanoseconds of one fingerprint in one table; `alike` = the share of queries with the same prefix.
    fn nanos(&self, prefix: u32, radius: u32, alike: f64) -> Option<f64> {
        let flips = number_of_masks(prefix, radius);
        if flips > MOST_FLIPS {
            return None;
        }
        let queries = number(self.queries);
        let size = Size::of(self.queries, prefix);
        let exist = (queries / 2f64.powi(i32::try_from(prefix).unwrap_or(64))).min(1.0);
        let passing = size.filter.map_or(1.0, |bits| {
            let false_ones = queries / 2f64.powi(i32::try_from(bits).unwrap_or(64));
            (exist + false_ones).min(1.0)
        });
        // Prefixes that share the bucket are compared as well.
        let others = passing * queries / 2f64.powi(i32::try_from(size.buckets).unwrap_or(31));
        let others = if prefix == 0 { 0.0 } else { others };
        let Timings { filter, place, .. } = Timings::IN_USE;
        Some(flips * (filter + passing * place + compare_nanos::<F>(1) * (queries * alike + others)))
    }

    /// The probability that a query has the prefix of a fingerprint, by prefix length: that of two queries having the
    /// same prefix, and at least that of evenly spread queries.
    fn alike(&self, permutation: &Permutation) -> Vec<f64> {
        let mut heads: Vec<u64> = self.sample.iter().map(|&query| permutation.head(query)).collect();
        heads.sort_unstable();
        let pairs = number(heads.len()) * number(heads.len().saturating_sub(1)) / 2.0;
        let same = |prefix: u32| {
            let shift = 64 - prefix;
            let runs = heads.chunk_by(|a, b| (a ^ b).checked_shr(shift).unwrap_or(0) == 0);
            runs.map(|run| number(run.len()) * number(run.len() - 1) / 2.0).sum::<f64>() / pairs.max(1.0)
        };
        let even = |prefix: u32| 2f64.powi(-i32::try_from(prefix).unwrap_or(64));
        (0..=LONGEST).map(|prefix| same(prefix).max(even(prefix))).collect()
    }
}

/// Nanoseconds to compare a fingerprint with this many adjacent queries.
fn compare_nanos<F: Fingerprint>(queries: usize) -> f64 {
    Timings::IN_USE.row_word * number(F::WORDS) * number(queries)
}

/// The mask of the bits that the permutation moves to the `prefix` leading places.
fn leading<F: Fingerprint>(permutation: &Permutation, prefix: u32) -> F {
    let bits = permutation.groups().iter().flat_map(|group| group.first..group.first + group.length);
    bits.take(prefix as usize).fold(F::default(), F::flipped)
}

/// The designs to try.
fn candidates(width: u32) -> Vec<Design> {
    let tables = (1..=20).map(|parts| Design::Tables { parts });
    let choices = (2..=4).flat_map(|chosen| (chosen + 1..=14).map(move |parts| Design::Choose { chosen, parts }));
    let nested = (2..=6).flat_map(|outer| (2..=6).map(move |inner| Design::Nested { outer, inner }));
    let designs = tables.chain(choices).chain(nested);
    designs
        .filter(|design| {
            design.table_count() <= 84 && u32::try_from(design.table_count()).is_ok_and(|n| n <= width * 2)
        })
        .collect()
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn number(count: usize) -> f64 {
    count as f64
}

impl<F> fmt::Display for Choice<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lengths: std::collections::BTreeSet<u32> = self.shapes.iter().map(|shape| shape.prefix).collect();
        match (lengths.first(), lengths.last()) {
            (None, _) | (_, None | Some(0)) => f.write_str("all compared"),
            (Some(least), Some(most)) if least == most => write!(f, "{}, {most} bits", self.design),
            (Some(least), Some(most)) => write!(f, "{}, {least} to {most} bits", self.design),
        }
    }
}
