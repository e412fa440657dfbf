//! fpstore
mod bits;
mod codec;
mod error;
mod fingerprint;
mod format;
mod plan;
pub use error::{Error, ErrorKind, Result};
