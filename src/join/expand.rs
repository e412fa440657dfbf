//! From pairs of fingerprints to pairs of records.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id};
use crate::join::job::Progress;
use crate::join::ordered::{Output, ordered};
use crate::join::pair::{Pair, RecordPairs};
use crate::join::pairs::Pairs;
use crate::join::results::{Results, Ticket};
use crate::join::sink::Sink;
use crate::join::stop::Step;
use crate::join::taker::{MakeTaker, Taker};
use crate::segment::Segment;
use crate::version::{IdLookup, Pieces, RecordIter, Share};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Ids of each fingerprint that are paired at once, where they are short; long ones are fewer.
const IDS: usize = 64;
/// Text ids are long from so many bytes on.
const LONG: usize = 256;
/// Long ids that are paired at once.
const LONG_IDS: usize = 8;
/// Fingerprints of which a thread gathers those with several records.
const SHARE: u64 = 1 << 16;

/// Pairs the records of fingerprints.
pub(crate) struct Expander<'a, F, T, A> {
    left: IdLookup<'a, F>,
    /// None: both are of the left one.
    right: Option<IdLookup<'a, F>>,
    gathered: T,
    empty: bool,
    /// What an expander is made with.
    how: How<'a, T, A>,
}

/// What is done with pairs of records.
pub(crate) struct How<'a, T, A> {
    pub(crate) add: &'a A,
    pub(crate) results: &'a Results<T>,
    /// Whether those of two fingerprints come by their ids.
    pub(crate) in_order: bool,
    pub(crate) progress: &'a Progress,
}

impl<T, A> Clone for How<'_, T, A> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T, A> Copy for How<'_, T, A> {}

impl<'a, F, T, A> Expander<'a, F, T, A>
where
    F: Fingerprint,
    T: Default + Send,
    A: Fn(&mut T, RecordPairs<'_, F>) -> ControlFlow<()>,
{
    pub(crate) fn new(left: &'a [Arc<Segment>], right: Option<&'a [Arc<Segment>]>, how: How<'a, T, A>) -> Self {
        let (left, right) = (IdLookup::new(left), right.map(IdLookup::new));
        Self { left, right, gathered: T::default(), empty: true, how }
    }

    /// All pairs of records of two fingerprints.
    fn expand(&mut self, pair: Pair<F>, output: &Output<Ticket>) -> Step {
        let within = self.right.is_none();
        let other = self.right.as_mut().unwrap_or(&mut self.left);
        let b = other.ids(pair.b)?;
        let a = self.left.ids(pair.a)?;
        match (a, b) {
            (Some(a), Some(_)) if within && pair.a == pair.b => self.triangle(pair, &a, output),
            (Some(a), Some(b)) => self.product(pair, &a, &b, output),
            _ => self.pieces(pair, output),
        }
    }

    /// Pairs of fingerprints that have too many records for memory: the ids of the second are read again for each piece of those of the
    /// first or, if they are to come in order, for each one of them.
    fn pieces(&mut self, pair: Pair<F>, output: &Output<Ticket>) -> Step {
        let left = self.left.segments();
        let right = self.right.as_ref().map_or(left, IdLookup::segments);
        let same = self.right.is_none() && pair.a == pair.b;
        let mut pieces = Pieces::new(left, pair.a)?;
        while let Some(piece) = pieces.next_piece()? {
            for ones in piece.chunks(if self.how.in_order { 1 } else { piece.len() }) {
                let mut others = Pieces::new(right, pair.b)?;
                while let Some(others) = others.next_piece()? {
                    if !same {
                        self.product(pair, ones, &others, output)?;
                        continue;
                    }
                    for one in ones {
                        let behind = others.get(others.partition_point(|id| id <= one)..).unwrap_or_default();
                        self.product(pair, std::slice::from_ref(one), behind, output)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// Every two of some ids of one fingerprint.
    fn triangle(&mut self, pair: Pair<F>, ids: &[Id], output: &Output<Ticket>) -> Step {
        if let [Id::Count(count)] = ids {
            let several = if *count > 1 { ids } else { &[] };
            return self.product(pair, several, several, output);
        }
        let mut rest = ids;
        while let Some((one, others)) = rest.split_first() {
            self.product(pair, std::slice::from_ref(one), others, output)?;
            rest = others;
        }
        Ok(())
    }

    /// Each of some ids with each of some others.
    fn product(&mut self, pair: Pair<F>, a: &[Id], b: &[Id], output: &Output<Ticket>) -> Step {
        let at_once_b = at_once(b);
        let at_once_a = if self.how.in_order && b.len() > at_once_b { 1 } else { at_once(a) };
        for a in a.chunks(at_once_a) {
            for b in b.chunks(at_once_b) {
                self.empty = false;
                if (self.how.add)(&mut self.gathered, RecordPairs { pair, a, b }).is_break() {
                    self.flush(output)?;
                }
            }
        }
        Ok(())
    }
}

fn at_once(ids: &[Id]) -> usize {
    let long = ids.iter().any(|id| id.text().is_some_and(|text| text.len() >= LONG));
    if long { LONG_IDS } else { IDS }
}

impl<F, T, A> Taker<F> for Expander<'_, F, T, A>
where
    F: Fingerprint,
    T: Default + Send,
    A: Fn(&mut T, RecordPairs<'_, F>) -> ControlFlow<()>,
{
    fn take(&mut self, pairs: &[(F, F)], output: &Output<Ticket>) -> Step {
        pairs.iter().try_for_each(|&(a, b)| self.expand(Pair { a, b }, output))
    }

    fn flush(&mut self, output: &Output<Ticket>) -> Step {
        if self.empty {
            return Ok(());
        }
        self.empty = true;
        self.how.progress.check()?;
        output.send(self.how.results.put(std::mem::take(&mut self.gathered)))
    }
}

impl<F: Fingerprint> Pairs<F> {
    /// Hands each fingerprint that has several records to takers, as a pair with itself.
    pub(crate) fn visit_repeated(&self, taker: MakeTaker<'_, F>, sink: &mut Sink<'_>) -> Result<ControlFlow<()>> {
        let shares = Share::of_size(self.left.ready(), SHARE)?;
        let work = |taker: &mut Box<dyn Taker<F> + '_>, share: Share, output: &Output<Ticket>| {
            self.job.progress.check()?;
            let mut last = None;
            let mut repeated = None;
            for record in RecordIter::<F>::of_share(self.left.ready(), share)? {
                let record = record?;
                let counted = matches!(record.id, Id::Count(count) if count > 1);
                let again = last == Some(record.fingerprint) && repeated != last;
                if counted || again {
                    taker.take(&[(record.fingerprint, record.fingerprint)], output)?;
                    repeated = Some(record.fingerprint);
                }
                last = Some(record.fingerprint);
            }
            taker.flush(output)
        };
        ordered(&*self.job.executor.crew()?, shares, taker, work, sink)
    }
}
