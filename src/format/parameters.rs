//! The properties of a store that are fixed at its creation; they stand in the manifest, every log and every segment
//! (format-spec/conventions.md).

use super::fields::Fields;
use super::key_format::KeyFormat;
use crate::codec::Codec;
use crate::error::{Error, ErrorKind, Result};
use crate::fingerprint::{IdAssignment, IdKind, WIDTHS};
use crate::plan::Design;

const BLOCK_SIZES: std::ops::RangeInclusive<u32> = 128..=65_536;
const MAX_HASHER: usize = 1024;
/// Bits of the byte that says what runs have beside records.
const ID_INDEX: u8 = 1;
const KEYS: u8 = 2;

/// The properties of a store that are fixed at its creation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameters {
    width: u32,
    max_distance: u32,
    design: Design,
    codec: Codec,
    block_size: u32,
    ids: IdKind,
    id_index: bool,
    keys: Option<KeyFormat>,
    hasher: Option<Box<str>>,
    /// As given at creation; `Undecided` afterwards, when the manifest has it.
    id_assignment: IdAssignment,
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

    /// Parameters of a store of 64-bit fingerprints for queries up to distance `max_distance` in bits. Queries beyond
    /// it are complete too, but slower.
    #[must_use]
    pub fn new(max_distance: u32) -> Self {
        Self {
            width: 64,
            max_distance,
            design: Design::Tables { parts: 2 },
            codec: Codec::default(),
            block_size: Self::BLOCK_SIZE,
            ids: IdKind::default(),
            id_index: false,
            keys: None,
            hasher: None,
            id_assignment: IdAssignment::Undecided,
        }
    }

    /// Parameters of a key index ([`crate::KeyIndex`]) of records with ids of numbers.
    #[must_use]
    pub fn of_keys(format: KeyFormat) -> Self {
        Self::new(0).with_design(Design::Tables { parts: 1 }).with_keys(Some(format))
    }

    #[must_use]
    pub(crate) fn with_keys(mut self, keys: Option<KeyFormat>) -> Self {
        self.keys = keys;
        self
    }

    /// The same for another distance.
    #[must_use]
    pub(crate) fn with_max_distance(mut self, max_distance: u32) -> Self {
        self.max_distance = max_distance;
        self
    }

    /// Sets the width of fingerprints: 64, 128 or 256 bits.
    #[must_use]
    pub fn with_width(mut self, width: u32) -> Self {
        self.width = width;
        self
    }

    /// Sets the kind of ids.
    #[must_use]
    pub fn with_ids(mut self, ids: IdKind) -> Self {
        self.ids = ids;
        self
    }

    /// Says at creation whether the store numbers its records or their ids come with them. Without this, the first
    /// record that is written decides, for good ([`crate::Store::id_assignment`]). For ids of numbers only.
    #[must_use]
    pub fn with_id_assignment(mut self, id_assignment: IdAssignment) -> Self {
        self.id_assignment = id_assignment;
        self
    }

    /// The persistent part, and the id assignment of the caller.
    pub(crate) fn split_id_assignment(mut self) -> (Self, IdAssignment) {
        let id_assignment = std::mem::take(&mut self.id_assignment);
        (self, id_assignment)
    }

    /// Keeps an index of the ids, four bytes a record or somewhat more, so that records are found by their id.
    /// [`crate::admin::add_id_index`] adds one to an existing store.
    #[must_use]
    pub fn with_id_index(mut self, id_index: bool) -> Self {
        self.id_index = id_index;
        self
    }

    /// Records which hasher made the fingerprints: a name without white space. The store then refuses those of other
    /// hashers.
    #[must_use]
    pub fn with_hasher(mut self, hasher: Option<&str>) -> Self {
        self.hasher = hasher.map(Box::from);
        self
    }

    /// Sets the tables' design.
    #[must_use]
    pub fn with_design(mut self, design: Design) -> Self {
        self.design = design;
        self
    }

    /// Sets the codec.
    #[must_use]
    pub fn with_codec(mut self, codec: Codec) -> Self {
        self.codec = codec;
        self
    }

    /// Sets the unit of decoding in bytes: a power of two from 128 to 65,536.
    #[must_use]
    pub fn with_block_size(mut self, block_size: u32) -> Self {
        self.block_size = block_size;
        self
    }

    /// Greatest distance, in bits, for which the tables are designed.
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

    /// Bits of a fingerprint.
    #[must_use]
    pub fn width(&self) -> u32 {
        self.width
    }

    pub(crate) fn words(&self) -> usize {
        (self.width / 64) as usize
    }

    /// The kind of ids.
    #[must_use]
    pub fn ids(&self) -> IdKind {
        self.ids
    }

    /// Whether records are found by their id.
    #[must_use]
    pub fn id_index(&self) -> bool {
        self.id_index
    }

    /// The format of keys and sketches, if this is a key index.
    #[must_use]
    pub fn keys(&self) -> Option<KeyFormat> {
        self.keys
    }

    /// What the store is of.
    pub(crate) fn kind(&self) -> StoreKind {
        match self.keys {
            Some(_) => StoreKind::Keys,
            None => StoreKind::Fingerprints { width: self.width },
        }
    }

    /// The name of the hasher that made the fingerprints, if it is known.
    #[must_use]
    pub fn hasher(&self) -> Option<&str> {
        self.hasher.as_deref()
    }

    /// Checks that a store can have these parameters.
    ///
    /// # Errors
    /// `InvalidInput` that names the parameter.
    pub fn check(&self) -> Result<()> {
        if !WIDTHS.contains(&self.width) {
            return Err(Error::invalid(format!("fingerprints of {} bits are not possible", self.width))
                .with_remedy("use 64, 128 or 256 bits"));
        }
        if self.max_distance > self.width {
            return Err(Error::invalid(format!(
                "maximum distance {} exceeds the width of {} bits",
                self.max_distance, self.width
            )));
        }
        if !self.block_size.is_power_of_two() || !BLOCK_SIZES.contains(&self.block_size) {
            return Err(Error::invalid(format!("block size {} is not possible", self.block_size))
                .with_remedy("use a power of two from 128 to 65536 bytes"));
        }
        if self.id_index && self.ids == IdKind::None {
            return Err(Error::invalid("there can be no id index where there are no ids"));
        }
        if self.id_assignment != IdAssignment::Undecided && self.ids != IdKind::Number {
            let message = format!("ids of the kind {} have no id assignment", self.ids);
            return Err(Error::invalid(message).with_remedy("leave it out, or use ids of numbers"));
        }
        if let Some(keys) = self.keys {
            keys.check()?;
            // Segments of keys have this design; the ids of their fingerprints are numbers of records.
            let fits = self.width == 64 && self.design == Design::Tables { parts: 1 } && self.max_distance == 0;
            if !fits || self.ids == IdKind::None {
                return Err(Error::invalid("a key index has ids, and one table of record numbers")
                    .with_remedy("use ids of numbers or texts, and leave width, distance and tables as they are"));
            }
        }
        if let Some(hasher) = &self.hasher
            && (hasher.is_empty()
                || hasher.len() > MAX_HASHER
                || hasher.chars().any(|c| c.is_whitespace() || c.is_control()))
        {
            return Err(Error::invalid("the name of the hasher is not possible")
                .with_remedy("use 1 to 1024 bytes without white space"));
        }
        self.design.tables(self.width).map(|_| ())
    }

    /// Appends 16 bytes, the hasher and, of a key index, the format of its keys.
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
        let ids = match self.ids {
            IdKind::Number => 1,
            IdKind::Text => 2,
            IdKind::None => 3,
        };
        for value in [self.width, self.max_distance] {
            out.extend_from_slice(&u16::try_from(value).unwrap_or(u16::MAX).to_le_bytes());
        }
        let has = u8::from(self.id_index) * ID_INDEX + u8::from(self.keys.is_some()) * KEYS;
        out.extend_from_slice(&[kind, a, b, codec, ids, has]);
        out.extend_from_slice(&self.block_size.to_le_bytes());
        let hasher = self.hasher().unwrap_or_default();
        out.extend_from_slice(&u16::try_from(hasher.len()).unwrap_or(0).to_le_bytes());
        out.extend_from_slice(hasher.as_bytes());
        self.keys.into_iter().for_each(|keys| keys.write(out));
    }

    pub(crate) fn parse(fields: &mut Fields<'_>) -> Result<Self> {
        let start = fields.offset();
        let unsupported = |what: String| {
            Err(Error::new(ErrorKind::Unsupported, what)
                .at_offset(start)
                .with_remedy("use a release of fpstore that supports it"))
        };
        let width = u32::from(fields.u16("width")?);
        let max_distance = u32::from(fields.u16("maximum distance")?);
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
        let ids = match fields.u8("id kind")? {
            1 => IdKind::Number,
            2 => IdKind::Text,
            3 => IdKind::None,
            other => return unsupported(format!("unknown kind {other} of ids")),
        };
        let has = fields.u8("id index")?;
        if has & !(ID_INDEX | KEYS) != 0 {
            return unsupported(format!("unknown kind {has} of id index"));
        }
        let id_index = has & ID_INDEX != 0;
        let block_size = fields.u32("block size")?;
        let length = usize::from(fields.u16("hasher length")?);
        let hasher = fields.peek(length).map(String::from_utf8_lossy).unwrap_or_default();
        let bytes = fields.bytes("hasher", length, &hasher)?;
        let hasher = std::str::from_utf8(bytes).map_err(|_| Error::damaged("the hasher's name is no text"));
        let hasher = hasher.map_err(|error| error.at_offset(start))?;
        let hasher = (length > 0).then(|| Box::from(hasher));
        let keys = if has & KEYS == 0 { None } else { Some(KeyFormat::parse(fields)?) };
        if !WIDTHS.contains(&width) {
            return unsupported(format!("fingerprints of {width} bits"));
        }
        let id_assignment = IdAssignment::Undecided;
        let parameters =
            Self { width, max_distance, design, codec, block_size, ids, id_index, keys, hasher, id_assignment };
        parameters.check().map_err(|error| Error::damaged(error.message()).at_offset(start))?;
        Ok(parameters)
    }
}

/// What the records of a store are compared by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoreKind {
    Fingerprints { width: u32 },
    Keys,
}

/// Refuses to compare fingerprints of two hashers ([`Parameters::hasher`]), where both are known. `what` names the
/// first ones in the error: "queries".
///
/// # Errors
/// `InvalidInput` that names both hashers.
pub fn check_hashers(what: &str, hasher: Option<&str>, of_others: Option<&str>) -> Result<()> {
    match (hasher, of_others) {
        (Some(own), Some(others)) if own != others => Err(Error::invalid(format!(
            "the {what} were made by {own}, those that they are to be compared with by {others}; comparing the two means \
             nothing"
        ))),
        _ => Ok(()),
    }
}

/// Refuses to treat the records of another store as new ones of this store.
pub(crate) fn check_same_records(own: &Parameters, others: &Parameters) -> Result<()> {
    check_hashers("fingerprints", others.hasher(), own.hasher())?;
    if own.ids() == others.ids() {
        return Ok(());
    }
    Err(Error::invalid(format!("the ids of the new records are {}, those of the store {}", others.ids(), own.ids())))
}

/// Refuses to compare the keys of two indexes that were made in different ways.
pub(crate) fn check_same_keys(own: &Parameters, others: &Parameters) -> Result<()> {
    check_hashers("keys", others.hasher(), own.hasher())?;
    if own.keys() == others.keys() {
        return Ok(());
    }
    let message = "two indexes with other widths of keys or other sketches cannot be compared";
    Err(Error::invalid(message).with_remedy("create one of them like the other"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_hasher_is_refused() {
        assert!(Parameters::new(3).with_hasher(Some("")).check().is_err());
    }

    #[test]
    fn distances_up_to_each_width_are_legal() {
        for width in [64, 128, 256] {
            let parameters = Parameters::new(width).with_width(width);
            parameters.check().unwrap();
            let mut bytes = Vec::new();
            parameters.write(&mut bytes);
            assert_eq!(Parameters::parse(&mut Fields::new(&bytes, 0)).unwrap(), parameters);
            assert!(Parameters::new(width + 1).with_width(width).check().is_err());
        }
        assert!(Parameters::new(3).with_width(96).check().is_err());
    }
}
