//! Crafted logs: the work of a reader grows with their length, not with its square.

use super::reader::LogReader;
use crate::env::{Env, Memory, ReadMode};
use crate::format::Parameters;
use crate::format::log::{FRAME_HEADER, LogHeader, write_frame};
use std::path::Path;

pub(super) const NUMBER: u64 = 7;

pub(super) fn reader(header: &LogHeader, bytes: Vec<u8>) -> LogReader {
    let (memory, path) = (Memory::default(), Path::new("s/00000007.wal"));
    memory.create_dir(Path::new("s")).unwrap();
    memory.set_bytes(path, bytes);
    LogReader::of_file(path.to_owned(), memory.open(path, ReadMode::Pread).unwrap(), header.clone())
}

/// Every 8 bytes claim a frame of a quarter of the log, with a sequence number and durable bytes that a later frame may
/// have.
fn units(length: usize) -> (LogHeader, Vec<u8>) {
    let claim = length as u64 / 4;
    let header = LogHeader { parameters: Parameters::new(3), number: NUMBER, first: claim };
    let mut bytes = header.write();
    while bytes.len() + 8 <= length {
        bytes.extend_from_slice(&claim.to_le_bytes());
    }
    (header, bytes)
}

/// One torn batch whose fingerprints and ids spell headers of frames, each up to the end of the log.
fn records(length: usize) -> (LogHeader, Vec<u8>) {
    let header = LogHeader { parameters: Parameters::new(3), number: NUMBER, first: 1 };
    let start = header.write().len();
    let mut operations = vec![1u8];
    operations.extend_from_slice(&(length as u32 / 16).to_le_bytes());
    operations.resize(8, 0);
    while operations.len() + 24 < length - start - 24 {
        let at = (start + FRAME_HEADER + operations.len()) as u64;
        operations.extend_from_slice(&((length as u64 - at) as u32 - 24).to_le_bytes());
        operations.extend_from_slice(&[9; 4]);
        operations.extend_from_slice(&1u64.to_le_bytes());
        operations.extend_from_slice(&at.to_le_bytes());
    }
    let mut bytes = header.write();
    bytes.extend_from_slice(&write_frame(NUMBER, start as u64, 1, start as u64, &operations));
    bytes.resize(length, 0);
    bytes[start + FRAME_HEADER + 1] ^= 1;
    (header, bytes)
}

type Make = fn(usize) -> (LogHeader, Vec<u8>);

const KINDS: [(&str, Make); 2] = [("units", units), ("records", records)];

#[test]
fn a_crafted_log_is_hashed_a_few_times_at_most() {
    for (name, make) in KINDS {
        for length in [16 << 10, 64 << 10, 256 << 10] {
            let (header, bytes) = make(length);
            let mut tail = reader(&header, bytes.clone());
            assert_eq!(tail.next_batch().unwrap(), None);
            assert!(tail.torn_bytes().unwrap() > 0);
            let mut scan = reader(&header, bytes);
            assert_eq!(scan.scan().unwrap(), []);
            let most = 4 * length as u64;
            assert!(tail.hashed <= most, "{name}: {} bytes hashed for the tail of {length}", tail.hashed);
            assert!(scan.hashed <= most, "{name}: {} bytes hashed for the scan of {length}", scan.hashed);
        }
    }
}
