//! Words of ASCII text, found eight bytes at a time.
//!
//! A word is a run of letters, digits and underscores that are not all underscores. An apostrophe, a full stop and the
//! like join two runs (rules WB5 to WB13b of Annex 29). One operation on all bytes of a register finds the end of a
//! run; a branch for each byte would be mispredicted at every end.

use super::class::{Class, class, joins};

const EVERY: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * EVERY;

/// Calls `take` with every word of a text that is all ASCII.
#[inline]
pub(super) fn words(text: &str, take: &mut impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut place = 0;
    loop {
        // Go to the first byte of a word.
        let found = runs(window(bytes, place));
        if found == 0 {
            place += 8;
            if place >= bytes.len() {
                return;
            }
            continue;
        }
        place += bytes_below(found);
        let start = place;
        loop {
            place = run_end(bytes, place);
            if !continues(bytes, place) {
                break;
            }
            place += 1;
        }
        if let Some(word) = text.get(start..place)
            && (!word.starts_with('_') || word.bytes().any(|byte| byte != b'_'))
        {
            take(word);
        }
        if place >= bytes.len() {
            return;
        }
    }
}

/// Returns the end of the run that contains this place.
#[inline]
fn run_end(bytes: &[u8], mut place: usize) -> usize {
    loop {
        let ended = runs(window(bytes, place)) ^ HIGH;
        if ended != 0 {
            return place + bytes_below(ended);
        }
        place += 8;
    }
}

/// Whether the character after a run joins it to the next run.
#[inline]
fn continues(bytes: &[u8], place: usize) -> bool {
    // Most runs end in a space, and most characters that could join end a word instead.
    let of = |place: usize| bytes.get(place).and_then(|byte| class(char::from(*byte))).unwrap_or(Class::Other);
    let joint = bytes.get(place).is_some_and(|byte| matches!(byte, b'\'' | b'.' | b':' | b',' | b';'));
    joint
        && bytes.get(place + 1).is_some_and(u8::is_ascii_alphanumeric)
        && joins(of(place - 1), of(place), of(place + 1))
}

/// Returns eight bytes, the first in the lowest bits, with zeros after the end.
#[inline]
fn window(bytes: &[u8], place: usize) -> u64 {
    if let Some(window) = bytes.get(place..).and_then(|bytes| bytes.first_chunk()) {
        return u64::from_le_bytes(*window);
    }
    let rest = bytes.get(place..).unwrap_or_default();
    rest.iter().rev().fold(0, |window, byte| window << 8 | u64::from(*byte))
}

/// Returns the highest bit of every byte that is a letter, a digit or an underscore.
#[inline]
fn runs(window: u64) -> u64 {
    // No sum of a byte carries into the next one, since all are ASCII.
    let between = |bytes: u64, low: u8, high: u8| {
        (bytes + EVERY * u64::from(0x80 - low)) & !(bytes + EVERY * u64::from(0x7f - high))
    };
    (between(window | (0x20 * EVERY), b'a', b'z') | between(window, b'0', b'9') | between(window, b'_', b'_')) & HIGH
}

/// Returns the number of bytes below the lowest bit.
#[inline]
fn bytes_below(bits: u64) -> usize {
    bits.trailing_zeros() as usize / 8
}
