//! Columns of Arrow arrays, row by row.

mod errors;
pub mod fingerprints;
mod ids;
mod key_lists;
mod texts;

pub use errors::invalid;
pub(crate) use errors::wrong_type;
pub use ids::IdColumn;
pub use key_lists::KeyLists;
pub use texts::TextColumn;
