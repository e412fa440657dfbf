//! The keys of many queries merged with the keys of each run, in one pass.
//!
//! The keys of all queries are sorted and looked up in order, so neighbours share blocks, lines of the index and pages
//! of numbers, each of which is read once; blocks without a wanted key are skipped. What is found has its place beside
//! the query's key, and takes 8 bytes a key and run, however many records have the key: the number of its only record,
//! or else its rank, from which the records are read when the query is answered. So nothing is sorted again and nothing
//! overflows to a disk; a key that a million records share costs each query that has it a million, as in a single
//! query, and nothing before.

use super::lookup::{KeyLookup, only_record};
use super::options::{KeyMatch, QueryKeys};
use super::search::{Search, stored_keys};
use crate::codec::prefetch;
use crate::error::Result;
use crate::extsort::sorted;
use crate::format::KeyFormat;
use crate::segment::Segment;
use crate::version::ReadView;
use rayon::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Queries whose keys a thread gathers at a time.
const GATHERED: usize = 1024;
/// Keys that a thread looks up at a time.
const LOOKED_UP: usize = 1024;

/// What was found of the keys of some queries.
#[derive(Debug)]
pub(super) struct Merged {
    /// For each query the number of keys before its own, then the number of all.
    starts: Vec<usize>,
    /// For each run what it has of each key; nothing if it has no keys.
    runs: Vec<Vec<AtomicU64>>,
}

/// A key of a query: the key, and its place among those of all queries.
type Wanted = (u64, u64);

/// What a run has of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    Nothing,
    /// The number of the only record with the key.
    Record(u64),
    /// The rank of the key.
    Rank(u64),
}

impl Found {
    fn code(self) -> u64 {
        match self {
            Self::Nothing => 0,
            Self::Record(number) => (number + 1) << 1,
            Self::Rank(rank) => (rank << 1) | 1,
        }
    }

    fn of(code: u64) -> Self {
        match (code >> 1, code & 1) {
            (rank, 1) => Self::Rank(rank),
            (number, _) => number.checked_sub(1).map_or(Self::Nothing, Self::Record),
        }
    }
}

impl Merged {
    /// Bytes of memory for these queries.
    pub(super) fn bytes(view: &ReadView, keys: &[u64]) -> u64 {
        let runs = view.version.runs.iter().filter(|run| run.keys.is_some()).count() as u64;
        // The keys of a query, gathered and sorted; later what was found of them.
        (keys.len() as u64).saturating_mul(24 + 8 * runs).saturating_add(16)
    }

    /// Looks up the keys of all queries; on the threads of a crew.
    pub(super) fn new(view: &ReadView, format: KeyFormat, queries: &[QueryKeys<'_>]) -> Result<Self> {
        let (starts, wanted) = wanted(format, queries);
        let mut runs = Vec::new();
        for run in &view.version.runs {
            let Some(segment) = &run.keys else {
                runs.push(Vec::new());
                continue;
            };
            let places = starts.last().copied().unwrap_or(0);
            let found: Vec<AtomicU64> = (0..places).map(|_| AtomicU64::new(Found::Nothing.code())).collect();
            let look_up = |lookup: &mut KeyLookup, wanted: &[Wanted]| look_up(segment, wanted, lookup, &found);
            wanted.par_chunks(LOOKED_UP).try_for_each_init(KeyLookup::default, look_up)?;
            runs.push(found);
        }
        Ok(Self { starts, runs })
    }

    /// The answer to a query, given its number among those that were merged.
    pub(super) fn answer(
        &self,
        search: &mut Search,
        view: &ReadView,
        number: usize,
        query: QueryKeys<'_>,
    ) -> Result<Vec<KeyMatch>> {
        let places = match self.starts.get(number..) {
            Some(&[start, end, ..]) => start..end,
            _ => 0..0,
        };
        search.answer(view, query.sketch, |run, segment, search| {
            let found = self.runs.get(run).and_then(|found| found.get(places.clone())).unwrap_or_default();
            for found in found.chunks(KeyLookup::MOST) {
                for found in found {
                    match Found::of(found.load(Relaxed)) {
                        Found::Nothing => {}
                        Found::Record(number) => search.candidates.add(number),
                        Found::Rank(rank) => search.lookup.await_rank(rank, segment)?,
                    }
                }
                search.lookup.add_awaited(segment, &mut search.candidates)?;
            }
            Ok(())
        })
    }
}

/// The stored keys of all queries, sorted, and for each query the number of keys before its own.
fn wanted(format: KeyFormat, queries: &[QueryKeys<'_>]) -> (Vec<usize>, Vec<Wanted>) {
    let gather = |queries: &[QueryKeys<'_>]| {
        let (mut keys, mut counts, mut own) = (Vec::new(), Vec::with_capacity(queries.len()), Vec::new());
        for query in queries {
            stored_keys(format, query.keys, &mut own);
            keys.extend_from_slice(&own);
            counts.push(own.len());
        }
        (keys, counts)
    };
    let gathered: Vec<(Vec<u64>, Vec<usize>)> = queries.par_chunks(GATHERED).map(gather).collect();
    let mut keys = Vec::with_capacity(gathered.iter().map(|(keys, _)| keys.len()).sum());
    let (mut starts, mut sum) = (Vec::with_capacity(queries.len() + 1), 0);
    starts.push(sum);
    for (some, counts) in gathered {
        keys.extend_from_slice(&some);
        starts.extend(counts.into_iter().map(|count| {
            sum += count;
            sum
        }));
    }
    (starts, sorted(&keys, |place, &key| (key, place as u64), |wanted| wanted.0))
}

/// The place of a key among those of all queries, which are in memory.
fn place_of(wanted: &Wanted) -> usize {
    usize::try_from(wanted.1).unwrap_or(usize::MAX)
}

/// Notes what a segment has of ascending keys.
fn look_up(segment: &Segment, wanted: &[Wanted], lookup: &mut KeyLookup, found: &[AtomicU64]) -> Result<()> {
    let mut rest = wanted.chunk_by(|a, b| a.0 == b.0);
    loop {
        let some: Vec<&[Wanted]> = rest.by_ref().take(KeyLookup::MOST).collect();
        if some.is_empty() {
            return Ok(());
        }
        // A write that waits for memory delays the reads of what comes after it.
        some.iter().flat_map(|same| same.iter()).for_each(|wanted| prefetch(found, place_of(wanted)));
        let keys: Vec<u64> = some.iter().filter_map(|same| same.first()).map(|wanted| wanted.0).collect();
        lookup.find(&keys, segment, |place, ids| {
            let only = only_record(segment, place.records, ids)?;
            // A greater number, of a damaged file, would not fit the code.
            let only = only.filter(|&number| number < u64::MAX / 2);
            let code = only.map_or(Found::Rank(place.rank), Found::Record).code();
            let same = some.get(place.at).copied().unwrap_or_default();
            let places = same.iter().filter_map(|wanted| found.get(place_of(wanted)));
            places.for_each(|place| place.store(code, Relaxed));
            Ok(())
        })?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_found_fits_eight_bytes() {
        let all = [Found::Nothing, Found::Record(0), Found::Record(u64::MAX / 2 - 1), Found::Rank(0)];
        for found in all.into_iter().chain([Found::Rank(7), Found::Record(7), Found::Rank(u64::MAX >> 1)]) {
            assert_eq!(Found::of(found.code()), found);
        }
    }

    #[test]
    fn keys_are_wanted_once_a_query_and_in_order() {
        let format = KeyFormat::default();
        let of = |keys: &'static [u64]| QueryKeys { keys, sketch: &[] };
        let queries = [of(&[5 << 20, 3 << 20, 5 << 20]), of(&[]), of(&[3 << 20, 1])];
        let (starts, wanted) = wanted(format, &queries);
        assert_eq!(starts, [0, 2, 2, 4]);
        assert_eq!(wanted, [(0, 2), (3 << 4, 0), (3 << 4, 3), (5 << 4, 1)]);
    }
}
