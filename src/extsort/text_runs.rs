//! Sorted runs of records with texts, in one temporary file.

use crate::env::ScratchFile;
use crate::executor::Executor;
use crate::extsort::peak::Peak;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::Arc;

/// Sorted runs in one temporary file.
#[derive(Debug)]
pub(crate) struct TextRuns<F> {
    pub(crate) directory: PathBuf,
    pub(crate) executor: Arc<Executor>,
    /// There is one as soon as there is a run.
    pub(crate) file: Option<Box<dyn ScratchFile>>,
    pub(crate) runs: Vec<TextRun>,
    /// Number of records in them.
    pub(crate) records: u64,
    /// Of the iterators over these runs.
    pub(crate) peak: Peak,
    width: PhantomData<F>,
}

/// Where a run begins in the file, and where it ends.
#[derive(Debug)]
pub(crate) struct TextRun {
    pub(crate) from: u64,
    pub(crate) to: u64,
}

impl<F> TextRuns<F> {
    pub(crate) fn new(directory: PathBuf, executor: Arc<Executor>) -> Self {
        Self {
            directory,
            executor,
            file: None,
            runs: Vec::new(),
            records: 0,
            peak: Peak::default(),
            width: PhantomData,
        }
    }
}
