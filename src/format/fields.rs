//! Reads named fields one after another and records them for a trace.
//!
//! `fpdump hex` runs the same parser with a trace, so that its explanation always matches the parser.

use crate::error::{Error, ErrorKind, Result};
use crate::format::CHECKSUM;
use byteorder::{LittleEndian, ReadBytesExt};
use std::fmt::Display;
use std::io;

/// A field of a file, as `fpdump hex` shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Offset of its first byte in the file.
    pub offset: u64,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Its name in format-spec/.
    pub name: String,
    /// Its meaning as text.
    pub value: String,
}

/// Takes fields from the front of a byte slice.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    position: usize,
    start: u64,
    trace: Option<Vec<Field>>,
}

impl<'a> Fields<'a> {
    /// Reads `bytes`, which stand at offset `start` of their file.
    pub(crate) fn new(bytes: &'a [u8], start: u64) -> Self {
        Self { bytes, position: 0, start, trace: None }
    }

    pub(crate) fn traced(mut self) -> Self {
        self.trace = Some(Vec::new());
        self
    }

    pub(crate) fn into_trace(self) -> Vec<Field> {
        self.trace.unwrap_or_default()
    }

    pub(crate) fn offset(&self) -> u64 {
        self.start + self.position as u64
    }

    pub(crate) fn taken(&self) -> &'a [u8] {
        self.bytes.get(..self.position).unwrap_or_default()
    }

    pub(crate) fn remaining(&self) -> usize {
        self.bytes.len() - self.position
    }

    /// A `Damaged` error at the next field's offset.
    pub(crate) fn damaged(&self, message: impl Into<String>) -> Error {
        Error::damaged(message).at_offset(self.offset())
    }

    fn number<T: Display>(&mut self, name: &str, read: impl FnOnce(&mut &'a [u8]) -> io::Result<T>) -> Result<T> {
        let value = self.value(name, read)?;
        self.note(name, size_of::<T>(), &value);
        Ok(value)
    }

    fn value<T>(&self, name: &str, read: impl FnOnce(&mut &'a [u8]) -> io::Result<T>) -> Result<T> {
        let mut rest = self.bytes.get(self.position..).unwrap_or_default();
        read(&mut rest).map_err(|_| self.damaged(format!("the file ends within field '{name}'")))
    }

    fn note(&mut self, name: &str, size: usize, value: &dyn Display) {
        let offset = self.offset();
        let bytes = self.bytes.get(self.position..self.position + size).unwrap_or_default();
        self.position += size;
        if let Some(trace) = &mut self.trace {
            trace.push(Field { offset, bytes: bytes.to_vec(), name: name.to_owned(), value: value.to_string() });
        }
    }

    pub(crate) fn u8(&mut self, name: &str) -> Result<u8> {
        self.number(name, |rest| rest.read_u8())
    }

    pub(crate) fn u16(&mut self, name: &str) -> Result<u16> {
        self.number(name, |rest| rest.read_u16::<LittleEndian>())
    }

    pub(crate) fn u32(&mut self, name: &str) -> Result<u32> {
        self.number(name, |rest| rest.read_u32::<LittleEndian>())
    }

    pub(crate) fn u64(&mut self, name: &str) -> Result<u64> {
        self.number(name, |rest| rest.read_u64::<LittleEndian>())
    }

    pub(crate) fn i64(&mut self, name: &str) -> Result<i64> {
        self.number(name, |rest| rest.read_i64::<LittleEndian>())
    }

    /// A 64-bit hash of other bytes; checked elsewhere.
    pub(crate) fn hash(&mut self, name: &str) -> Result<u64> {
        let value = self.value(name, |rest| rest.read_u64::<LittleEndian>())?;
        self.note(name, 8, &format_args!("{value:016x}"));
        Ok(value)
    }

    /// `size` bytes as they are; `value` is their text in the trace.
    pub(crate) fn bytes(&mut self, name: &str, size: usize, value: &dyn Display) -> Result<&'a [u8]> {
        let bytes = self.peek(size).ok_or_else(|| self.damaged(format!("the file ends within '{name}'")))?;
        self.note(name, size, value);
        Ok(bytes)
    }

    /// The next `size` bytes without taking them; `None` if there are fewer.
    pub(crate) fn peek(&self, size: usize) -> Option<&'a [u8]> {
        self.bytes.get(self.position..).and_then(|rest| rest.get(..size))
    }

    /// Bytes that must be `expected`.
    pub(crate) fn magic(&mut self, expected: &[u8; 8]) -> Result<()> {
        let text = expected.escape_ascii().to_string();
        let offset = self.offset();
        if self.bytes("magic", 8, &text)? != expected {
            return Err(Error::damaged(format!("the magic bytes are not '{text}'")).at_offset(offset));
        }
        Ok(())
    }

    /// The format version, which must be this library's.
    pub(crate) fn version(&mut self) -> Result<()> {
        let version = self.u32("version")?;
        if version != super::VERSION {
            return Err(Error::new(
                ErrorKind::Unsupported,
                format!("format version {version}; this program reads version {}", super::VERSION),
            )
            .with_remedy("use the release of fpstore that wrote it, or load the data again"));
        }
        Ok(())
    }

    /// The CRC-32 of all fields before it.
    pub(crate) fn checksum(&mut self) -> Result<()> {
        let expected = crc32fast::hash(self.taken());
        self.checksum_of(expected)
    }

    /// Checks the CRC-32 before the last `behind` bytes first, so that the parser does not interpret damaged bytes. A
    /// trace skips this: it reads on and compares the checksum where it stands.
    pub(crate) fn check_seal(&self, behind: usize) -> Result<()> {
        let sealed = self.bytes.len().checked_sub(behind).and_then(|end| self.bytes.get(..end)?.split_last_chunk());
        let (covered, found) = sealed.ok_or_else(|| self.damaged("the file is too short"))?;
        let (found, expected) = (u32::from_le_bytes(*found), crc32fast::hash(covered));
        if self.trace.is_none() && found != expected {
            return Err(checksum_error(found, expected).at_offset(self.start + covered.len() as u64));
        }
        Ok(())
    }

    /// A CRC-32 of other bytes; checked elsewhere.
    pub(crate) fn foreign_checksum(&mut self, name: &str) -> Result<u32> {
        let value = self.value(name, |rest| rest.read_u32::<LittleEndian>())?;
        self.note(name, CHECKSUM, &format_args!("{value:08x}"));
        Ok(value)
    }

    /// A CRC-32 that must be `expected`.
    pub(crate) fn checksum_of(&mut self, expected: u32) -> Result<()> {
        let offset = self.offset();
        let found = self.foreign_checksum("checksum")?;
        if found == expected { Ok(()) } else { Err(checksum_error(found, expected).at_offset(offset)) }
    }

    /// Checks that no bytes remain.
    pub(crate) fn end(&self) -> Result<()> {
        match self.remaining() {
            0 => Ok(()),
            more => Err(self.damaged(format!("{more} bytes too many"))),
        }
    }
}

fn checksum_error(found: u32, expected: u32) -> Error {
    Error::damaged(format!("checksum is {found:08x}, the bytes give {expected:08x}"))
}

pub(crate) fn seal(out: &mut Vec<u8>) {
    let checksum = crc32fast::hash(out);
    out.extend_from_slice(&checksum.to_le_bytes());
}
