//! Takers of the pairs that a thread finds, and the results that they make.
//!
//! The join passes tickets of results, so it is compiled once for each width and not for each type of result.

use crate::error::Result;
use crate::fingerprint::Fingerprint;
use crate::join::ordered::{Output, Step};
use crate::join::pair::Pair;
use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// Takes pairs on one of the threads of a crew.
pub(crate) trait Taker<F> {
    /// Takes some pairs, perhaps to keep them for later.
    fn take(&mut self, pairs: &[(F, F)], output: &Output<Ticket>) -> Step;

    fn flush(&mut self, output: &Output<Ticket>) -> Step;
}

pub(crate) type MakeTaker<'t, F> = &'t (dyn Fn() -> Box<dyn Taker<F> + 't> + Sync + 't);

/// Takes results in order; breaks when it wants no more. Its errors end the join.
pub(crate) type Sink<'a> = dyn FnMut(Ticket) -> Result<ControlFlow<()>> + 'a;

/// Stands for a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket(u64);

/// Results that wait for their tickets, and the number of the next ticket.
#[derive(Debug)]
pub(crate) struct Results<T>(Mutex<(u64, HashMap<u64, T>)>);

impl<T> Results<T> {
    pub(crate) fn new() -> Self {
        Self(Mutex::new((0, HashMap::new())))
    }

    /// Keeps a result until its ticket comes back.
    pub(crate) fn put(&self, result: T) -> Ticket {
        let mut results = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let ticket = results.0;
        results.0 += 1;
        results.1.insert(ticket, result);
        Ticket(ticket)
    }

    /// A sink of tickets for a sink of results.
    pub(crate) fn taken_by(
        &self,
        mut sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> impl FnMut(Ticket) -> Result<ControlFlow<()>> {
        move |Ticket(ticket)| {
            let result = self.0.lock().unwrap_or_else(PoisonError::into_inner).1.remove(&ticket);
            result.map_or(Ok(ControlFlow::Continue(())), &mut sink)
        }
    }
}

/// Pairs that are handed on together: few, because the results made of them may be large.
const CHUNK: usize = 2048;

/// Gathers pairs and makes a result of many at a time.
pub(crate) struct PairChunks<'a, F, T, M> {
    pairs: Vec<Pair<F>>,
    map: &'a M,
    results: &'a Results<T>,
}

impl<'a, F, T, M> PairChunks<'a, F, T, M> {
    pub(crate) fn new(map: &'a M, results: &'a Results<T>) -> Self {
        Self { pairs: Vec::new(), map, results }
    }
}

impl<F: Fingerprint, T: Send, M: Fn(&[Pair<F>]) -> T> Taker<F> for PairChunks<'_, F, T, M> {
    fn take(&mut self, pairs: &[(F, F)], output: &Output<Ticket>) -> Step {
        for chunk in pairs.chunks(CHUNK) {
            self.pairs.extend(chunk.iter().map(|&(a, b)| Pair { a, b }));
            if self.pairs.len() >= CHUNK {
                self.flush(output)?;
            }
        }
        Ok(())
    }

    fn flush(&mut self, output: &Output<Ticket>) -> Step {
        if self.pairs.is_empty() {
            return Ok(());
        }
        let made = (self.map)(&self.pairs);
        self.pairs.clear();
        output.send(self.results.put(made))
    }
}
