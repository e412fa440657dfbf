//! Fingerprints and records, the content of a store.
//!
//! A fingerprint is an unsigned number of 64, 128 or 256 bits ([`Fingerprint`], implemented by `u64`, `u128` and
//! [`U256`]); its most significant bit is bit 0. Two fingerprints are near if few of their bits differ (Hamming
//! distance). [`AnyFingerprint`] holds one of any width for callers that learn the width at run time; the log and the
//! memtables do the same with [`Words`], and [`by_width`] returns from a width to the type.
//!
//! A [`Record`] is a fingerprint and an [`Id`]: a number, a text, or, in stores without ids, a count ([`IdKind`]).
//! [`IdRef`] is an id on its way into the store, [`Match`] a record in an answer. An [`Entry`] in a run or a
//! memtable is a record or a tombstone.
//!
//! Files: `definition` is the trait and its implementations, `any` and `words` the other representations, `id`
//! and `record` the rest. Everything here is plain data without locks. Bytes: format-spec/conventions.md.

mod any;
mod definition;
mod id;
pub(crate) mod mask;
mod record;
mod words;

pub use any::AnyFingerprint;
pub(crate) use definition::WIDTHS;
pub(crate) use definition::leading_ones;
pub use definition::{Fingerprint, U256, distance};
pub use id::{Id, IdAssignment, IdKind, IdRef};
pub(crate) use id::{MAX_TEXT, check_text, display_and_parse_names};
pub(crate) use record::Entry;
pub use record::{Match, Record};
pub(crate) use words::{Words, by_width, from_words, read_words, to_words, write_words};
