//! The names of logs.

use crate::env::Env;
use crate::error::{Error, Result};
use std::path::Path;

const SUFFIX: &str = ".wal";

pub(crate) fn name(number: u64) -> String {
    format!("{number:08}{SUFFIX}")
}

/// The number of a log by the name of its file; `None` if it is no log.
pub(crate) fn number_of(file: &str) -> Option<u64> {
    let number = file.strip_suffix(SUFFIX).and_then(|digits| digits.parse().ok())?;
    (name(number) == file).then_some(number)
}

/// The number of the log that a path names.
pub(crate) fn number_at(path: &Path) -> Option<u64> {
    path.file_name().and_then(|name| number_of(name.to_str()?))
}

/// Whether a path names a log.
#[must_use]
pub fn is_log(path: &Path) -> bool {
    number_at(path).is_some()
}

/// The numbers, from `first` on, of the logs in a store's directory, ascending.
pub(crate) fn numbers_from(env: &dyn Env, store: &Path, first: u64) -> Result<Vec<u64>> {
    let names = env.list(store).map_err(|error| Error::io("cannot list", store, error))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number_of(name)).collect();
    numbers.retain(|&number| number >= first);
    numbers.sort_unstable();
    Ok(numbers)
}
