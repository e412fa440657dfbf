//! Options of `cargo xtask torture`.

use std::path::PathBuf;

use anyhow::Result;

use crate::options::{each, set};

/// Number of disturbances of each kind, and other parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) kills: u64,
    pub(super) interrupts: u64,
    pub(super) disks: u64,
    /// Records of the largest loads; others have a half or a third as many.
    pub(super) records: u64,
    pub(super) seed: u64,
    /// Directory of the programs; they are built by default.
    pub(super) programs: Option<PathBuf>,
    /// Directory for stores and inputs.
    pub(super) directory: Option<PathBuf>,
}

impl Options {
    pub(super) fn parse(arguments: &[&str]) -> Result<Self> {
        let mut options = Self {
            kills: 100,
            interrupts: 20,
            disks: 20,
            records: 3_000_000,
            seed: 1,
            programs: None,
            directory: None,
        };
        each(arguments, |name, value| {
            match name {
                "--kills" => return set(&mut options.kills, value),
                "--interrupts" => return set(&mut options.interrupts, value),
                "--disks" => return set(&mut options.disks, value),
                "--records" => return set(&mut options.records, value),
                "--seed" => return set(&mut options.seed, value),
                "--programs" => options.programs = Some(value.into()),
                "--dir" => options.directory = Some(value.into()),
                _ => return Ok(false),
            }
            Ok(true)
        })?;
        Ok(options)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options() {
        let parsed = Options::parse(&["--kills", "7", "--dir", "/x"]).unwrap();
        assert_eq!((parsed.kills, parsed.interrupts, parsed.disks), (7, 20, 20));
        assert_eq!(parsed.directory, Some("/x".into()));
        for bad in [&["--kills"][..], &["--kills", "many"], &["--swords", "3"]] {
            assert!(Options::parse(bad).is_err(), "{bad:?}");
        }
    }
}
