//! conventions.md: bit strings, checksums, the hash.

use crate::{Res, require};

/// The version of manifests, segments, logs and merge notes.
pub const VERSION: u64 = 6;

/// A bit string with a forward reader at `p` and a backward one at `q`.
pub struct Bits<'a> {
    data: &'a [u8],
    pub p: usize,
    pub q: usize,
}

impl<'a> Bits<'a> {
    pub fn new(data: &'a [u8]) -> Self {
        Self { data, p: 0, q: 8 * data.len() }
    }

    /// The value of n bits at a position; bits after the end are zeros.
    pub fn at(&self, position: usize, n: usize) -> u128 {
        let mut value = 0;
        for j in 0..n {
            let i = position + j;
            if i < 8 * self.data.len() && self.data[i / 8] >> (i % 8) & 1 == 1 {
                value |= 1 << j;
            }
        }
        value
    }

    pub fn forward(&mut self, n: usize) -> Res<u128> {
        let position = self.p;
        self.p += n;
        self.check()?;
        Ok(self.at(position, n))
    }

    pub fn backward(&mut self, n: usize) -> Res<u128> {
        require(n <= self.q, "too few bits")?;
        self.q -= n;
        self.check()?;
        Ok(self.at(self.q, n))
    }

    /// The readers neither leave the string nor pass each other.
    pub fn check(&self) -> Res<()> {
        require(self.p <= self.q, "too few bits")
    }

    /// The bits from `p` on are zero.
    pub fn padding_from(&self, p: usize) -> Res<()> {
        require(self.at(p, self.q - p) == 0, "padding bits are not zero")
    }

    /// The remaining bits are padding: less than a byte, and zero.
    pub fn finish(&self) -> Res<()> {
        self.check()?;
        require(self.q - self.p <= 7, "too many bits")?;
        require(self.at(self.p, self.q - self.p) == 0, "padding bits are not zero")
    }
}

/// The fields of a structure, read from the front.
pub struct Bytes<'a> {
    pub rest: &'a [u8],
}

impl<'a> Bytes<'a> {
    pub fn new(rest: &'a [u8]) -> Self {
        Self { rest }
    }

    pub fn take(&mut self, n: usize) -> Res<&'a [u8]> {
        require(n <= self.rest.len(), "ends too early")?;
        let (front, rest) = self.rest.split_at(n);
        self.rest = rest;
        Ok(front)
    }

    pub fn uint(&mut self, n: usize) -> Res<u64> {
        Ok(uint(self.take(n)?))
    }
}

/// A little-endian number.
pub fn uint(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}

/// bitlength(v)
pub fn bit_length(mut value: u128) -> usize {
    let mut n = 0;
    while value > 0 {
        value >>= 1;
        n += 1;
    }
    n
}

const CRC: [u32; 256] = {
    let mut table = [0; 256];
    let mut n = 0;
    while n < 256 {
        let mut c = n as u32;
        let mut k = 0;
        while k < 8 {
            c = if c & 1 == 1 { 0xEDB8_8320 ^ (c >> 1) } else { c >> 1 };
            k += 1;
        }
        table[n] = c;
        n += 1;
    }
    table
};

pub fn crc32(bytes: impl IntoIterator<Item = u8>) -> u32 {
    let mut c = 0xFFFF_FFFF;
    for byte in bytes {
        c = CRC[((c ^ u32::from(byte)) & 0xFF) as usize] ^ (c >> 8);
    }
    c ^ 0xFFFF_FFFF
}

/// A placed checksum.
pub fn placed(stream: u32, number: u64, bytes: &[u8]) -> u32 {
    crc32(stream.to_le_bytes().into_iter().chain(number.to_le_bytes()).chain(bytes.iter().copied()))
}

/// The bytes before their own checksum.
pub fn check_plain(bytes: &[u8]) -> Res<&[u8]> {
    require(bytes.len() >= 4, "too short for a checksum")?;
    let (front, sum) = bytes.split_at(bytes.len() - 4);
    require(u64::from(crc32(front.iter().copied())) == uint(sum), "wrong checksum")?;
    Ok(front)
}

/// The same for a unit with a placed checksum.
pub fn check_placed(stream: u32, number: u64, bytes: &[u8]) -> Res<&[u8]> {
    require(bytes.len() >= 4, "too short for a checksum")?;
    let (front, sum) = bytes.split_at(bytes.len() - 4);
    require(u64::from(placed(stream, number, front)) == uint(sum), "wrong checksum")?;
    Ok(front)
}

const P: [u64; 5] =
    [11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261];

fn mix_round(lane: u64, value: u64) -> u64 {
    lane.wrapping_add(value.wrapping_mul(P[1])).rotate_left(31).wrapping_mul(P[0])
}

/// XXH64 with seed 0.
pub fn xxh64(data: &[u8]) -> u64 {
    let mut rest = data;
    let mut h;
    if data.len() >= 32 {
        let mut lanes = [P[0].wrapping_add(P[1]), P[1], 0, 0u64.wrapping_sub(P[0])];
        while rest.len() >= 32 {
            for (i, lane) in lanes.iter_mut().enumerate() {
                *lane = mix_round(*lane, uint(&rest[8 * i..8 * i + 8]));
            }
            rest = &rest[32..];
        }
        h = [1, 7, 12, 18].iter().zip(lanes).fold(0u64, |h, (&n, lane)| h.wrapping_add(lane.rotate_left(n)));
        for lane in lanes {
            h = (h ^ mix_round(0, lane)).wrapping_mul(P[0]).wrapping_add(P[3]);
        }
    } else {
        h = P[4];
    }
    h = h.wrapping_add(data.len() as u64);
    while rest.len() >= 8 {
        h = (h ^ mix_round(0, uint(&rest[..8]))).rotate_left(27).wrapping_mul(P[0]).wrapping_add(P[3]);
        rest = &rest[8..];
    }
    if rest.len() >= 4 {
        h = (h ^ uint(&rest[..4]).wrapping_mul(P[0])).rotate_left(23).wrapping_mul(P[1]).wrapping_add(P[2]);
        rest = &rest[4..];
    }
    for &byte in rest {
        h = (h ^ u64::from(byte).wrapping_mul(P[4])).rotate_left(11).wrapping_mul(P[0]);
    }
    h = (h ^ h >> 33).wrapping_mul(P[1]);
    h = (h ^ h >> 29).wrapping_mul(P[2]);
    h ^ h >> 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_values() {
        assert_eq!(crc32(*b"123456789"), 0xCBF4_3926);
        assert_eq!((xxh64(b""), xxh64(b"abc")), (0xEF46_DB37_51D8_E999, 0x44BC_2CF5_AD77_0999));
        let mut bits = Bits::new(&[0xca, 0x05]);
        assert_eq!([3, 5, 4].map(|n| bits.forward(n).unwrap()), [2, 25, 5]);
        bits.p = 0;
        assert_eq!([4, 2, 6].map(|n| bits.backward(n).unwrap()), [0, 1, 28]);
    }
}
