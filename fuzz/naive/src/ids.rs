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
    require(flags <= 3, "flags above 3")?;
    require(least.checked_add(span).is_some(), "ids above 2^64 - 1")?;
    let (begins, excesses, used);
    if flags >= 2 {
        let mut counts = [0; 6];
        for count in &mut counts {
            *count = fields.uint(2)? as usize;
        }
        let (g, k) = (counts[0], fields.uint(1)? as usize);
        require((1..=n).contains(&g) && k < 64, "impossible groups")?;
        let mut bits = Bits::new(fields.rest);
        (begins, excesses) = groups(&mut bits, (n, k), counts, span, flags == 3)?;
        used = bits.p;
    } else {
        let mut bitmap = Bits::new(fields.take(if flags == 1 { n.div_ceil(8) } else { 0 })?);
        begins = (0..n).map(|_| Ok(flags == 0 || bitmap.forward(1)? == 1)).collect::<Res<Vec<_>>>()?;
        bitmap.finish()?;
        let mut bits = Bits::new(fields.rest);
        excesses = unpack(&mut bits, n, span)?;
        used = bits.p;
    }
    Bits::new(fields.take(used.div_ceil(8))?).padding_from(used)?;
    require(fields.rest.iter().all(|&byte| byte == 0), "padding that is not zero")?;
    require(!last || fields.rest.is_empty(), "a last page that is longer than its ids")?;
    Ok((begins, excesses.into_iter().map(|excess| least + excess).collect()))
}

/// So many packed excesses.
fn unpack(bits: &mut Bits<'_>, n: usize, span: u64) -> Res<Vec<u64>> {
    let ((joined, b), radix, mut excesses) = (packing(span), u128::from(span) + 1, Vec::new());
    while excesses.len() < n {
        let mut number = bits.forward(b)?;
        for _ in 0..joined.min(n - excesses.len()) {
            excesses.push((number % radix) as u64);
            number /= radix;
        }
        require(number == 0, "a number out of range")?;
    }
    Ok(excesses)
}

fn unary(bits: &mut Bits<'_>) -> Res<usize> {
    let mut zeros = 0;
    while bits.forward(1)? == 0 {
        zeros += 1;
    }
    Ok(zeros)
}

/// n records with k low bits of a gap, and the counts of the header.
fn groups(
    bits: &mut Bits<'_>,
    (n, k): (usize, usize),
    counts: [usize; 6],
    span: u64,
    continues: bool,
) -> Res<(Vec<bool>, Vec<u64>)> {
    let g = counts[0];
    let starts = unpack(bits, g, span)?;
    let mut read = |count: usize| (0..count).map(|_| Ok(bits.forward(1)? == 1)).collect::<Res<Vec<bool>>>();
    let ones = |bits: &[bool]| bits.iter().filter(|&&bit| bit).count();
    let any = read(g.div_ceil(2))?;
    let first = read(ones(&any))?;
    let second = read(ones(&first))?;
    let (anys, firsts) = (ones(&any), ones(&first));
    let (mut first, mut second, mut several) = (first.into_iter(), second.into_iter(), Vec::new());
    for any in any {
        let one = any && first.next() == Some(true);
        several.extend([one, any && (!one || second.next() == Some(true))]);
    }
    require(g.is_multiple_of(2) || several.pop() == Some(false), "a group that is not there has several records")?;
    let of_size = |sizes: &[usize], wanted: usize| sizes.iter().filter(|&&size| size == wanted).count();
    let mut sizes =
        several.iter().map(|&several| Ok(if several { 2 + unary(bits)? } else { 1 })).collect::<Res<Vec<_>>>()?;
    let (pairs, large) = (of_size(&sizes, 2), of_size(&sizes, 17));
    let bits_of_sizes = sizes.iter().map(|size| size - 1).sum();
    require(counts == [g, anys, firsts, bits_of_sizes, large, pairs], "a header of other groups")?;
    for size in &mut sizes {
        require(*size <= 17, "a size of more than 15 zeros")?;
        *size += if *size == 17 { bits.forward(16)? as usize } else { 0 };
    }
    require(sizes.iter().sum::<usize>() == n, "sizes that do not add up")?;
    require(span > 0 || n == g, "equal ids of a fingerprint")?;
    let mut distances = unpack(bits, pairs, (span - span / 2).saturating_sub(1))?.into_iter();
    let low = (0..n - g - pairs).map(|_| bits.forward(k)).collect::<Res<Vec<_>>>()?;
    let gaps = low.into_iter().map(|low| Ok(low + ((unary(bits)? as u128) << k))).collect::<Res<Vec<_>>>()?;
    let (mut gaps, mut begins, mut excesses) = (gaps.into_iter(), Vec::new(), Vec::new());
    for (start, size) in starts.into_iter().zip(sizes) {
        let mut group = vec![u128::from(start)];
        if size == 2 {
            let other = u128::from(start) + 1 + u128::from(distances.next().unwrap_or(0));
            group.push(other % (u128::from(span) + 1));
            group.sort_unstable();
        }
        while group.len() < size {
            group.push(group[group.len() - 1] + 1 + gaps.next().unwrap_or(0));
        }
        require(group[size - 1] <= u128::from(span), "an id above the span")?;
        begins.extend((0..size).map(|record| record == 0 && !(continues && excesses.is_empty())));
        excesses.extend(group.into_iter().map(|excess| excess as u64));
    }
    Ok((begins, excesses))
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
