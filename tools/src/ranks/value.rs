//! A value of a column.

/// A value that records are ordered by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// No value: it comes last.
    None,
    /// An integer, such as a number, a date, or 0 or 1 for false and true.
    Integer(i128),
    /// A number; NaN is no value.
    Float(f64),
    /// A text, or any bytes.
    Text(&'a [u8]),
    /// A text that may be a number: it is one if all values of the column are. The empty one is no value.
    Cell(&'a [u8]),
}
