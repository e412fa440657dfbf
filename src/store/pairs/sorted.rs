//! Pairs in the order of their fingerprints: sorted, beyond memory where they are many, before the first is returned.

use super::{LOT, Lots, Pair, Pairs};
use crate::bulk::Item;
use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::{MakeTaker, Output, Parcel, Sink, Taker, ordered, pool, unpacked};
use std::ops::ControlFlow;

/// Two fingerprints to be sorted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Sortable<F>(F, F);

impl<F: Fingerprint> Item for Sortable<F> {
    const BYTES: usize = 2 * <F as Fingerprint>::BYTES;

    fn key(&self) -> u64 {
        self.0.word(0)
    }

    fn write(&self, out: &mut Vec<u8>) {
        self.0.write_le(out);
        self.1.write_le(out);
    }

    fn read(bytes: &[u8]) -> Self {
        let (a, b) = bytes.split_at_checked(<F as Fingerprint>::BYTES).unwrap_or_default();
        let number = |bytes| F::from_le_bytes(bytes).unwrap_or_default();
        Self(number(a), number(b))
    }
}

impl<F: Fingerprint> Pairs<F> {
    /// Hands all pairs to takers in order; with those of equal fingerprints within one store, if they are wanted.
    pub(super) fn visit_sorted(
        &self,
        repeated: bool,
        taker: MakeTaker<'_, F>,
        sink: &mut dyn Sink<Parcel>,
    ) -> Result<()> {
        let half = self.means.memory / 2;
        let mut sorter = self.means.workspace(half).sorter(half);
        let sortable = |pairs: &[Pair<F>]| pairs.iter().map(|pair| Sortable(pair.a, pair.b)).collect::<Vec<_>>();
        let gather = || -> Box<dyn Taker<F> + '_> { Box::new(Lots::new(&sortable)) };
        let mut take = unpacked(|lot: Vec<Sortable<F>>| sorter.extend(&lot).map(ControlFlow::Continue));
        if repeated && self.right.is_none() {
            let _ = self.visit_repeated(&gather, &mut take)?;
        }
        let mut finding = self.clone().with_memory(half).from_phase(0);
        finding.means.progress = self.means.progress.clone();
        finding.run(&gather, &mut take)?;
        drop(take);
        let (sorted, pool) = (sorter.finish()?, pool()?);
        for chunk in sorted.chunks(half) {
            let chunk = chunk?;
            let work = |taker: &mut Box<dyn Taker<F> + '_>, lot: &[Sortable<F>], output: &Output| {
                self.means.progress.check()?;
                let pairs: Vec<(F, F)> = lot.iter().map(|&Sortable(a, b)| (a, b)).collect();
                taker.take(&pairs, output)?;
                taker.flush(output)
            };
            if ordered(&pool, chunk.chunks(LOT).collect(), taker, work, &mut |result| sink.take(result))?.is_break() {
                break;
            }
        }
        Ok(())
    }
}
