//! Loading records with keys: into a key index.
//!
//! A [`KeySorter`] takes records with their keys and sketches (`sorter.rs`). The load numbers the records as they came,
//! after those that the store has, leaves out or replaces those whose ids are known (`known.rs`), and makes one run
//! (`load.rs`): a segment of records, whose fingerprints are their numbers, and one of keys. `beside.rs` numbers the
//! records of another index in the same way, and changes neither.

mod beside;
mod known;
mod load;
mod sorter;

pub(crate) use beside::Beside;
pub use load::KeyLoadReport;
pub(crate) use load::KnownIds;
pub use sorter::{KeySorter, SortedKeys};
