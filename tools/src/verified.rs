//! The report of a verification, as `fpdump verify --json` writes it.

use std::path::Path;

use fpstore::admin::VerifyReport;
use fpstore::{Error, ErrorKind, Result};
use serde::Serialize;

/// What a verification found.
#[derive(Clone, Debug, Serialize)]
pub struct Verified {
    /// What was verified.
    pub path: String,
    /// Whether there is no damage.
    pub sound: bool,
    /// Files that were read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Every damaged place.
    pub damages: Vec<DamagedPlace>,
    /// Logs with a torn tail of unacknowledged writes.
    pub torn: Vec<TornTail>,
}

/// The torn tail of a log.
#[derive(Clone, Debug, Serialize)]
pub struct TornTail {
    /// The log.
    pub file: String,
    /// Where the tail begins.
    pub offset: u64,
    /// Its length.
    pub bytes: u64,
}

/// A damaged place.
#[derive(Clone, Debug, Serialize)]
pub struct DamagedPlace {
    /// The file.
    pub file: String,
    /// The part of it.
    pub section: String,
    /// Where it is, if that is known.
    pub offset: Option<u64>,
    /// What is wrong.
    pub message: String,
}

impl Verified {
    /// The report of a verification. One that could not begin, because nothing can be opened, has found that damage.
    ///
    /// # Errors
    ///
    /// Other errors of the verification.
    pub fn of(path: &Path, found: Result<VerifyReport>) -> Result<Self> {
        match found {
            Ok(report) => Ok(Self::new(path, &report)),
            Err(error) if error.kind() == ErrorKind::Damaged => Ok(Self::damaged(path, &error)),
            Err(error) => Err(error),
        }
    }

    fn new(path: &Path, report: &VerifyReport) -> Self {
        let damages = report.damages.iter().map(|damage| DamagedPlace {
            file: damage.path.display().to_string(),
            section: damage.section.clone(),
            offset: damage.offset,
            message: damage.message.clone(),
        });
        let damages: Vec<DamagedPlace> = damages.collect();
        let torn = report.torn.iter().map(|log| TornTail {
            file: log.path.display().to_string(),
            offset: log.offset,
            bytes: log.bytes,
        });
        Self {
            path: path.display().to_string(),
            sound: damages.is_empty(),
            files: report.files,
            bytes: report.bytes,
            damages,
            torn: torn.collect(),
        }
    }

    fn damaged(path: &Path, error: &Error) -> Self {
        let damage = DamagedPlace {
            file: error.path().unwrap_or(path).display().to_string(),
            section: "file".to_owned(),
            offset: error.offset(),
            message: error.message().to_owned(),
        };
        let path = path.display().to_string();
        Self { path, sound: false, files: 0, bytes: 0, damages: vec![damage], torn: Vec::new() }
    }
}
