//! codes.md

use crate::conventions::{Bits, check_placed, uint};
use crate::{Res, require};

/// The code of a table.
pub enum Code {
    Xor(Words),
    /// Biased bits, and words; none in a table without flips blocks.
    Adaptive(Option<(u32, Words)>),
}

/// Symbols by their words: for each length, symbols by the word as a number.
pub struct Words(Vec<Vec<(u32, usize)>>);

impl Words {
    /// The code with these lengths, one for each symbol; 0 for a symbol without a word.
    fn new(lengths: &[u8]) -> Res<Self> {
        let mut sum = 0u32;
        for &length in lengths {
            require(length <= 12, "a length above 12")?;
            if length > 0 {
                sum += 1 << (12 - length);
            }
        }
        require(sum == 4096, "not complete, or oversubscribed")?;
        let (mut words, mut word) = (vec![Vec::new(); 13], 0);
        for length in 1..=12u8 {
            word *= 2;
            for (symbol, &own) in lengths.iter().enumerate() {
                if own == length {
                    words[usize::from(length)].push((word, symbol));
                    word += 1;
                }
            }
        }
        Ok(Self(words))
    }

    /// Takes bits one by one until they are a word.
    pub fn read(&self, bits: &mut Bits<'_>) -> Res<usize> {
        let mut word = 0;
        for length in 1..=12 {
            word = 2 * word + bits.forward(1)? as u32;
            if let Ok(place) = self.0[length].binary_search_by_key(&word, |&(word, _)| word) {
                return Ok(self.0[length][place].1);
            }
        }
        Err("no word")
    }
}

pub const GROUPED: usize = 27;
pub const FLIPS: usize = 27 + 27 * 32;
const SYMBOLS: usize = 9083;

/// The section, with its checksum.
pub fn read_codes(section: &[u8], codec: u8, table: u8) -> Res<Code> {
    let data = check_placed(0x100 + u32::from(table), 0, section)?;
    if codec == 0 {
        require(data.len() == 32, "not 36 bytes")?;
        let lengths: Vec<u8> = (0..64).map(|s| if s % 2 == 0 { data[s / 2] & 15 } else { data[s / 2] >> 4 }).collect();
        require(lengths.iter().all(|&length| length > 0), "a symbol without a word")?;
        return Ok(Code::Xor(Words::new(&lengths)?));
    }
    require(data.len() >= 2 && uint(&data[..2]) as usize == data.len() - 2, "not 6 + z bytes")?;
    if data.len() == 2 {
        return Ok(Code::Adaptive(None));
    }
    read_flips_code(&data[2..]).map(|code| Code::Adaptive(Some(code)))
}

/// The flips code.
pub fn read_flips_code(data: &[u8]) -> Res<(u32, Words)> {
    let mut bits = Bits::new(data);
    let biased = bits.forward(32)? as u32;
    let m = biased.count_ones();
    require(m <= 5, "too many biased bits")?;
    let mut lengths = vec![0u8; SYMBOLS];
    for row in 0..156 {
        let (start, n) = match row {
            0 => (0, 27),
            1..=27 => (27 + 32 * (row - 1), 32),
            _ => (891 + 64 * (row - 28), 64),
        };
        if bits.forward(1)? == 0 {
            continue;
        }
        let (first, last) = (bits.forward(6)? as usize, bits.forward(6)? as usize);
        require(first <= last && last < n, "a row out of range")?;
        for place in first..=last {
            lengths[start + place] = bits.forward(4)? as u8;
        }
        require(lengths[start + first] > 0 && lengths[start + last] > 0, "a row that begins or ends with 0")?;
    }
    bits.finish()?;
    for (symbol, &length) in lengths.iter().enumerate() {
        let (must, may) = if symbol < GROUPED {
            (true, true)
        } else if symbol < FLIPS {
            (false, biased != 0 && (symbol - GROUPED) % 32 < 1 << m)
        } else {
            let (row, t) = ((symbol - FLIPS) / 64, (symbol - FLIPS) % 64);
            (false, t >= row % 8)
        };
        require(length > 0 || !must, "a symbol without a word")?;
        require(length == 0 || may, "a symbol that cannot occur")?;
    }
    require(lengths.iter().filter(|&&length| length > 0).count() <= 1536, "too many symbols")?;
    Ok((biased, Words::new(&lengths)?))
}
