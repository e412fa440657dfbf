//! Tests of rings from outside: against brute force, against the definitions of the paper, and with hostile files.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::cast_precision_loss,
    reason = "a test that cannot go on fails"
)]

mod files;
mod goals;
mod placement;
mod properties;
mod support;
