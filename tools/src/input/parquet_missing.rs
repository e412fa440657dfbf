//! Replaces the module `parquet` in a build without that feature. Parquet inputs are rejected before, so these types
//! have no values.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::path::Path;

use super::labels::cell::Cell;
use super::source::Opened;
use super::{Digits, Entry, Quality, RawId, Selection, Source};
use crate::progress::Progress;
use crate::ranks::Value;

/// Never constructed.
#[derive(Debug)]
pub(super) struct Parquet(Infallible);

impl Parquet {
    pub(super) fn open(
        source: &Source,
        _: Opened,
        _: &Selection,
        _: Option<&Quality>,
        _: Option<&Path>,
        _: &Progress,
    ) -> anyhow::Result<Self> {
        anyhow::bail!("{}: this program was built without Parquet", source.name())
    }

    pub(super) fn width(&self) -> Option<u32> {
        match self.0 {}
    }

    pub(super) fn header(&self) -> Option<&str> {
        match self.0 {}
    }

    pub(super) fn row_count(&self) -> Option<u64> {
        match self.0 {}
    }

    pub(super) fn rows<F>(self) -> Result<Rows<F>, String> {
        match self.0 {}
    }
}

/// Never constructed.
#[derive(Debug)]
pub(super) struct Rows<F>(Infallible, PhantomData<F>);

impl<F> Rows<F> {
    pub(super) fn number(&self) -> u64 {
        match self.0 {}
    }

    pub(super) fn advance(&mut self) -> Result<bool, String> {
        match self.0 {}
    }

    pub(super) fn entry(&self, _: Option<Digits>) -> Result<Entry<'_, F>, String> {
        match self.0 {}
    }

    pub(super) fn quality(&self) -> Result<Option<f64>, String> {
        match self.0 {}
    }

    pub(super) fn others(&self) -> Option<&str> {
        match self.0 {}
    }
}

/// Never constructed.
#[derive(Debug)]
pub(crate) struct Batches<C>(Infallible, PhantomData<C>);

impl<C> Batches<C> {
    pub(crate) fn number(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn advance(&mut self) -> Result<bool, String> {
        match self.0 {}
    }
}

/// Stand for the decoded columns.
#[derive(Debug)]
pub(super) struct IdColumn;
#[derive(Debug)]
pub(super) struct Labels;
#[derive(Debug)]
pub(super) struct Attributes;
#[derive(Debug)]
pub(super) struct KeyLists;

impl Batches<IdColumn> {
    pub(super) fn open(source: &Source, _: Opened, _: &str, _: Option<&Path>, _: &Progress) -> anyhow::Result<Self> {
        anyhow::bail!("{}: this program was built without Parquet", source.name())
    }

    pub(super) fn id(&self) -> Result<RawId<'_>, String> {
        match self.0 {}
    }
}

impl Batches<Labels> {
    pub(super) fn open(source: &Source, _: &[&[&str]], _: Option<&Path>, _: &Progress) -> anyhow::Result<Self> {
        anyhow::bail!("{}: this program was built without Parquet", source.name())
    }

    pub(super) fn cell(&self, _: usize) -> Result<Cell<'_>, String> {
        match self.0 {}
    }

    pub(super) fn has_name(&self, _: usize, _: &str) -> bool {
        match self.0 {}
    }
}

impl Batches<KeyLists> {
    pub(super) fn open(
        source: &Source,
        _: Opened,
        _: &str,
        _: Option<&Path>,
        _: &Progress,
    ) -> anyhow::Result<(Self, Option<String>)> {
        anyhow::bail!("{}: this program was built without Parquet", source.name())
    }

    pub(super) fn keys(&self, _: &mut Vec<u64>, _: &mut Vec<u8>) -> Result<RawId<'_>, String> {
        match self.0 {}
    }
}

impl Batches<Attributes> {
    pub(super) fn open(
        source: &Source,
        _: Opened,
        _: &Selection,
        _: Option<&Path>,
        _: &Progress,
    ) -> anyhow::Result<Self> {
        anyhow::bail!("{}: this program was built without Parquet", source.name())
    }

    pub(super) fn attribute(&self) -> Result<(RawId<'_>, Value<'_>), String> {
        match self.0 {}
    }
}
