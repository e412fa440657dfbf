//! Other ways to place keys on nodes, to compare a ring with.

pub mod jump;
pub mod modulo;
pub mod rendezvous;
