//! What takes the pairs that a thread finds.

use super::ordered::Output;
use super::stop::Step;
use crate::join::results::Ticket;

/// What is done with pairs on the threads that find them.
pub(crate) trait Taker<F> {
    /// Takes some pairs, perhaps to keep them for later.
    fn take(&mut self, pairs: &[(F, F)], output: &Output<Ticket>) -> Step;

    /// Hands on what it has kept.
    fn flush(&mut self, output: &Output<Ticket>) -> Step;
}

/// Makes a taker for a thread.
pub(crate) type MakeTaker<'t, F> = &'t (dyn Fn() -> Box<dyn Taker<F> + 't> + Sync + 't);
