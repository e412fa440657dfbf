//! Merging a batch with one segment.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::plan::batch_join;
use crate::query::batch::batch_budget::BatchBudget;
use crate::query::batch::queries::SortedQueries;
use crate::query::batch::ranges;
use crate::query::batch::worker::{Job, Pair, Sight, Worker};
use crate::query_stats::QueryStats;
use crate::segment::Segment;
use rayon::prelude::*;

/// Every fingerprint of a segment within distance `k` of each of fewer than 2^32 queries, table by table in lists, each
/// pair once. Pairs are missing if they exceed the budget.
pub(crate) fn merge_segment<F: Fingerprint>(
    segment: &Segment,
    queries: &[F],
    k: u32,
    budget: &BatchBudget,
    stats: &mut QueryStats,
) -> Result<Vec<Vec<Vec<Pair<F>>>>> {
    let radii = segment.footer().parameters.design().radii(k);
    let sight = |(table, radius): (_, Option<u32>)| Some(Sight { table, radius: radius? });
    let sights: Vec<Sight<'_>> = segment.tables().iter().zip(radii).filter_map(sight).collect();
    let mut pairs = Vec::new();
    stats.merge_joins += 1;
    for (number, &own) in sights.iter().enumerate() {
        let sorted = SortedQueries::new(queries, &own.table.layout().permutation);
        let earlier = sights.get(..number).unwrap_or_default();
        let job = Job { segment, queries, k, own, earlier, sorted: &sorted, budget };
        let longest = batch_join::longest_prefix(own.table.leading(), own.radius);
        let ranges = ranges::cut(own.table.index(), longest)?;
        let found: Result<Vec<(QueryStats, Vec<Pair<F>>)>> = ranges
            .par_iter()
            .try_fold(
                || Worker::new(job),
                |mut worker, range| {
                    worker.merge(range)?;
                    Ok(worker)
                },
            )
            // Without the worker's buffers.
            .map(|worker| worker.map(|worker| (worker.stats, worker.pairs)))
            .collect();
        let take = |(work, pairs)| {
            *stats += work;
            pairs
        };
        pairs.push(found?.into_iter().map(take).collect());
    }
    Ok(pairs)
}
