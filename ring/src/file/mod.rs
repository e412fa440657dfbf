//! The ring file: a ring as JSON, specified in `format-spec/ring.md`.
//!
//! Its bytes are hostile: whatever they hold, [`parse`] returns a ring that keeps every rule or an error that names the
//! broken one, within bounded memory. [`create`] and [`replace`] write a file aside, sync it and rename it, so there is
//! always a whole ring file or none.

mod format;
mod lock;
mod read;
mod write;

pub use format::{parse, print};
pub use lock::{Lock, former_path};
pub use read::read;
pub use write::{create, replace};
