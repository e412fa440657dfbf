//! Bytes that are made before the place in the file where they belong is reached.

use crate::env::{Env, ScratchFile};
use crate::error::{Error, Result};
use crate::extsort::workspace::Workspace;
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes in memory and, where they are many, in an unnamed temporary file.
pub(crate) struct Spool {
    env: Arc<dyn Env>,
    directory: PathBuf,
    limit: usize,
    /// Bytes that are read again at once.
    piece: usize,
    memory: Vec<u8>,
    file: Option<Box<dyn ScratchFile>>,
}

impl Spool {
    /// For bytes that wait for their place in the file: ids, and a section for each thread but the one that writes.
    pub(crate) fn within(workspace: &Workspace) -> Self {
        let memory = workspace.memory / 16 / workspace.executor.threads() as u64;
        Self::new(workspace, usize::try_from(memory).unwrap_or(usize::MAX))
    }

    /// Nothing; takes at most about `limit` bytes of memory.
    pub(crate) fn new(workspace: &Workspace, limit: usize) -> Self {
        let (env, directory) = (Arc::clone(&workspace.env), workspace.directory.clone());
        Self { env, directory, limit, piece: workspace.piece(), memory: Vec::new(), file: None }
    }

    /// Appends bytes, and empties where they came from.
    pub(crate) fn append(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        self.memory.append(bytes);
        if self.memory.len() < self.limit {
            return Ok(());
        }
        let fail = |error| Error::temporary("cannot write temporary data to", &self.directory, error);
        let file = match &mut self.file {
            Some(file) => file,
            None => self.file.insert(self.env.scratch(&self.directory).map_err(fail)?),
        };
        file.append(&self.memory).map_err(fail)?;
        self.memory.clear();
        Ok(())
    }

    /// Calls `visit` with all bytes in order, a piece at a time.
    pub(crate) fn visit(&self, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        if let Some(file) = &self.file {
            let (mut offset, mut piece) = (0, Vec::new());
            while offset < file.length() {
                let length = (self.piece as u64).min(file.length() - offset);
                piece.resize(usize::try_from(length).unwrap_or(self.piece), 0);
                let read = file.read_at(offset, &mut piece);
                read.map_err(|error| Error::temporary("cannot read temporary data in", &self.directory, error))?;
                offset += length;
                visit(&piece)?;
            }
        }
        if self.memory.is_empty() { Ok(()) } else { visit(&self.memory) }
    }
}
