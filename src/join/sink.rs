//! What takes the results of a join.

use crate::error::Result;
use crate::join::ordered::Parcel;
use std::ops::ControlFlow;

/// Takes results in order; breaks when it wants no more. Its errors end the join.
pub(crate) type Sink<'a> = dyn FnMut(Parcel) -> Result<ControlFlow<()>> + 'a;
