//! Replaces the module `parquet` in a build without that feature. Parquet inputs are rejected before, so the type has
//! no values.

use std::convert::Infallible;
use std::path::Path;

use super::content::Columns;
use super::item::Raw;
use crate::input::Source;
use crate::input::source::Opened;
use crate::progress::Progress;

/// Never constructed.
#[derive(Debug)]
pub(super) struct Rows(Infallible);

impl Rows {
    pub(super) fn open(
        source: &Source,
        _: Opened,
        _: &Columns,
        _: Option<&Path>,
        _: &Progress,
    ) -> anyhow::Result<Self> {
        anyhow::bail!("{}: this program was built without Parquet", source.name())
    }

    pub(super) fn number(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn page_memory(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn next_raw(&mut self) -> Result<Option<Raw>, String> {
        match self.0 {}
    }
}
