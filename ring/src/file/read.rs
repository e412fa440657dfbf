//! Reading a ring file.

use super::format::parse;
use crate::error::{Error, ErrorKind, Result};
use crate::ring::Ring;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longest ring file in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Reads a ring file.
///
/// # Errors
/// `NotFound`; `Damaged` if it is no ring file or breaks a rule; `Unsupported`; `Io`.
pub fn read(path: &Path) -> Result<Ring> {
    let file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => {
            Error::new(ErrorKind::NotFound, "there is no ring file here; `fpring create` makes one").in_file(path)
        }
        _ => Error::io(path, error),
    })?;
    let mut bytes = Vec::new();
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(|error| Error::io(path, error))?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("the file has more than {MAX_BYTES} bytes, which no ring file has");
        return Err(Error::new(ErrorKind::Damaged, message).in_file(path));
    }
    parse(&bytes).map_err(|error| error.in_file(path))
}
