//! A batch of queries merged with the tables of a segment, in one pass over each.
//!
//! Probing one query after another waits for memory: every prefix lies somewhere else. Of a million queries each block of
//! a table is wanted anyway, many times; so every block is decoded once, in order, and the queries come to it. They are
//! sorted as the table is ([`queries`]). The table is cut into ranges of some thousand keys that share their leading bits
//! ([`ranges`]); the prefixes that queries ask for in a range come from few runs of the sorted queries: those with the
//! same leading bits, and those with a few of these bits flipped ([`flips`]). They are marked in a bitmap that fits the
//! nearest cache; of the decoded keys few meet a mark, and these are compared with the queries that made it
//! ([`worker`]).
//!
//! Every pair within the distance is found once: by the first table whose radius it lies within, and there by the one
//! flip that makes the prefixes equal. The prefix only chooses what is compared: an answer is compared by counting all
//! differing bits. Ranges are independent of each other and are spread over the threads of rayon's pool.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::plan::merging;
use crate::query::batch::job::{Job, Pair, Sight};
use crate::query::batch::queries::SortedQueries;
use crate::query::batch::space::AnswerBudget;
use crate::query::batch::worker::Worker;
use crate::query_stats::QueryStats;
use crate::segment::Segment;
use rayon::prelude::*;

/// Every fingerprint of a segment within distance `k` of every query, table by table, each pair once. There have to be fewer
/// than 2^32 queries. Where the room for them becomes full, some are missing.
///
/// # Errors
/// `Damaged` or `Io` from reading blocks.
pub(crate) fn merge_segment<F: Fingerprint>(
    segment: &Segment,
    queries: &[F],
    k: u32,
    room: &AnswerBudget,
    work: &mut QueryStats,
) -> Result<Vec<Vec<Pair<F>>>> {
    let radii = segment.footer().parameters.design().radii(k);
    let sights: Vec<Sight<'_>> = segment
        .tables()
        .iter()
        .zip(radii)
        .filter_map(|(table, radius)| radius.map(|radius| Sight { table, radius }))
        .collect();
    let mut pairs = Vec::new();
    work.merges += 1;
    for (number, &own) in sights.iter().enumerate() {
        let sorted = SortedQueries::new(queries, &own.table.layout().permutation);
        let earlier = sights.get(..number).unwrap_or_default();
        let job = Job { segment, queries, k, own, earlier, sorted: &sorted, room };
        let longest = merging::longest_prefix(own.table.leading(), own.radius);
        let ranges = crate::query::batch::ranges::cut(own.table.index(), longest);
        let workers: Result<Vec<Worker<'_, F>>> = ranges
            .par_iter()
            .try_fold(
                || Worker::new(job),
                |mut worker, range| {
                    worker.merge(range)?;
                    Ok(worker)
                },
            )
            .collect();
        let mut found = Vec::new();
        for mut worker in workers? {
            *work += worker.work;
            found.append(&mut worker.pairs);
        }
        pairs.push(found);
    }
    Ok(pairs)
}
