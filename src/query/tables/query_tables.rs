//! Tables of queries: building them, and finding the queries near fingerprints.

use crate::error::{Error, Result};
use crate::fingerprint::Fingerprint;
use crate::options::Options;
use crate::query::tables::choice::Choice;
use crate::query::tables::table::{Buffers, Table};
use crate::query_stats::QueryStats;
use rayon::prelude::*;
use std::fmt;

/// Finds the queries near each of many fingerprints that stream by.
///
/// ```
/// use fpstore::{Options, QueryTables};
/// let tables = QueryTables::<u64>::new(&[0x832f_e9f6_aa2f_461a, 0, 0x832f_e9f6_aa2f_461b], 3, &Options::new())?;
/// let mut found = Vec::new();
/// tables.near(0x832f_e9f6_aa2d_461a, |query, distance| found.push((query, distance)));
/// found.sort_unstable();
/// assert_eq!(found, [(0, 1), (2, 2)]);
/// # Ok::<(), fpstore::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct QueryTables<F: Fingerprint = u64> {
    distance: u32,
    choice: Choice<F>,
    tables: Vec<Table<F>>,
    /// Numbers of the queries, grouped by equal queries.
    numbers: Vec<u32>,
    /// The start of each group; one more at the end.
    firsts: Vec<u32>,
}

impl<F: Fingerprint> QueryTables<F> {
    /// Tables that find each of the queries within `distance` of a fingerprint, made by the threads of the options.
    ///
    /// # Errors
    /// `InvalidInput` for more than 2^32 - 1 queries.
    pub fn new(queries: &[F], distance: u32, options: &Options) -> Result<Self> {
        Self::within(queries, distance, u64::MAX, options)
    }

    /// The same within this many bytes of memory, or with the smallest tables: a single one by which every fingerprint
    /// is compared with every query.
    ///
    /// # Errors
    /// Those of [`QueryTables::new`].
    pub fn within(queries: &[F], distance: u32, bytes: u64, options: &Options) -> Result<Self> {
        let choose = |distinct: &[F]| Choice::cheapest(distinct, distance, bytes);
        options.executor.run(|| Self::build(queries, distance, choose))
    }

    /// Tables by which every fingerprint is compared with every query: the reference for the others.
    ///
    /// # Errors
    /// Those of [`QueryTables::new`].
    pub fn comparing_all(queries: &[F], distance: u32, options: &Options) -> Result<Self> {
        options.executor.run(|| Self::build(queries, distance, |_| Choice::comparing_all(distance)))
    }

    pub(crate) fn build(queries: &[F], distance: u32, choose: impl FnOnce(&[F]) -> Choice<F>) -> Result<Self> {
        let Ok(_) = u32::try_from(queries.len()) else {
            return Err(Error::invalid("more than 2^32 - 1 queries at once").with_remedy("ask in several batches"));
        };
        let mut numbered: Vec<(F, u32)> = queries.iter().copied().zip(0..).collect();
        numbered.par_sort_unstable();
        let mut distinct: Vec<F> = Vec::new();
        let mut firsts = Vec::new();
        for (&(query, _), at) in numbered.iter().zip(0..) {
            if distinct.last() != Some(&query) {
                distinct.push(query);
                firsts.push(at);
            }
        }
        firsts.push(numbered.len() as u32);
        let numbers = numbered.into_iter().map(|(_, number)| number).collect();
        let choice = choose(&distinct);
        let tables = choice.shapes.par_iter().map(|&shape| Table::new(&distinct, shape)).collect();
        Ok(Self { distance, choice, tables, numbers, firsts })
    }

    /// Calls `visit` with the number and the distance of each query within the distance of `fingerprint`, once each, in
    /// no particular order. [`QueryTables::near_all`] is faster for many fingerprints.
    pub fn near(&self, fingerprint: F, mut visit: impl FnMut(u32, u32)) {
        self.near_all(&[fingerprint], |_, query, distance| visit(query, distance));
    }

    /// Calls `visit` for each fingerprint and each query within its distance, once each, with the position of the
    /// fingerprint, the number of the query and their distance. The order depends only on fingerprints, queries and
    /// distance. Returns the work.
    ///
    /// Thousands of fingerprints at once are fastest.
    pub fn near_all(&self, fingerprints: &[F], mut visit: impl FnMut(usize, u32, u32)) -> QueryStats {
        let mut stats = QueryStats::default();
        let mut buffers = Buffers::default();
        for (table, own) in self.tables.iter().zip(0..) {
            let earlier = self.choice.shapes.get(..own).unwrap_or_default();
            table.near_all(fingerprints, self.distance, &mut buffers, &mut stats, |place, difference, query| {
                if !earlier.iter().any(|shape| shape.sees(difference)) {
                    let distance = difference.distance(F::default());
                    self.numbers_of(query).iter().for_each(|&number| visit(place, number, distance));
                }
            });
        }
        stats
    }

    /// Numbers of the queries that are equal to a distinct one.
    fn numbers_of(&self, distinct: u32) -> &[u32] {
        match self.firsts.get(distinct as usize..) {
            Some(&[first, end, ..]) => self.numbers.get(first as usize..end as usize).unwrap_or_default(),
            _ => &[],
        }
    }

    /// Number of queries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.numbers.len()
    }

    /// Whether there are no queries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.numbers.is_empty()
    }

    /// Memory of the tables, in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let lists = 4 * (self.numbers.len() + self.firsts.len()) as u64;
        lists + self.tables.iter().map(Table::bytes).sum::<u64>()
    }
}

/// The design and the prefix lengths, such as `choose-2-of-5, 25 to 26 bits`.
impl<F: Fingerprint> fmt::Display for QueryTables<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.choice.fmt(f)
    }
}
