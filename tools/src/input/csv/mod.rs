//! Rows of named columns. The reader uses two of them: a record's value and its id.
//!
//! A `#fpstore` line may precede the row of names; no other row is a comment, because a cell may begin with `#`. A
//! fingerprint is a cell of hexadecimal digits. The id is a cell of text; an empty cell counts as no id. Rows with more
//! or fewer cells than names are rejected: they were cut, or a comma was not quoted. Quotes that are not closed are
//! rejected too (`quotes`).

mod quotes;
mod rows;
mod table;

pub(crate) use self::rows::{GivenUp, Rows};
pub(crate) use self::table::Table;
