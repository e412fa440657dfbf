//! What takes the results of a join.

use crate::error::Result;
use crate::join::results::Ticket;
use std::ops::ControlFlow;

/// Takes results in order; breaks when it wants no more. Its errors end the join.
pub(crate) type Sink<'a> = dyn FnMut(Ticket) -> Result<ControlFlow<()>> + 'a;
