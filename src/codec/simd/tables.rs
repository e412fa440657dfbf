//! Tables of the forms with AVX2 and NEON, made at compile time.

#![expect(clippy::indexing_slicing, reason = "evaluated at compile time")]

use crate::codec::split::MAX_LOW_WIDTH;

/// For every byte, the numbers of its set bits.
pub(super) static ONES: [[u8; 8]; 256] = ones();

const fn ones() -> [[u8; 8]; 256] {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut ones) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][ones] = bit as u8;
                ones += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
}

/// How four packed low parts get into four lanes of 64 bits: two 16-byte loads, one for each two lanes, a shuffle of
/// their bytes, and a shift of every lane.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
pub(super) struct Unpacking {
    pub(super) shuffle: [u8; 32],
    pub(super) shifts: [u64; 4],
    /// Where the two loads begin, from the first byte of eight low parts.
    pub(super) loads: [usize; 2],
}

/// For every width, the unpacking of the first and the second four of eight low parts. Eight low parts end at a byte
/// boundary, so there are no other cases.
pub(super) static UNPACKING: [[Unpacking; 2]; MAX_LOW_WIDTH as usize + 1] = unpacking();

const fn unpacking() -> [[Unpacking; 2]; MAX_LOW_WIDTH as usize + 1] {
    let nothing = Unpacking { shuffle: [0; 32], shifts: [0; 4], loads: [0; 2] };
    let mut table = [[nothing; 2]; MAX_LOW_WIDTH as usize + 1];
    let mut width = 0;
    while width <= MAX_LOW_WIDTH as usize {
        let mut lane = 0;
        while lane < 8 {
            let unpacking = &mut table[width][lane / 4];
            let bit = lane * width;
            if lane % 2 == 0 {
                unpacking.loads[lane % 4 / 2] = bit / 8;
            }
            let from = bit / 8 - unpacking.loads[lane % 4 / 2];
            let mut byte = 0;
            while byte < 8 {
                // Two low parts of up to 56 bits lie within 15 bytes. Above 127 a shuffle delivers zero, with AVX2 and
                // with NEON.
                unpacking.shuffle[lane % 4 * 8 + byte] = if from + byte < 16 { (from + byte) as u8 } else { 0x80 };
                byte += 1;
            }
            unpacking.shifts[lane % 4] = (bit % 8) as u64;
            lane += 1;
        }
        width += 1;
    }
    table
}
