//! Finds the frames of a log that hold, in time proportional to the length of the log.
//!
//! Every 8 bytes may claim to begin a frame of up to 256 MiB. Hashing each claimed frame takes time that grows with the
//! square of the length, so the search never hashes a claimed frame by itself. It hashes each stretch of the log twice,
//! from a common start: once up to where each claimed frame's operations begin, and once up to where they end. From the
//! first checksum, and the one the frame states, follows the second one if the frame holds
//! ([`FrameHeader::sum_behind`]). That decides every claim exactly; there is no limit at which the search gives up.
//!
//! Claims are decided in chunks, so memory is limited whatever the log holds. A chunk costs one more pass over the
//! longest frame that it claims.

use super::reader::LogReader;
use crate::error::Result;
use crate::format::log::{ALIGNMENT, FRAME_HEADER, FrameHeader};

const PIECE: u64 = 1 << 20;

/// A header of a possible frame.
struct Claim {
    offset: u64,
    /// The end of its operations.
    end: u64,
    /// The checksum up to `end` if the frame holds.
    sum: u32,
}

#[derive(Debug)]
pub(super) struct Searched {
    /// The offsets of frames that hold, ascending. The frames may overlap.
    pub(super) offsets: Vec<u64>,
    /// The offset at which the search continues.
    pub(super) next: u64,
}

/// The checksum of a growing stretch of the log.
struct Prefix {
    hasher: crc32fast::Hasher,
    at: u64,
}

impl Prefix {
    fn new(at: u64) -> Self {
        Self { hasher: crc32fast::Hasher::new(), at }
    }

    fn sum(&self) -> u32 {
        self.hasher.clone().finalize()
    }
}

impl LogReader {
    /// Finds the frames that begin in `from..to`, at multiples of 8 after `from`, that `is_wanted` accepts and that
    /// hold. Ends early after `most` claims.
    pub(super) fn search(
        &mut self,
        from: u64,
        to: u64,
        most: usize,
        is_wanted: impl Fn(u64, &FrameHeader) -> bool,
    ) -> Result<Searched> {
        let mut claims: Vec<Claim> = Vec::new();
        let (mut at, mut prefix) = (from, None);
        while at < to && claims.len() < most {
            if let Some(header) = self.claim(at)?
                && is_wanted(at, &header)
            {
                let begin = at + FRAME_HEADER as u64;
                let prefix = prefix.get_or_insert_with(|| Prefix::new(begin));
                self.hash_to(prefix, begin)?;
                let sum = header.sum_behind(self.header().number, at, prefix.sum());
                claims.push(Claim { offset: at, end: begin + u64::from(header.length), sum });
            }
            at += ALIGNMENT;
        }
        let begin = claims.first().map_or(from, |claim| claim.offset + FRAME_HEADER as u64);
        claims.sort_unstable_by_key(|claim| claim.end);
        let (mut prefix, mut offsets) = (Prefix::new(begin), Vec::new());
        for Claim { offset, end, sum } in claims {
            self.hash_to(&mut prefix, end)?;
            if prefix.sum() == sum && self.is_padded(end)? {
                offsets.push(offset);
            }
        }
        offsets.sort_unstable();
        Ok(Searched { offsets, next: at })
    }

    fn hash_to(&mut self, prefix: &mut Prefix, to: u64) -> Result<()> {
        while prefix.at < to {
            let count = (to - prefix.at).min(PIECE);
            let Some(bytes) = self.bytes(prefix.at, usize::try_from(count).unwrap_or(0))? else { break };
            prefix.hasher.update(bytes);
            prefix.at += count;
            self.count_hashed(count);
        }
        Ok(())
    }

    /// Whether zeros follow operations that end at `end`, up to the next frame.
    fn is_padded(&mut self, end: u64) -> Result<bool> {
        let count = usize::try_from(end.next_multiple_of(ALIGNMENT) - end).unwrap_or(0);
        Ok(self.bytes(end, count)?.is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0)))
    }
}

#[cfg(test)]
mod tests {
    use super::super::hostile::{NUMBER, reader};
    use super::*;
    use crate::format::Parameters;
    use crate::format::log::{LogHeader, write_frame};
    use proptest::prelude::*;

    #[derive(Clone, Debug)]
    enum Piece {
        /// A frame that holds, with this many bytes of operations.
        Frame(usize),
        /// A frame that holds but for one bit.
        Flipped(usize, usize),
        /// A frame whose operations are a frame that holds, and more.
        Nested(usize, usize),
        /// Units of this value.
        Units(u64, usize),
    }

    fn piece() -> impl Strategy<Value = Piece> {
        prop_oneof![
            (1usize..90).prop_map(Piece::Frame),
            (1usize..90, 0usize..2000).prop_map(|(length, bit)| Piece::Flipped(length, bit)),
            (1usize..40, 1usize..40).prop_map(|(inner, outer)| Piece::Nested(inner, outer)),
            (0u64..400, 1usize..20).prop_map(|(value, units)| Piece::Units(value, units)),
        ]
    }

    fn operations(length: usize) -> Vec<u8> {
        (0..length).map(|at| (at * 7 + length) as u8).collect()
    }

    proptest! {
        /// The search finds what hashing every claimed frame by itself finds, however small its chunks are.
        #[test]
        fn the_search_agrees_with_hashing_each_frame(
            pieces in prop::collection::vec(piece(), 0..12), most in 1usize..9, cut in 0usize..9,
        ) {
            let header = LogHeader { parameters: Parameters::new(3), number: NUMBER, first: 1 };
            let mut bytes = header.write();
            let from = bytes.len() as u64;
            for piece in pieces {
                let at = bytes.len() as u64;
                let frame = |at, operations: &[u8]| write_frame(NUMBER, at, 3, at, operations);
                match piece {
                    Piece::Frame(length) => bytes.extend(frame(at, &operations(length))),
                    Piece::Flipped(length, bit) => {
                        let mut frame = frame(at, &operations(length));
                        let bit = bit % (frame.len() * 8);
                        frame[bit / 8] ^= 1 << (bit % 8);
                        bytes.extend(frame);
                    }
                    Piece::Nested(inner, outer) => {
                        let mut inside = frame(at + FRAME_HEADER as u64, &operations(inner));
                        inside.extend(operations(outer));
                        bytes.extend(frame(at, &inside));
                    }
                    Piece::Units(value, units) => {
                        (0..units).for_each(|_| bytes.extend_from_slice(&value.to_le_bytes()));
                    }
                }
            }
            bytes.truncate(bytes.len() - cut.min(bytes.len() - from as usize));
            let mut log = reader(&header, bytes);
            let (mut expected, mut found, mut at) = (Vec::new(), Vec::new(), from);
            while at < log.length() {
                if log.frame(at, 0..=u64::MAX).unwrap().is_some() {
                    expected.push(at);
                }
                at += ALIGNMENT;
            }
            at = from;
            while at < log.length() {
                let chunk = log.search(at, log.length(), most, |_, _| true).unwrap();
                prop_assert!(chunk.next > at);
                found.extend(chunk.offsets);
                at = chunk.next;
            }
            prop_assert_eq!(found, expected);
        }
    }
}
