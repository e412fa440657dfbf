//! The names of logs.

use crate::env::Env;
use crate::error::{Error, Result};
use std::path::Path;

/// Ending of the names of logs.
pub(crate) const SUFFIX: &str = ".wal";

/// The name of a log's file.
pub(crate) fn name(number: u64) -> String {
    format!("{number:08}{SUFFIX}")
}

/// The number of a log by its file's name; none if it is no log.
pub(crate) fn number_of(file: &str) -> Option<u64> {
    let number = file.strip_suffix(SUFFIX).and_then(|digits| digits.parse().ok())?;
    (name(number) == file).then_some(number)
}

/// Whether a path is that of a log.
pub(crate) fn is_log(path: &Path) -> bool {
    path.file_name().and_then(|name| number_of(name.to_str()?)).is_some()
}

/// The numbers of the logs in a store's directory from one on, in order.
///
/// # Errors
/// `Io`.
pub(crate) fn numbers_from(env: &dyn Env, store: &Path, first: u64) -> Result<Vec<u64>> {
    let names = env.list(store).map_err(|error| Error::io("cannot list", store, error))?;
    let mut numbers: Vec<u64> = names.iter().filter_map(|name| number_of(name)).collect();
    numbers.retain(|&number| number >= first);
    numbers.sort_unstable();
    Ok(numbers)
}
