//! Pairs in the order of their fingerprints: all are sorted, on disk if they exceed the memory, before the first is
//! returned.

use crate::error::Result;
use crate::extsort::Sorter;
use crate::fingerprint::Fingerprint;
use crate::join::ordered::{Output, ordered};
use crate::join::pair::Pair;
use crate::join::pairs::Pairs;
use crate::join::taker::{CHUNK, MakeTaker, PairChunks, Results, Sink, Taker, Ticket};
use std::ops::ControlFlow;

impl<F: Fingerprint> Pairs<F> {
    /// Hands all pairs to takers in order; if `repeated` is set, including pairs of equal fingerprints within one
    /// store.
    pub(crate) fn visit_sorted(&self, repeated: bool, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<()> {
        let half = self.job.memory / 2;
        let mut sorter = Sorter::new(&self.job.workspace(half), half);
        let both = |pairs: &[Pair<F>]| pairs.iter().map(|pair| (pair.a, pair.b)).collect::<Vec<_>>();
        let gathered = Results::new();
        let gather = || -> Box<dyn Taker<F> + '_> { Box::new(PairChunks::new(&both, &gathered)) };
        let mut take = gathered.taken_by(|chunk: Vec<(F, F)>| sorter.extend(&chunk).map(ControlFlow::Continue));
        if repeated && self.has_repeated() {
            let _ = self.visit_repeated(&gather, &mut take)?;
        }
        self.run(half, &gather, &mut take)?;
        drop(take);
        let (sorted, crew) = (sorter.finish()?, self.job.executor.crew()?);
        for chunk in sorted.chunks(half) {
            let chunk = chunk?;
            let work = |taker: &mut Box<dyn Taker<F> + '_>, chunk: &[(F, F)], output: &Output<Ticket>| {
                self.job.progress.check()?;
                taker.take(chunk, output)?;
                taker.flush(output)
            };
            if ordered(None, &crew, chunk.chunks(CHUNK).collect(), taker, work, sink)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
