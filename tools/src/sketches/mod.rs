//! Writes sketches of documents as lines, JSON objects, CSV or Parquet, to standard output or to a file.
//!
//! Threads turn each [`Sketch`] into a [`Row`] and format it there; a [`Sink`] writes the rows in the order in which it
//! receives them. A file appears under its name only when it is complete; its name determines format and compression.
//! The hasher is in the first line of a text, and in the metadata of a Parquet file under [`HEADER_KEY`].

#[cfg_attr(not(feature = "parquet"), path = "parquet_missing.rs")]
mod parquet;
mod sink;
mod sketch;

pub use sink::Sink;
pub use sketch::{Kind, Row, Sketch, Style};

pub use crate::input::HEADER_KEY;
