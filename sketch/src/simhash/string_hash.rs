//! Python 2's hash of a string, with as many bits as the fingerprint.
//!
//! The hash starts with the first character times 128. For each character it is multiplied by 1000003 and XORed with
//! the character, modulo 2^f, and at the end it is XORed with the length. The article's code then turns -1 into -2,
//! which never happens, because a masked number is not negative. The hash of an empty string, which only a ready-made
//! token can be, is 0.

const FACTOR: u128 = 1_000_003;

/// Hashes code points, as the Python class does.
pub(super) fn python(text: &str, width: u32) -> u128 {
    hash(text.chars().map(u32::from), width)
}

/// Hashes UTF-16 units, as the Java class does.
pub(super) fn java(text: &str, width: u32) -> u128 {
    hash(text.encode_utf16().map(u32::from), width)
}

fn hash(characters: impl Iterator<Item = u32> + Clone, width: u32) -> u128 {
    let mask = u128::MAX >> (128 - width);
    let Some(first) = characters.clone().next() else { return 0 };
    let mut length = 0;
    let hash = characters.fold(u128::from(first) << 7, |hash, character| {
        length += 1;
        (hash.wrapping_mul(FACTOR) ^ u128::from(character)) & mask
    });
    // The length is not masked; for very few bits, the fingerprint cuts it off.
    hash ^ length
}
