//! Checking every byte of a store.

use super::open_segment;
use crate::bulk::segment_name;
use crate::error::{Error, Result};
use crate::manifest;
use crate::options::Options;
use crate::segment::{Damage, verify_segment};
use std::path::Path;

/// What a check has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct VerifyReport {
    /// Files that were looked at.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Every damaged place; none = all is well.
    pub damages: Vec<Damage>,
}

/// Checks every byte of a store, or of a single segment file, even one too damaged to open.
///
/// # Errors
/// `NotFound` if there is nothing at the path; `Io` if something cannot be read. Damage is no error here but in the
/// report.
pub fn verify(path: impl AsRef<Path>, options: &Options) -> Result<VerifyReport> {
    let path = path.as_ref();
    let env = &*options.env;
    let mut report = VerifyReport::default();
    if env.list(path).is_err() {
        env.open(path, options.read_mode).map_err(|error| Error::io("cannot open", path, error))?;
        report.add(verify_segment(env, path, options.read_mode)?);
        return Ok(report);
    }
    let bytes = manifest::read_bytes(env, path)?;
    let state = match manifest::read(env, path) {
        Ok(state) => state,
        Err(error) => {
            report.add((vec![Damage::from_error(&path.join(manifest::NAME), "manifest", error)?], bytes.len() as u64));
            return Ok(report);
        }
    };
    report.add((Vec::new(), bytes.len() as u64));
    for entry in &state.segments {
        let file = path.join(segment_name(entry.number));
        let (mut damages, bytes) = verify_segment(env, &file, options.read_mode)?;
        if damages.is_empty() {
            // Sound in itself; it may still be another segment than the one that the manifest means.
            if let Err(error) = open_segment(path, options, &state, entry) {
                damages.push(Damage::from_error(&file, "segment", error)?);
            }
        }
        report.add((damages, bytes));
    }
    Ok(report)
}

impl VerifyReport {
    fn add(&mut self, (mut damages, bytes): (Vec<Damage>, u64)) {
        self.files += 1;
        self.bytes += bytes;
        self.damages.append(&mut damages);
    }
}
