//! Positioned reads and writes of the real file system, as all threads share a file's own position.

use crate::env::traits::ReadFile;
use std::fs::File;
use std::io;

#[derive(Debug)]
pub(super) struct Positioned {
    file: File,
    length: u64,
}

impl Positioned {
    pub(super) fn new(file: File) -> io::Result<Self> {
        Ok(Self { length: file.metadata()?.len(), file })
    }
}

impl ReadFile for Positioned {
    fn length(&self) -> u64 {
        self.length
    }

    fn read<'a>(&'a self, offset: u64, length: usize, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        if offset.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file ends before"));
        }
        buffer.resize(length, 0);
        read_exact_at(&self.file, buffer, offset)?;
        Ok(buffer)
    }

    // Other systems read when the bytes are asked for.
    #[cfg(target_os = "linux")]
    fn will_read(&self, offset: u64, length: u64) {
        // Advice: the kernel starts to read and does not wait.
        let length = std::num::NonZeroU64::new(length);
        let _ = rustix::fs::fadvise(&self.file, offset, length, rustix::fs::Advice::WillNeed);
    }

    fn is_stable(&self) -> bool {
        false
    }
}

#[cfg(unix)]
pub(super) fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, buffer, offset)
}

#[cfg(windows)]
pub(super) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, buffer, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => {
                buffer = buffer.get_mut(count..).unwrap_or_default();
                offset += count as u64;
            }
        }
    }
    Ok(())
}

#[cfg(unix)]
pub(super) fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::write_all_at(file, bytes, offset)
}

#[cfg(windows)]
pub(super) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match std::os::windows::fs::FileExt::seek_write(file, bytes, offset)? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            count => {
                bytes = bytes.get(count..).unwrap_or_default();
                offset += count as u64;
            }
        }
    }
    Ok(())
}
