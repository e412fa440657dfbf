//! b-bit MinHash (Li and Koenig, "b-Bit Minwise Hashing", WWW 2010): keeps only the lowest bits of each place.
//!
//! With one bit a place the signature is a fingerprint: the number of differing places is a Hamming distance, and a
//! store of fingerprints finds the signatures with a small one.

/// Returns the lowest bits of every place of a signature, one after another. The first place is in the highest bits of
/// the first byte; the last byte is padded with zeros. A number of bits above 64 counts as 64.
#[must_use]
pub fn packed(signature: &[u64], bits: u32) -> Vec<u8> {
    let bits = bits.min(u64::BITS);
    let mut bytes = Vec::with_capacity((signature.len() * bits as usize).div_ceil(8));
    let (mut waiting, mut length) = (0_u128, 0);
    for place in signature {
        waiting = waiting << bits | u128::from(*place) & ((1 << bits) - 1);
        length += bits;
        while length >= 8 {
            length -= 8;
            bytes.push(byte(waiting >> length));
        }
    }
    if length > 0 {
        bytes.push(byte(waiting << (8 - length)));
    }
    bytes
}

#[allow(clippy::cast_possible_truncation, reason = "the lowest byte is meant")]
fn byte(bits: u128) -> u8 {
    bits as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_one_after_another() {
        assert_eq!(packed(&[1, 0, 1, 1, 0, 0, 0, 0, 3], 1), [0b1011_0000, 0b1000_0000]);
        assert_eq!(packed(&[0x1f, 0x02, 0x13], 4), [0xf2, 0x30]);
        assert_eq!(packed(&[0x0102_0304, 5], 32), [1, 2, 3, 4, 0, 0, 0, 5]);
        assert_eq!(packed(&[u64::MAX, 0, 1], 3), [0b1110_0000, 0b1000_0000]);
        assert_eq!(packed(&[1, u64::MAX], 64), [0, 0, 0, 0, 0, 0, 0, 1, 255, 255, 255, 255, 255, 255, 255, 255]);
        assert_eq!(packed(&[], 5), [0; 0]);
    }
}
