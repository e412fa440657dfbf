//! Merging ranges of a table, on one thread.

use crate::bits::low_mask;
use crate::codec::prefetch;
use crate::error::Result;
use crate::fingerprint::{Fingerprint, leading_ones, mask};
use crate::plan::TableForm;
use crate::query::batch::batch_budget::BatchBudget;
use crate::query::batch::flips::Flips;
use crate::query::batch::marks::{Marks, WORD_BITS};
use crate::query::batch::queries::SortedQueries;
use crate::query::batch::ranges::KeyRange;
use crate::query::probe::compare::{Found, NamedRow, ones, visit_rows};
use crate::query_stats::QueryStats;
use crate::segment::{Scratch, Segment, Table};
use std::ops::ControlFlow;

/// A stored fingerprint near a query, in the order of the primary table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Pair<F> {
    pub(crate) fingerprint: F,
    /// Its rank in the primary table, or [`u64::MAX`]: an `Option` would take eight bytes more.
    rank: u64,
    pub(crate) query: u32,
}

impl<F> Pair<F> {
    fn new(query: u32, Found { fingerprint, rank }: Found<F>) -> Self {
        Self { fingerprint, rank: rank.unwrap_or(u64::MAX), query }
    }

    /// The rank, if the table that found it knows it.
    pub(crate) fn rank(&self) -> Option<u64> {
        (self.rank < u64::MAX).then_some(self.rank)
    }
}

/// A table and the radius within which it sees the keys near a query.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sight<'a> {
    pub(crate) table: &'a Table,
    pub(crate) radius: u32,
}

impl Sight<'_> {
    /// Whether the table sees a fingerprint that differs from the query in these bits.
    #[inline]
    pub(crate) fn sees<F: Fingerprint>(&self, difference: F) -> bool {
        self.near(self.table.layout().permutation.head(difference))
    }

    /// As [`Sight::sees`], given the 64 leading bits of the permuted difference.
    #[inline]
    pub(crate) fn near(&self, head: u64) -> bool {
        (head & leading_ones(self.table.leading())).count_ones() <= self.radius
    }
}

/// The merge of the queries with one table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Job<'a, F> {
    pub(crate) segment: &'a Segment,
    pub(crate) queries: &'a [F],
    pub(crate) k: u32,
    pub(crate) own: Sight<'a>,
    /// The tables before this one.
    pub(crate) earlier: &'a [Sight<'a>],
    pub(crate) sorted: &'a SortedQueries,
    pub(crate) budget: &'a BatchBudget,
}

/// A decoded key whose prefix some query asks for.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    /// The place of its prefix in the range.
    place: u32,
    /// The key followed by zeros, or its 64 leading bits.
    head: u64,
    /// The number of its row, or its rank in the primary table; without meaning in other tables.
    row: u64,
}

/// A query that asks for prefixes of candidates.
#[derive(Clone, Copy, Debug)]
struct Meeting {
    word: u32,
    places: u64,
    /// Its position among the sorted queries.
    at: usize,
}

/// Pairs or named rows that are gathered between two checks.
const MANY: usize = 1 << 13;

/// Merges ranges of a table and keeps the pairs.
#[derive(Debug)]
pub(crate) struct Worker<'a, F> {
    job: Job<'a, F>,
    flips: Flips,
    /// Prefixes that queries ask for.
    asked: Marks,
    /// Prefixes of candidates.
    met: Marks,
    candidates: Vec<Candidate>,
    meetings: Vec<Meeting>,
    most_meetings: usize,
    rows: Vec<NamedRow>,
    scratch: Scratch,
    pub(crate) stats: QueryStats,
    pub(crate) pairs: Vec<Pair<F>>,
    /// Number of pairs that the budget has counted.
    counted: usize,
}

impl<'a, F: Fingerprint> Worker<'a, F> {
    /// On a thread of a crew.
    pub(crate) fn new(job: Job<'a, F>) -> Self {
        let most_meetings = job.budget.list(rayon::current_num_threads()) / size_of::<Meeting>() as u64;
        let most_meetings = usize::try_from(most_meetings).unwrap_or(usize::MAX);
        Self {
            job,
            flips: Flips::default(),
            asked: Marks::default(),
            met: Marks::default(),
            candidates: Vec::new(),
            meetings: Vec::new(),
            most_meetings,
            rows: Vec::new(),
            scratch: Scratch::default(),
            stats: QueryStats::default(),
            pairs: Vec::new(),
            counted: 0,
        }
    }

    /// Finds the pairs of a range.
    pub(crate) fn merge(&mut self, range: &KeyRange) -> Result<()> {
        if self.job.budget.is_full() {
            return Ok(());
        }
        let bits = range.prefix - range.common;
        self.flips.prepare(range, self.job.own.radius);
        let probes = self.flips.count(range, self.job.sorted);
        self.stats.probes += probes;
        if probes == 0 {
            return Ok(());
        }
        self.asked.clear(bits);
        self.flips.each(range, self.job.sorted, |word, places, _| self.asked.set(word, places));
        self.decode(range, probes)?;
        if self.candidates.is_empty() {
            return Ok(());
        }
        self.compare(range)
    }

    /// Decodes the blocks of the range and keeps the keys with a marked prefix.
    fn decode(&mut self, range: &KeyRange, probes: u64) -> Result<()> {
        /// With fewer probes a block, a check for marks comes before decoding.
        const FEW: u64 = 6;
        let table = self.job.own.table;
        let (index, form) = (table.index(), table.form());
        // Stored keys are shorter than 64 bits by this.
        let shift = if form == TableForm::Rows { 0 } else { form.shift() };
        let down = 64 - range.prefix - shift;
        let mask = low_mask(range.prefix - range.common);
        let last_key = range.first | !leading_ones(range.common);
        let place = |head: u64| head.clamp(range.first, last_key).checked_shr(64 - range.prefix).unwrap_or(0) & mask;
        let looks = probes < FEW * range.blocks.len() as u64;
        self.candidates.clear();
        for block in range.blocks.clone() {
            table.prefetch_ahead(block);
            let before = block.checked_sub(1).map_or(Ok(None), |before| index.key(before))?.unwrap_or(0);
            let last = index.key(block)?.unwrap_or(u64::MAX);
            if looks && !self.asked.any(place(before), place(last)) {
                continue;
            }
            self.stats.blocks += 1;
            let mut keys = match form {
                TableForm::Rows => table.heads(block, &mut self.scratch)?,
                _ => table.block(block, &mut self.scratch)?,
            };
            let mut skipped = 0;
            if before < range.first || last > last_key {
                skipped = keys.partition_point(|key| key << shift < range.first);
                let end = keys.partition_point(|key| key << shift <= last_key);
                keys = keys.get(skipped..end).unwrap_or_default();
            }
            let known = self.candidates.len();
            for (chunk, first) in keys.chunks(64).zip((skipped as u64..).step_by(64)) {
                for position in ones(self.asked.among(chunk, down, mask)) {
                    let Some(&key) = chunk.get(position) else { break };
                    let place = (key >> (down % 64) & mask) as u32;
                    self.candidates.push(Candidate { place, head: key << shift, row: first + position as u64 });
                }
            }
            let new = self.candidates.iter_mut().skip(known);
            if let TableForm::Narrow { row, .. } = form {
                new.for_each(|one| one.row = one.head >> shift & low_mask(row));
            } else if table.is_first() && new.len() > 0 {
                let rank = index.rank(block)?;
                new.for_each(|one| one.row += rank);
            }
        }
        Ok(())
    }

    /// Compares the candidates with the queries that ask for their prefixes.
    fn compare(&mut self, range: &KeyRange) -> Result<()> {
        let Job { sorted, queries, budget, .. } = self.job;
        self.met.clear(range.prefix - range.common);
        self.candidates.iter().for_each(|one| self.met.set(one.place >> WORD_BITS, 1 << (one.place % 64)));
        let (met, meetings, most) = (&self.met, &mut self.meetings, self.most_meetings);
        meetings.clear();
        self.flips.each(range, sorted, |word, places, at| {
            let places = places & met.word(word.into());
            if places != 0 && meetings.len() <= most {
                meetings.push(Meeting { word, places, at });
            }
        });
        if meetings.len() > most {
            budget.exceed();
            return Ok(());
        }
        let meetings = std::mem::take(&mut self.meetings);
        // All queries are prefetched before the first is compared.
        meetings.iter().for_each(|meeting| prefetch(queries, sorted.number(meeting.at) as usize));
        for &meeting in &meetings {
            self.meet(meeting);
            if self.rows.len() >= MANY {
                self.compare_rows()?;
            }
            if self.pairs.len() - self.counted >= MANY && !self.count_pairs() {
                break;
            }
        }
        self.meetings = meetings;
        self.compare_rows()?;
        self.count_pairs();
        Ok(())
    }

    /// Takes the bytes of the new pairs from the budget; whether it sufficed.
    fn count_pairs(&mut self) -> bool {
        // Lists grow by doubling, and are copied once to be sorted.
        let bytes = 3 * (self.pairs.len() - self.counted) * size_of::<Pair<F>>();
        self.counted = self.pairs.len();
        self.job.budget.take(bytes as u64)
    }

    /// Compares a query with the candidates at the places that it asks for.
    fn meet(&mut self, Meeting { word, places, at }: Meeting) {
        let Job { own, k, queries, earlier, sorted, .. } = self.job;
        let number = sorted.number(at);
        let Some(&query) = queries.get(number as usize) else { return };
        let permutation = &own.table.layout().permutation;
        let whole = own.table.form() == TableForm::Full;
        let head = permutation.head(query);
        let from = self.candidates.partition_point(|one| one.place >> WORD_BITS < word);
        for one in self.candidates.iter().skip(from).take_while(|one| one.place >> WORD_BITS == word) {
            let difference = head ^ one.head;
            if places >> (one.place % 64) & 1 == 0 || !own.near(difference) {
                continue;
            }
            if !whole {
                self.rows.push(NamedRow { query: number, row: one.row });
                continue;
            }
            self.stats.candidates += 1;
            if difference.count_ones() > k {
                continue;
            }
            let difference = F::from_words(|_| permutation.invert(difference));
            if earlier.iter().any(|table| table.sees(difference)) {
                continue;
            }
            let fingerprint = F::from_words(|_| permutation.invert(one.head));
            let rank = own.table.is_first().then_some(one.row);
            self.pairs.push(Pair::new(number, Found { fingerprint, rank }));
        }
    }

    /// Compares the named rows with their queries.
    fn compare_rows(&mut self) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let Job { segment, queries, k, earlier, .. } = self.job;
        let pairs = &mut self.pairs;
        let visit = |number: usize, found: Found<F>| {
            let Some(&query) = queries.get(number) else { return ControlFlow::Continue(()) };
            let difference = mask::xor(query, found.fingerprint);
            if !earlier.iter().any(|table| table.sees(difference)) {
                pairs.push(Pair::new(number as u32, found));
            }
            ControlFlow::<()>::Continue(())
        };
        let _ = visit_rows(segment, (queries, k), &self.rows, &mut self.scratch, &mut self.stats, visit)?;
        self.rows.clear();
        Ok(())
    }
}
