//! Sketches of documents on their way out: lines, JSON objects, CSV or Parquet, to standard output or to a file.
//!
//! Threads make a [`Row`] of each [`Sketch`], whose text is made there; a [`Sink`] writes them in the order in which it is
//! given them. A file appears under its name when it is whole, and only then; its name tells format and compression. What
//! made the sketches stands in the first line of a text, and in the metadata of a Parquet file under [`HEADER_KEY`].

#[cfg_attr(not(feature = "parquet"), path = "parquet_missing.rs")]
mod parquet;
mod sink;
mod sketch;

pub use sink::Sink;
pub use sketch::{Kind, Row, Sketch, Style};

pub use crate::input::HEADER_KEY;
