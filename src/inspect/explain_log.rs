//! Every byte of a write-ahead log, field by field.

use super::logs::no_frame;
use crate::env::ReadMode;
use crate::error::{Error, Result};
use crate::format::fields::{Field, Fields};
use crate::format::log::{FRAME_HEADER, FrameHeader, LogHeader, parse_operations};
use crate::inspect::traced::{Visit, traced};
use crate::options::Options;
use crate::wal::{LogReader, Tail};
use std::path::Path;

/// Bytes of a field of what is not looked into.
const PIECE: u64 = 1 << 20;

/// Visits all fields of a log. Frames that do not hold are one field, of torn bytes.
pub(super) fn explain(path: &Path, options: &Options, visit: &mut Visit<'_>) -> Result<()> {
    let env = &*options.env;
    let mut reader = LogReader::open_file(env, path)?;
    let bytes_of = |from: u64, to: u64| -> Result<Vec<u8>> {
        let file = env.open(path, ReadMode::Pread).map_err(|error| Error::io("cannot open", path, error))?;
        let mut buffer = Vec::new();
        let length = usize::try_from(to - from).unwrap_or(usize::MAX);
        let bytes = file.read(from, length, &mut buffer).map_err(|error| Error::io("cannot read", path, error))?;
        Ok(bytes.to_vec())
    };
    let start = reader.position();
    traced(&bytes_of(0, start)?, 0, |fields| LogHeader::parse(fields).map(|_| ()), visit)?;
    let parameters = reader.header().parameters.clone();
    loop {
        let at = reader.position();
        let Some((header, _)) = reader.next_bytes()? else { break };
        let bytes = bytes_of(at, reader.position())?;
        let end = FRAME_HEADER + header.length as usize;
        let (frame, padding) = bytes.split_at_checked(end).ok_or_else(|| no_frame(path, at))?;
        let (front, operations) = frame.split_at_checked(FRAME_HEADER).ok_or_else(|| no_frame(path, at))?;
        traced(front, at, |fields| FrameHeader::parse(fields).map(|_| ()), visit)?;
        let (words, ids) = (parameters.words(), parameters.ids());
        let parse = |fields: &mut Fields<'_>| parse_operations(fields, words, ids).map(|_| ());
        traced(operations, at + FRAME_HEADER as u64, parse, visit)?;
        if !padding.is_empty() {
            let (name, value) = ("padding".to_owned(), String::new());
            visit(Field { offset: at + end as u64, bytes: padding.to_vec(), name, value })?;
        }
    }
    let (end, length) = (reader.position(), reader.length());
    let torn = match reader.tail()? {
        Tail::Clean => 0,
        Tail::Torn(bytes) => bytes,
    };
    for (name, from, to) in [("torn", end, end + torn), ("room", end + torn, length)] {
        let mut at = from;
        while at < to {
            let next = (at + PIECE).min(to);
            let (name, value) = (name.to_owned(), String::new());
            visit(Field { offset: at, bytes: bytes_of(at, next)?, name, value })?;
            at = next;
        }
    }
    Ok(())
}
