//! blocks.md

use crate::codes::{Code, FLIPS, GROUPED};
use crate::conventions::{Bits, bit_length};
use crate::{Res, require};

/// The index entry of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    pub key: u64,
    pub count: u16,
    pub length: u16,
    pub kind: u8,
    /// The key before the block, plus one; 0 in the first block.
    pub base: u64,
}

/// All keys of a block.
pub fn read_block(body: &[u8], code: &Code, entry: Entry) -> Res<Vec<u64>> {
    let n = usize::from(entry.count) - 1;
    let mut bits = Bits::new(body);
    let mut keys = match (entry.kind, code) {
        (w @ 0..=56, Code::Adaptive(_)) => gap(&mut bits, n, entry.base, w.into())?,
        (62, Code::Adaptive(Some((biased, words)))) => {
            let mut reader = Flips { keys: Vec::new(), before: entry.base.wrapping_sub(1), biased: *biased };
            reader.read(&mut bits, n, words)?;
            reader.keys
        }
        (63, Code::Xor(words)) => {
            let (mut before, mut keys) = (entry.base.wrapping_sub(1), Vec::new());
            for _ in 0..n {
                let w = 63 - words.read(&mut bits)?;
                before ^= (1 << w) + bits.forward(w)? as u64;
                keys.push(before);
            }
            keys
        }
        _ => return Err("a kind that the table does not have"),
    };
    bits.finish()?;
    let mut next = u128::from(entry.base);
    keys.push(entry.key);
    for &key in &keys {
        require(u128::from(key) >= next, "keys out of order")?;
        next = u128::from(key) + 1;
    }
    Ok(keys)
}

fn gap(bits: &mut Bits<'_>, n: usize, base: u64, w: usize) -> Res<Vec<u64>> {
    let (mut keys, mut next) = (Vec::new(), u128::from(base));
    bits.p = n * w;
    bits.check()?;
    for i in 0..n {
        let mut high = 0u128;
        while bits.forward(1)? == 0 {
            high += 1;
        }
        let key = next + (high << w) + bits.at(i * w, w);
        require(key < 1 << 64, "a key above 2^64 - 1")?;
        keys.push(key as u64);
        next = key + 1;
    }
    Ok(keys)
}

/// C(n, k)
fn choose(n: u64, k: u64) -> u64 {
    if k > n {
        return 0;
    }
    let mut c = 1u128;
    for i in 0..k {
        c = c * u128::from(n - i) / u128::from(i + 1);
    }
    c as u64
}

struct Flips {
    keys: Vec<u64>,
    before: u64,
    biased: u32,
}

impl Flips {
    fn read(&mut self, bits: &mut Bits<'_>, n: usize, words: &crate::codes::Words) -> Res<()> {
        let head = match n {
            0 => 0,
            1..=340 => 1,
            _ => 2,
        };
        let odd = 8 * (head + bits.forward(8 * head)? as usize);
        let mut lanes = [8 * head, odd];
        for i in 0..n {
            bits.p = lanes[i % 2];
            let s = words.read(bits)?;
            lanes[i % 2] = bits.p;
            let key = if s < FLIPS { self.far(bits, i, s)? } else { self.flips(bits, i, s - FLIPS)? };
            self.keys.push(key);
        }
        require(lanes[0] <= odd && odd - lanes[0] <= 7, "an even lane that does not fill its bytes")?;
        require(bits.at(lanes[0], odd - lanes[0]) == 0, "padding of the even lane")?;
        bits.p = lanes[1];
        Ok(())
    }

    /// Key i, or the key before the block for -1.
    fn key(&self, i: isize) -> u64 {
        if i < 0 { self.before } else { self.keys[i as usize] }
    }

    fn far(&self, bits: &mut Bits<'_>, i: usize, s: usize) -> Res<u64> {
        let (length, told) = if s < GROUPED { (s, None) } else { ((s - GROUPED) / 32, Some((s - GROUPED) % 32)) };
        let m = if told.is_some() { self.biased.count_ones() as usize } else { 0 };
        let value = bits.backward(32 - m + length.saturating_sub(1))?;
        let gap = if length == 0 { 0 } else { (1 << (length - 1)) + (value >> (32 - m)) };
        let upper = (u128::from(self.key(i as isize - 1) >> 32) + gap) % (1 << 32);
        let (mut lower, mut taken, mut groups) = (0u128, 0, 0);
        for bit in 0..32 {
            if told.is_some() && self.biased >> bit & 1 == 1 {
                lower |= (told.unwrap_or(0) as u128 >> groups & 1) << bit;
                groups += 1;
            } else {
                lower |= (value >> taken & 1) << bit;
                taken += 1;
            }
        }
        Ok((upper << 32 | lower) as u64)
    }

    fn flips(&self, bits: &mut Bits<'_>, i: usize, number: usize) -> Res<u64> {
        let (row, t) = (number / 64, (number % 64) as u64);
        let (b, others) = (row / 8, (row % 8) as u64);
        require(b <= i, "a reference before the key before the block")?;
        let ways = choose(t, others);
        let mut rank = bits.backward(bit_length(u128::from(ways - 1)))? as u64;
        require(rank < ways, "a rank out of range")?;
        let mut flipped = 0;
        for k in (1..=others).rev() {
            let c = (0..t).rev().find(|&c| choose(c, k) <= rank).ok_or("no such bit")?;
            rank -= choose(c, k);
            flipped |= 1 << c;
        }
        Ok(self.key(i as isize - 1 - b as isize).wrapping_add(1 << t) ^ flipped)
    }
}
