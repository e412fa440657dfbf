//! The fuzz targets, one function each: the meaning of a target's bytes, and the checked properties. `fuzz_targets/`
//! passes libFuzzer's bytes to them, `tests/regressions.rs` passes inputs that once failed. README.md describes how to
//! run them.
#![cfg(fuzzing)]

mod codecs;
mod differential;
mod files;
mod input_files;
mod keys;
mod logs;
mod records;
mod segments;
mod stores;

pub use codecs::{block, codes};
pub use differential::differential;
pub use files::{header_footer, id_page, index, manifest, page, text_frame};
pub use input_files::inputs;
pub use keys::keys;
pub use logs::log;
pub use records::round_trip;
pub use segments::segment;

use fpstore::{Codec, Design, IdKind, Parameters};

/// Takes numbers from the front of a target's bytes; zeros after the end.
pub(crate) struct Take<'a>(pub(crate) &'a [u8]);

impl<'a> Take<'a> {
    pub(crate) fn bytes(&mut self, n: usize) -> &'a [u8] {
        let (front, rest) = self.0.split_at(n.min(self.0.len()));
        self.0 = rest;
        front
    }

    /// Bytes with a two-byte length in front of them.
    pub(crate) fn part(&mut self) -> &'a [u8] {
        let n = self.u16();
        self.bytes(n.into())
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.0)
    }

    pub(crate) fn u8(&mut self) -> u8 {
        self.number(1) as u8
    }

    pub(crate) fn u16(&mut self) -> u16 {
        self.number(2) as u16
    }

    pub(crate) fn u64(&mut self) -> u64 {
        self.number(8)
    }

    fn number(&mut self, n: usize) -> u64 {
        self.bytes(n).iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
    }
}

/// Parameters of a store from one byte: width (bits 0 and 1), codec (bit 2), block size (bits 3 to 5), ids (bits 6, 7).
pub(crate) fn parameters(byte: u8) -> Parameters {
    let width = [64, 128, 256, 64][usize::from(byte & 3)];
    let ids = [IdKind::Number, IdKind::Text, IdKind::None, IdKind::Number][usize::from(byte >> 6)];
    Parameters::new(3)
        .with_width(width)
        .with_codec(if byte & 4 == 0 { Codec::Adaptive } else { Codec::Xor })
        .with_block_size([128, 256, 512, 1024, 4096, 8192, 32768, 65536][usize::from(byte >> 3 & 7)])
        .with_design(Design::Tables { parts: 2 })
        .with_ids(ids)
}

/// The same for the naive reader.
pub(crate) fn naive_parameters(parameters: &Parameters) -> naive::plan::Parameters {
    naive::plan::Parameters {
        width: parameters.width() as usize,
        distance: 3,
        design: (0, 2, 0),
        codec: u8::from(parameters.codec() == Codec::Adaptive),
        id_kind: match parameters.ids() {
            IdKind::Number => 1,
            IdKind::Text => 2,
            IdKind::None => 3,
        },
        id_index: parameters.id_index(),
        block_size: parameters.block_size() as usize,
        hasher: String::new(),
        keys: None,
    }
}
