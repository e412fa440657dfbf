//! The atomics of memtables: those of the standard library or, for `checked`, those of loom.

#[cfg(not(fpstore_loom))]
pub(super) use crate::env::{Arena, AtomicArray};
#[cfg(not(fpstore_loom))]
pub(super) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(fpstore_loom)]
pub(super) use self::checked::{Arena, AtomicArray};
#[cfg(fpstore_loom)]
pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(fpstore_loom)]
mod checked {
    /// Replaces [`crate::env::AtomicArray`], whose atomics loom cannot check.
    #[derive(Debug)]
    pub(in super::super) struct AtomicArray<A>(Vec<A>);

    /// Replaces [`crate::env::Arena`].
    pub(in super::super) struct Arena;

    impl Arena {
        pub(in super::super) fn new(_bytes: usize) -> Self {
            Self
        }

        pub(in super::super) fn array<A: Default>(&mut self, count: usize) -> Option<AtomicArray<A>> {
            Some(AtomicArray((0..count).map(|_| A::default()).collect()))
        }
    }

    impl<A> AtomicArray<A> {
        pub(in super::super) fn as_slice(&self) -> &[A] {
            &self.0
        }
    }
}
