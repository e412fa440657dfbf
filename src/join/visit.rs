//! Pairs handed on: one after another, or some at a time on the threads that find them.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::clean::CleanSegments;
use crate::join::expand::{Expander, How};
use crate::join::iter::{PairIter, RecordPairIter};
use crate::join::pair::{Pair, RecordPairs};
use crate::join::pairs::{PairChunks, Pairs};
use crate::join::results::Results;
use crate::join::taker::Taker;
use std::ops::ControlFlow;

impl<F: Fingerprint> Pairs<F> {
    /// Pairs of distinct fingerprints; between two stores, equal ones are pairs too.
    ///
    /// # Errors
    /// `Io` if no thread can be started; the iterator returns those of reading.
    pub fn distinct(self) -> Result<PairIter<F>> {
        PairIter::new(self)
    }

    /// Pairs of records.
    ///
    /// # Errors
    /// As [`Pairs::distinct`].
    pub fn records(self) -> Result<RecordPairIter<F>> {
        RecordPairIter::new(self)
    }

    /// Calls `sink` with all pairs of distinct fingerprints, some at a time and in order, after `map` has made something of
    /// them on the threads that find them. Ends when `sink` breaks.
    ///
    /// # Errors
    /// `Damaged` or `Io` from reading, or from temporary files; those of `sink`.
    pub fn visit_distinct<T: Send>(
        &self,
        map: impl Fn(&[Pair<F>]) -> T + Sync,
        sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.prepare()?;
        let results = Results::default();
        let taker = || -> Box<dyn Taker<F> + '_> { Box::new(PairChunks::new(&map, &results)) };
        let mut sink = results.taken_by(sink);
        if self.sorted { self.visit_sorted(false, &taker, &mut sink) } else { self.run(&taker, &mut sink) }
    }

    /// Calls `sink` with what was gathered of all pairs of records, in order, until it breaks. `add` is called on the threads
    /// that find them, and breaks when so much was gathered that it is to be handed on.
    ///
    /// # Errors
    /// As [`Pairs::visit_distinct`].
    pub fn visit_records<T: Default + Send>(
        &self,
        add: impl Fn(&mut T, RecordPairs<'_, F>) -> ControlFlow<()> + Sync,
        sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> Result<()> {
        self.prepare()?;
        let results = Results::default();
        let how = How { add: &add, results: &results, in_order: self.sorted, progress: &self.job.progress };
        let expander = || Expander::new(self.left.ready(), self.right.as_ref().map(CleanSegments::ready), how);
        let taker = || -> Box<dyn Taker<F> + '_> { Box::new(expander()) };
        let mut sink = results.taken_by(sink);
        if self.sorted {
            return self.visit_sorted(true, &taker, &mut sink);
        }
        if self.right.is_none() && self.visit_repeated(&taker, &mut sink)?.is_break() {
            return Ok(());
        }
        self.run(&taker, &mut sink)
    }

    /// Has the segments of both sides at hand.
    fn prepare(&self) -> Result<()> {
        self.left.segments::<F>(&self.job)?;
        self.right.as_ref().map_or(Ok(()), |right| right.segments::<F>(&self.job).map(|_| ()))
    }
}
