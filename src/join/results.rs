//! Results of a type that the join does not know.
//!
//! The join hands on tickets, so it is compiled once for every width and not again for every type of result.

use crate::error::Result;
use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

/// Stands for a result.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ticket(usize);

/// Results that were made and not yet taken.
#[derive(Debug)]
pub(crate) struct Results<T>(Mutex<Slots<T>>);

#[derive(Debug)]
struct Slots<T> {
    results: Vec<Option<T>>,
    free: Vec<usize>,
}

impl<T> Default for Results<T> {
    fn default() -> Self {
        Self(Mutex::new(Slots { results: Vec::new(), free: Vec::new() }))
    }
}

impl<T> Results<T> {
    /// Keeps a result until its ticket comes back.
    pub(crate) fn put(&self, result: T) -> Ticket {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Slots { results, free } = &mut *slots;
        let number = free.pop().unwrap_or(results.len());
        match results.get_mut(number) {
            Some(slot) => *slot = Some(result),
            None => results.push(Some(result)),
        }
        Ticket(number)
    }

    fn take(&self, Ticket(number): Ticket) -> Option<T> {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let result = slots.results.get_mut(number)?.take();
        slots.free.push(number);
        result
    }

    /// Takes results for their tickets, for a function that takes results.
    pub(crate) fn taken_by(
        &self,
        mut sink: impl FnMut(T) -> Result<ControlFlow<()>>,
    ) -> impl FnMut(Ticket) -> Result<ControlFlow<()>> {
        move |ticket| self.take(ticket).map_or(Ok(ControlFlow::Continue(())), &mut sink)
    }
}
