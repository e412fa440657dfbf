//! What is known of records before the first of them is there.

use std::fmt::Debug;

/// What is known of the records before the first of them is there.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Expected {
    /// The number of the first one without an id.
    pub(crate) first_number: u64,
    /// Bytes of all texts, roughly.
    pub(crate) text_bytes: u64,
    /// Whether they come in one batch, if there are any.
    pub(crate) at_once: bool,
}
