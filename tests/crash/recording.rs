//! Recordings: the output of recorder.c, as operations.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The source of the recorder, compiled at run time.
const SOURCE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/crash/recorder.c");

/// Environment variables of the recorder.
pub(crate) const WATCH: &str = "FPSTORE_WATCH";
pub(crate) const MARKS: &str = "FPSTORE_MARKS";
pub(crate) const RECORDING: &str = "FPSTORE_RECORDING";

/// An operation of the recorded process. Paths are relative to the watched directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    /// A new file; one without a name disappears with the process.
    Create {
        inode: u64,
        name: Option<PathBuf>,
    },
    Length {
        inode: u64,
        length: usize,
    },
    Write {
        inode: u64,
        offset: usize,
        bytes: Vec<u8>,
    },
    /// Extends a shorter file to this length.
    Allocate {
        inode: u64,
        length: usize,
    },
    /// A sync of a file begins.
    Sync {
        sync: u64,
        inode: u64,
        data_only: bool,
    },
    /// A sync of a directory begins.
    SyncNames {
        sync: u64,
        directory: PathBuf,
    },
    /// A sync has succeeded.
    Synced {
        sync: u64,
    },
    Rename {
        from: PathBuf,
        to: PathBuf,
    },
    Unlink(PathBuf),
    Link {
        from: PathBuf,
        to: PathBuf,
    },
    MakeDirectory(PathBuf),
    RemoveDirectory(PathBuf),
    /// A message of the process.
    Mark(String),
    /// An operation without a record type in the recorder.
    Unknown(String),
}

/// Compiles the recorder into a directory.
///
/// # Errors
///
/// A message if there is no C compiler, or it fails.
pub(crate) fn compile(directory: &Path) -> Result<PathBuf, String> {
    let library = directory.join("recorder.so");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".to_owned());
    let mut command = Command::new(&compiler);
    command.args(["-O2", "-shared", "-fPIC", "-o"]).arg(&library).args([SOURCE, "-lpthread"]);
    match command.status() {
        Ok(status) if status.success() => Ok(library),
        Ok(status) => Err(format!("`{compiler}` cannot compile the recorder ({status})")),
        Err(error) => Err(format!("there is no C compiler `{compiler}` ({error})")),
    }
}

/// Runs an empty program under the recorder.
///
/// # Errors
///
/// A message if this system does not let a process trap its own system calls.
pub(crate) fn probe(library: &Path, directory: &Path) -> Result<(), String> {
    let mut command = Command::new("true");
    command.env("LD_PRELOAD", library).env(WATCH, directory).env(MARKS, directory.join("marks"));
    let output = command.env(RECORDING, directory.join("probe")).output().map_err(|error| error.to_string())?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("the recorder does not run ({}): {}", output.status, String::from_utf8_lossy(&output.stderr).trim()))
}

/// Reads a recording.
pub(crate) fn read(path: &Path) -> io::Result<Vec<Operation>> {
    let bytes = fs::read(path)?;
    let mut rest = bytes.as_slice();
    let mut operations = Vec::new();
    while !rest.is_empty() {
        let operation = next(&mut rest).ok_or_else(|| io::Error::other("the recording is cut short"))?;
        operations.push(operation);
    }
    Ok(operations)
}

/// Reads the next operation, in the byte order of this machine.
#[allow(clippy::host_endian_bytes, reason = "the recorder runs on the same machine")]
fn next(rest: &mut &[u8]) -> Option<Operation> {
    let mut word = || Some(u32::from_ne_bytes(*rest.split_off(..4)?.first_chunk()?));
    let (kind, first, second, _) = (word()?, word()? as usize, word()? as usize, word()?);
    let mut long = || Some(u64::from_ne_bytes(*rest.split_off(..8)?.first_chunk()?));
    let (inode, at) = (long()?, long()?);
    let first = rest.split_off(..first)?.to_vec();
    let second = rest.split_off(..second)?.to_vec();
    let text = || String::from_utf8_lossy(&first).into_owned();
    let path = || PathBuf::from(text());
    let to = || PathBuf::from(String::from_utf8_lossy(&second).into_owned());
    let length = at as usize;
    Some(match kind {
        1 => Operation::Create { inode, name: (!first.is_empty()).then(path) },
        2 => Operation::Length { inode, length },
        3 => Operation::Write { inode, offset: length, bytes: first },
        4 => Operation::Allocate { inode, length },
        5 | 6 => Operation::Sync { sync: at, inode, data_only: kind == 6 },
        7 => Operation::SyncNames { sync: at, directory: path() },
        8 => Operation::Synced { sync: at },
        9 => Operation::Rename { from: path(), to: to() },
        10 => Operation::Unlink(path()),
        11 => Operation::Link { from: path(), to: to() },
        12 => Operation::MakeDirectory(path()),
        13 => Operation::RemoveDirectory(path()),
        14 => Operation::Mark(text()),
        _ => Operation::Unknown(format!("{} {}", text(), to().display())),
    })
}
