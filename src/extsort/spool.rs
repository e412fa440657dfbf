//! Bytes that are made before their place in a file is reached.

use crate::error::Result;
use crate::extsort::memory::length;
use crate::extsort::temporary_file::TemporaryFile;
use crate::extsort::workspace::Workspace;

/// Bytes in memory, and many bytes in an unnamed temporary file.
pub(crate) struct Spool {
    limit: usize,
    piece: usize,
    memory: Vec<u8>,
    file: TemporaryFile,
}

impl Spool {
    pub(crate) fn within(workspace: &Workspace) -> Self {
        Self::new(workspace, length(workspace.memory / 16 / workspace.executor.threads() as u64))
    }

    /// Takes at most about `limit` bytes of memory.
    pub(crate) fn new(workspace: &Workspace, limit: usize) -> Self {
        Self { limit, piece: workspace.piece(), memory: Vec::new(), file: TemporaryFile::new(workspace) }
    }

    /// Appends bytes, and empties the vector they came from.
    pub(crate) fn append(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        self.memory.append(bytes);
        if self.memory.len() >= self.limit {
            self.file.append(&self.memory)?;
            self.memory.clear();
        }
        Ok(())
    }

    /// Takes all bytes out.
    pub(crate) fn clear(&mut self) {
        self.memory.clear();
        self.file.clear();
    }

    /// Calls `visit` with all bytes, in pieces of whole entries of `entry` bytes.
    pub(crate) fn visit(&self, entry: usize, mut visit: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let (mut offset, mut piece) = (0, Vec::new());
        let most = (self.piece - self.piece % entry).max(entry) as u64;
        while offset < self.file.length() {
            piece.resize(length(most.min(self.file.length() - offset)), 0);
            self.file.read(offset, &mut piece)?;
            offset += piece.len() as u64;
            visit(&piece)?;
        }
        if self.memory.is_empty() { Ok(()) } else { visit(&self.memory) }
    }
}
