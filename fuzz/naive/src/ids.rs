//! ids.md

use crate::conventions::{Bits, Bytes, bit_length, check_placed, uint};
use crate::{Res, require};

/// J and b: the number of excesses in one number, and its bits.
fn packing(span: u64) -> (usize, usize) {
    let radix = u128::from(span) + 1;
    let mut best = (1, bit_length(u128::from(span)));
    for j in 2..=5u32 {
        // Powers of 2^128 and more have more than 128 bits, or are powers of a power of two, where joining saves
        // nothing.
        let Some(power) = radix.checked_pow(j) else { break };
        let b = bit_length(power - 1);
        if b * best.0 < best.1 * j as usize {
            best = (j as usize, b);
        }
    }
    best
}

/// A page without its checksum: for each record whether it begins a fingerprint, and its id.
pub fn read_page(payload: &[u8], last: bool) -> Res<(Vec<bool>, Vec<u64>)> {
    let mut fields = Bytes::new(payload);
    let n = fields.uint(2)? as usize;
    let packed = (fields.uint(1)? as usize, fields.uint(1)? as usize);
    let (flags, least, span) = (fields.uint(1)?, fields.uint(8)?, fields.uint(8)?);
    require(n > 0, "a page without records")?;
    require(packed == packing(span), "a packing that does not follow from the span")?;
    require(flags <= 1, "flags above 1")?;
    require(least.checked_add(span).is_some(), "ids above 2^64 - 1")?;
    let mut begins = vec![true; n];
    if flags == 1 {
        let mut bitmap = Bits::new(fields.take(n.div_ceil(8))?);
        for begins in &mut begins {
            *begins = bitmap.forward(1)? == 1;
        }
        bitmap.finish()?;
    }
    let (joined, b) = packed;
    let mut bits = Bits::new(fields.take((n.div_ceil(joined) * b).div_ceil(8))?);
    require(fields.rest.iter().all(|&byte| byte == 0), "padding that is not zero")?;
    require(!last || fields.rest.is_empty(), "a last page that is longer than its ids")?;
    let (radix, mut ids) = (u128::from(span) + 1, Vec::new());
    while ids.len() < n {
        let mut number = bits.forward(b)?;
        for _ in 0..joined.min(n - ids.len()) {
            ids.push(least + (number % radix) as u64);
            number /= radix;
        }
        require(number == 0, "a number out of range")?;
    }
    bits.finish()?;
    Ok((begins, ids))
}

/// The id index: the number of fingerprints that begin in each page.
pub fn read_index(section: &[u8], pages: usize) -> Res<Vec<u64>> {
    let (mut fields, mut begun) = (Bytes::new(section), Vec::new());
    let mut chunk = 0;
    while begun.len() < pages {
        let n = 1024.min(pages - begun.len());
        let bytes = check_placed(0x400, chunk, fields.take(2 * n + 4)?)?;
        begun.extend(bytes.chunks(2).map(uint));
        chunk += 1;
    }
    require(fields.rest.is_empty(), "bytes after the id index")?;
    Ok(begun)
}

/// Both sections: all records.
pub fn read_ids(ids: &[u8], index: &[u8]) -> Res<Vec<(bool, u64)>> {
    let pages = ids.len().div_ceil(4096);
    let (mut fields, mut records) = (Bytes::new(ids), Vec::new());
    for (number, begun) in read_index(index, pages)?.into_iter().enumerate() {
        let page = fields.take(4096.min(fields.rest.len()))?;
        let (begins, ids) = read_page(check_placed(0x300, number as u64, page)?, number + 1 == pages)?;
        require(begins.iter().filter(|&&begins| begins).count() as u64 == begun, "page and index disagree")?;
        records.extend(begins.into_iter().zip(ids));
    }
    Ok(records)
}
