//! The constants of an open store, and the lock of its directory.

use crate::env::{Env, Held, LockFile};
use crate::error::{Error, ErrorKind, Result};
use crate::format::parameters::{Parameters, StoreKind};
use crate::memtable::MemtableShape;
use crate::options::Options;
use crate::segment::ObsoleteFiles;
use crate::version::first_queries::FirstQueries;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// The file that the writing process locks.
pub(crate) const LOCK: &str = "LOCK";

/// The path of a store, the parameters of its creation, and the options of its opening.
#[derive(Debug)]
pub(crate) struct StoreContext {
    pub(crate) path: PathBuf,
    pub(crate) options: Options,
    pub(crate) parameters: Parameters,
    pub(crate) shape: Arc<MemtableShape>,
    pub(crate) obsolete_files: Arc<ObsoleteFiles>,
    filter_budget: OnceLock<u64>,
    pub(crate) first_queries: FirstQueries,
}

impl StoreContext {
    pub(crate) fn new(path: &Path, options: &Options, parameters: &Parameters) -> Result<Arc<Self>> {
        let shape = Arc::new(MemtableShape::new(parameters, options.memtable_memory)?);
        let (path, options, parameters) = (path.to_owned(), options.clone(), parameters.clone());
        let obsolete_files = ObsoleteFiles::new(&options.env);
        let (filter_budget, first_queries) = Default::default();
        Ok(Arc::new(Self { path, options, parameters, shape, obsolete_files, filter_budget, first_queries }))
    }

    /// Bytes of memory for all filters. Fixed at the first call, because later the filters themselves would count as
    /// unavailable memory.
    pub(crate) fn filter_budget(&self) -> u64 {
        *self.filter_budget.get_or_init(|| self.options.filter_budget())
    }

    /// Refuses look-ups by id in a store without an id index.
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

pub(crate) type Lock = Arc<dyn LockFile>;

/// Takes the lock of a store's directory. The returned options have an environment that changes nothing in the
/// directory if it is no longer the locked one.
pub(crate) fn hold(store: &Path, options: &Options) -> Result<(Lock, Options)> {
    let lock = take_lock(&*options.env, store)?;
    let held = Held::new(&options.env, store, store.join(LOCK), &lock);
    Ok((lock, options.clone().with_env(Arc::new(held))))
}

/// The path, independent of the current directory of the process.
pub(crate) fn absolute(path: &Path, options: &Options) -> Result<PathBuf> {
    if path.as_os_str().is_empty() {
        return Err(Error::invalid("the path is empty"));
    }
    options.env.absolute(path).map_err(|error| Error::io("cannot find", path, error))
}

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

/// Refuses a store of another kind than the type that it is opened with.
pub(crate) fn check_kind(parameters: &Parameters, path: &Path, kind: StoreKind) -> Result<()> {
    let refused =
        |message: &'static str, remedy: &'static str| Err(Error::invalid(message).at_path(path).with_remedy(remedy));
    match (parameters.kind(), kind) {
        (StoreKind::Keys, StoreKind::Keys) => Ok(()),
        (StoreKind::Fingerprints { .. }, StoreKind::Fingerprints { width }) => check_width(parameters, path, width),
        (StoreKind::Keys, _) => refused("the store is of keys, not of fingerprints", "open it as a key index"),
        (_, StoreKind::Keys) => refused("the store is of fingerprints, not of keys", "open it as a store of them"),
    }
}

pub(crate) fn check_width(parameters: &Parameters, path: &Path, width: u32) -> Result<()> {
    if parameters.width() == width {
        return Ok(());
    }
    let message = format!("the store is of {}-bit fingerprints, not of {width}-bit ones", parameters.width());
    Err(Error::invalid(message).at_path(path).with_remedy("open it with the type of its width"))
}
