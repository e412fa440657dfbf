//! Pairs of fingerprints that one crew finds and another one takes, some at a time.
//!
//! A pair of fingerprints with a thousand records each is a million pairs of records, and in real sets such pairs are
//! found one after another. So the threads that find pairs do not make results of them: the pairs are gathered, and
//! dealt to takers a few at a time. The order of the results does not depend on that.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::ordered::{Output, ordered};
use crate::join::pair::Pair;
use crate::join::pairs::Pairs;
use crate::join::taker::{MakeTaker, PairChunks, Results, Sink, Taker, Ticket};
use rayon::ThreadPool;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Most pairs that a thread takes at a time.
const TASK: usize = 512;
/// Least tasks for each thread, if there are as many pairs.
const TASKS: usize = 4;
/// Most pairs of a lot.
const LOT: usize = 1 << 16;
/// A lot takes at most this part of the memory.
const LOT_OF_MEMORY: u64 = 16;
/// After this time the next pairs that are found end a lot, so that results come during a long search.
const SOON: Duration = Duration::from_millis(100);

impl<F: Fingerprint> Pairs<F> {
    /// Hands all pairs to takers, those of equal fingerprints within one store first.
    pub(super) fn visit_in_lots(&self, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<()> {
        let each = size_of::<(F, F)>();
        let most = usize::try_from(self.job.memory / LOT_OF_MEMORY).unwrap_or(usize::MAX);
        let most = (most / each).clamp(1, LOT);
        let (crew, mut lot) = (self.job.executor.crew()?, Vec::new());
        // The first pairs are a lot of their own.
        let mut taken: Option<Instant> = None;
        let gathered = Results::new();
        let gather = || -> Box<dyn Taker<F> + '_> { Box::new(PairChunks::new(&both, &gathered)) };
        let mut take = gathered.taken_by(|found: Vec<(F, F)>| {
            lot.extend(found);
            if lot.len() < most && taken.is_some_and(|taken| taken.elapsed() < SOON) {
                return Ok(ControlFlow::Continue(()));
            }
            let step = self.take_lot(&crew, &std::mem::take(&mut lot), taker, sink)?;
            taken = Some(Instant::now());
            Ok(step)
        });
        let memory = self.job.memory - (most * each) as u64;
        let mut search = || {
            if self.has_repeated() && self.visit_repeated(&gather, &mut take)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            self.run(memory, &gather, &mut take)
        };
        let found = search();
        drop(take);
        // What was found before an error is handed on, too.
        if !matches!(found, Ok(ControlFlow::Break(()))) {
            let _ = self.take_lot(&crew, &lot, taker, sink)?;
        }
        found.map(drop)
    }

    /// Deals pairs to takers.
    pub(super) fn take_lot(
        &self,
        crew: &ThreadPool,
        lot: &[(F, F)],
        taker: MakeTaker<'_, F>,
        sink: &mut Sink<'_>,
    ) -> Result<ControlFlow<()>> {
        let work = |taker: &mut Box<dyn Taker<F> + '_>, pairs: &[(F, F)], output: &Output<Ticket>| {
            self.job.progress.check()?;
            taker.take(pairs, output)?;
            taker.flush(output)
        };
        let task = lot.len().div_ceil(TASKS * crew.current_num_threads()).clamp(1, TASK);
        ordered(None, crew, lot.chunks(task).collect(), taker, work, sink)
    }
}

/// Pairs as takers get them.
pub(super) fn both<F: Fingerprint>(pairs: &[Pair<F>]) -> Vec<(F, F)> {
    pairs.iter().map(|pair| (pair.a, pair.b)).collect()
}
