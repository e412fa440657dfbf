//! Answers as record batches.

mod answers;
mod rows;

pub use answers::{Answers, Sender};
pub use rows::{BATCH, Kind, Layout, Rows};
