//! A file mapped into memory.
//!
//! The only `unsafe` of the library. Mapping is unsafe because the borrow checker cannot see other processes: see
//! [`crate::env`] for what happens if one cuts or overwrites the file, and for the mode that is immune to it. Within
//! this process nothing ever writes to a file that is mapped: segment files are mapped after their final rename.
#![expect(unsafe_code, reason = "memory maps")]

use super::ReadFile;
use std::fs::File;
use std::io;

/// A read-only map of a whole file.
#[derive(Debug)]
pub(super) struct Mapped {
    /// `None` stands for an empty file, which not every system can map.
    map: Option<memmap2::Mmap>,
}

impl Mapped {
    /// Maps the file as long as it is now.
    pub(super) fn new(file: &File) -> io::Result<Self> {
        if file.metadata()?.len() == 0 {
            return Ok(Self { map: None });
        }
        // SAFETY: the map is read-only and the library never changes a file that it maps; see the module's text.
        let map = unsafe { memmap2::Mmap::map(file)? };
        Ok(Self { map: Some(map) })
    }

    fn bytes(&self) -> &[u8] {
        self.map.as_deref().unwrap_or_default()
    }
}

impl ReadFile for Mapped {
    fn length(&self) -> u64 {
        self.bytes().len() as u64
    }

    fn read<'a>(&'a self, offset: u64, length: usize, _: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        super::slice(self.bytes(), offset, length)
    }

    fn is_stable(&self) -> bool {
        true
    }
}
