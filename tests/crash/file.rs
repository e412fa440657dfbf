//! The bytes of one file: the durable ones, and the changes that a power failure may lose.

use super::image::Content;
use crate::support::Random;

/// Bytes of a sector and of a page; a write may survive in part at either granularity.
const SECTOR: usize = 512;
const PAGE: usize = 4096;

/// A file, independent of its names.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    durable: Vec<u8>,
    /// The length that a reader sees.
    length: usize,
    /// Changes that are not durable, each with the number of its operation.
    pending: Vec<(usize, Change)>,
}

#[derive(Clone, Debug)]
enum Change {
    Length(usize),
    Write { offset: usize, bytes: Vec<u8> },
}

impl File {
    /// A file whose content is durable.
    pub(crate) fn durable(content: &Content) -> Self {
        let mut durable = content.bytes.clone();
        durable.resize(content.length, 0);
        Self { length: durable.len(), durable, pending: Vec::new() }
    }

    pub(crate) fn write(&mut self, at: usize, offset: usize, bytes: &[u8]) {
        self.grow(at, offset + bytes.len());
        self.pending.push((at, Change::Write { offset, bytes: bytes.to_vec() }));
    }

    /// Extends the file to at least this length.
    pub(crate) fn grow(&mut self, at: usize, length: usize) {
        if length > self.length {
            self.set_length(at, length);
        }
    }

    pub(crate) fn set_length(&mut self, at: usize, length: usize) {
        self.length = length;
        self.pending.push((at, Change::Length(length)));
    }

    /// Makes changes before operation `begun` durable. With `data_only` a length that no written byte needs stays
    /// pending.
    pub(crate) fn sync(&mut self, begun: usize, data_only: bool) {
        let mut left = Vec::new();
        let mut length = self.durable.len();
        for (at, change) in self.pending.drain(..) {
            match change {
                _ if at >= begun => left.push((at, change)),
                Change::Length(new) if new > length && data_only => left.push((at, change)),
                Change::Length(new) => {
                    self.durable.truncate(new);
                    self.durable.resize(new, 0);
                    length = new;
                }
                Change::Write { offset, bytes } => {
                    put(&mut self.durable, offset, &bytes);
                    length = length.max(offset + bytes.len());
                }
            }
        }
        left.retain(|(at, change)| *at >= begun || !matches!(change, Change::Length(new) if *new <= length));
        self.durable.resize(length, 0);
        self.pending = left;
    }

    /// The content that a reader sees.
    pub(crate) fn current(&self) -> Content {
        let mut all = self.clone();
        all.sync(usize::MAX, false);
        Content::new(all.durable)
    }

    /// The content after a power failure: everything durable, and any part of the rest. Each change survives with a
    /// probability of `share` in 4. Bytes that did not survive within a surviving length are zeros.
    pub(crate) fn after_crash(&self, random: &mut Random, share: u64) -> Content {
        let mut bytes = self.durable.clone();
        let mut length = bytes.len();
        for (_, change) in &self.pending {
            let survives = random.below(4) < share;
            match change {
                Change::Length(new) if survives => {
                    bytes.truncate(*new);
                    length = *new;
                }
                Change::Length(_) => {}
                Change::Write { offset, bytes: written } => {
                    for (from, to) in surviving(random, *offset, written.len(), survives, share) {
                        put(&mut bytes, offset + from, &written[from..to]);
                    }
                }
            }
        }
        bytes.resize(length, 0);
        Content::new(bytes)
    }
}

/// The parts of a write that survive: all or nothing in half of the cases; otherwise the part before or after a cut at
/// a byte or a page, or any sectors.
fn surviving(random: &mut Random, offset: usize, length: usize, survives: bool, share: u64) -> Vec<(usize, usize)> {
    let cut = random.below(length as u64 + 1) as usize;
    let page = ((offset + cut) / PAGE * PAGE).clamp(offset, offset + length) - offset;
    match random.below(8) {
        _ if share == 0 => Vec::new(),
        0 => vec![(0, cut)],
        1 => vec![(0, page)],
        2 => vec![(page, length)],
        3 => {
            let mut parts = Vec::new();
            let mut from = 0;
            while from < length {
                let to = length.min(from + SECTOR - (offset + from) % SECTOR);
                if random.below(4) < share {
                    parts.push((from, to));
                }
                from = to;
            }
            parts
        }
        _ if survives => vec![(0, length)],
        _ => Vec::new(),
    }
}

fn put(target: &mut Vec<u8>, offset: usize, bytes: &[u8]) {
    let end = offset + bytes.len();
    if target.len() < end {
        target.resize(end, 0);
    }
    target[offset..end].copy_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn any(file: &File, random: &mut Random) -> Content {
        let share = random.below(5);
        file.after_crash(random, share)
    }

    #[test]
    fn what_was_synced_stays_and_the_rest_may_be_lost() {
        let mut file = File::default();
        file.write(1, 0, b"abcd");
        file.sync(2, false);
        file.write(2, 2, b"xyz");
        assert_eq!(file.current().bytes, b"abxyz");
        let mut random = Random(1);
        let mut seen: Vec<Vec<u8>> = (0..1000).map(|_| any(&file, &mut random).bytes).collect();
        seen.sort();
        seen.dedup();
        assert!(seen.contains(&b"abcd".to_vec()) && seen.contains(&b"abxyz".to_vec()), "{seen:?}");
        assert!(seen.contains(&b"abxd".to_vec()) && seen.contains(&b"abxy".to_vec()), "cut short: {seen:?}");
        assert!(seen.iter().all(|bytes| bytes.starts_with(b"ab")), "{seen:?}");
    }

    #[test]
    fn a_sync_covers_what_was_written_before_it_began() {
        let mut file = File::default();
        file.write(1, 0, b"ab");
        file.write(3, 2, b"cd");
        file.sync(2, false);
        assert_eq!(file.after_crash(&mut Random(1), 0).bytes, b"ab");
        assert_eq!(file.current().bytes, b"abcd");
    }

    #[test]
    fn syncing_data_leaves_a_length_that_no_byte_needs() {
        let mut file = File::default();
        file.grow(1, 100);
        file.write(2, 0, b"ab");
        file.sync(3, true);
        assert_eq!(file.after_crash(&mut Random(1), 0).length, 2);
        assert_eq!(file.after_crash(&mut Random(1), 4).length, 100);
        file.sync(3, false);
        assert_eq!(file.after_crash(&mut Random(1), 0).length, 100);
    }
}
