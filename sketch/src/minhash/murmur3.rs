//! MurmurHash3 x64 128 with seed 0 (Appleby, 2011; public domain), as Lucene's `MinHashFilter` computes it.

const C1: u64 = 0x87c3_7b91_1142_53d5;
const C2: u64 = 0x4cf5_ad43_2745_937f;

/// Returns both halves of the hash.
pub(super) fn hash(bytes: &[u8]) -> (u64, u64) {
    let (mut h1, mut h2) = (0, 0);
    let (blocks, tail) = bytes.as_chunks::<16>();
    for block in blocks {
        let (k1, k2) = halves(*block);
        h1 = (h1 ^ scramble1(k1)).rotate_left(27).wrapping_add(h2).wrapping_mul(5).wrapping_add(0x52dc_e729);
        h2 = (h2 ^ scramble2(k2)).rotate_left(31).wrapping_add(h1).wrapping_mul(5).wrapping_add(0x3849_5ab5);
    }
    // Padding with zeros changes nothing: a half of zeros is scrambled to zero.
    let mut last = [0; 16];
    last.iter_mut().zip(tail).for_each(|(place, byte)| *place = *byte);
    let (k1, k2) = halves(last);
    let length = bytes.len() as u64;
    h1 ^= scramble1(k1) ^ length;
    h2 ^= scramble2(k2) ^ length;
    h1 = h1.wrapping_add(h2);
    h2 = h2.wrapping_add(h1);
    h1 = finish(h1);
    h2 = finish(h2);
    h1 = h1.wrapping_add(h2);
    (h1, h2.wrapping_add(h1))
}

fn halves(block: [u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(block);
    #[allow(clippy::cast_possible_truncation, reason = "the lower half is meant")]
    (both as u64, (both >> 64) as u64)
}

fn scramble1(k: u64) -> u64 {
    k.wrapping_mul(C1).rotate_left(31).wrapping_mul(C2)
}

fn scramble2(k: u64) -> u64 {
    k.wrapping_mul(C2).rotate_left(33).wrapping_mul(C1)
}

/// The finaliser.
pub(super) fn finish(mut h: u64) -> u64 {
    h = (h ^ h >> 33).wrapping_mul(0xff51_afd7_ed55_8ccd);
    h = (h ^ h >> 33).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    h ^ h >> 33
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Line {
        bytes_hex: String,
        h1_hex: String,
        h2_hex: String,
    }

    #[test]
    fn values_of_other_implementations() {
        let mut seen = 0;
        for line in include_str!("../../tests/vectors/murmur3.ndjson").lines() {
            let Line { bytes_hex, h1_hex, h2_hex } = serde_json::from_str(line).unwrap();
            let byte = |i: usize| u8::from_str_radix(&bytes_hex[2 * i..2 * i + 2], 16).unwrap();
            let bytes: Vec<u8> = (0..bytes_hex.len() / 2).map(byte).collect();
            let (h1, h2) = hash(&bytes);
            assert_eq!((format!("{h1:016x}"), format!("{h2:016x}")), (h1_hex, h2_hex), "{bytes_hex}");
            seen += 1;
        }
        assert_eq!(seen, 29);
    }
}
