//! Who takes results.

use crate::error::Result;
use std::ops::ControlFlow;

/// Takes results in order. Every closure that takes one and says whether to go on is a sink.
pub trait Sink<T> {
    /// Takes a result; breaks when there is no use for more.
    ///
    /// # Errors
    /// Those of whoever takes it; they end the work.
    fn take(&mut self, result: T) -> Result<ControlFlow<()>>;

    /// All results of the phases before this one have come. Work that begins with this phase goes on where this one ends.
    ///
    /// # Errors
    /// As [`Sink::take`].
    fn before_phase(&mut self, _phase: u32) -> Result<()> {
        Ok(())
    }
}

impl<T, C: FnMut(T) -> Result<ControlFlow<()>>> Sink<T> for C {
    fn take(&mut self, result: T) -> Result<ControlFlow<()>> {
        self(result)
    }
}
