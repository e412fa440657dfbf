//! Columns of Arrow arrays, row by row.

mod dictionaries;
mod errors;
pub mod fingerprints;
mod ids;
mod key_lists;
mod texts;

pub use dictionaries::plain;
pub(crate) use errors::wrong_type;
pub use errors::{in_row, invalid};
pub use ids::IdColumn;
pub use key_lists::KeyLists;
pub use texts::TextColumn;
