//! Fingerprints and records: what a store keeps.
//!
//! A fingerprint is an unsigned number of 64, 128 or 256 bits ([`Fingerprint`]); its most significant bit is the first
//! one. Two fingerprints are near when few of their bits differ (Hamming distance).

mod any;
mod definition;
mod entry;
mod id;
mod record;
mod u256;
mod words;

pub use any::AnyFingerprint;
pub(crate) use definition::WIDTHS;
pub(crate) use definition::leading_ones;
pub use definition::{Fingerprint, distance};
pub(crate) use entry::Entry;
pub use id::{Id, IdAssignment, IdKind, IdRef};
pub(crate) use id::{MAX_TEXT, check_text};
pub use record::{Match, Record};
pub use u256::U256;
pub(crate) use words::{Words, by_width, from_words, read_words, to_words, write_words};
