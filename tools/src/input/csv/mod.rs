//! Rows of columns that a first row names, of which two matter: what the record is about, and its id.
//!
//! A `#fpstore` line may stand before the row of names; no other row is a remark, because a cell may begin with `#`. A
//! fingerprint is a cell of hexadecimal digits. The id is a cell of text; an empty one is as good as none. Rows with
//! more or fewer cells than there are names are refused: they were cut, or a comma was not quoted. So are quotes that swallow what
//! follows them (`quotes`).

mod quotes;
mod rows;
mod table;

pub(crate) use self::rows::{GivenUp, Rows};
pub(crate) use self::table::Table;
