//! Code that the programs of fpstore share: common options, input formats, exit codes, output.
//!
//! Each program is a folder in `src/bin/`; a module is here if at least two of them need it. The interface of this
//! library serves these programs and makes no promise of stability. To embed a store, use the package `fpstore`.

pub mod allocator;
pub mod by_id;
pub mod common;
pub mod documents;
pub mod exit;
pub mod generate;
pub mod header;
pub mod health;
mod help;
pub mod input;
pub mod interrupt;
#[cfg(feature = "arrow")]
pub mod key_lists;
pub mod memory;
pub mod notice;
pub mod number;
pub mod output;
pub mod prediction;
pub mod program;
pub mod progress;
pub mod ranks;
pub mod repair_json;
pub mod report;
pub mod rows;
pub mod sharded;
pub mod size;
pub mod sketches;
pub mod sketching;
pub mod statistics;
pub mod svg;
pub mod text_options;
pub mod threads;
pub mod verified;
pub mod width;
