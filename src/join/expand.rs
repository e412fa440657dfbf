//! From pairs of fingerprints to pairs of records.

use crate::error::Result;
use crate::fingerprint::{Fingerprint, Id};
use crate::join::job::Progress;
use crate::join::ordered::{Output, Step};
use crate::join::pair::{Pair, RecordPairs};
use crate::join::taker::{Results, Taker, Ticket};
use crate::segment::Segment;
use crate::version::{IdLookup, Pieces};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Short ids of each fingerprint that are paired at once.
const IDS: usize = 64;
/// Bytes from which on a text id is long.
const LONG: usize = 256;
const LONG_IDS: usize = 8;

/// Makes pairs of records of pairs of fingerprints.
pub(crate) struct Expander<'a, F, T, A> {
    left: IdLookup<'a, F>,
    /// `None`: both fingerprints of a pair are on the left.
    right: Option<IdLookup<'a, F>>,
    gathered: T,
    is_empty: bool,
    add: &'a A,
    results: &'a Results<T>,
    /// Whether the pairs of two fingerprints come in the order of the ids.
    in_order: bool,
    /// Takes the smallest id of each fingerprint alone.
    first_only: bool,
    progress: &'a Progress,
}

impl<'a, F, T, A> Expander<'a, F, T, A>
where
    F: Fingerprint,
    T: Default + Send,
    A: Fn(&mut T, RecordPairs<'_, F>) -> ControlFlow<()>,
{
    pub(crate) fn new(
        left: &'a [Arc<Segment>],
        right: Option<&'a [Arc<Segment>]>,
        add: &'a A,
        results: &'a Results<T>,
        (in_order, first_only): (bool, bool),
        progress: &'a Progress,
    ) -> Self {
        let (left, right) = (IdLookup::new(left), right.map(IdLookup::new));
        Self { left, right, gathered: T::default(), is_empty: true, add, results, in_order, first_only, progress }
    }

    fn expand(&mut self, pair: Pair<F>, output: &Output<Ticket>) -> Step {
        let within = self.right.is_none();
        if self.first_only {
            return if within && pair.a == pair.b { Ok(()) } else { self.first(pair, output) };
        }
        let other = self.right.as_mut().unwrap_or(&mut self.left);
        let b = other.ids(pair.b)?;
        let a = self.left.ids(pair.a)?;
        match (a, b) {
            (Some(a), Some(_)) if within && pair.a == pair.b => self.triangle(pair, &a, output),
            (Some(a), Some(b)) => self.product(pair, &a, &b, output),
            _ => self.pieces(pair, output),
        }
    }

    /// The pair of the smallest ids.
    fn first(&mut self, pair: Pair<F>, output: &Output<Ticket>) -> Step {
        let b = first_id(self.right.as_mut().unwrap_or(&mut self.left), pair.b)?;
        let a = first_id(&mut self.left, pair.a)?;
        self.product(pair, a.as_slice(), b.as_slice(), output)
    }

    /// Pairs of the records of fingerprints with too many records for memory. Reads the ids of the second fingerprint
    /// again for each piece of those of the first or, if pairs come in order, for each single one.
    fn pieces(&mut self, pair: Pair<F>, output: &Output<Ticket>) -> Step {
        let left = self.left.segments();
        let right = self.right.as_ref().map_or(left, IdLookup::segments);
        let same = self.right.is_none() && pair.a == pair.b;
        let mut pieces = Pieces::new(left, pair.a)?;
        while let Some(piece) = pieces.next_piece()? {
            for ones in piece.chunks(if self.in_order { 1 } else { piece.len() }) {
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

    /// Each two of the ids of one fingerprint.
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

    fn product(&mut self, pair: Pair<F>, a: &[Id], b: &[Id], output: &Output<Ticket>) -> Step {
        let at_once_b = at_once(b);
        let at_once_a = if self.in_order && b.len() > at_once_b { 1 } else { at_once(a) };
        for a in a.chunks(at_once_a) {
            for b in b.chunks(at_once_b) {
                self.is_empty = false;
                if (self.add)(&mut self.gathered, RecordPairs { pair, a, b }).is_break() {
                    self.flush(output)?;
                }
            }
        }
        Ok(())
    }
}

/// The smallest id of a stored fingerprint.
fn first_id<F: Fingerprint>(lookup: &mut IdLookup<'_, F>, fingerprint: F) -> Result<Option<Id>> {
    if let Some(ids) = lookup.ids(fingerprint)? {
        return Ok(ids.first().cloned());
    }
    let piece = Pieces::new(lookup.segments(), fingerprint)?.next_piece()?;
    Ok(piece.and_then(|ids| ids.first().cloned()))
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
        if self.is_empty {
            return Ok(());
        }
        self.is_empty = true;
        self.progress.check()?;
        output.send(self.results.put(std::mem::take(&mut self.gathered)))
    }
}
