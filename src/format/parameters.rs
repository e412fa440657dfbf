//! What is fixed when a store is created; stands in the manifest and in every segment.

use super::fields::Fields;
use crate::codec::Codec;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::WIDTH;
use crate::plan::Design;

/// Ids are 64-bit numbers; the only kind so far.
const IDS_U64: u8 = 1;
const BLOCK_SIZES: std::ops::RangeInclusive<u32> = 128..=65_536;

/// What is fixed when a store is created and persists with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    max_distance: u32,
    design: Design,
    codec: Codec,
    block_size: u32,
}

impl Default for Parameters {
    /// Distance 3, two tables, the adaptive codec, blocks of 256 bytes.
    fn default() -> Self {
        Self::new(3)
    }
}

impl Parameters {
    /// The default block size in bytes.
    pub const BLOCK_SIZE: u32 = 256;

    /// Parameters of a store whose queries ask for distances up to `max_distance` bits (0 to 64). Queries beyond it are
    /// answered completely all the same, but more slowly.
    #[must_use]
    pub fn new(max_distance: u32) -> Self {
        Self {
            max_distance,
            design: Design::Tables { parts: 2 },
            codec: Codec::default(),
            block_size: Self::BLOCK_SIZE,
        }
    }

    /// Lays the tables out by `design`.
    #[must_use]
    pub fn with_design(mut self, design: Design) -> Self {
        self.design = design;
        self
    }

    /// Compresses by `codec`.
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }

    /// Decodes in units of `block_size` bytes: a power of two from 128 to 65,536.
    #[must_use]
    pub fn with_block_size(mut self, block_size: u32) -> Self {
        self.block_size = block_size;
        self
    }

    /// Greatest distance, in bits, that the tables are laid out for.
    #[must_use]
    pub fn max_distance(&self) -> u32 {
        self.max_distance
    }

    /// The tables' design.
    #[must_use]
    pub fn design(&self) -> Design {
        self.design
    }

    /// The codec.
    #[must_use]
    pub fn codec(&self) -> Codec {
        self.codec
    }

    /// Bytes of a block.
    #[must_use]
    pub fn block_size(&self) -> u32 {
        self.block_size
    }

    /// Refuses what no store can have; creating one does the same.
    ///
    /// # Errors
    /// `InvalidInput` that names the parameter.
    pub fn check(&self) -> Result<()> {
        if self.max_distance > WIDTH {
            return Err(Error::invalid(format!(
                "maximum distance {} exceeds the width of {WIDTH} bits",
                self.max_distance
            )));
        }
        if !self.block_size.is_power_of_two() || !BLOCK_SIZES.contains(&self.block_size) {
            return Err(Error::invalid(format!("block size {} is not possible", self.block_size))
                .with_remedy("use a power of two from 128 to 65536 bytes"));
        }
        self.design.tables(WIDTH).map(|_| ())
    }

    /// Appends 12 bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let (kind, a, b) = match self.design {
            Design::Tables { parts } => (0, parts, 0),
            Design::Choose { chosen, parts } => (1, chosen, parts),
            Design::Nested { outer, inner } => (2, outer, inner),
        };
        let codec = match self.codec {
            Codec::Xor => 0,
            Codec::Adaptive => 1,
        };
        out.extend_from_slice(&(WIDTH as u16).to_le_bytes());
        out.extend_from_slice(&[u8::try_from(self.max_distance).unwrap_or(u8::MAX), kind, a, b, codec, IDS_U64]);
        out.extend_from_slice(&self.block_size.to_le_bytes());
    }

    /// Reads 12 bytes.
    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        let start = fields.offset();
        let unsupported = |what: String| {
            Err(Error::new(ErrorKind::Unsupported, what)
                .at_offset(start)
                .with_remedy("use a release of fpstore that supports it"))
        };
        let width = fields.u16("width")?;
        let max_distance = u32::from(fields.u8("maximum distance")?);
        let design =
            match (fields.u8("design")?, fields.u8("design, first number")?, fields.u8("design, second number")?) {
                (0, parts, 0) => Design::Tables { parts },
                (1, chosen, parts) => Design::Choose { chosen, parts },
                (2, outer, inner) => Design::Nested { outer, inner },
                (kind, a, b) => return unsupported(format!("unknown design {kind} ({a}, {b})")),
            };
        let codec = match fields.u8("codec")? {
            0 => Codec::Xor,
            1 => Codec::Adaptive,
            other => return unsupported(format!("unknown codec {other}")),
        };
        let ids = fields.u8("id kind")?;
        let block_size = fields.u32("block size")?;
        if u32::from(width) != WIDTH || ids != IDS_U64 {
            return unsupported(format!("width {width} with id kind {ids}"));
        }
        let parameters = Self { max_distance, design, codec, block_size };
        parameters.check().map_err(|error| Error::damaged(error.message()).at_offset(start))?;
        Ok(parameters)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn round_trip_and_limits() {
        for design in Design::LISTED {
            for codec in Codec::ALL {
                let parameters = Parameters::new(7).with_design(design).with_codec(codec).with_block_size(16384);
                let mut bytes = Vec::new();
                parameters.write(&mut bytes);
                assert_eq!(bytes.len(), 12);
                assert_eq!(Parameters::parse(&mut Fields::new(&bytes, 0)).unwrap(), parameters);
            }
        }
        assert!(Parameters::new(65).check().is_err());
        for size in [0, 64, 500, 1 << 17] {
            assert!(Parameters::new(3).with_block_size(size).check().is_err(), "{size}");
        }
    }
}
