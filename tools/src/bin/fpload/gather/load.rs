//! The load that inputs are read for.

use std::path::Path;

use fpstore::{Options, Parameters};

use crate::args::Args;

/// The arguments of a load, and its store.
#[derive(Clone, Copy)]
pub(crate) struct Load<'a> {
    pub(crate) args: &'a Args,
    /// The store's directory.
    pub(crate) path: &'a Path,
    /// The parameters of an existing store.
    pub(crate) store: Option<&'a Parameters>,
    pub(crate) options: &'a Options,
}
