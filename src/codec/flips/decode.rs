//! Decodes a flips block.
//!
//! This is the plain form: one key at a time, with every check. [`super::super::simd`] has a form that decodes eight
//! keys between two checks, and runs where the block allows it.

use super::BACKS;
use super::code::{FlipsCode, SLOW, STEP_SHIFT, deposit};
use super::combinations::{MASKS, unrank};
use crate::bits::{load, load_bits, low_mask};
use crate::codec::flips::lanes::Lanes;
use crate::codec::flips::lanes::head;
use crate::codec::simd;
use crate::codec::split::Tail;

const LOADED: usize = 64;

/// Reads one key of at least `base` into each slot; `end` = the block's end in bits.
pub(in crate::codec) fn decode(code: &FlipsCode, bytes: &[u8], end: usize, base: u64, keys: &mut [u64]) -> Tail {
    let head = head(keys.len());
    let even = usize::try_from(load(bytes, 0) & low_mask(8 * head as u32)).unwrap_or(usize::MAX >> 8);
    let odd = 8 * (head + even);
    let mut lanes = Lanes { symbols: [8 * head, odd], values: end, done: 0, damaged: false };
    let before = base.wrapping_sub(1);
    let overrun = Tail { from: 0, to: None, in_range: true };
    if 8 * head > end {
        return overrun;
    }
    // The plain form decodes the keys that a dense code may refer to, and values so near the end of the bytes that a
    // load would cross it.
    let mut until = if code.quick { 0 } else { BACKS };
    loop {
        if !plain(code, bytes, before, keys, &mut lanes, until.min(keys.len())) {
            return overrun;
        }
        if lanes.values + LOADED <= 8 * bytes.len() || until >= keys.len() {
            break;
        }
        until += 2;
    }
    simd::flips(code, bytes, before, keys, &mut lanes);
    if !plain(code, bytes, before, keys, &mut lanes, keys.len()) {
        return overrun;
    }
    // The even lane fills its bytes.
    let [even, from] = lanes.symbols;
    let padding = odd.checked_sub(even).filter(|&padding| padding < 8);
    if padding.is_none_or(|padding| load_bits(bytes, even, padding as u32) != 0) {
        return overrun;
    }
    let in_range = !lanes.damaged && keys.first().is_none_or(|&first| first >= base) && simd::ascending(keys);
    Tail { from, to: Some(lanes.values), in_range }
}

/// Decodes up to key number `until`; `false` if a value would leave the block.
pub(in crate::codec) fn plain(
    code: &FlipsCode,
    bytes: &[u8],
    before: u64,
    keys: &mut [u64],
    lanes: &mut Lanes,
    until: usize,
) -> bool {
    let masks = &**MASKS;
    while lanes.done < until {
        let at = lanes.done;
        #[expect(clippy::indexing_slicing, reason = "two lanes")]
        let position = &mut lanes.symbols[at & 1];
        #[expect(clippy::indexing_slicing, reason = "masked to the array's length")]
        let entry = code.lookup[(load(bytes, *position >> 3) >> (*position & 7)) as usize & 0xfff];
        *position += (entry & 63) as usize;
        let Some(step) = code.steps.get((entry >> STEP_SHIFT) as usize) else { return false };
        let width = u32::from(step.width % SLOW);
        let Some(position) = lanes.values.checked_sub(width as usize) else { return false };
        lanes.values = position;
        let value = load_bits(bytes, position, width);
        let mask = if step.width < SLOW {
            masks.get(step.first as usize + (value as usize & usize::from(step.ranks))).copied().unwrap_or(u64::MAX)
        } else {
            unrank(value as u32, step.first)
        };
        let reference = match at.checked_sub(1 + usize::from(step.back)) {
            Some(earlier) => keys.get(earlier).copied().unwrap_or(before),
            None => before,
        };
        // Flips lie below the topmost one. Of the keys before the block only the last is known.
        lanes.damaged |= mask & step.taken != 0 || usize::from(step.back) > at;
        let key =
            (reference & step.keep).wrapping_sub(step.taken).wrapping_add(deposit(value, step.spread, code)) ^ mask;
        let Some(slot) = keys.get_mut(at) else { return false };
        *slot = key;
        lanes.done += 1;
    }
    true
}
