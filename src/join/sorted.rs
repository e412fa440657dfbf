//! Pairs in the order of their fingerprints: sorted, beyond memory where they are many, before the first is returned.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::ordered::{Output, ordered, pool, unpacked};
use crate::join::pairs::{LOT, Lots, Pair, Pairs};
use crate::join::passes::{MakeTaker, Taker};
use crate::join::sink::Sink;
use std::ops::ControlFlow;

impl<F: Fingerprint> Pairs<F> {
    /// Hands all pairs to takers in order; with those of equal fingerprints within one store, if they are wanted.
    pub(crate) fn visit_sorted(&self, repeated: bool, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<()> {
        let half = self.means.memory / 2;
        let mut sorter = self.means.workspace(half).sorter(half);
        let both = |pairs: &[Pair<F>]| pairs.iter().map(|pair| (pair.a, pair.b)).collect::<Vec<_>>();
        let gather = || -> Box<dyn Taker<F> + '_> { Box::new(Lots::new(&both)) };
        let mut take = unpacked(|lot: Vec<(F, F)>| sorter.extend(&lot).map(ControlFlow::Continue));
        if repeated && self.right.is_none() {
            let _ = self.visit_repeated(&gather, &mut take)?;
        }
        let mut finding = self.clone().with_memory(half);
        finding.means.progress = self.means.progress.clone();
        finding.run(&gather, &mut take)?;
        drop(take);
        let (sorted, pool) = (sorter.finish()?, pool()?);
        for chunk in sorted.chunks(half) {
            let chunk = chunk?;
            let work = |taker: &mut Box<dyn Taker<F> + '_>, lot: &[(F, F)], output: &Output| {
                self.means.progress.check()?;
                taker.take(lot, output)?;
                taker.flush(output)
            };
            if ordered(&pool, chunk.chunks(LOT).collect(), taker, work, sink)?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
