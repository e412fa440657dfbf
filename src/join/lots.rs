//! Pairs of fingerprints that one crew finds and another one takes, some at a time.
//!
//! A pair of fingerprints with a thousand records each is a million pairs of records, and in real sets such pairs are
//! near each other. So the threads that find pairs do not make results of them: the pairs are gathered, and dealt to
//! takers a few at a time. The order of the results does not depend on that.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::ordered::{Output, ordered};
use crate::join::pair::Pair;
use crate::join::pairs::Pairs;
use crate::join::taker::{MakeTaker, PairChunks, Results, Sink, Taker, Ticket};
use rayon::ThreadPool;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Pairs that a thread takes at a time.
const TASK: usize = 128;
/// Most pairs of a lot.
const LOT: usize = 1 << 16;
/// The part of the memory that a lot may take.
const PART: u64 = 16;
/// After this time a smaller lot is taken, so that the first results of a long search come soon.
const SOON: Duration = Duration::from_millis(100);

impl<F: Fingerprint> Pairs<F> {
    /// Hands all pairs to takers, those of equal fingerprints within one store first.
    pub(super) fn visit_in_lots(&self, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<()> {
        let bytes = self.job.memory / PART;
        let most = usize::try_from(bytes).unwrap_or(LOT).div_ceil(size_of::<(F, F)>()).min(LOT);
        let (crew, mut lot, mut taken) = (self.job.executor.crew()?, Vec::new(), Instant::now());
        let gathered = Results::new();
        let gather = || -> Box<dyn Taker<F> + '_> { Box::new(PairChunks::new(&both, &gathered)) };
        let mut take = gathered.taken_by(|found: Vec<(F, F)>| {
            lot.extend(found);
            if lot.len() < most && taken.elapsed() < SOON {
                return Ok(ControlFlow::Continue(()));
            }
            let step = self.take_lot(&crew, &lot, taker, sink)?;
            lot.clear();
            taken = Instant::now();
            Ok(step)
        });
        let memory = self.job.memory - bytes;
        if (self.has_repeated() && self.visit_repeated(&gather, &mut take)?.is_break())
            || self.run(memory, &gather, &mut take)?.is_break()
        {
            return Ok(());
        }
        drop(take);
        self.take_lot(&crew, &lot, taker, sink).map(drop)
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
        ordered(None, crew, lot.chunks(TASK).collect(), taker, work, sink)
    }
}

/// The fingerprints of pairs.
pub(super) fn both<F: Fingerprint>(pairs: &[Pair<F>]) -> Vec<(F, F)> {
    pairs.iter().map(|pair| (pair.a, pair.b)).collect()
}
