//! Manifests and logs taken apart, changed, and reassembled with correct checksums.

use super::parts::{PARAMETERS, number, parameters_length};
use crate::decoder::{Decoded, decode};
use crate::support::*;
use fpstore::ReadMode;
use fpstore::env::Env;

/// A manifest's fields.
#[derive(Clone)]
pub(crate) struct Manifest {
    pub(crate) version: u32,
    pub(crate) parameters: Vec<u8>,
    pub(crate) numbering: u8,
    pub(crate) next_id: u64,
    pub(crate) next_segment: u64,
    pub(crate) first_log: u64,
    pub(crate) flushed: u64,
    pub(crate) written: [u64; 3],
    /// The number of runs, if it differs from the number of runs that follow.
    pub(crate) count: Option<u32>,
    pub(crate) runs: Vec<Run>,
    /// Bytes after the runs.
    pub(crate) tail: Vec<u8>,
}

/// A run's fields.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) first: u64,
    pub(crate) last: u64,
    /// Bits: the segments of the run, and whether its net records are known.
    pub(crate) has: u8,
    /// Written if present, independent of `has`.
    pub(crate) net: Option<i64>,
    pub(crate) segments: Vec<Entry>,
}

/// Number, file length, records, fingerprints; footer checksum.
pub(crate) type Entry = ([u64; 4], u32);

/// Bits of the segments in a run.
pub(crate) const REMOVALS: u8 = 1;
pub(crate) const RECORDS: u8 = 2;
pub(crate) const ID_INDEX: u8 = 4;
pub(crate) const KEYS: u8 = 16;
pub(crate) const NET: u8 = 8;

/// The manifest's entry of a segment, and the segment's parameters.
pub(crate) fn entry(own: u64, segment: &[u8]) -> (Entry, Vec<u8>) {
    let trailer = segment.len() - 16;
    let field = |at: usize| u32::from_le_bytes(segment[trailer + at..trailer + at + 4].try_into().unwrap());
    let footer = trailer - field(0) as usize;
    // A broken footer gives arbitrary values.
    let length = Some(parameters_length(&segment[footer..])).filter(|length| footer + length + 16 <= trailer);
    let after = footer + length.unwrap_or(PARAMETERS);
    let counts = [own, segment.len() as u64, number(segment, after), number(segment, after + 8)];
    ((counts, field(4)), segment[footer..after].to_vec())
}

impl Manifest {
    /// A manifest that names these segments of records, numbered from 1, each in its own run.
    pub(crate) fn naming(segments: &[&[u8]]) -> Self {
        let (mut runs, mut parameters) = (Vec::new(), Vec::new());
        for (segment, own) in segments.iter().zip(1..) {
            let (entry, own_parameters) = entry(own, segment);
            parameters = own_parameters;
            runs.push(Run { first: own, last: own, has: RECORDS, net: None, segments: vec![entry] });
        }
        let flushed = runs.len() as u64;
        Self {
            version: 6,
            parameters,
            numbering: 2,
            next_id: 0,
            next_segment: 9,
            first_log: 1,
            flushed,
            written: [1, 2, 3],
            count: None,
            runs,
            tail: Vec::new(),
        }
    }

    /// The parts of a sound manifest.
    pub(crate) fn take(bytes: &[u8]) -> Self {
        let after = 12 + parameters_length(&bytes[12..]);
        let field = |index: usize| number(bytes, after + 1 + 8 * index);
        let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
        let (mut runs, mut at) = (Vec::new(), after + 61);
        for _ in 0..word(after + 57) {
            let (first, last, has) = (number(bytes, at), number(bytes, at + 8), bytes[at + 16]);
            at += 17;
            let net = (has & NET > 0).then(|| number(bytes, at).cast_signed());
            at += 8 * net.iter().count();
            let segment = |at: usize| ([0, 8, 16, 24].map(|field| number(bytes, at + field)), word(at + 32));
            let count = (has & !NET).count_ones() as usize;
            let segments = (0..count).map(|index| segment(at + 36 * index)).collect();
            at += 36 * count;
            runs.push(Run { first, last, has, net, segments });
        }
        assert_eq!(at + 4, bytes.len());
        Self {
            version: word(8),
            parameters: bytes[12..after].to_vec(),
            numbering: bytes[after],
            next_id: field(0),
            next_segment: field(1),
            first_log: field(2),
            flushed: field(3),
            written: [4, 5, 6].map(field),
            count: None,
            runs,
            tail: Vec::new(),
        }
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = b"fpstore\0".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(&self.parameters);
        out.push(self.numbering);
        let fields = [self.next_id, self.next_segment, self.first_log, self.flushed];
        fields.iter().chain(&self.written).for_each(|field| out.extend(field.to_le_bytes()));
        out.extend(self.count.unwrap_or(self.runs.len() as u32).to_le_bytes());
        for Run { first, last, has, net, segments } in &self.runs {
            out.extend([first.to_le_bytes(), last.to_le_bytes()].concat());
            out.push(*has);
            net.iter().for_each(|net| out.extend(net.to_le_bytes()));
            for (fields, checksum) in segments {
                fields.iter().for_each(|field| out.extend(field.to_le_bytes()));
                out.extend(checksum.to_le_bytes());
            }
        }
        out.extend(&self.tail);
        out.extend(crc32fast::hash(&out).to_le_bytes());
        out
    }
}

/// A log's parts.
#[derive(Clone)]
pub(crate) struct Log {
    pub(crate) version: u32,
    pub(crate) parameters: Vec<u8>,
    pub(crate) number: u64,
    pub(crate) first: u64,
    /// Padding between the header and the first frame.
    pub(crate) padding: u8,
    pub(crate) frames: Vec<Frame>,
    /// Bytes after the last frame.
    pub(crate) tail: Vec<u8>,
}

/// A frame's parts.
#[derive(Clone)]
pub(crate) struct Frame {
    pub(crate) sequence: u64,
    pub(crate) durable: u64,
    pub(crate) operations: Vec<u8>,
    /// Bits of the first operation's byte that are flipped after the checksum is computed.
    pub(crate) flip: u8,
    /// The byte that fills the padding.
    pub(crate) padding: u8,
    /// Whether zeros replace it.
    pub(crate) zeros: bool,
}

impl Log {
    /// Without frames.
    pub(crate) fn empty(parameters: &[u8], number: u64, first: u64) -> Self {
        Self {
            version: 6,
            parameters: parameters.to_vec(),
            number,
            first,
            padding: 0,
            frames: Vec::new(),
            tail: Vec::new(),
        }
    }

    /// The parts of a sound log. The zero space after the frames is its tail.
    pub(crate) fn take(bytes: &[u8]) -> Self {
        let after = 12 + parameters_length(&bytes[12..]);
        let mut log = Self::empty(&bytes[12..after], number(bytes, after), number(bytes, after + 8));
        let mut at = (after + 20).next_multiple_of(8);
        while let Some(header) = bytes.get(at..at + 24).filter(|header| header[..4] != [0; 4]) {
            let length = u32::from_le_bytes(header[..4].try_into().unwrap()) as usize;
            let operations = bytes[at + 24..at + 24 + length].to_vec();
            log.frames.push(Frame::new(number(header, 8), number(header, 16), operations));
            at = (at + 24 + length).next_multiple_of(8);
        }
        log.tail = bytes[at..].to_vec();
        log
    }

    /// Adds a frame that records `durable` of the frames before it as durable.
    pub(crate) fn push(&mut self, durable: usize, operations: Vec<u8>) {
        let durable = self.ends()[durable] as u64;
        self.frames.push(Frame::new(self.first + self.frames.len() as u64, durable, operations));
    }

    /// The ends of the header and of each frame.
    pub(crate) fn ends(&self) -> Vec<usize> {
        let mut ends = vec![(12 + self.parameters.len() + 20).next_multiple_of(8)];
        for frame in &self.frames {
            ends.push((ends[ends.len() - 1] + 24 + frame.operations.len()).next_multiple_of(8));
        }
        ends
    }

    /// The end of the last frame.
    pub(crate) fn end(&self) -> usize {
        self.ends()[self.frames.len()]
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = b"fpstrwal".to_vec();
        out.extend(self.version.to_le_bytes());
        out.extend(&self.parameters);
        out.extend([self.number.to_le_bytes(), self.first.to_le_bytes()].concat());
        out.extend(crc32fast::hash(&out).to_le_bytes());
        out.resize(out.len().next_multiple_of(8), self.padding);
        for frame in &self.frames {
            let bytes = frame.bytes(self.number, out.len() as u64);
            out.extend(bytes);
        }
        out.extend(&self.tail);
        out
    }
}

impl Frame {
    pub(crate) fn new(sequence: u64, durable: u64, operations: Vec<u8>) -> Self {
        Self { sequence, durable, operations, flip: 0, padding: 0, zeros: false }
    }

    /// Its bytes at an offset of a log.
    pub(crate) fn bytes(&self, log: u64, offset: u64) -> Vec<u8> {
        let length = self.operations.len() as u32;
        let mut sum = crc32fast::Hasher::new();
        for value in [log, offset, u64::from(length), self.sequence, self.durable] {
            sum.update(&value.to_le_bytes());
        }
        sum.update(&self.operations);
        let mut out = [length, sum.finalize()].map(u32::to_le_bytes).concat();
        out.extend([self.sequence, self.durable].map(u64::to_le_bytes).concat());
        out.extend(&self.operations);
        out[24] ^= self.flip;
        out.resize(out.len().next_multiple_of(8), self.padding);
        if self.zeros {
            out.fill(0);
        }
        out
    }
}

/// A store with this manifest and these segments, numbered from 1.
pub(crate) fn store(manifest: Vec<u8>, segments: &[&[u8]], mode: ReadMode) -> Fixture {
    let fixture = Fixture::new(mode);
    fixture.env.create_dir(&fixture.path).unwrap();
    fixture.env.set_bytes(&fixture.path.join("MANIFEST"), manifest);
    for (bytes, number) in segments.iter().zip(1..) {
        fixture.env.set_bytes(&fixture.path.join(format!("{number:08}.segment")), bytes.to_vec());
    }
    fixture
}

/// The result of the specification's decoder for a store; none without Python.
pub(super) fn decoded(fixture: &Fixture) -> Option<Decoded> {
    let directory = tempfile::tempdir().unwrap();
    for (path, bytes) in fixture.files() {
        std::fs::write(directory.path().join(path.file_name().unwrap()), bytes).unwrap();
    }
    decode(directory.path())
}
