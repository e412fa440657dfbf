//! Flips blocks, eight keys between two checks: with BMI2 some thirty instructions a key and, in a quick code, no
//! branch that depends on one.

use crate::codec::flips::{BACKS, FlipsCode, Lanes, MASKS, SLOW, Step, unrank};

/// Keys between two checks: four in each lane, of at most 12 bits a symbol, so that one load has all of them.
const BATCH: usize = 8;
/// Most bits of a value.
const WIDEST: usize = 57;

#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt"))]
pub(super) fn decode(code: &FlipsCode, bytes: &[u8], before: u64, keys: &mut [u64], lanes: &mut Lanes) {
    if code.quick {
        run::<false>(code, bytes, before, keys, lanes);
    } else if lanes.done >= BACKS {
        run::<true>(code, bytes, before, keys, lanes);
    }
}

#[inline]
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt"))]
fn run<const DENSE: bool>(code: &FlipsCode, bytes: &[u8], before: u64, keys: &mut [u64], lanes: &mut Lanes) {
    // The last bit from which a load stays within the bytes.
    let Some(limit) = bytes.len().checked_sub(8).map(|last| 8 * last) else { return };
    let Some(span) = limit.checked_sub(BATCH * WIDEST) else { return };
    let count = keys.len();
    let (steps, masks, lookup) = (code.steps.as_ptr(), MASKS.as_ptr(), &*code.lookup);
    let mut symbols_at = lanes.symbols;
    let mut values = lanes.values;
    let mut done = lanes.done;
    // Lanes change with every key; the first of a batch is even.
    if !done.is_multiple_of(2) {
        return;
    }
    let mut previous = done.checked_sub(1).and_then(|last| keys.get(last)).copied().unwrap_or(before);
    // Only now: another use of the slice would invalidate the pointer.
    let (input, output) = (bytes.as_ptr(), keys.as_mut_ptr());
    let mut damaged = 0u64;
    // SAFETY: `position` is at most `limit` wherever this is called.
    let word = |position: usize| unsafe { u64::from_le(input.add(position >> 3).cast::<u64>().read_unaligned()) };
    // The symbols of a batch, and the lanes after them.
    let symbols = |lanes: [usize; 2]| {
        let [even, odd] = lanes;
        // The topmost bit is not among the 48 bits of the symbols; its place tells later how many bits were taken.
        let mut windows = lanes.map(|lane| word(lane) >> (lane & 7) | 1 << 63);
        let mut entries = [0; BATCH];
        for pair in entries.as_chunks_mut::<2>().0 {
            for (entry, window) in pair.iter_mut().zip(&mut windows) {
                #[expect(clippy::indexing_slicing, reason = "masked to the array's length")]
                let found = lookup[*window as usize & 0xfff];
                *window >>= found & 63;
                *entry = found;
            }
        }
        let [in_even, in_odd] = windows.map(|window| window.leading_zeros() as usize);
        (entries, [even + in_even, odd + in_odd])
    };
    let within = |lanes: [usize; 2]| lanes.iter().all(|&lane| lane <= limit);
    if count < done + BATCH || !within(symbols_at) {
        return;
    }
    let (mut entries, mut behind) = symbols(symbols_at);
    while values.wrapping_sub(BATCH * WIDEST) <= span {
        let more = count - done >= 2 * BATCH && within(behind);
        // Each symbol of a lane waits for the one before. Where values take long, the next batch's symbols are looked
        // up before this batch's values, so that both overlap; with a quick code this does not pay.
        let ahead = if DENSE && more { Some(symbols(behind)) } else { None };
        for (number, &entry) in entries.iter().enumerate() {
            // SAFETY: the lookup table leads to steps of the code only; above its length an entry is an offset in
            // bytes.
            let step: &Step = unsafe { &*steps.byte_add((entry >> 6) as usize) };
            let width = if DENSE { step.width & (SLOW - 1) } else { step.width };
            values -= usize::from(width);
            let value = word(values) >> (values & 7);
            let mask = if DENSE && step.width >= SLOW {
                slow(value, width, step)
            } else {
                let rank = value as u32 & u32::from(step.ranks);
                // SAFETY: the table of masks reaches as far as a rank of 16 bits leads.
                unsafe { *masks.add(step.first.wrapping_add(rank) as usize) }
            };
            let reference = if DENSE {
                // SAFETY: a step refers to at most as many keys as are there.
                let earlier = unsafe { *output.add(done + number - 1 - usize::from(step.back)) };
                if step.back == 0 { previous } else { earlier }
            } else {
                previous
            };
            // A mask that reaches the topmost bit; gaps have no mask.
            damaged |= mask & step.taken;
            previous =
                (reference & step.keep).wrapping_add(deposit(value, step.spread, code).wrapping_sub(step.taken)) ^ mask;
            // SAFETY: there are slots for a whole batch.
            unsafe { *output.add(done + number) = previous };
        }
        done += BATCH;
        symbols_at = behind;
        if !more {
            break;
        }
        (entries, behind) = ahead.unwrap_or_else(|| symbols(behind));
    }
    *lanes = Lanes { symbols: symbols_at, values, done, damaged: lanes.damaged || damaged != 0 };
}

/// [`crate::codec::flips::deposit`], by one instruction.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "bmi2")]
fn deposit(value: u64, mask: u64, _: &FlipsCode) -> u64 {
    std::arch::x86_64::_pdep_u64(value, mask)
}
#[cfg(target_arch = "aarch64")]
use crate::codec::flips::deposit;

/// The mask of five flips or more.
#[inline(never)]
#[cfg_attr(target_arch = "x86_64", target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt"))]
fn slow(value: u64, width: u8, step: &Step) -> u64 {
    unrank((value & ((1 << width) - 1)) as u32, step.first)
}
