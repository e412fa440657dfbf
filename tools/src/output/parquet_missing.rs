//! Replaces the module `parquet` in a build without that feature.

use anyhow::bail;

use super::file::File;
use super::rows::{Column, Rows};

/// Never constructed.
pub(super) enum Writer {}

impl Writer {
    pub(super) fn new(_: File, _: &[Column], _: u32, _: &[bool]) -> anyhow::Result<Self> {
        bail!(
            "--output: this program was built without Parquet; build it with: cargo install fpstore-tools --features \
             parquet"
        )
    }

    pub(super) fn write(&mut self, _: &Rows) -> anyhow::Result<()> {
        match *self {}
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self {}
    }
}
