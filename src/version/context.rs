//! What does not change while a store is open.

use crate::env::{Env, Held, LockFile};
use crate::error::{Error, ErrorKind, Result};
use crate::format::parameters::Parameters;
use crate::memtable::MemtableShape;
use crate::options::Options;
use crate::segment::ObsoleteFiles;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Name of the file that the writing process locks.
pub(crate) const LOCK: &str = "LOCK";

/// Where a store is, what was fixed when it was created, and how it was opened.
#[derive(Debug)]
pub(crate) struct StoreContext {
    pub(crate) path: PathBuf,
    pub(crate) options: Options,
    pub(crate) parameters: Parameters,
    pub(crate) shape: Arc<MemtableShape>,
    pub(crate) obsolete_files: Arc<ObsoleteFiles>,
    filter_budget: OnceLock<u64>,
}

impl StoreContext {
    pub(crate) fn new(path: &Path, options: &Options, parameters: &Parameters) -> Result<Arc<Self>> {
        let shape = Arc::new(MemtableShape::new(parameters, options.memtable_memory)?);
        let (path, options, parameters) = (path.to_owned(), options.clone(), parameters.clone());
        let obsolete_files = ObsoleteFiles::new(&options.env);
        Ok(Arc::new(Self { path, options, parameters, shape, obsolete_files, filter_budget: OnceLock::new() }))
    }

    /// Bytes of memory that filters may take in all. It stays the same while the store is open: later the filters
    /// themselves would count as memory that is not available.
    pub(crate) fn filter_budget(&self) -> u64 {
        *self.filter_budget.get_or_init(|| self.options.filter_budget())
    }

    /// Refuses to look for ids where there is no index of them.
    pub(crate) fn check_id_index(&self) -> Result<()> {
        if self.parameters.id_index() {
            return Ok(());
        }
        Err(Error::new(ErrorKind::Unsupported, "the store has no id index")
            .at_path(&self.path)
            .with_remedy("give it one: `add_id_index`, or fpload"))
    }

    pub(crate) fn env(&self) -> &Arc<dyn Env> {
        &self.options.env
    }
}

/// The lock of a store's directory, as long as it is kept.
pub(crate) type Lock = Arc<dyn LockFile>;

/// Takes the lock of a store's directory; the options with which nothing is changed in the directory unless it is still the
/// one that was locked.
pub(crate) fn hold(store: &Path, options: &Options) -> Result<(Lock, Options)> {
    let lock = take_lock(&*options.env, store)?;
    let held = Held::new(&options.env, store, store.join(LOCK), &lock);
    Ok((lock, options.clone().with_env(Arc::new(held))))
}

/// A path that leads to the same store whatever the current directory of the process becomes.
pub(crate) fn absolute(path: &Path, options: &Options) -> Result<PathBuf> {
    options.env.absolute(path).map_err(|error| Error::io("cannot find", path, error))
}

/// Takes the lock of a store's directory.
pub(crate) fn take_lock(env: &dyn Env, store: &Path) -> Result<Lock> {
    let path = store.join(LOCK);
    env.lock(&path).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => {
            let holder = error.to_string();
            let holder = if holder.starts_with("process ") { holder } else { "another process".to_owned() };
            Error::new(ErrorKind::Locked, format!("{holder} has the store open for writing"))
                .at_path(store)
                .with_remedy("wait until it is done; reading is possible meanwhile")
        }
        _ => Error::io("cannot lock", &path, error),
    })
}

/// Refuses fingerprints of another width than the store's.
pub(crate) fn check_width(parameters: &Parameters, path: &Path, width: u32) -> Result<()> {
    if parameters.width() == width {
        return Ok(());
    }
    let message = format!("the store is of {}-bit fingerprints, not of {width}-bit ones", parameters.width());
    Err(Error::invalid(message).at_path(path).with_remedy("open it with the type of its width"))
}
