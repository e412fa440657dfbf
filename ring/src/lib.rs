//! Consistent hashing, as in Karger and others, "Consistent Hashing and Random Trees" (STOC 1997): nodes share keys so
//! that few keys move when a node joins or leaves.
//!
//! A hash ([`enum@Hash`]) maps bytes to a position on a circle. Every [`Node`] is on the circle at many places, its
//! virtual nodes; `NODE#1`, `NODE#2`, ... are their labels, and the hash of a label is its position. A key belongs to
//! the first virtual node at or after its own position, clockwise. With several replicas it belongs to the next
//! different nodes, too. A node of twice the [weight](Node::with_weight) has twice as many virtual nodes.
//!
//! A [`Ring`] finds the nodes of a key and lists its [arcs](Ring::arcs). [`diff`] tells exactly what moves between two
//! rings. [`mod@file`] reads and writes ring files, which `format-spec/ring.md` specifies. [`others`] has jump hashing,
//! rendezvous hashing and the remainder of a hash, to compare.

mod arcs;
mod diff;
mod error;
pub mod file;
mod hash;
mod node;
pub mod others;
mod points;
mod ring;

pub use arcs::Arc;
pub use diff::{Diff, Move, diff, moved_copies};
pub use error::{Error, ErrorKind, Result};
pub use hash::Hash;
pub use node::Node;
pub use ring::{Ring, Settings};
