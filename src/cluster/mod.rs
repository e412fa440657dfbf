//! Connected components: fingerprints that are linked by pairs, directly or by others in between.
//!
//! Fingerprints are known by numbers ([`Numbers`]). All threads unite those of a pair ([`UnionFind`]); in the end each one
//! has the number of its component ([`Components`]). Memory: four bytes a fingerprint.

mod bitset;
mod components;
mod numbers;
mod union_find;

pub(crate) use bitset::Bitset;
pub(crate) use components::Components;
pub(crate) use numbers::{Ascending, Numbers};
pub(crate) use union_find::UnionFind;
