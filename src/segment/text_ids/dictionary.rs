//! The dictionary of a segment's texts: chosen, written and read (format-spec/text-ids.md).
//!
//! Its content consists of whole ids of a sample. The builder picks one after another, always the id that has most in
//! common with other ids of the sample beyond what was picked. Frames with such a dictionary are smaller than with one
//! that zstd trains, and training takes many times as long. Before the content stand the statistics for compressing a
//! frame's first bytes; they come from a dictionary that zstd trains on few texts; the rest of it is not used.

use crate::bits::load;
use crate::error::{Error, Result};
use crate::format::page::{self, Stream};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use zstd::zstd_safe;

/// Largest dictionary that readers accept.
pub(super) const MAX_SIZE: usize = 1 << 20;
/// Largest content that is written; it stays in a processor's cache.
const MAX_CONTENT: usize = 512 << 10;
/// Smaller contents do not pay.
const MIN_CONTENT: usize = 1024;
/// From this size of content on, statistics pay for their 140 bytes.
const WITH_STATISTICS: usize = 8 << 10;
/// Bytes of texts for each byte of content. A dictionary compresses to a third: half a percent of the texts.
const SHARE: u64 = 64;
/// Bytes of the sample for each byte of content.
const SAMPLE: usize = 8;
/// The least such number, if the sample is small.
const LEAST_SAMPLE: usize = 4;
/// Bytes of the sample for the largest content.
pub(super) const MAX_SAMPLE: usize = SAMPLE * MAX_CONTENT;
const LEVEL: i32 = 12;

/// Length of the byte runs by which texts are compared.
const RUN: usize = 8;
/// Binary logarithm of the greatest number of counters: 2 MiB.
const MAX_COUNTERS: u32 = 20;

/// A dictionary for `total_bytes` of texts of which `sample` are some, evenly spread; takes only as many as it needs.
/// Empty if there are too few.
pub(super) fn build<'a>(sample: impl Iterator<Item = &'a str>, total_bytes: u64) -> Vec<u8> {
    let size = usize::try_from(total_bytes / SHARE).unwrap_or(usize::MAX).min(MAX_CONTENT);
    let (mut texts, mut ends) = (Vec::new(), vec![0]);
    for text in sample {
        texts.extend_from_slice(text.as_bytes());
        texts.push(b'\n');
        ends.push(texts.len());
        if texts.len() >= SAMPLE * size {
            break;
        }
    }
    // Most of a short sample is like nothing else.
    let size = size.min(texts.len() / LEAST_SAMPLE);
    if size < MIN_CONTENT {
        return Vec::new();
    }
    let (mut dictionary, content) = rayon::join(|| statistics(&texts, size), || pick(&texts, &ends, size));
    dictionary.extend_from_slice(&content);
    dictionary
}

/// The bytes before the content in a dictionary that zstd trains; none if that fails or would not pay.
fn statistics(texts: &[u8], size: usize) -> Vec<u8> {
    /// The initial offsets, the end of the statistics, as zstd writes them; no text contains these bytes.
    const OFFSETS: [u8; 12] = [1, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0];
    const PIECE: usize = 4096;
    if size < WITH_STATISTICS {
        return Vec::new();
    }
    // Statistics need no more than twice the dictionary's bytes.
    let training = texts.get(texts.len().saturating_sub(2 * size)..).unwrap_or_default();
    let pieces: Vec<usize> = training.chunks(PIECE).map(<[u8]>::len).collect();
    let Ok(mut trained) = zstd::dict::from_continuous(training, &pieces, size) else { return Vec::new() };
    let end = trained.windows(OFFSETS.len()).position(|bytes| bytes == OFFSETS).map_or(0, |at| at + OFFSETS.len());
    trained.truncate(end);
    trained
}

/// Texts of the sample, `size` bytes, the best ones last: nearby bytes cost fewer bits.
fn pick(texts: &[u8], ends: &[usize], size: usize) -> Vec<u8> {
    let mut counters = Counters::new(texts.len());
    let text = |number: usize| {
        let bounds = ends.get(number).zip(ends.get(number + 1));
        bounds.and_then(|(&start, &end)| texts.get(start..end)).unwrap_or_default()
    };
    let count = ends.len().saturating_sub(1);
    (0..count).for_each(|number| counters.change(text(number), |count| *count = count.saturating_add(1)));
    // The first of equal ones first. A worth only falls while others are picked, so a popped worth that still holds is
    // the greatest of all.
    let mut heap: BinaryHeap<_> = (0..count).map(|number| (counters.worth(text(number)), Reverse(number))).collect();
    let (mut picked, mut length) = (Vec::new(), 0);
    while let Some((worth, Reverse(number))) = heap.pop() {
        let now = counters.worth(text(number));
        if now < worth && heap.peek().is_some_and(|&(next, _)| next > now) {
            heap.push((now, Reverse(number)));
            continue;
        }
        if length + text(number).len() > size {
            break;
        }
        length += text(number).len();
        // The runs of a picked text are of no more use.
        counters.change(text(number), |count| *count = 0);
        picked.push(number);
    }
    picked.iter().rev().flat_map(|&number| text(number)).copied().collect()
}

/// How often each run of bytes occurs in a sample; runs may share a counter.
struct Counters {
    counts: Vec<u16>,
    shift: u32,
}

impl Counters {
    fn new(bytes: usize) -> Self {
        let power = bytes.next_power_of_two().trailing_zeros().clamp(10, MAX_COUNTERS);
        Self { counts: vec![0; 1 << power], shift: 64 - power }
    }

    fn slots(text: &[u8], shift: u32) -> impl Iterator<Item = usize> {
        // The multiplier is 2^64 divided by the golden ratio.
        let slot = move |at| load(text, at).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> shift;
        (0..(text.len() + 1).saturating_sub(RUN)).map(slot).map(|slot| usize::try_from(slot).unwrap_or(0))
    }

    fn change(&mut self, text: &[u8], change: impl Fn(&mut u16)) {
        for slot in Self::slots(text, self.shift) {
            self.counts.get_mut(slot).into_iter().for_each(&change);
        }
    }

    /// How much a text has in common with others, for its length. A run that occurs once does not count.
    fn worth(&self, text: &[u8]) -> u64 {
        let counts = Self::slots(text, self.shift).filter_map(|slot| self.counts.get(slot));
        counts.map(|&count| u64::from(count.saturating_sub(1))).sum::<u64>() * 256 / (text.len() as u64 + 4)
    }
}

/// The section of a dictionary that is not empty; fails only without memory.
pub(super) fn write(dictionary: &[u8]) -> io::Result<Vec<u8>> {
    let mut bytes = zstd::bulk::compress(dictionary, LEVEL)?;
    page::seal(&mut bytes, Stream::IdDictionary, 0);
    Ok(bytes)
}

/// The dictionary of a section; `Damaged` if [`write`] does not make it.
pub(super) fn read(section: &[u8]) -> Result<Vec<u8>> {
    if section.is_empty() {
        return Ok(Vec::new());
    }
    let wrong = |what: &str| Error::damaged(format!("the dictionary of ids {what}"));
    let bytes = page::open(section, Stream::IdDictionary, 0).map_err(|_| wrong("has a wrong checksum"))?;
    let size = zstd_safe::get_frame_content_size(bytes).ok().flatten().and_then(|size| usize::try_from(size).ok());
    let size = size.filter(|size| (1..=MAX_SIZE).contains(size)).ok_or_else(|| wrong("has an impossible size"))?;
    if zstd_safe::find_frame_compressed_size(bytes) != Ok(bytes.len()) {
        return Err(wrong("is not one frame of zstd"));
    }
    let mut dictionary = Vec::with_capacity(size);
    match zstd_safe::decompress(&mut dictionary, bytes) {
        Ok(found) if found == size => Ok(dictionary),
        _ => Err(wrong("cannot be decompressed")),
    }
}
