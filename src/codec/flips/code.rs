//! The code of a table's flips blocks: which symbols have a code word, and the tables that decode them.

use super::choose::Choice;
use super::combinations::{FIRST, rank_width};
use super::symbols::{GROUP_BITS, LENGTHS, LOW, Meaning, SYMBOLS, meaning, rows};
use crate::bits::{BitWriter, Forward, low_mask};
use crate::codec::flips::symbols::{Profile, QUICK_FLIPS};
use crate::codec::huffman::Code;
use crate::error::{Error, Result};
use std::sync::OnceLock;

/// Most symbols with a code word: the decoding tables then take 64 KiB.
pub(super) const MOST: usize = 1536;

/// How a symbol computes a key from the key that it refers to and the value that follows it:
///
/// `key = ((reference & keep) - taken + deposit(value, spread)) ^ masks[first + (value & ranks)]`.
///
/// For a gap of upper halves the mask is empty. For flips nothing is deposited; `taken` has the topmost flipped bit,
/// which the reference lacks, and all bits above it. A mask that shares a bit with `taken` is damage.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(in crate::codec) struct Step {
    /// The bits of the reference that stay.
    pub(in crate::codec) keep: u64,
    /// What the key adds to the reference, negated.
    pub(in crate::codec) taken: u64,
    /// The bits of the key over which the value is spread.
    pub(in crate::codec) spread: u64,
    /// Start of the masks; in a slow step the number of flips below the topmost one.
    pub(in crate::codec) first: u32,
    /// The bits of the value that are a rank.
    pub(in crate::codec) ranks: u16,
    /// Bits of the value; 128 more in a slow step.
    pub(in crate::codec) width: u8,
    /// How many keys lie between the reference and the key.
    pub(in crate::codec) back: u8,
}

/// Added to the width of a step that computes its mask instead of looking it up.
pub(in crate::codec) const SLOW: u8 = 128;

/// An entry of the lookup table holds a length in its lowest six bits, and above them the step's offset in bytes.
pub(in crate::codec) const STEP_SHIFT: u32 = 6 + size_of::<Step>().ilog2();

#[derive(Clone, Debug)]
pub(crate) struct FlipsCode {
    /// The symbols with a code word, ascending, and the lengths of the code words.
    coded: Vec<(u16, u8)>,
    group: u32,
    /// Indexed by the next 12 bits: the number of the step << [`STEP_SHIFT`] | the length of the code word.
    pub(in crate::codec) lookup: Box<[u32; 4096]>,
    /// One step for each symbol with a code word. The lookup table leads to no others.
    pub(in crate::codec) steps: Vec<Step>,
    /// Whether all symbols refer to the key before and no step is slow.
    pub(in crate::codec) quick: bool,
    /// For gaps whose symbols do not tell biased bits, and for those that do.
    holes: [Holes; 2],
    encoder: OnceLock<Box<Encoder>>,
}

/// The encoder's tables; made at their first use.
#[derive(Clone, Debug)]
pub(super) struct Encoder {
    pub(super) choice: Choice,
    pub(super) words: Vec<u16>,
}

impl FlipsCode {
    /// The code with these symbols (ascending), lengths and biased bits; `Damaged` if the code is not complete, lacks a
    /// plain gap, or has impossible symbols.
    pub(super) fn new(coded: Vec<(u16, u8)>, group: u32) -> Result<Self> {
        if coded.len() > MOST {
            return Err(Error::damaged(format!("{} symbols have a code, {MOST} is the most", coded.len())));
        }
        if group.count_ones() > GROUP_BITS {
            return Err(Error::damaged("too many biased bits"));
        }
        if !coded.iter().take(LENGTHS).map(|&(symbol, _)| usize::from(symbol)).eq(0..LENGTHS) {
            return Err(Error::damaged("a symbol that has to have a code has none"));
        }
        let lengths: Vec<u8> = coded.iter().map(|&(_, length)| length).collect();
        let code = Code::from_lengths(&lengths)?;
        let steps: Vec<Step> = coded
            .iter()
            .map(|&(symbol, _)| step(meaning(symbol.into()), group))
            .collect::<Option<_>>()
            .ok_or_else(|| Error::damaged("a symbol that cannot occur has a code"))?;
        let mut lookup = Box::new([0; 4096]);
        for (bits, entry) in (0u64..).zip(lookup.iter_mut()) {
            let (slot, length) = code.decode(bits);
            *entry = slot << STEP_SHIFT | length;
        }
        let quick = steps.iter().all(|step| step.back == 0 && step.width < SLOW);
        let holes = [holes(0), holes(group)];
        Ok(Self { coded, group, lookup, steps, quick, holes, encoder: OnceLock::new() })
    }

    pub(crate) fn resident_bytes(&self) -> u64 {
        let steps = self.steps.capacity() * size_of::<Step>();
        (size_of_val(&*self.lookup) + steps + self.coded.capacity() * size_of::<(u16, u8)>()) as u64
    }

    pub(crate) fn lengths(&self) -> impl Iterator<Item = u8> {
        self.coded.iter().map(|&(_, length)| length)
    }

    pub(super) fn encoder(&self) -> &Encoder {
        self.encoder.get_or_init(|| {
            let (mut lengths, mut words) = (vec![0; SYMBOLS], vec![0; SYMBOLS]);
            // The lookup index with the fewest bits set is the code word itself.
            for (bits, entry) in (0..1u16 << 12).zip(self.lookup.iter()).rev() {
                let slot = (entry >> STEP_SHIFT) as usize;
                let Some(&(symbol, length)) = self.coded.get(slot) else { continue };
                let place = lengths.get_mut(usize::from(symbol)).zip(words.get_mut(usize::from(symbol)));
                place.into_iter().for_each(|place| (*place.0, *place.1) = (length, bits));
            }
            let (backs, flips) = if self.quick { Profile::Quick } else { Profile::Dense }.reach();
            Box::new(Encoder { choice: Choice { lengths, group: self.group, backs, flips }, words })
        })
    }

    /// Appends the code as it is stored (format-spec/codes.md).
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        let mut writer = BitWriter::new(out);
        writer.push(self.group.into(), 32);
        let mut rest = &*self.coded;
        for row in rows() {
            let (own, behind) = rest.split_at(rest.partition_point(|&(symbol, _)| usize::from(symbol) < row.end));
            rest = behind;
            let (Some(&(first, _)), Some(&(last, _))) = (own.first(), own.last()) else {
                writer.push(0, 1);
                continue;
            };
            let place = |symbol: u16| (usize::from(symbol) - row.start) as u64;
            writer.push(1, 1);
            writer.push(place(first), 6);
            writer.push(place(last), 6);
            let mut lengths = own.iter().peekable();
            for symbol in first..=last {
                let length = lengths.next_if(|coded| coded.0 == symbol).map_or(0, |coded| coded.1);
                writer.push(length.into(), 4);
            }
        }
        writer.finish();
    }

    /// Reads all of `bytes`; `Damaged` if [`FlipsCode::write`] never writes them.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self> {
        let mut reader = Forward::new(bytes, 0);
        let short = || Error::damaged("a flips code does not fill its bytes");
        #[expect(clippy::cast_possible_truncation, reason = "32 bits")]
        let group = reader.read(32) as u32;
        let mut coded = Vec::new();
        for row in rows() {
            if reader.position() > bytes.len() * 8 {
                return Err(short());
            }
            if reader.read(1) == 0 {
                continue;
            }
            let [first, last] = [(); 2].map(|()| usize::try_from(reader.read(6)).unwrap_or(0) + row.start);
            if first > last || last >= row.end {
                return Err(Error::damaged("a row of code lengths is not possible"));
            }
            for symbol in first..=last {
                let length = u8::try_from(reader.read(4)).unwrap_or(0);
                if length > 0 {
                    coded.push((u16::try_from(symbol).unwrap_or(0), length));
                } else if symbol == first || symbol == last {
                    return Err(Error::damaged("a row of code lengths begins or ends without a code"));
                }
            }
        }
        let unused = (bytes.len() * 8).checked_sub(reader.position()).filter(|&unused| unused < 8);
        let unused = unused.ok_or_else(short)?;
        if reader.read(u32::try_from(unused).unwrap_or(0)) != 0 {
            return Err(Error::damaged("padding of the code lengths is not zero"));
        }
        Self::new(coded, group)
    }
}

/// The step of a symbol; `None` if the symbol cannot occur.
fn step(meaning: Meaning, group: u32) -> Option<Step> {
    match meaning {
        Meaning::Far { length, group: told } => {
            if told.is_some_and(|told| group == 0 || told >> group.count_ones() != 0) {
                return None;
            }
            let mask = u64::from(told.map_or(0, |_| group));
            let told = u64::from(told.unwrap_or(0));
            let below = low_mask(length.saturating_sub(1));
            let spread = low_mask(LOW) & !mask | below << LOW;
            let add = if length > 0 { (below + 1) << LOW } else { 0 };
            let width = u8::try_from(spread.count_ones()).ok()?;
            let taken = (add | spread_over(told, mask)).wrapping_neg();
            Some(Step { keep: !low_mask(LOW), taken, spread, width, ..Step::default() })
        }
        Meaning::Flips { back, flips, top } => {
            let below = flips - 1;
            if top < below {
                return None;
            }
            let width = rank_width(top, below);
            let slow = flips > QUICK_FLIPS;
            Some(Step {
                keep: u64::MAX,
                taken: u64::MAX << top,
                spread: 0,
                first: if slow { below } else { *FIRST.get(below as usize)? },
                ranks: if slow { 0 } else { u16::try_from(low_mask(width)).ok()? },
                width: u8::try_from(width).ok()? + if slow { SLOW } else { 0 },
                back: u8::try_from(back).ok()?,
            })
        }
    }
}

/// Masks that make space for the biased bits: each has the bits below one of them. Unused ones have all bits.
pub(super) type Holes = [u64; GROUP_BITS as usize];

fn holes(group: u32) -> Holes {
    let mut holes = [u64::MAX; GROUP_BITS as usize];
    let bits = (0..LOW).filter(|bit| group >> bit & 1 == 1);
    holes.iter_mut().zip(bits).for_each(|(hole, bit)| *hole = low_mask(bit));
    holes
}

/// Spreads the lowest bits of `value` over the places that are set in `mask`, from the lowest on; for the masks of
/// steps only.
#[inline]
pub(in crate::codec) fn deposit(value: u64, mask: u64, code: &FlipsCode) -> u64 {
    if code.group == 0 {
        return value & mask;
    }
    // Branch-free: whether a gap tells biased bits is unpredictable.
    let told = usize::from(mask & low_mask(LOW) != low_mask(LOW));
    let holes = code.holes.get(told).unwrap_or(&[u64::MAX; GROUP_BITS as usize]);
    holes.iter().fold(value, |value, below| value & below | (value & !below) << 1) & mask
}

/// As [`deposit`], for any mask.
fn spread_over(value: u64, mask: u64) -> u64 {
    let places = (0..64).filter(|place| mask >> place & 1 == 1);
    places.zip(0..64).fold(0, |bits, (place, number)| bits | (value >> number & 1) << place)
}
