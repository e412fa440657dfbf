//! An unnamed temporary file that exists from its first byte on.

use crate::env::{Env, ScratchFile};
use crate::error::{Error, Result};
use crate::extsort::workspace::Workspace;
use std::path::PathBuf;
use std::sync::Arc;

#[derive(Debug)]
pub(crate) struct TemporaryFile {
    env: Arc<dyn Env>,
    directory: PathBuf,
    file: Option<Box<dyn ScratchFile>>,
}

impl TemporaryFile {
    pub(crate) fn new(workspace: &Workspace) -> Self {
        Self { env: Arc::clone(&workspace.env), directory: workspace.directory.clone(), file: None }
    }

    pub(crate) fn length(&self) -> u64 {
        self.file.as_ref().map_or(0, |file| file.length())
    }

    pub(crate) fn clear(&mut self) {
        self.file = None;
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        let file = match &mut self.file {
            Some(file) => Ok(file),
            none => self.env.scratch(&self.directory).map(|file| none.insert(file)),
        };
        let appended = file.and_then(|file| file.append(bytes));
        appended.map_err(|error| Error::temporary("cannot write temporary data to", &self.directory, error))
    }

    pub(crate) fn read(&self, offset: u64, bytes: &mut [u8]) -> Result<()> {
        let read = self.file.as_ref().map_or(Ok(()), |file| file.read_at(offset, bytes));
        read.map_err(|error| Error::temporary("cannot read temporary data in", &self.directory, error))
    }
}
