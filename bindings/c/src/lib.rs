//! The C ABI of fpstore: `include/fpstore.h`, which cbindgen makes of these files.
//!
//! Each function of the header checks its arguments, calls `fpstore-bindings` or the library, and gives back a kind of
//! error. `border.rs` keeps panics within; `given.rs` and `versioned.rs` are the places where pointers of callers
//! become values. `unsafe` code relies on the rules at the beginning of the header (`cbindgen.toml`).
#![allow(non_camel_case_types, reason = "the names of the header")]
#![allow(clippy::missing_safety_doc, reason = "the beginning of the header says what callers owe, for all functions")]
#![warn(clippy::undocumented_unsafe_blocks)]

pub mod admin;
pub mod border;
pub mod clusters;
pub mod columns;
mod given;
pub mod id;
pub mod ids;
pub mod keys;
pub mod load;
pub mod options;
pub mod pairs;
pub mod query;
pub mod store;
mod stream;
mod versioned;
pub mod write;
