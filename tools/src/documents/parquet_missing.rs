//! Replaces the module `parquet` in a build without that feature. Parquet inputs are rejected before, so the type has
//! no values.

use std::convert::Infallible;
use std::path::Path;

use super::DocumentOptions;
use super::content::Columns;
use super::item::Raw;
use super::recognised::Recognised;
use crate::input::Source;
use crate::input::source::Opened;
use crate::output::File;
use crate::progress::Progress;
use crate::ranks::Value;

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

/// Never constructed.
#[derive(Debug, PartialEq)]
pub(super) struct Shape(Infallible);

impl Shape {
    pub(super) fn has(&self, _: &str) -> bool {
        match self.0 {}
    }
}

/// Never constructed.
pub(super) struct Whole(Infallible);

/// Never constructed.
pub(super) struct Piece(Infallible);

/// Never constructed.
pub(super) struct Writer(Infallible);

/// Never constructed.
pub(super) struct Values(Infallible);

impl Values {
    pub(super) fn open(found: Recognised, _: &str, _: &DocumentOptions, _: &Progress) -> anyhow::Result<Self> {
        anyhow::bail!("{}: this program was built without Parquet", found.name())
    }

    pub(super) fn advance(&mut self) -> anyhow::Result<bool> {
        match self.0 {}
    }

    pub(super) fn take(&self, _: impl FnOnce(Value<'_>) -> anyhow::Result<()>) -> anyhow::Result<()> {
        match self.0 {}
    }
}

impl Whole {
    pub(super) fn open(found: Recognised, _: &DocumentOptions, _: &Progress) -> anyhow::Result<Self> {
        anyhow::bail!("{}: this program was built without Parquet", found.name())
    }

    pub(super) fn shape(&self) -> &Shape {
        match self.0 {}
    }

    pub(super) fn into_shape(self) -> Shape {
        match self.0 {}
    }

    pub(super) fn next_piece(&mut self, _: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<Option<Piece>> {
        match self.0 {}
    }
}

impl Writer {
    pub(super) fn new(_: File, shape: &Shape, _: u64) -> anyhow::Result<Self> {
        match shape.0 {}
    }

    pub(super) fn write(&mut self, _: &Piece) -> anyhow::Result<()> {
        match self.0 {}
    }

    pub(super) fn finish(self) -> anyhow::Result<()> {
        match self.0 {}
    }
}
