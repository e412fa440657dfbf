//! segment.md: index, tables, footer, the whole.

use crate::blocks::{Entry, read_block};
use crate::codes::read_codes;
use crate::conventions::{Bits, Bytes, VERSION, bit_length, check_placed, check_plain, uint, xxh64};
use crate::plan::{Parameters, read_parameters, tables};
use crate::{Res, ids, require, text_ids};

/// A fingerprint: 64-bit words, the most significant one first; the width gives their number.
pub type Fingerprint = Vec<u64>;

/// The id of a record, or the number of records of a fingerprint.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Id {
    Number(u64),
    Text(String),
    Count(u64),
}

/// Bytes of a page for blocks, and blocks in a page.
fn page_shape(parameters: &Parameters, rows: bool) -> (usize, usize) {
    let size = if rows { 4096 } else { parameters.block_size.max(4096) };
    (size, if rows { 1 } else { size / parameters.block_size })
}

/// The block index of a table.
pub fn read_index(section: &[u8], blocks: u64, parameters: &Parameters, table: u8) -> Res<Vec<Entry>> {
    let rows = table == 0 && parameters.width > 64;
    let (size, in_page) = page_shape(parameters, rows);
    let (mut fields, mut entries, mut number) = (Bytes::new(section), Vec::<Entry>::new(), 0);
    let chunks = blocks.div_ceil(256);
    let directory = if chunks > 1 { Some(read_directory(&mut fields, chunks, table, !rows)?) } else { None };
    // The least possible next key; may be 2^64.
    let mut base = 0u128;
    while (entries.len() as u64) < blocks {
        let whole = fields.rest;
        let n = fields.uint(2)?;
        let [g, c, l, k] = [fields.uint(1)?, fields.uint(1)?, fields.uint(1)?, fields.uint(1)?].map(|x| x as usize);
        let (least_gap, least_count) = (fields.uint(8)?, fields.uint(2)?);
        let (least_length, least_kind) = (fields.uint(2)?, fields.uint(1)?);
        require(n == (blocks - entries.len() as u64).min(256), "number of blocks in a chunk")?;
        require(g <= 64 && c <= 16 && l <= 16 && k <= 6, "number of bits in a chunk")?;
        let n = n as usize;
        let packed = fields.take((n * (g + c + l + k)).div_ceil(8))?;
        fields.take(4)?;
        let length = whole.len() - fields.rest.len();
        check_placed(0x200 + u32::from(table), number, &whole[..length])?;
        let mut bits = Bits::new(packed);
        let mut column = |least: u64, width: usize| -> Res<Vec<u128>> {
            (0..n).map(|_| Ok(u128::from(least) + bits.forward(width)?)).collect()
        };
        let (gaps, counts) = (column(least_gap, g)?, column(least_count, c)?);
        let (lengths, kinds) = (column(least_length, l)?, column(least_kind, k)?);
        bits.finish()?;
        for i in 0..n {
            let key = base + gaps[i];
            require(key < 1 << 64, "a key above 2^64 - 1")?;
            require((1..=65535).contains(&counts[i]) && lengths[i] <= 65535, "count or length out of range")?;
            let (count, length) = (counts[i] as u16, lengths[i] as u16);
            let is_last = entries.len() as u64 + 1 == blocks;
            if rows {
                let bytes = parameters.width / 8;
                let full = 4092 / bytes;
                require(kinds[i] == 61, "a kind that the table does not have")?;
                let rows = usize::from(count);
                require(rows == full || is_last && rows < full, "number of rows in a page")?;
                require(usize::from(length) == rows * bytes, "a length that is not that of the rows")?;
            } else {
                let allowed = if parameters.codec == 0 { kinds[i] == 63 } else { kinds[i] <= 56 || kinds[i] == 62 };
                require(allowed, "a kind that the table does not have")?;
            }
            entries.push(Entry { key: key as u64, count, length, kind: kinds[i] as u8, base: base as u64 });
            base = key + u128::from(!rows);
        }
        if let Some((described, _)) = &directory {
            let keys: u64 = entries[entries.len() - n..].iter().map(|entry| u64::from(entry.count)).sum();
            let found = (entries[entries.len() - 1].key, keys, length as u64);
            require(described[number as usize] == found, "a chunk that the directory does not describe")?;
        }
        number += 1;
    }
    if let Some((_, boundaries)) = directory {
        let mut found = vec![0; 64];
        for pair in entries.windows(2).filter(|pair| pair[0].key != pair[1].key) {
            found[64 - bit_length((pair[0].key ^ pair[1].key).into())] += 1;
        }
        require(found == boundaries, "boundaries that are not those of the keys")?;
    }
    require(fields.rest.is_empty(), "bytes after the last chunk")?;
    for page in entries.chunks(in_page) {
        let used: usize = page.iter().map(|entry| usize::from(entry.length)).sum();
        require(used <= size - 4, "blocks that do not fit their page")?;
    }
    Ok(entries)
}

/// The last key, the number of keys and the length of each chunk of an index, and the boundaries.
type Directory = (Vec<(u64, u64, u64)>, Vec<u128>);

fn read_directory(fields: &mut Bytes<'_>, chunks: u64, table: u8, distinct: bool) -> Res<Directory> {
    let stream = 0x700 + u32::from(table);
    let (mut described, mut base, mut number) = (Vec::new(), 0u128, 0);
    while (described.len() as u64) < chunks {
        let whole = fields.rest;
        let n = fields.uint(2)?;
        let [g, c, l] = [fields.uint(1)?, fields.uint(1)?, fields.uint(1)?].map(|x| x as usize);
        let (least_gap, least_keys, least_length) = (fields.uint(8)?, fields.uint(8)?, fields.uint(2)?);
        require(n == (chunks - described.len() as u64).min(256), "number of chunks in a directory")?;
        require(g <= 64 && c <= 24 && l <= 16, "number of bits in a directory")?;
        let packed = fields.take((n as usize * (g + c + l)).div_ceil(8))?;
        fields.take(4)?;
        check_placed(stream, number, &whole[..whole.len() - fields.rest.len()])?;
        number += 1;
        let mut bits = Bits::new(packed);
        let mut column = |least: u64, width: usize| -> Res<Vec<u128>> {
            (0..n).map(|_| Ok(u128::from(least) + bits.forward(width)?)).collect()
        };
        let (gaps, keys, lengths) = (column(least_gap, g)?, column(least_keys, c)?, column(least_length, l)?);
        bits.finish()?;
        for i in 0..n as usize {
            let last = base + gaps[i];
            require(last < 1 << 64 && keys[i] < 1 << 24 && lengths[i] < 1 << 17, "a chunk out of range")?;
            described.push((last as u64, keys[i] as u64, lengths[i] as u64));
            base = last + u128::from(distinct);
        }
    }
    let whole = fields.rest;
    let (n, w, least) = (fields.uint(2)?, fields.uint(1)? as usize, fields.uint(8)?);
    require(n == 64 && w <= 64, "boundaries of other than 64 bits")?;
    let packed = fields.take(8 * w)?;
    fields.take(4)?;
    check_placed(stream, number, &whole[..whole.len() - fields.rest.len()])?;
    let mut bits = Bits::new(packed);
    let boundaries = (0..n).map(|_| Ok(u128::from(least) + bits.forward(w)?)).collect::<Res<_>>()?;
    Ok((described, boundaries))
}

/// The pages of a table: the payload of each block.
fn read_pages(data: &[u8], entries: &[Entry], parameters: &Parameters, table: u8) -> Res<Vec<Vec<u8>>> {
    let rows = table == 0 && parameters.width > 64;
    let (size, in_page) = page_shape(parameters, rows);
    let (mut fields, mut bodies) = (Bytes::new(data), Vec::new());
    let pages: Vec<&[Entry]> = entries.chunks(in_page).collect();
    for (number, page) in pages.iter().enumerate() {
        let used: usize = page.iter().map(|entry| usize::from(entry.length)).sum();
        let bytes = fields.take(if number + 1 == pages.len() { used + 4 } else { size })?;
        let mut payload = Bytes::new(check_placed(table.into(), number as u64, bytes)?);
        for entry in *page {
            bodies.push(payload.take(entry.length.into())?.to_vec());
        }
        require(payload.rest.iter().all(|&byte| byte == 0), "padding of a page")?;
    }
    require(fields.rest.is_empty(), "bytes after the last page")?;
    Ok(bodies)
}

/// The keys of each block of a table; for rows, their leading words.
pub fn read_table(
    data: &[u8],
    codes: &[u8],
    index: &[u8],
    blocks: u64,
    parameters: &Parameters,
    table: u8,
    fingerprints: u64,
) -> Res<Vec<Vec<u64>>> {
    if table == 0 && parameters.width > 64 {
        let rows = read_rows(data, codes, index, blocks, parameters)?;
        return Ok(rows.into_iter().map(|rows| rows.into_iter().map(|row| row[0]).collect()).collect());
    }
    let code = read_codes(codes, parameters.codec, table)?;
    let entries = read_index(index, blocks, parameters, table)?;
    if parameters.width > 64 {
        let leading = tables(parameters)[usize::from(table)].1;
        let (lead, row) = narrow(leading, fingerprints);
        let last = entries.last().map_or(0, |entry| u128::from(entry.key));
        require(last < 1 << (lead + row), "a narrow key of too many bits")?;
    }
    let bodies = read_pages(data, &entries, parameters, table)?;
    entries.iter().zip(bodies).map(|(&entry, body)| read_block(&body, &code, entry)).collect()
}

/// The rows of each page of the first table of wide fingerprints.
fn read_rows(
    data: &[u8],
    codes: &[u8],
    index: &[u8],
    blocks: u64,
    parameters: &Parameters,
) -> Res<Vec<Vec<Fingerprint>>> {
    read_codes(codes, 1, 0)?;
    let entries = read_index(index, blocks, parameters, 0)?;
    let (mut last, mut pages) = (None, Vec::new());
    for (entry, body) in entries.iter().zip(read_pages(data, &entries, parameters, 0)?) {
        let mut page = Vec::new();
        for row in body.chunks(parameters.width / 8) {
            let row: Fingerprint = row.chunks(8).rev().map(uint).collect();
            require(last.as_ref().is_none_or(|last| *last < row), "rows that do not ascend")?;
            last = Some(row.clone());
            page.push(row);
        }
        require(page.last().map(|row| row[0]) == Some(entry.key), "a last row that is not that of the index")?;
        pages.push(page);
    }
    Ok(pages)
}

/// A range of bytes of the file: offset and length.
pub type Place = (u64, u64);

/// The content of the footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Footer {
    pub parameters: Parameters,
    pub records: u64,
    pub fingerprints: u64,
    pub content_hash: u64,
    pub blocks: Vec<u64>,
    /// Three places for each table, then those of ids, id index and id dictionary; of keys, then that of sketches.
    pub places: Vec<Place>,
}

/// Footer and trailer, which begin at this offset and end the file.
pub fn read_footer(bytes: &[u8], offset: u64) -> Res<Footer> {
    require(bytes.len() >= 16 && &bytes[bytes.len() - 8..] == b"fpsegend", "magic")?;
    let data = check_plain(&bytes[..bytes.len() - 8])?;
    let (data, length) = data.split_at(data.len() - 4);
    require(data.len() <= 65536 && uint(length) == data.len() as u64, "footer length")?;
    let mut fields = Bytes::new(data);
    let parameters = read_parameters(&mut fields)?;
    let count = tables(&parameters).len();
    let sketches = usize::from(parameters.keys.is_some());
    require(fields.rest.len() == 72 + 56 * count + 16 * sketches, "a footer of another length")?;
    let (records, fingerprints, content_hash) = (fields.uint(8)?, fields.uint(8)?, fields.uint(8)?);
    let blocks: Vec<u64> = (0..count).map(|_| fields.uint(8)).collect::<Res<_>>()?;
    let places: Vec<Place> =
        (0..3 * count + 3 + sketches).map(|_| Ok((fields.uint(8)?, fields.uint(8)?))).collect::<Res<_>>()?;
    require(records >= fingerprints && (records == 0) == (fingerprints == 0), "records and fingerprints")?;
    let sound = |&blocks: &u64| blocks <= fingerprints && (blocks == 0) == (fingerprints == 0);
    require(blocks.iter().all(sound), "number of blocks")?;
    require(parameters.id_kind == 2 || places[3 * count + 2].1 == 0, "a dictionary of no texts")?;
    let none = parameters.keys.is_none_or(|keys| keys.sketch == 0);
    require(!none || sketches == 0 || places[3 * count + 3].1 == 0, "sketches of records that have none")?;
    let mut end = 16u128;
    for (number, &(start, length)) in places.iter().enumerate() {
        let start = u128::from(start);
        let aligned = number % 3 == 0 && start == end.div_ceil(4096) * 4096;
        require(start == end || aligned, "a section out of place")?;
        end = start + u128::from(length);
    }
    require(end == u128::from(offset), "the footer is not where the last section ends")?;
    Ok(Footer { parameters, records, fingerprints, content_hash, blocks, places })
}

/// The offset of the footer of a file.
pub fn locate_footer(file: &[u8]) -> Res<usize> {
    require(file.len() >= 32, "shorter than header and trailer")?;
    let length = uint(&file[file.len() - 16..file.len() - 12]) as usize;
    require(length <= 65536 && length <= file.len() - 32, "footer length")?;
    Ok(file.len() - 16 - length)
}

/// The header.
pub fn read_header(bytes: &[u8]) -> Res<()> {
    require(bytes.len() == 16 && &bytes[..8] == b"fpsegmnt", "magic")?;
    require(uint(&bytes[8..12]) == VERSION, "version")?;
    check_plain(bytes).map(|_| ())
}

fn bit(fingerprint: &[u64], number: usize) -> u64 {
    fingerprint[number / 64] >> (63 - number % 64) & 1
}

/// A whole segment: its footer and its records in order.
pub fn read_segment(file: &[u8]) -> Res<(Footer, Vec<(Fingerprint, Id)>)> {
    let at = locate_footer(file)?;
    read_header(&file[..16])?;
    let footer = read_footer(&file[at..], at as u64)?;
    let parameters = &footer.parameters;
    let mut end = 16;
    for &(start, length) in &footer.places {
        require(file[end..start as usize].iter().all(|&byte| byte == 0), "padding between sections")?;
        end = (start + length) as usize;
    }
    require(xxh64(&file[..at]) == footer.content_hash, "content hash")?;
    let section = |number: usize| {
        let (start, length) = footer.places[number];
        &file[start as usize..(start + length) as usize]
    };
    let mut fingerprints: Vec<Fingerprint> = Vec::new();
    for (table, (order, leading)) in tables(parameters).into_iter().enumerate() {
        let [data, codes, index] = [0, 1, 2].map(|part| section(3 * table + part));
        let blocks = footer.blocks[table];
        if table == 0 && parameters.width > 64 {
            fingerprints = read_rows(data, codes, index, blocks, parameters)?.concat();
        } else {
            let keys = read_table(data, codes, index, blocks, parameters, table as u8, footer.fingerprints)?.concat();
            if table == 0 {
                fingerprints = keys.into_iter().map(|key| vec![key]).collect();
            } else {
                require(keys == make_keys(&fingerprints, &order, leading), "keys that table 0 does not have")?;
            }
        }
        require(fingerprints.len() as u64 == footer.fingerprints, "number of fingerprints")?;
    }
    let count = footer.blocks.len();
    let [ids, index, dictionary] = [0, 1, 2].map(|part| section(3 * count + part));
    let records: Vec<(bool, Id)> = match parameters.id_kind {
        2 => text_ids::read_text_ids(ids, index, dictionary)?.into_iter().map(|(b, id)| (b, Id::Text(id))).collect(),
        1 => ids::read_ids(ids, index)?.into_iter().map(|(b, id)| (b, Id::Number(id))).collect(),
        _ => ids::read_ids(ids, index)?.into_iter().map(|(b, id)| (b, Id::Count(id))).collect(),
    };
    let (mut rank, mut found, mut all) = (0, 0u128, Vec::<(Fingerprint, Id)>::new());
    for (begins, id) in records {
        rank += usize::from(begins);
        require(rank > 0, "a first record that does not begin a fingerprint")?;
        require(rank <= fingerprints.len(), "more fingerprints in the ids than in the tables")?;
        if let Id::Count(count) = id {
            require(begins && count > 0, "not one count of at least 1")?;
            found += u128::from(count);
        } else {
            require(begins || all.last().is_some_and(|last| last.1 < id), "ids that do not ascend")?;
            found += 1;
        }
        all.push((fingerprints[rank - 1].clone(), id));
    }
    require(rank == fingerprints.len(), "fewer fingerprints in the ids than in the tables")?;
    require(found == u128::from(footer.records), "number of records")?;
    if let Some(keys) = parameters.keys.filter(|keys| keys.sketch > 0) {
        check_sketches(section(3 * count + 3), keys.size())?;
    }
    Ok((footer, all))
}

/// Checksums and padding of the pages of sketches; the run knows how many there are.
fn check_sketches(section: &[u8], size: usize) -> Res<()> {
    for (number, page) in (0..).zip(section.chunks(4096)) {
        let payload = check_placed(0x600, number, page)?;
        let used = (4092 / size * size).min(payload.len());
        require(payload[used..].iter().all(|&byte| byte == 0), "padding of a page")?;
    }
    Ok(())
}

/// The numbers of leading bits and of row bits of a narrow key.
fn narrow(leading: usize, fingerprints: u64) -> (usize, usize) {
    let row = bit_length(u128::from(fingerprints.saturating_sub(1)));
    (leading.min(row + 6).min(64 - row), row)
}

/// The keys of a table after the first.
fn make_keys(fingerprints: &[Fingerprint], order: &[usize], leading: usize) -> Vec<u64> {
    let mut keys = Vec::new();
    let wide = fingerprints.first().is_some_and(|fingerprint| fingerprint.len() > 1);
    let (taken, row) = if wide { narrow(leading, fingerprints.len() as u64) } else { (64, 0) };
    for (number, fingerprint) in fingerprints.iter().enumerate() {
        let mut key = 0;
        for &place in &order[..taken] {
            key = 2 * key + bit(fingerprint, place);
        }
        keys.push(if wide { key << row | number as u64 } else { key });
    }
    keys.sort_unstable();
    keys
}
