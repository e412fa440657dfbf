//! Written texts are read again, in any order; changed bytes are refused.

use super::packing::{Unpacker, stored};
use crate::env::{Env, Memory, ReadMode};
use crate::error::{ErrorKind, Result};
use crate::fingerprint::{IdKind, MAX_TEXT};
use crate::format::footer::Span;
use crate::format::page::{self, Stream};
use crate::format::text_frame::MAX_PAYLOAD;
use crate::format::text_index::{self, UnitEntry};
use crate::segment::text_ids::encoder::TextEncoder;
use crate::segment::{IdScratch, IdVerifier, Ids, SegmentFile};
use proptest::prelude::*;
use std::path::Path;
use std::sync::Arc;

/// The three sections, one after the other, somewhere in a file.
#[derive(Clone, Debug)]
struct Sections([Vec<u8>; 3]);

const IDS: usize = 0;
const INDEX: usize = 1;
const DICTIONARY: usize = 2;

impl Sections {
    fn open(&self, mode: ReadMode) -> Result<Ids> {
        let (file, spans) = self.file(mode);
        Ids::of_sections(&file, IdKind::Text, spans)
    }

    fn walk(&self) -> Ids {
        let (file, spans) = self.file(ReadMode::Pread);
        Ids::walk(&file, IdKind::Text, spans[IDS], spans[DICTIONARY])
    }

    fn file(&self, mode: ReadMode) -> (Arc<SegmentFile>, [Span; 3]) {
        let (env, path) = (Memory::default(), Path::new("file"));
        let mut bytes = b"in front".to_vec();
        let spans = self.0.each_ref().map(|section| {
            let span = Span { offset: bytes.len() as u64, length: section.len() as u64 };
            bytes.extend_from_slice(section);
            span
        });
        env.set_bytes(path, bytes);
        (Arc::new(SegmentFile::new(path, env.open(path, mode).unwrap())), spans)
    }
}

type Lists = Vec<Vec<String>>;

fn encode(lists: &Lists, total: u64) -> Sections {
    let mut encoder = TextEncoder::new(lists.iter().flatten().map(String::as_str), total);
    for list in lists {
        for (number, text) in list.iter().enumerate() {
            encoder.push(text, number == 0);
        }
    }
    let (ids, encoded) = encoder.finish();
    Sections([ids, encoded.index, encoded.dictionary])
}

fn total(lists: &Lists) -> u64 {
    lists.iter().flatten().map(|text| text.len() as u64 + 1).sum()
}

fn read(texts: &Ids, ranks: impl Iterator<Item = u64>, scratch: &mut IdScratch) -> Result<Lists> {
    ranks
        .map(|rank| {
            let mut ids = Vec::new();
            texts.ids_of(rank, scratch, |id| ids.push(id.to_string())).map(|()| ids)
        })
        .collect()
}

/// All lists, frame by frame, as a verifier reads them.
fn read_frames(texts: &Ids) -> Result<Lists> {
    let (mut lists, mut scratch, mut verifier) = (Lists::new(), IdScratch::default(), IdVerifier::default());
    for number in 0..texts.unit_count() {
        verifier.check(texts, number)?;
        texts.unit(number, &mut scratch, |begins, id| {
            if begins {
                lists.push(Vec::new());
            }
            lists.last_mut().expect("a fingerprint has begun").push(id.to_string());
        })?;
    }
    assert_eq!(verifier.records, lists.iter().map(Vec::len).sum::<usize>() as u128);
    Ok(lists)
}

/// Texts that have something in common, a few for some fingerprints.
fn urls(fingerprints: u64) -> Lists {
    let mut state = 88_172_645_463_325_252u64;
    let mut random = move |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    };
    let mut list = |rank: u64| {
        let count = if rank % 7 == 3 { 1 + random(4) } else { 1 };
        let mut list: Vec<_> = (0..count)
            .map(|_| {
                format!("https://www.host-{}.org/articles/{}/no-{}.html", random(90), random(9000), random(99_999))
            })
            .collect();
        list.sort();
        list.dedup();
        list
    };
    (0..fingerprints).map(&mut list).collect()
}

fn check(lists: &Lists) {
    let sections = encode(lists, total(lists));
    for mode in [ReadMode::Mmap, ReadMode::Pread] {
        let texts = sections.open(mode).unwrap();
        let count = lists.len() as u64;
        assert_eq!(texts.fingerprints(), count);
        let mut scratch = IdScratch::default();
        assert!(read(&texts, 0..count, &mut scratch).unwrap() == *lists);
        let mut backwards = read(&texts, (0..count).rev(), &mut scratch).unwrap();
        backwards.reverse();
        assert!(backwards == *lists);
        assert!(read_frames(&texts).unwrap() == *lists);
        for rank in [count, count + 1, u64::MAX] {
            assert_eq!(texts.ids_of(rank, &mut scratch, drop).unwrap_err().kind(), ErrorKind::Damaged);
        }
    }
}

#[test]
fn nothing_one_id_long_ids_and_very_many_of_a_fingerprint() {
    let sections = encode(&Vec::new(), 1 << 30);
    assert!(sections.0.iter().all(Vec::is_empty));
    check(&Vec::new());
    check(&vec![vec!["a".into()]]);
    assert!(encode(&vec![vec!["a".into()]], 2).0.iter().map(Vec::len).sum::<usize>() < 30);
    let long = |n: usize| format!("{n}/{}", "ü/".repeat(MAX_TEXT)).chars().take(n).collect::<String>();
    let mut lists: Lists = (1..60).map(|n| vec![long(n * 20)]).collect();
    lists.push(vec!["x".repeat(MAX_TEXT), "y".repeat(MAX_TEXT), "z".into()]);
    lists.push(vec!["é".repeat(MAX_TEXT / 2)]);
    lists.push((0..200_000).map(|n| format!("/a/path/to/{n:06}.html")).collect());
    lists.push(vec!["behind".into(), "behind too".into()]);
    check(&lists);
}

#[test]
fn many_ids_of_many_fingerprints_take_few_bytes() {
    let lists = urls(40_000);
    check(&lists);
    let sections = encode(&lists, total(&lists));
    let [ids, index, dictionary] = sections.0.each_ref().map(Vec::len);
    assert!(dictionary > 0 && (dictionary as u64) < total(&lists) / 100);
    let listed = lists.iter().flatten().flat_map(|text| [text.as_str(), "\n"]).collect::<String>();
    let whole = zstd::bulk::compress(listed.as_bytes(), 3).unwrap().len();
    // Random numbers are most of these, and each frame has its own overhead; real texts do better.
    assert!(ids + index + dictionary <= whole * 6 / 5, "{ids} {index} {dictionary}, in one piece {whole}");
}

#[test]
fn texts_come_in_batches_and_scratches_are_shared() {
    let (first, second) = (urls(3000), urls(200));
    let mut pieces = Vec::new();
    let mut encoder = TextEncoder::new(first.iter().flatten().map(String::as_str), total(&first));
    for batch in first.chunks(7) {
        for list in batch {
            for (number, text) in list.iter().enumerate() {
                encoder.push(text, number == 0);
            }
        }
        pieces.append(&mut encoder.pages);
    }
    let (mut rest, encoded) = encoder.finish();
    pieces.append(&mut rest);
    let batches = Sections([pieces, encoded.index, encoded.dictionary]);
    assert_eq!(batches.0, encode(&first, total(&first)).0);
    let readers = [batches.open(ReadMode::Mmap).unwrap(), encode(&second, 0).open(ReadMode::Mmap).unwrap()];
    let mut scratch = IdScratch::default();
    for rank in 0..200 {
        for (reader, lists) in readers.iter().zip([&first, &second]) {
            let found = read(reader, std::iter::once(rank), &mut scratch).unwrap();
            assert_eq!(found, [lists[rank as usize].clone()]);
        }
    }
    assert!(readers[0].resident_bytes() > batches.0[DICTIONARY].len() as u64);
}

#[test]
fn every_flipped_byte_and_every_cut_is_noticed() {
    let lists = urls(2500);
    let sections = encode(&lists, total(&lists));
    assert!(sections.0.iter().all(|section| !section.is_empty()));
    let noticed = |sections: &Sections| {
        let error = sections.open(ReadMode::Pread).and_then(|texts| read_frames(&texts)).err();
        assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Damaged));
    };
    for section in [IDS, INDEX, DICTIONARY] {
        let length = sections.0[section].len();
        // All of the short sections; of the long one beginning, end and every 97th.
        for at in (0..length).filter(|at| section != IDS || *at < 50 || at + 50 > length || at % 97 == 0) {
            let mut changed = sections.clone();
            changed.0[section][at] ^= 1 << (at % 8);
            noticed(&changed);
            changed = sections.clone();
            changed.0[section].truncate(at);
            // Without its dictionary, a frame may still be one.
            if section != DICTIONARY || at > 0 {
                noticed(&changed);
            }
        }
        let mut longer = sections.clone();
        longer.0[section].push(0);
        noticed(&longer);
    }
}

fn by_hand(frames: &[(Vec<u8>, u16)]) -> Sections {
    let (mut ids, mut entries) = (Vec::new(), Vec::new());
    for (number, (frame, begun)) in (0..).zip(frames) {
        ids.extend_from_slice(frame);
        ids.extend_from_slice(&page::checksum(Stream::Ids, number, frame).to_le_bytes());
        entries.push(UnitEntry { length: frame.len() as u16 + 4, begun: *begun });
    }
    Sections([ids, text_index::write(&entries), Vec::new()])
}

#[test]
fn impossible_frames_are_refused_though_checksums_hold() {
    let sound = stored(b"\x04\0a\nb\n");
    let read = |frames: &[(Vec<u8>, u16)]| by_hand(frames).open(ReadMode::Mmap).and_then(|texts| read_frames(&texts));
    assert_eq!(sound, b"\x20\x06\x31\0\0\x04\0a\nb\n");
    assert_eq!(read(&[(sound.clone(), 2)]).unwrap(), [["a"], ["b"]]);
    let compressed = |payload: &[u8]| zstd::bulk::compress(payload, 3).unwrap()[4..].to_vec();
    let rest = stored(b"\x03\0\0c\n");
    assert_eq!(read(&[(sound.clone(), 2), (rest, 0)]).unwrap(), [vec!["a"], vec!["b", "c"]]);
    let wrongs: Vec<Vec<(Vec<u8>, u16)>> = vec![
        vec![(sound.clone(), 1)],
        vec![(stored(b"\x03\0\0a\n"), 0)],
        vec![(sound.clone(), 2), (stored(b"\x03\0\0b\n"), 0)],
        vec![(sound.clone(), 2), (stored(b"\x03\0\0a\n"), 0)],
        vec![([&sound[..], &[0]].concat(), 2)],
        vec![([&sound[..], &[0x28, 0xb5, 0x2f, 0xfd], &sound[..]].concat(), 2)],
        vec![(sound[..sound.len() - 1].to_vec(), 2)],
        // A size that the blocks do not have, and descriptors that no writer writes.
        vec![([&[0x20, 7][..], &sound[2..]].concat(), 2)],
        vec![([&[0x24][..], &sound[1..]].concat(), 2)],
        vec![([&[0xa0, 6, 0, 0, 0][..], &sound[2..]].concat(), 2)],
        // Payloads that grow beyond the limit.
        vec![(compressed(&vec![b'x'; MAX_PAYLOAD + 1]), 1)],
        vec![(compressed(&vec![b'x'; 60_000]), 1)],
        vec![(compressed(&vec![b'x'; 1 << 30]), 1)],
    ];
    for (number, wrong) in wrongs.iter().enumerate() {
        assert_eq!(read(wrong).unwrap_err().kind(), ErrorKind::Damaged, "{number}");
    }
    assert!(Unpacker::default().unpack(&[], None).is_err());
}

#[test]
fn impossible_dictionaries_are_refused() {
    let sealed = |mut bytes: Vec<u8>| {
        bytes.extend_from_slice(&page::checksum(Stream::IdDictionary, 0, &bytes).to_le_bytes());
        let mut sections = encode(&vec![vec!["a".into()]], 2);
        sections.0[DICTIONARY] = bytes;
        sections.open(ReadMode::Mmap).map(drop)
    };
    let compressed = |bytes: &[u8]| zstd::bulk::compress(bytes, 3).unwrap();
    assert!(sealed(compressed(b"some texts")).is_ok());
    let mut statistics = b"\x37\xa4\x30\xec".to_vec();
    statistics.resize(100, 0xff);
    let wrongs =
        [Vec::new(), compressed(b""), compressed(&statistics), compressed(&vec![0; (1 << 20) + 1]), b"text".to_vec()];
    for wrong in wrongs {
        assert_eq!(sealed(wrong).unwrap_err().kind(), ErrorKind::Damaged);
    }
    assert!(sealed([compressed(b"one"), compressed(b"two")].concat()).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn any_texts_with_any_estimate_of_their_bytes_round_trip(
        lists in prop::collection::vec(prop::collection::btree_set("[a-cü/]{1,300}", 1..6), 0..120),
        total in 0u64..1 << 24,
    ) {
        let lists: Lists = lists.into_iter().map(|list| list.into_iter().collect()).collect();
        let texts = encode(&lists, total).open(ReadMode::Mmap).unwrap();
        prop_assert!(read(&texts, 0..lists.len() as u64, &mut IdScratch::default()).unwrap() == lists);
        prop_assert!(read_frames(&texts).unwrap() == lists);
    }

    #[test]
    fn any_bytes_are_refused_or_legal(bytes in prop::collection::vec(any::<u8>(), 0..100), size in 0u8..100) {
        let mut unpacker = Unpacker::default();
        let frame = [&[0x20, size][..], &bytes].concat();
        if let Ok(payload) = unpacker.unpack(&frame, None) {
            prop_assert_eq!(payload.len(), usize::from(size));
        }
    }
}

#[test]
fn frames_are_found_without_their_index() {
    let lists = urls(3000);
    let sections = encode(&lists, total(&lists));
    let (indexed, walked) = (sections.open(ReadMode::Pread).unwrap(), sections.walk());
    let places =
        |texts: &Ids| (0..texts.unit_count()).map(|n| (texts.unit_place(n), texts.begun(n))).collect::<Vec<_>>();
    assert!(indexed.unit_count() > 5);
    assert_eq!(places(&indexed), places(&walked));
    assert!(read(&walked, 0..lists.len() as u64, &mut IdScratch::default()).unwrap() == lists);
    // Up to the first damaged one, wherever it is damaged.
    let third = places(&indexed)[3].0;
    let start = third.offset - places(&indexed)[0].0.offset;
    for at in [0, 1, third.length / 2, third.length - 1] {
        let mut damaged = sections.clone();
        damaged.0[IDS][(start + at) as usize] ^= 0x11;
        assert_eq!(places(&damaged.walk()), places(&indexed)[..3]);
    }
    let mut damaged = sections;
    damaged.0[DICTIONARY][5] ^= 1;
    assert_eq!(damaged.walk().unit_count(), 0);
}
