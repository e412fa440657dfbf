//! The shared numbers that memtables are made of: those of the standard library or, where every order in which threads may
//! see each other's writes is tried (`checked`), those of loom.

#[cfg(not(fpstore_loom))]
pub(super) use crate::env::AtomicArray;
#[cfg(not(fpstore_loom))]
pub(super) use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(fpstore_loom)]
pub(super) use self::checked::AtomicArray;
#[cfg(fpstore_loom)]
pub(super) use loom::sync::atomic::{AtomicU32, AtomicU64, Ordering};

#[cfg(fpstore_loom)]
mod checked {
    /// Stands for [`crate::env::AtomicArray`], which loom cannot look into.
    #[derive(Debug)]
    pub(in super::super) struct AtomicArray<A>(Vec<A>);

    impl<A: Default> AtomicArray<A> {
        pub(in super::super) fn new(count: usize) -> Option<Self> {
            Some(Self((0..count).map(|_| A::default()).collect()))
        }

        pub(in super::super) fn as_slice(&self) -> &[A] {
            &self.0
        }
    }
}
