//! Replaces the module `parquet` in a build without that feature.

use anyhow::bail;

use super::sketch::{Kind, Sketch};
use crate::documents::{DocumentId, Fault};
use crate::input::Header;
use crate::output::File;

/// Never constructed.
pub(super) enum Writer {}

impl Writer {
    pub(super) fn new(_: File, _: Kind, _: &Header) -> anyhow::Result<Self> {
        bail!(
            "--output: this program was built without Parquet; build it with: cargo install fpstore-tools --features \
             parquet"
        )
    }

    pub(super) fn check(&mut self, _: &DocumentId) -> Result<(), Fault> {
        match *self {}
    }

    pub(super) fn push(&mut self, _: DocumentId, _: Sketch) -> anyhow::Result<()> {
        match *self {}
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self {}
    }
}
