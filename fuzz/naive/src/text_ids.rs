//! text-ids.md

use crate::conventions::{Bits, Bytes, check_placed, uint};
use crate::{Res, require};

/// For each record, whether it begins a fingerprint, and its text.
pub type Texts = Vec<(bool, String)>;

/// The index: length and number of fingerprints that begin, for each frame.
pub fn read_index(section: &[u8], ids_length: u64) -> Res<Vec<(u64, u64)>> {
    let (mut fields, mut frames, mut number, mut full) = (Bytes::new(section), Vec::new(), 0, true);
    while !fields.rest.is_empty() {
        require(full, "a chunk that is not full is not the last one")?;
        let whole = fields.rest;
        let c = fields.uint(2)? as usize;
        let (l, b) = (fields.uint(1)? as usize, fields.uint(1)? as usize);
        let (least_length, least_begun) = (fields.uint(2)?, fields.uint(2)?);
        require((1..=1024).contains(&c) && l <= 16 && b <= 16, "a chunk that is not possible")?;
        let packed = fields.take((c * (l + b)).div_ceil(8))?;
        fields.take(4)?;
        check_placed(0x400, number, &whole[..whole.len() - fields.rest.len()])?;
        let mut bits = Bits::new(packed);
        let (mut lengths, mut begun) = (Vec::new(), Vec::new());
        for _ in 0..c {
            lengths.push(least_length + bits.forward(l)? as u64);
        }
        for _ in 0..c {
            begun.push(least_begun + bits.forward(b)? as u64);
        }
        bits.finish()?;
        require(lengths.iter().all(|length| (10..=65535).contains(length)), "a length out of range")?;
        require(begun.iter().all(|&begun| begun <= 65535), "a number out of range")?;
        frames.extend(lengths.into_iter().zip(begun));
        (number, full) = (number + 1, c == 1024);
    }
    let sum: u64 = frames.iter().map(|frame| frame.0).sum();
    require(sum == ids_length, "lengths that do not add up to the section")?;
    Ok(frames)
}

/// Refuses an invalid id.
pub fn check_text(text: &str) -> Res<()> {
    require((1..=4096).contains(&text.len()), "an id that is empty or too long")?;
    require(!text.contains(['\0', '\t', '\n', '\r']), "a forbidden byte")
}

/// The payload of a frame.
pub fn read_payload(payload: &[u8]) -> Res<Texts> {
    let mut fields = Bytes::new(payload);
    let head = fields.uint(2)? as usize;
    let n = head / 2;
    require((1..=2048).contains(&n), "number of records out of range")?;
    let mut begins = vec![true; n];
    if head % 2 == 1 {
        let mut bits = Bits::new(fields.take(n.div_ceil(8))?);
        for begins in &mut begins {
            *begins = bits.forward(1)? == 1;
        }
        bits.finish()?;
        require(begins.contains(&false), "a bitmap without a 0")?;
    }
    require(fields.rest.len() <= 4097, "too many bytes of ids")?;
    let text = std::str::from_utf8(fields.rest).map_err(|_| "not UTF-8")?;
    require(text.ends_with('\n'), "no line feed at the end")?;
    let texts: Vec<&str> = text[..text.len() - 1].split('\n').collect();
    require(texts.len() == n, "not as many ids as the head says")?;
    texts.iter().try_for_each(|text| check_text(text))?;
    for i in 1..n {
        require(begins[i] || texts[i - 1].as_bytes() < texts[i].as_bytes(), "ids that do not ascend")?;
    }
    Ok(begins.into_iter().zip(texts.into_iter().map(str::to_owned)).collect())
}

/// The dictionary; none if the section is empty.
fn read_dictionary(section: &[u8]) -> Res<Option<zstd_safe::DDict<'static>>> {
    if section.is_empty() {
        return Ok(None);
    }
    let packed = check_placed(0x500, 0, section)?;
    require(packed.len() >= 4 && uint(&packed[..4]) == 0xFD2F_B528, "not a Zstandard frame")?;
    let size = zstd_safe::get_frame_content_size(packed).ok().flatten().ok_or("no Frame_Content_Size")?;
    require((1..=1 << 20).contains(&size), "a dictionary of impossible size")?;
    let dictionary = decompress(packed, size as usize, None)?;
    zstd_safe::DDict::try_create(&dictionary).ok_or("statistics that are invalid").map(Some)
}

/// Exactly one frame of Zstandard.
fn decompress(frame: &[u8], size: usize, dictionary: Option<&zstd_safe::DDict<'static>>) -> Res<Vec<u8>> {
    let mut context = zstd_safe::DCtx::create();
    if let Some(dictionary) = dictionary {
        context.ref_ddict(dictionary).map_err(|_| "a dictionary that is refused")?;
    }
    // Streaming decompression reports the end of the frame by returning 0.
    let mut out = vec![0; size + 1];
    let mut output = zstd_safe::OutBuffer::around(&mut out[..]);
    let mut input = zstd_safe::InBuffer::around(frame);
    loop {
        let before = (input.pos(), output.pos());
        let hint = context.decompress_stream(&mut output, &mut input).map_err(|_| "cannot be decompressed")?;
        if hint == 0 {
            break;
        }
        require((input.pos(), output.pos()) != before, "ends too early, or is too long")?;
    }
    let (used, written) = (input.pos(), output.pos());
    require(used == frame.len(), "something after the last block")?;
    require(written == size, "not of the size that it says")?;
    out.truncate(written);
    Ok(out)
}

/// All records of the three sections.
pub fn read_text_ids(ids: &[u8], index: &[u8], dictionary: &[u8]) -> Res<Texts> {
    let frames = read_index(index, ids.len() as u64)?;
    let dictionary = read_dictionary(dictionary)?;
    let (mut fields, mut records) = (Bytes::new(ids), Texts::new());
    for (number, (length, begun)) in frames.into_iter().enumerate() {
        let frame = check_placed(0x300, number as u64, fields.take(length as usize)?)?;
        let size = match frame[0] {
            0x20 => uint(&frame[1..2]),
            0x60 => uint(&frame[1..3]) + 256,
            _ => return Err("another descriptor"),
        };
        require(size <= 4355, "a size above the limit")?;
        let whole = [&[0x28, 0xB5, 0x2F, 0xFD], frame].concat();
        let texts = read_payload(&decompress(&whole, size as usize, dictionary.as_ref())?)?;
        require(texts.iter().filter(|text| text.0).count() as u64 == begun, "frame and index disagree")?;
        if let Some((_, last)) = records.last() {
            require(texts[0].0 || last.as_bytes() < texts[0].1.as_bytes(), "ids that do not ascend")?;
        } else {
            require(texts[0].0, "a first record that does not begin a fingerprint")?;
        }
        records.extend(texts);
    }
    Ok(records)
}
