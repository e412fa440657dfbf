//! Pairs in the order of their fingerprints: all are sorted, on disk if they exceed the memory, before the first is
//! returned.

use crate::error::Result;
use crate::extsort::Sorter;
use crate::fingerprint::Fingerprint;
use crate::join::lots::both;
use crate::join::pairs::Pairs;
use crate::join::taker::{MakeTaker, PairChunks, Results, Sink, Taker};
use std::ops::ControlFlow;

impl<F: Fingerprint> Pairs<F> {
    /// Hands all pairs to takers in order; if `repeated` is set, including pairs of equal fingerprints within one
    /// store.
    pub(crate) fn visit_sorted(&self, repeated: bool, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<()> {
        let half = self.job.memory / 2;
        let mut sorter = Sorter::new(&self.job.workspace(half), half);
        let gathered = Results::new();
        let gather = || -> Box<dyn Taker<F> + '_> { Box::new(PairChunks::new(&both, &gathered)) };
        let mut take = gathered.taken_by(|chunk: Vec<(F, F)>| sorter.extend(&chunk).map(ControlFlow::Continue));
        if repeated && self.has_repeated() {
            let _ = self.visit_repeated(&gather, &mut take)?;
        }
        let _ = self.run(half, &gather, &mut take)?;
        drop(take);
        let (sorted, crew) = (sorter.finish()?, self.job.executor.crew()?);
        for chunk in sorted.chunks(half) {
            if self.take_lot(&crew, &chunk?, taker, sink)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
