//! A manifest in which one byte has changed, as it was.
//!
//! What a manifest says stands nowhere else: which segments belong to the store, in which order, which of them hold tombstones,
//! who numbers the records. So a manifest is not made up from what lies in the directory. But a CRC-32 tells more than that
//! something is wrong: if one byte has changed, there is as a rule a single way to change one byte so that it holds. What comes
//! of that has to be a manifest in every field, and every segment that it names has to be there with the length and the
//! checksum that it names; nothing but the manifest that was there before will do all of this.

use crate::env::{Env, ReadMode};
use crate::format::fields::Fields;
use crate::format::footer::{Footer, TRAILER};
use crate::format::manifest::ManifestData;
use crate::segment::segment_name;
use std::path::Path;

/// The polynomial of CRC-32, as it is used: the lowest bit first.
const POLYNOMIAL: u32 = 0xedb8_8320;

/// Longest manifest that is tried: for one of some ten thousand segments it takes a few seconds.
const LONGEST: usize = 1 << 20;

/// The manifest that differs from these bytes in one, and where that one stands; none if there is none, or several.
pub(crate) fn restore(env: &dyn Env, store: &Path, bytes: &[u8]) -> Option<(ManifestData, u64)> {
    if bytes.len() > LONGEST {
        return None;
    }
    let mut found = None;
    for (at, change) in changes(bytes) {
        let mut bytes = bytes.to_vec();
        *bytes.get_mut(at)? ^= change;
        let Ok(manifest) = ManifestData::parse(&mut Fields::new(&bytes, 0)) else { continue };
        if found.replace((manifest, at as u64)).is_some() {
            return None;
        }
    }
    found.filter(|(manifest, _)| agrees(env, store, manifest))
}

/// Every change of a single byte after which the CRC-32 at the end holds: where, and which bits.
fn changes(bytes: &[u8]) -> Vec<(usize, u8)> {
    let Some((covered, stored)) = bytes.split_last_chunk::<4>() else { return Vec::new() };
    let wanted = crc32fast::hash(covered) ^ u32::from_le_bytes(*stored);
    let mut changes = Vec::new();
    // The checksum itself.
    if let Some((at, &change)) = wanted.to_le_bytes().iter().enumerate().find(|&(_, &byte)| byte != 0)
        && wanted == u32::from(change) << (8 * at)
    {
        changes.push((covered.len() + at, change));
    }
    // What a change of one byte does to the checksum is the same whatever the other bytes are.
    for change in 1..=u8::MAX {
        let mut effect = step(change.into());
        for at in (0..covered.len()).rev() {
            if effect == wanted {
                changes.push((at, change));
            }
            effect = step(effect);
        }
    }
    changes
}

/// A CRC-32 register after a byte of zeros.
fn step(register: u32) -> u32 {
    (0..8).fold(register, |register, _| (register >> 1) ^ (POLYNOMIAL & (register & 1).wrapping_neg()))
}

/// Whether everything that a manifest names is there.
fn agrees(env: &dyn Env, store: &Path, manifest: &ManifestData) -> bool {
    let mut segments = manifest.segments().peekable();
    // Of a store without segments nothing could say so.
    segments.peek().is_some()
        && segments.all(|segment| {
            let Ok(file) = env.open(&store.join(segment_name(segment.number)), ReadMode::Pread) else { return false };
            let (length, mut buffer) = (file.length(), Vec::new());
            let trailer = length.checked_sub(TRAILER as u64).and_then(|at| file.read(at, TRAILER, &mut buffer).ok());
            let Some(trailer) = trailer.filter(|_| length == segment.file_length) else { return false };
            let checksum = trailer.get(4..8).and_then(<[u8]>::first_chunk).map(|bytes| u32::from_le_bytes(*bytes));
            Footer::locate(trailer, length).is_ok() && checksum == Some(segment.footer_checksum)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_changed_byte_is_found() {
        let mut bytes: Vec<u8> = (0..300u32).map(|at| (at * at / 7) as u8).collect();
        let checksum = crc32fast::hash(&bytes);
        bytes.extend_from_slice(&checksum.to_le_bytes());
        for at in 0..bytes.len() {
            for change in [1, 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] ^= change;
                assert_eq!(changes(&changed), [(at, change)]);
            }
        }
        let mut two = bytes;
        two[5] ^= 1;
        two[6] ^= 1;
        assert!(changes(&two).is_empty());
    }
}
