//! Python 2's hash of a string, with as many bits as the fingerprint.
//!
//! Begins with the first character times 128; for each character it is multiplied by 1000003 and XORed with it, modulo
//! 2^f; at last it is XORed with the length. The article's code then turns -1 into -2, which never happens: what is masked is
//! not negative. An empty string, which only a ready-made token can be, is 0.

const FACTOR: u128 = 1_000_003;

/// Over code points, as the Python class has it.
pub(super) fn python(text: &str, width: u32) -> u128 {
    hash(text.chars().map(u32::from), width)
}

/// Over UTF-16 units, as the Java class has it.
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
    // The length is not masked: of very few bits, its own are cut off only in the fingerprint.
    hash ^ length
}
