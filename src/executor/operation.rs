//! The operation that a thread works for.

use super::locks::Mutex;
use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

thread_local! {
    /// The operation of this thread.
    static OWN: RefCell<Option<Operation>> = const { RefCell::new(None) };
    /// In a thread of a crew: what its threads share.
    static OF_CREW: RefCell<Option<OfCrew>> = const { RefCell::new(None) };
}

/// What the threads of a crew share.
#[derive(Clone, Debug, Default)]
pub(super) struct OfCrew(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Whether the crew's present work takes locks of the store.
    is_exclusive: AtomicBool,
    operation: Mutex<Option<Operation>>,
}

impl OfCrew {
    /// Makes this thread one of the crew.
    pub(super) fn join(self) {
        OF_CREW.set(Some(self));
    }

    /// The crew works for the operation of this thread from now on.
    pub(super) fn begin(&self) {
        *self.0.operation.lock() = Operation::current();
    }

    pub(super) fn end(&self) {
        *self.0.operation.lock() = None;
    }

    pub(super) fn set_exclusive(&self, is_exclusive: bool) {
        self.0.is_exclusive.store(is_exclusive, Relaxed);
    }

    /// Whether the work of the crew of this thread is exclusive; `None` in a thread of no crew.
    pub(super) fn is_exclusive() -> Option<bool> {
        OF_CREW.with_borrow(|crew| crew.as_ref().map(|crew| crew.0.is_exclusive.load(Relaxed)))
    }
}

/// An operation of a caller, which any thread may ask to end. All threads that work for it know it ([`current`]), so
/// one operation can end while others go on. Work of a store in the background is an operation of its own.
///
/// [`current`]: Operation::current
///
/// ```
/// use fpstore::env::{Operation, Stoppable};
/// use fpstore::{ErrorKind, Options, Parameters, Records, Store};
/// use std::io::Error;
/// use std::sync::Arc;
/// # let directory = tempfile::tempdir()?;
/// # let path = directory.path().join("store");
/// let is_stopped = || Operation::current().is_some_and(|operation| operation.is_stopped());
/// let check = move || if is_stopped() { Err(Error::other("stopped")) } else { Ok(()) };
/// let options = Options::new().with_env(Arc::new(Stoppable::new(check)));
/// let store = Store::<u64>::create(&path, &Parameters::new(3), &options)?;
/// let operation = Operation::default();
/// operation.stop();
/// assert!(operation.run(|| store.bulk_load(Records::Numbered(vec![7]))).is_err());
/// assert_eq!(store.bulk_load(Records::Numbered(vec![7]))?.added(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Operation {
    is_stopped: Arc<AtomicBool>,
    is_background: bool,
}

impl Operation {
    /// Does work that belongs to this operation.
    pub fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        Self::within(Some(self.clone()), work)
    }

    /// Asks the operation to end.
    pub fn stop(&self) {
        self.is_stopped.store(true, Relaxed);
    }

    /// Whether it was asked to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Relaxed)
    }

    /// Whether it is work for all callers: flushes, compactions of background threads, filters.
    #[must_use]
    pub fn is_background(&self) -> bool {
        self.is_background
    }

    /// Work for all callers.
    pub(crate) fn background() -> Self {
        Self { is_background: true, ..Self::default() }
    }

    /// The operation that this thread works for; `None` if its caller runs within none.
    #[must_use]
    pub fn current() -> Option<Self> {
        let of_crew = || OF_CREW.with_borrow(|crew| crew.as_ref()?.0.operation.lock().clone());
        OWN.with_borrow(Clone::clone).or_else(of_crew)
    }

    pub(super) fn within<R>(operation: Option<Self>, work: impl FnOnce() -> R) -> R {
        /// Sets it back, after a panic too.
        struct Back(Option<Operation>);
        impl Drop for Back {
            fn drop(&mut self) {
                OWN.set(self.0.take());
            }
        }
        let _back = Back(OWN.replace(operation));
        work()
    }

    /// Lets the thread that runs `work` inherit the operation of this one.
    pub(super) fn inherited<R>(work: impl FnOnce() -> R) -> impl FnOnce() -> R {
        let operation = Self::current();
        move || Self::within(operation, work)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::executor::{BackgroundThread, Executor, spawn, spawn_background, spawn_scoped};
    use rayon::prelude::*;

    fn is_known() -> bool {
        Operation::current().is_some_and(|operation| operation.is_stopped())
    }

    #[test]
    fn all_threads_of_an_operation_know_it() {
        let (executor, operation) = (Executor::new(3), Operation::default());
        operation.stop();
        let everywhere = || {
            let spawned = spawn("test", is_known)?.join().unwrap();
            let scoped = std::thread::scope(|scope| spawn_scoped(scope, "test", is_known).unwrap().join().unwrap());
            let parts: Vec<bool> = executor.run(|| Ok(rayon::broadcast(|_| is_known())))?;
            let nested = executor.run(|| {
                let inner = executor.run_exclusive(|| Ok((0..100).into_par_iter().all(|_| is_known())))?;
                Ok(inner && spawn("test", is_known)?.join().unwrap())
            })?;
            crate::error::Result::Ok((is_known() && spawned && scoped && nested, parts))
        };
        assert_eq!(operation.run(everywhere).unwrap(), (true, vec![true; 3]));
        assert!(!is_known());
        // The crew goes on to other operations.
        assert_eq!(everywhere().unwrap(), (false, vec![false; 3]));
        let other = Operation::default();
        assert_eq!(other.run(everywhere).unwrap(), (false, vec![false; 3]));
    }

    #[test]
    fn work_in_the_background_is_not_of_the_caller() {
        let is_background = || Operation::current().is_some_and(|current| current.is_background());
        let everywhere = move || is_background() && spawn("test", is_background).unwrap().join().unwrap();
        let operation = Operation::default();
        assert!(!operation.run(everywhere));
        assert!(operation.run(|| spawn_background("test", everywhere)).unwrap().join().unwrap());
        let (sender, receiver) = std::sync::mpsc::channel();
        let started = operation.run(|| BackgroundThread::start("test", move || sender.send(everywhere()).unwrap()));
        assert!(receiver.recv().unwrap());
        drop(started);
    }

    #[test]
    fn an_operation_ends_with_a_panic() {
        let operation = Operation::default();
        operation.stop();
        let panicked = std::panic::catch_unwind(|| operation.run(|| panic!("within")));
        assert!(panicked.is_err() && !is_known());
    }
}
