use super::*;
use crate::codec::{BlockKind, Codec};
use crate::env::{Env, Memory, ReadMode};
use crate::format::index::IndexCodec;
use crate::format::page::{self, PageLayout, Stream};
use crate::plan::mix;
use proptest::prelude::*;
use std::path::Path;

const CODEC: IndexCodec = IndexCodec::Keys(Codec::Adaptive);
const OFFSET: u64 = 100;

fn open(section: &[u8], blocks: usize, shift: u32, mode: ReadMode) -> Result<BlockIndex> {
    let (memory, path) = (Memory::default(), Path::new("index"));
    memory.set_bytes(path, [&[0; OFFSET as usize], section].concat());
    let file = Arc::new(SegmentFile::new(path, memory.open(path, mode).unwrap()));
    let shape = IndexShape { blocks: blocks as u64, layout: PageLayout::new(512), codec: CODEC, table: 1 };
    BlockIndex::open(&file, Span { offset: OFFSET, length: section.len() as u64 }, shape, shift)
}

/// The first damage of an index that can be opened.
fn damage(index: &BlockIndex) -> Option<Error> {
    index.damages().pop().or_else(|| index.check_boundaries().err())
}

/// Blocks with these last keys, ascending.
fn entries(keys: impl IntoIterator<Item = u64>) -> Vec<BlockEntry> {
    let entry = |(number, key): (u64, u64)| BlockEntry {
        key,
        count: if number.is_multiple_of(50) { u16::MAX } else { 1 + (mix(number) % 90) as u16 },
        length: (mix(number + 1) % 512) as u16,
        kind: if number.is_multiple_of(7) {
            BlockKind::Flips
        } else {
            BlockKind::Gap { low_width: (number % 57) as u32 }
        },
    };
    (0..).zip(keys).map(entry).collect()
}

/// Compares every answer of an index with the entries themselves.
fn check(index: &BlockIndex, entries: &[BlockEntry], shift: u32, probes: &[u64]) {
    let padded = |key: u64| key << shift | low_mask(shift);
    assert_eq!(index.len(), entries.len());
    for &probe in probes {
        let expected = entries.partition_point(|entry| padded(entry.key) < probe);
        assert_eq!(index.find(probe).unwrap(), expected, "{probe:x}");
    }
    let (mut rank, mut end, mut base) = (0, 0, 0);
    for (block, entry) in entries.iter().enumerate() {
        end = if block % 8 == 0 { 0 } else { end };
        let shape = BlockShape { kind: entry.kind, base, last: entry.key, count: entry.count.into() };
        let place = BlockPlace { page: block as u64 / 8, offset: end, length: entry.length.into() };
        assert_eq!(index.block(block).unwrap(), Some((place, shape)));
        assert_eq!(index.key(block).unwrap(), Some(padded(entry.key)));
        assert_eq!(index.rank(block).unwrap(), rank);
        for (behind, key) in [(0, rank), (usize::from(entry.count) - 1, rank + u64::from(entry.count) - 1)] {
            assert_eq!(index.block_of_rank(key).unwrap(), Some((block, behind)));
        }
        end += usize::from(entry.length);
        if block % 8 == 7 || block + 1 == entries.len() {
            assert_eq!(index.page_used(block as u64 / 8).unwrap(), end);
        }
        rank += u64::from(entry.count);
        base = entry.key.wrapping_add(1);
    }
    let behind = entries.len();
    assert_eq!((index.rank(behind).unwrap(), index.fingerprints()), (rank, rank));
    assert_eq!((index.block(behind).unwrap(), index.key(behind).unwrap()), (None, None));
    assert_eq!(index.block_of_rank(rank).unwrap(), None);
    assert_eq!(index.last_key(), entries.last().map_or(0, |entry| entry.key));
    assert!(damage(index).is_none());
}

fn unpacked(index: &BlockIndex) -> usize {
    index.are_unpacked.iter().filter(|it| it.load(Ordering::Relaxed)).count()
}

proptest! {
    #[test]
    fn answers_are_those_of_the_entries(
        blocks in prop_oneof![19 => 0usize..600, 1 => 65_500usize..66_200], skew in 0u32..52, shift in 0u32..3,
        at: u64, mut probes in prop::collection::vec(any::<u64>(), 20),
    ) {
        // Evenly spread keys, or many that share their first bits.
        let key = |number: usize| {
            let even = mix(at.wrapping_add(number as u64));
            (if number.is_multiple_of(3) { even } else { even >> skew }) >> shift
        };
        let mut keys: Vec<u64> = (0..blocks).map(key).collect();
        keys.sort_unstable();
        keys.dedup();
        let entries = entries(keys.iter().copied());
        let section = index::write(&entries, CODEC, 1);
        probes.extend(keys.iter().step_by(1 + keys.len() / 50).flat_map(|&key| [key << shift, (key << shift) + 1]));
        for mode in [ReadMode::Mmap, ReadMode::Pread] {
            let index = open(&section, entries.len(), shift, mode).unwrap();
            check(&index, &entries, shift, &probes);
        }
    }
}

#[test]
fn a_search_unpacks_the_chunk_that_it_needs_alone() {
    let keys: Vec<u64> = (0..3000).map(|number| number << 50).collect();
    let entries = entries(keys.iter().copied());
    let index = open(&index::write(&entries, CODEC, 1), entries.len(), 0, ReadMode::Mmap).unwrap();
    // The last one shows where the blocks end.
    assert_eq!((unpacked(&index), index.chunks.len()), (1, 12));
    for _ in 0..3 {
        assert_eq!(index.find(700 << 50).unwrap(), 700);
        assert_eq!(unpacked(&index), 2);
    }
    assert_eq!(index.find(u64::MAX).unwrap(), 3000);
    assert_eq!((index.rank(3000).unwrap(), index.block_of_rank(u64::MAX).unwrap()), (index.fingerprints(), None));
    assert_eq!(unpacked(&index), 2);
    check(&index, &entries, 0, &[]);
    assert!((17 * 3000..18 * 3000).contains(&index.resident_bytes()));
}

#[test]
fn every_flipped_byte_is_found() {
    let entries =
        entries((0..700).map(|number| mix(number) >> 10 | number << 54).collect::<std::collections::BTreeSet<_>>());
    let section = index::write(&entries, CODEC, 1);
    let read = |section: &[u8]| -> Result<()> {
        let index = open(section, entries.len(), 0, ReadMode::Mmap)?;
        damage(&index).map_or(Ok(()), Err)
    };
    read(&section).unwrap();
    for at in 0..section.len() {
        let mut flipped = section.clone();
        flipped[at] ^= 0x10;
        let error = read(&flipped).unwrap_err();
        let offset = error.offset().unwrap();
        assert!((OFFSET..OFFSET + section.len() as u64).contains(&offset) && error.path().is_some(), "{error}");
    }
    for length in [0, 10, section.len() - 1] {
        assert!(read(&section[..length]).is_err());
    }
    for blocks in [256, 257, 699, 701, 1 << 40] {
        assert!(open(&section, blocks, 0, ReadMode::Mmap).is_err(), "{blocks}");
    }
}

/// Where the first chunk of an index section begins.
fn chunks_at(section: &[u8], blocks: usize) -> usize {
    let index = open(section, blocks, 0, ReadMode::Mmap).unwrap();
    (index.chunks[0].offset - OFFSET) as usize
}

#[test]
fn a_chunk_that_the_directory_does_not_describe_is_refused() {
    let mine = entries((0..700).map(|number| number << 40));
    let mut others = mine.clone();
    others[301].count += 1;
    let (section, other) = (index::write(&mine, CODEC, 1), index::write(&others, CODEC, 1));
    let mixed = [&section[..chunks_at(&section, 700)], &other[chunks_at(&other, 700)..]].concat();
    let index = open(&mixed, 700, 0, ReadMode::Mmap).unwrap();
    assert_eq!(index.find(0).unwrap(), 0);
    let message = index::unlike_its_directory().message().to_owned();
    assert_eq!(index.find(300 << 40).unwrap_err().message(), message);
    let damages = index.damages();
    assert_eq!(damages.iter().map(Error::message).collect::<Vec<_>>(), [&message]);
    let parsed = index::parse(&mut Fields::new(&mixed, 0), index.shape, |_| {});
    assert_eq!(parsed.unwrap_err().message(), message);
}

#[test]
fn boundaries_of_other_keys_are_damage() {
    let entries = entries((0..700).map(|number| number << 40));
    let mut section = index::write(&entries, CODEC, 1);
    // The boundaries end where the first chunk begins; a byte tells how many bits they have each.
    let end = chunks_at(&section, 700);
    let start = |width: usize| end - 4 - 8 * width - 11;
    let start =
        (1..20).map(start).find(|&at| section[at..].starts_with(&[64, 0, ((end - at - 15) / 8) as u8])).unwrap();
    section[start + 11] ^= 1;
    let checksum = page::checksum(Stream::IndexDirectory(1), 1, &section[start..end - 4]);
    section[end - 4..end].copy_from_slice(&checksum.to_le_bytes());
    let index = open(&section, 700, 0, ReadMode::Mmap).unwrap();
    for (block, entry) in entries.iter().enumerate() {
        assert_eq!(index.find(entry.key).unwrap(), block);
    }
    assert!(index.damages().is_empty());
    assert_eq!(index.check_boundaries().unwrap_err().message(), index::unlike_its_directory().message());
}

/// Rows that begin alike: pages have equal keys, also from chunk to chunk, and up to the greatest one.
#[test]
fn pages_of_rows_may_have_equal_keys() {
    let (codec, layout) = (IndexCodec::Rows(16), PageLayout { size: 4096, blocks: 1 });
    for keys in [
        (0..700).map(|number| if number < 200 { number } else { u64::MAX - 700 + number / 300 * 300 }).collect(),
        vec![5; 256],
        vec![7; 257],
        (0..512).map(|number| number / 255 * 255).collect::<Vec<u64>>(),
        (0..900).map(|number| if number < 255 { 9 } else { u64::MAX }).collect(),
    ] {
        let entry = |&key: &u64| BlockEntry { key, count: 255, length: 4080, kind: BlockKind::Rows };
        let entries: Vec<BlockEntry> = keys.iter().map(entry).collect();
        let section = index::write(&entries, codec, 0);
        let (memory, path) = (Memory::default(), Path::new("index"));
        memory.set_bytes(path, section.clone());
        let file = Arc::new(SegmentFile::new(path, memory.open(path, ReadMode::Mmap).unwrap()));
        let shape = IndexShape { blocks: entries.len() as u64, layout, codec, table: 0 };
        let index = BlockIndex::open(&file, Span { offset: 0, length: section.len() as u64 }, shape, 0).unwrap();
        for probe in [0, 4, 5, 6, 8, 9, 10, 199, 200, 255, u64::MAX - 401, u64::MAX - 1, u64::MAX] {
            assert_eq!(index.find(probe).unwrap(), keys.partition_point(|&key| key < probe), "{probe:x}");
        }
        for (block, &key) in keys.iter().enumerate() {
            let place = BlockPlace { page: block as u64, offset: 0, length: 4080 };
            assert_eq!(index.place(block).unwrap(), Some(place));
            assert_eq!((index.key(block).unwrap(), index.rank(block).unwrap()), (Some(key), block as u64 * 255));
        }
        assert!(damage(&index).is_none());
    }
}

#[test]
fn threads_unpack_the_same_chunks() {
    let entries = entries((0..1000).map(|number| number << 50));
    let index = open(&index::write(&entries, CODEC, 1), entries.len(), 0, ReadMode::Pread).unwrap();
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for (block, entry) in entries.iter().enumerate() {
                    assert_eq!(index.find(entry.key).unwrap(), block);
                }
            });
        }
    });
    check(&index, &entries, 0, &[]);
}

/// Large enough for a map.
#[test]
fn chunks_of_a_large_index_do_not_touch_each_other() {
    let (chunks, number) = (1100, 700);
    let entries = entries((0..CHUNK as u64).map(|number| 1000 + number * 7));
    let bounds = ChunkBounds { base: 1000, last: 1000 + 255 * 7 };
    let unpacked = UnpackedChunks::new(chunks, chunks * CHUNK - 5).unwrap();
    unpacked.fill(number, bounds, PageLayout::new(512), &entries);
    for key in bounds.base..=bounds.last {
        let expected = entries.partition_point(|entry| entry.key < key);
        assert_eq!(unpacked.get(number).find(bounds.slot(key), key), expected);
    }
    for other in [0, number - 1, number + 1, chunks - 2] {
        assert!(unpacked.get(other).keys().all(|key| key == 0) && unpacked.get(other).keys().count() == CHUNK);
    }
    assert_eq!(unpacked.get(chunks - 1).keys().count(), CHUNK - 5);
}

#[test]
fn whole_chunks() {
    for blocks in [256, 257, 512, 513] {
        let entries = entries((0..blocks).map(|number| u64::MAX - (blocks - 1 - number) * 3));
        let index = open(&index::write(&entries, CODEC, 1), entries.len(), 0, ReadMode::Pread).unwrap();
        let probes: Vec<u64> = entries.iter().flat_map(|entry| [entry.key, entry.key - 1]).collect();
        check(&index, &entries, 0, &probes);
    }
}
