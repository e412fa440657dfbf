//! Locks without a rank, held for moments.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A lock whose holder may have panicked: nothing that these protect is left half changed.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
