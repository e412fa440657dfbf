//! The bytes of one file: as they are read, and as they are on the device.
//!
//! Changes since the last sync are kept as a list. After a crash each may have reached the device or not, in any
//! combination: a length as a whole, a write by sectors. Devices promise no more than that.

use std::io;

/// Bytes that reach the device together or not at all, aligned in the file.
const SECTOR: usize = 512;

/// A file; names are kept apart.
#[derive(Clone, Debug, Default)]
pub(super) struct File {
    bytes: Vec<u8>,
    synced: Vec<u8>,
    unsynced: Vec<Change>,
}

#[derive(Clone, Debug)]
enum Change {
    Write { offset: usize, bytes: Vec<u8> },
    Length(usize),
}

impl File {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Writes at an offset, after zeros if the file ends before it.
    pub(super) fn write_at(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.lengthen(offset.checked_add(bytes.len() as u64).ok_or(io::ErrorKind::FileTooLarge)?)?;
        let offset = usize::try_from(offset).map_err(|_| io::ErrorKind::FileTooLarge)?;
        put(&mut self.bytes, offset, bytes);
        self.unsynced.push(Change::Write { offset, bytes: bytes.to_vec() });
        Ok(())
    }

    /// Appends zeros until the file has this length; a longer one stays as it is.
    pub(super) fn lengthen(&mut self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
        let missing = length.saturating_sub(self.bytes.len());
        if missing > 0 {
            self.bytes.try_reserve(missing).map_err(|_| io::ErrorKind::FileTooLarge)?;
            self.bytes.resize(length, 0);
            self.unsynced.push(Change::Length(length));
        }
        Ok(())
    }

    /// Cuts the file to this length; a shorter one stays as it is.
    pub(super) fn shorten(&mut self, length: usize) {
        if length < self.bytes.len() {
            self.bytes.truncate(length);
            self.unsynced.push(Change::Length(length));
        }
    }

    /// Replaces all bytes and forgets earlier unsynced changes, so that replacing repeatedly takes no memory.
    pub(super) fn replace(&mut self, bytes: Vec<u8>) {
        self.unsynced = vec![Change::Length(bytes.len()), Change::Write { offset: 0, bytes: bytes.clone() }];
        self.bytes = bytes;
    }

    pub(super) fn sync(&mut self) {
        self.settle(&mut || true);
    }

    /// Loses the unsynced changes that `keep` does not keep.
    pub(super) fn crash(&mut self, keep: &mut dyn FnMut() -> bool) {
        self.settle(keep);
        self.bytes.clone_from(&self.synced);
    }

    /// Applies the unsynced changes that `keep` keeps.
    fn settle(&mut self, keep: &mut dyn FnMut() -> bool) {
        let mut length = self.synced.len();
        for change in self.unsynced.drain(..) {
            match change {
                Change::Length(new) => {
                    if keep() {
                        self.synced.truncate(new);
                        length = new;
                    }
                }
                // Bytes after the end stay for now: a later length may include them.
                Change::Write { offset, bytes } => {
                    let (mut at, mut rest) = (offset, bytes.as_slice());
                    while !rest.is_empty() {
                        let (sector, behind) = rest.split_at(rest.len().min(SECTOR - at % SECTOR));
                        if keep() {
                            put(&mut self.synced, at, sector);
                        }
                        at += sector.len();
                        rest = behind;
                    }
                }
            }
        }
        self.synced.resize(length, 0);
    }
}

/// Overwrites from `offset` on, after zeros if `target` ends before it.
fn put(target: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if target.len() < end {
        target.resize(end, 0);
    }
    if let Some(place) = target.get_mut(offset..end) {
        place.copy_from_slice(bytes);
    }
}
