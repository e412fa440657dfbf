//! Which design is the cheapest for some queries, and which prefix in each of its tables.
//!
//! Every fingerprint that streams by costs, in each table, a step for every prefix within the radius, more for a prefix
//! that passes the filter, and a comparison for every query that has it. How many have it depends on how alike the
//! queries are: measured on a sample, for the designs that would be best if they were spread evenly.

use crate::fingerprint::Fingerprint;
use crate::plan::{Design, Permutation};
use crate::query::tables::table::{Shape, Size};
use rayon::prelude::*;
use std::fmt;

/// Nanoseconds to make a prefix and ask the filter for it, or look for its bucket at once.
const PROBE: f64 = 3.0;
/// To find a bucket and fetch it.
const PLACE: f64 = 12.0;
/// To compare one query, for each of its words.
const WORD: f64 = 0.8;
/// Most prefixes of a fingerprint in one table.
const MOST_FLIPS: f64 = 65_536.0;
/// Longest prefix: 2^26 queries with a filter want no more.
const LONGEST: u32 = 48;
/// Queries whose likeness is measured.
const SAMPLE: usize = 8192;
/// Designs that it is measured for.
const MEASURED: usize = 6;

/// A design and the prefixes of the tables that are looked up.
#[derive(Clone, Debug)]
pub(crate) struct Choice<F> {
    design: Design,
    pub(crate) shapes: Vec<Shape<F>>,
}

/// What is known of the queries.
#[derive(Clone, Copy, Debug)]
struct Known<'a, F> {
    queries: usize,
    /// Some of them, in order; none: they are taken to be spread evenly.
    sample: &'a [F],
}

/// A choice with what it costs.
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

    /// This design, with the prefixes that are the cheapest in it.
    #[cfg(test)]
    pub(crate) fn of(design: Design, distinct: &[F], distance: u32) -> Self {
        let known = Known { queries: distinct.len(), sample: &[] };
        known.price(design, distance).map(|priced| priced.choice).unwrap()
    }

    /// The cheapest one for these distinct queries that takes no more memory.
    pub(crate) fn cheapest(distinct: &[F], distance: u32, bytes: u64) -> Self {
        let even = Known::<F> { queries: distinct.len(), sample: &[] };
        let mut designs: Vec<(Design, f64)> = candidates(F::WIDTH)
            .into_par_iter()
            .filter_map(|design| Some((design, even.price(design, distance)?)))
            .filter(|(_, priced)| priced.bytes <= bytes)
            .map(|(design, priced)| (design, priced.nanos))
            .collect();
        designs.sort_by(|a, b| a.1.total_cmp(&b.1));
        let step = distinct.len().div_ceil(SAMPLE).max(1);
        let sample: Vec<F> = distinct.iter().step_by(step).copied().collect();
        let known = Known { queries: distinct.len(), sample: &sample };
        let measured: Vec<Priced<F>> = designs
            .into_par_iter()
            .take(MEASURED)
            .filter_map(|(design, _)| known.price(design, distance))
            .filter(|priced| priced.bytes <= bytes)
            .collect();
        let best = measured.into_iter().min_by(|a, b| a.nanos.total_cmp(&b.nanos));
        let all = compare_nanos::<F>(distinct.len());
        best.filter(|best| best.nanos < all).map_or_else(|| Self::comparing_all(distance), |best| best.choice)
    }
}

impl<F: Fingerprint> Known<'_, F> {
    /// The cheapest way to use a design, if it fits the width.
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

    /// Time of one fingerprint in one table; `alike` = the share of queries that have the same prefix.
    fn nanos(&self, prefix: u32, radius: u32, alike: f64) -> Option<f64> {
        let flips = flips(prefix, radius);
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
        // Prefixes that share a bucket are compared as well.
        let others = passing * queries / 2f64.powi(i32::try_from(size.buckets).unwrap_or(31));
        let others = if prefix == 0 { 0.0 } else { others };
        Some(flips * (PROBE + passing * PLACE + compare_nanos::<F>(1) * (queries * alike + others)))
    }

    /// How likely a query has a fingerprint's prefix of each length, from 0 on: as likely as two queries have the same
    /// one, and never less than if they were spread evenly.
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

/// Time to compare a fingerprint with so many queries that lie together.
fn compare_nanos<F: Fingerprint>(queries: usize) -> f64 {
    WORD * number(F::WORDS) * number(queries)
}

/// Number of prefixes within the radius.
fn flips(prefix: u32, radius: u32) -> f64 {
    let (mut sum, mut choices) = (1.0, 1.0);
    for flip in 0..radius.min(prefix) {
        choices *= f64::from(prefix - flip) / f64::from(flip + 1);
        sum += choices;
    }
    sum
}

/// The mask of the fingerprint's bits that become the `prefix` leading ones.
fn leading<F: Fingerprint>(permutation: &Permutation, prefix: u32) -> F {
    let bits = permutation.groups().iter().flat_map(|group| group.first..group.first + group.length);
    bits.take(prefix as usize).fold(F::default(), F::flipped)
}

/// The designs that are tried.
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
