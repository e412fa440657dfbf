//! Look-ups in segments: compared with brute force, and their reads counted.

use crate::env::{Env, Memory, ReadFile, ReadMode};
use crate::error::ErrorKind;
use crate::executor::RateLimiter;
use crate::extsort::{NumberedRecord, Piece, TextChunk, Workspace};
use crate::fingerprint::{Fingerprint, Id, IdKind, U256};
use crate::format::parameters::Parameters;
use crate::options::Options;
use crate::plan::mix;
use crate::segment::{
    Building, IdIndexEntries, IdScratch, Making, Ranks, RecordChunk, Scratch, Segment, SegmentFile, verify_segment,
    write_segment,
};
use crate::version::membership::{MembershipCursor, RunSegment};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::io;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

#[derive(Debug)]
struct Counted {
    inner: Box<dyn ReadFile>,
    reads: Arc<AtomicU64>,
}

impl ReadFile for Counted {
    fn length(&self) -> u64 {
        self.inner.length()
    }

    fn read<'a>(&'a self, offset: u64, length: usize, buffer: &'a mut Vec<u8>) -> io::Result<&'a [u8]> {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.inner.read(offset, length, buffer)
    }

    fn is_stable(&self) -> bool {
        self.inner.is_stable()
    }
}

struct Fixture {
    env: Arc<Memory>,
    path: PathBuf,
    workspace: Workspace,
}

impl Fixture {
    fn new<F: Fingerprint>(ids: IdKind, batch: RecordChunk<'_, F>) -> Self {
        let memory = Arc::new(Memory::default());
        let env: Arc<dyn Env> = Arc::<Memory>::clone(&memory);
        let directory = Path::new("segments");
        env.create_dir(directory).unwrap();
        let parameters = Parameters::new(3).with_width(F::WIDTH).with_ids(ids);
        let workspace = Workspace::new(directory, &Options::new().with_env(Arc::clone(&env)));
        let (number, making) = (Some(1), Making::new(&workspace));
        let building = Building { env: &env, directory, number, parameters: &parameters, making };
        let built = write_segment(building, std::iter::once(Ok(batch))).unwrap().unwrap();
        Self { env: memory, path: built.path, workspace }
    }

    fn numbers<F: Fingerprint>(records: &[(F, u64)]) -> Self {
        let entries: Vec<_> = records.iter().map(|&(fingerprint, id)| NumberedRecord { fingerprint, id }).collect();
        Self::new(IdKind::Number, RecordChunk::Numbers(Piece::Owned(entries)))
    }

    fn texts<F: Fingerprint>(records: &[(F, String)]) -> Self {
        let mut chunk = TextChunk::default();
        records.iter().for_each(|(fingerprint, id)| chunk.push(*fingerprint, id.as_bytes()));
        Self::new(IdKind::Text, RecordChunk::Texts(chunk))
    }

    fn open(&self) -> Segment {
        Segment::open(&*self.env, &self.path, ReadMode::Mmap).unwrap()
    }

    /// The segment, and the number of reads of its file, one a page.
    fn counted(&self) -> (Segment, Arc<AtomicU64>) {
        let reads = Arc::new(AtomicU64::new(0));
        let inner = self.env.open(&self.path, ReadMode::Pread).unwrap();
        let file = Counted { inner, reads: Arc::clone(&reads) };
        let segment = Segment::of_file(SegmentFile::new(&self.path, Box::new(file))).unwrap();
        (segment, reads)
    }
}

/// The number of reads of `action`, and its result.
fn reads_of<T>(reads: &AtomicU64, action: impl FnOnce() -> T) -> (u64, T) {
    let before = reads.load(Ordering::Relaxed);
    let result = action();
    (reads.load(Ordering::Relaxed) - before, result)
}

fn has_record<F: Fingerprint>(segment: &Segment, fingerprint: F, id: &Id) -> crate::error::Result<bool> {
    match segment.rank_of(fingerprint, &mut Scratch::default())? {
        Some(rank) => segment.ids().has(rank, id, &mut IdScratch::default()),
        None => Ok(false),
    }
}

fn has<F: Fingerprint>(segment: &Segment, fingerprint: F, id: &Id) -> bool {
    has_record(segment, fingerprint, id).unwrap()
}

fn first_ids<F: Fingerprint>(segment: &Segment, fingerprint: F, most: usize) -> Vec<Id> {
    let rank = segment.rank_of(fingerprint, &mut Scratch::default()).unwrap().unwrap();
    let mut ids = Vec::new();
    let visit = |id| {
        ids.push(id);
        if ids.len() < most { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    segment.ids().visit_ids(rank, &mut IdScratch::default(), visit).unwrap();
    ids
}

fn spread(number: u64) -> u64 {
    mix(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A fingerprint whose last word is given and whose others are equal.
fn ending<F: Fingerprint>(last: u64) -> F {
    F::from_words(|number| if number + 1 == F::WORDS { last } else { 0xabcd_ef01_2345_6789 })
}

fn text(number: u64) -> String {
    format!("https://example.org/{:08x}/{number:016x}", spread(number) >> 32 & 7)
}

/// A segment answers like a set, for its records, their neighbours and others.
fn agrees<F: Fingerprint>(counts: &[usize], step: u64) {
    let mut numbers: BTreeSet<(F, u64)> = BTreeSet::new();
    for (number, &count) in (1u64..).zip(counts) {
        let start = spread(number) >> 20;
        numbers.extend(
            (0..count as u64).map(|id| (ending(number * 3), start + id * (1 + step) + spread(id) % (1 + step))),
        );
    }
    let texts: BTreeSet<(F, String)> = numbers.iter().map(|&(fingerprint, id)| (fingerprint, text(id))).collect();
    let (all_numbers, all_texts): (Vec<_>, Vec<_>) =
        (numbers.iter().copied().collect(), texts.iter().cloned().collect());
    let (of_numbers, of_texts) = (Fixture::numbers(&all_numbers).open(), Fixture::texts(&all_texts).open());
    let fingerprints: BTreeSet<F> = numbers.iter().map(|record| record.0).collect();
    for (rank, segment) in (0..fingerprints.len() as u64).flat_map(|rank| [(rank, &of_numbers), (rank, &of_texts)]) {
        let ids = segment.ids();
        assert_eq!(ids.has_many(rank).unwrap(), ids.units_of(rank).unwrap() > 8);
        assert_eq!(ids.are_many(ids.place_near(rank, &mut 0).unwrap(), rank).unwrap(), ids.has_many(rank).unwrap());
    }
    for &fingerprint in &fingerprints {
        let own: Vec<u64> = numbers.range((fingerprint, 0)..=(fingerprint, u64::MAX)).map(|record| record.1).collect();
        let sampled = (0..own.len()).step_by(own.len() / 50 + 1).chain([own.len() - 1]);
        for at in sampled {
            for id in [own[at], own[at].wrapping_sub(1), own[at].wrapping_add(1), spread(own[at])] {
                for fingerprint in [fingerprint, ending(fingerprint.word(F::WORDS - 1) + 1)] {
                    let expected = numbers.contains(&(fingerprint, id));
                    assert_eq!(has(&of_numbers, fingerprint, &Id::Number(id)), expected);
                    let expected = texts.contains(&(fingerprint, text(id)));
                    assert_eq!(has(&of_texts, fingerprint, &Id::from(text(id).as_str())), expected);
                }
            }
        }
        for id in [0, u64::MAX] {
            assert_eq!(has(&of_numbers, fingerprint, &Id::Number(id)), numbers.contains(&(fingerprint, id)));
        }
        for id in ["\u{1}", "\u{10ffff}"] {
            assert!(!has(&of_texts, fingerprint, &Id::from(id)));
        }
        assert!(!has(&of_numbers, fingerprint, &Id::from("1")) && !has(&of_texts, fingerprint, &Id::Number(own[0])));
        for most in [1, 2, own.len() / 2 + 1, own.len() + 1] {
            let found = first_ids(&of_numbers, fingerprint, most);
            assert!(found.into_iter().eq(own.iter().take(most).copied().map(Id::Number)));
            let expected = texts.iter().filter(|record| record.0 == fingerprint).take(most);
            let expected = expected.map(|record| Id::from(record.1.as_str()));
            assert!(first_ids(&of_texts, fingerprint, most).into_iter().eq(expected));
        }
    }
    assert!(!has(&of_numbers, F::default(), &Id::Number(all_numbers[0].1)));
    assert!(!has(&of_texts, F::default(), &Id::from(all_texts[0].1.as_str())));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    #[test]
    fn records_are_found_as_in_a_set(
        counts in prop::collection::vec(prop_oneof![4 => 1usize..5, 2 => 1usize..700, 1 => 1usize..9000], 1..12),
        shift in 0u32..40,
    ) {
        agrees::<u64>(&counts, (1 << shift) - 1);
        agrees::<u128>(&counts, (1 << shift) - 1);
        agrees::<U256>(&counts, (1 << shift) - 1);
    }
}

#[test]
fn without_ids_the_fingerprint_is_looked_up() {
    let entries = vec![NumberedRecord { fingerprint: 5u64, id: 3 }, NumberedRecord { fingerprint: 9, id: 1 }];
    let segment = Fixture::new(IdKind::None, RecordChunk::Counts(entries)).open();
    for fingerprint in 0..12u64 {
        assert_eq!(has(&segment, fingerprint, &Id::Count(1)), [5, 9].contains(&fingerprint));
    }
    assert_eq!(first_ids(&segment, 5u64, 1), [Id::Count(3)]);
}

#[test]
fn reads_of_one_record_grow_with_the_logarithm_of_its_neighbours() {
    let mut most = [[0; 2]; 2];
    for (size, count) in [30_000u64, 240_000].into_iter().enumerate() {
        // Ids of 20 random bits beyond those before, between two other fingerprints.
        let mut ids: Vec<u64> = (0..count).map(|id| (id << 20) + (spread(id) & 0xf_ffff)).collect();
        let all = |ids: &[u64]| -> Vec<(u64, u64)> {
            [(1, 1)].into_iter().chain(ids.iter().map(|&id| (2, id))).chain([(3, 1)]).collect()
        };
        let numbers = Fixture::numbers(&all(&ids));
        ids.sort_by_key(|&id| text(id));
        let records: Vec<_> = all(&ids).into_iter().map(|(fingerprint, id)| (fingerprint, text(id))).collect();
        let texts = Fixture::texts(&records);
        for (kind, fixture) in [numbers, texts].into_iter().enumerate() {
            let (segment, reads) = fixture.counted();
            let id_of = |id: u64| if kind == 0 { Id::Number(id) } else { Id::from(text(id).as_str()) };
            let (of_all, all) = reads_of(&reads, || first_ids(&segment, 2u64, usize::MAX));
            assert_eq!(all.len() as u64, count);
            let pages = segment.ids().units_of(1).unwrap();
            assert!(of_all >= pages && pages >= 20, "{of_all} reads of {pages} pages");
            let (of_first, _) = reads_of(&reads, || first_ids(&segment, 2u64, 1));
            // The block of the fingerprint, and the page.
            assert_eq!(of_first, 2);
            for at in (0..ids.len()).step_by(ids.len() / 300).chain([ids.len() - 1]) {
                for (id, expected) in
                    [(ids[at], true), (ids[at] ^ 1 << 60, false), (ids[at] ^ 1, ids.contains(&(ids[at] ^ 1)))]
                {
                    let (count, found) = reads_of(&reads, || has(&segment, 2u64, &id_of(id)));
                    assert_eq!(found, expected);
                    most[kind][size] = count.max(most[kind][size]);
                }
            }
            // The block, the first page, and those of the search by halves.
            assert!(most[kind][size] <= 3 + u64::from(pages.ilog2()), "{} reads, {pages} pages", most[kind][size]);
        }
    }
    // Eight times as many are three steps more.
    assert!(most.iter().all(|[small, large]| large - small <= 4), "{most:?}");
}

#[test]
fn ids_that_do_not_ascend_are_damage_and_end_every_search() {
    let ids: Vec<u64> = (0..5000).map(spread).collect();
    let records: Vec<_> = ids.iter().map(|&id| (7u128, id)).collect();
    let fixture = Fixture::numbers(&records);
    let (damages, _) = verify_segment(&*fixture.env, &fixture.path, ReadMode::Pread).unwrap();
    assert!(!damages.is_empty());
    let segment = fixture.open();
    for &id in ids.iter().step_by(7) {
        has(&segment, 7u128, &Id::Number(id));
    }
}

#[test]
fn damaged_pages_give_an_error_with_their_place_or_are_not_read() {
    let records: Vec<_> = (0..6000).map(|id| (7u128, id << 40)).collect();
    let texts: Vec<_> = (0..1500).map(|id| (7u128, format!("{id:06}"))).collect();
    for (kind, fixture) in [Fixture::numbers(&records), Fixture::texts(&texts)].into_iter().enumerate() {
        let bytes = fixture.env.bytes(&fixture.path).unwrap();
        let span = fixture.open().footer().ids;
        let (mut refused, mut answered) = (0, 0);
        for at in (span.offset..span.end()).step_by(509) {
            let mut damaged = bytes.clone();
            damaged[at as usize] ^= 0x10;
            fixture.env.set_bytes(&fixture.path, damaged);
            let segment = Segment::open(&*fixture.env, &fixture.path, ReadMode::Pread).unwrap();
            for number in (0..1500).step_by(333) {
                let id = if kind == 0 { Id::Number(number << 40) } else { Id::from(format!("{number:06}").as_str()) };
                match has_record(&segment, 7u128, &id) {
                    Ok(found) => {
                        assert!(found);
                        answered += 1;
                    }
                    Err(error) => {
                        assert_eq!((error.kind(), error.path()), (ErrorKind::Damaged, Some(&*fixture.path)));
                        assert!(error.offset().is_some_and(|offset| (span.offset..=at).contains(&offset)));
                        refused += 1;
                    }
                }
            }
        }
        assert!(refused > 0 && answered > 0);
    }
}

/// Sorted fingerprints with `leading` equal words; the other words are evenly spread.
fn alike<F: Fingerprint>(count: u64, leading: usize) -> Vec<F> {
    let of = |number: u64| {
        F::from_words(|word| if word < leading { 0xabcd << 48 } else { spread(number * 4 + word as u64) })
    };
    let mut all: Vec<F> = (0..count).map(of).collect();
    all.sort_unstable();
    all
}

fn numbered<F: Fingerprint>(all: &[F]) -> Vec<(F, u64)> {
    all.iter().copied().zip(1..).collect()
}

/// Ranks by every kind of look-up, compared with brute force.
fn ranks_agree<F: Fingerprint>(leading: usize) {
    let mut all = alike::<F>(3000, leading);
    let neighbour = |fingerprint: F, bit: u32| fingerprint.flipped(bit);
    all.extend(all.clone().into_iter().step_by(5).map(|fingerprint| neighbour(fingerprint, 3)));
    all.extend(all.clone().into_iter().step_by(7).map(|fingerprint| neighbour(fingerprint, 0)));
    all.extend(all.clone().into_iter().step_by(11).map(|fingerprint| neighbour(fingerprint, 63)));
    all.push(F::from_words(|_| u64::MAX));
    all.sort_unstable();
    all.dedup();
    let segment = Fixture::numbers(&numbered(&all)).open();
    let mut asked = all.clone();
    asked.extend(all.iter().flat_map(|&fingerprint| [F::WIDTH - 1, 64, 0, 63].map(|bit| fingerprint.flipped(bit))));
    asked.extend([F::default(), F::from_words(|word| if word == 0 { u64::MAX } else { 0 })]);
    let mut scratch = Scratch::default();
    let expected = |fingerprint: &F| all.binary_search(fingerprint).ok().map(|rank| rank as u64);
    let mut unordered = Ranks::new(&segment).unwrap();
    for fingerprint in &asked {
        assert_eq!(segment.rank_of(*fingerprint, &mut scratch).unwrap(), expected(fingerprint));
        assert_eq!(unordered.of(*fingerprint).unwrap(), expected(fingerprint));
    }
    asked.sort_unstable();
    let mut ordered = Ranks::new(&segment).unwrap();
    for fingerprint in &asked {
        assert_eq!(ordered.of(*fingerprint).unwrap(), expected(fingerprint));
    }
    let source = RunSegment { segment: Arc::new(segment), is_tombstones: false };
    let mut present = MembershipCursor::new(std::iter::once(source));
    asked.dedup();
    let batch: Vec<NumberedRecord<F>> = asked
        .iter()
        .map(|fingerprint| NumberedRecord {
            fingerprint: *fingerprint,
            id: expected(fingerprint).map_or(1, |rank| rank + 1),
        })
        .collect();
    let missing = present.missing(RecordChunk::Numbers(Piece::Owned(batch))).unwrap();
    assert!(missing.distinct(None, Vec::new()).into_iter().eq(asked.into_iter().filter(|one| expected(one).is_none())));
}

#[test]
fn rows_that_begin_alike_are_found() {
    ranks_agree::<u128>(1);
    ranks_agree::<U256>(1);
    ranks_agree::<U256>(2);
}

/// Most reads of the rank of one fingerprint, reads for the ranks of all in order, and number of pages of rows.
fn reads_of_rows<F: Fingerprint>(count: u64, leading: usize) -> (u64, u64, u64) {
    let all = alike::<F>(count, leading);
    let (segment, reads) = Fixture::numbers(&numbered(&all)).counted();
    let index = segment.primary_table().unwrap().index();
    // Reads the whole index, so that only pages of rows are counted.
    let pages = index.len() as u64;
    (0..index.len()).for_each(|block| _ = index.rank(block).unwrap());
    let mut scratch = Scratch::default();
    let mut most = 0;
    for at in (0..all.len()).step_by(all.len() / 200) {
        for fingerprint in [all[at], all[at].flipped(F::WIDTH - 1)] {
            let (count, rank) = reads_of(&reads, || segment.rank_of(fingerprint, &mut scratch).unwrap());
            assert_eq!(rank, all.binary_search(&fingerprint).ok().map(|rank| rank as u64));
            most = count.max(most);
        }
    }
    let mut ranks = Ranks::new(&segment).unwrap();
    let (in_order, ()) = reads_of(&reads, || {
        all.iter().zip(0..).for_each(|(&fingerprint, rank)| assert_eq!(ranks.of(fingerprint).unwrap(), Some(rank)));
    });
    (most, in_order, pages)
}

#[test]
fn reads_of_rows_that_begin_alike_grow_with_the_logarithm_of_their_pages() {
    fn check<F: Fingerprint>(leading: usize) {
        let (small, large) = (reads_of_rows::<F>(10_000, leading), reads_of_rows::<F>(80_000, leading));
        for (most, in_order, pages) in [small, large] {
            assert!(most <= u64::from(pages.ilog2()) + 2, "{most} reads of {pages} pages");
            // Each page is decoded once, and found by one row; but the first.
            let of_first = u64::from(pages.ilog2()) + 2;
            assert!(in_order <= 2 * pages + of_first, "{in_order} reads of {pages} pages");
        }
        assert!(large.0 - small.0 <= 4, "{small:?} {large:?}");
    }
    check::<u128>(1);
    check::<U256>(1);
    check::<U256>(3);
}

#[test]
fn a_filter_spares_most_fingerprints_that_are_not_there_a_read() {
    fn check<F: Fingerprint>() {
        let all = alike::<F>(70_000, 0);
        let (segment, reads) = Fixture::numbers(&numbered(&all)).counted();
        let table = segment.primary_table().unwrap();
        table.build_filter(table.filter_shape().unwrap(), &AtomicBool::new(false)).unwrap();
        assert!(table.filter().is_some());
        let mut scratch = Scratch::default();
        for (rank, &fingerprint) in (0..).zip(&all).step_by(37) {
            assert_eq!(segment.rank_of(fingerprint, &mut scratch).unwrap(), Some(rank));
        }
        let others = (0..1000).map(|number| F::from_words(|word| spread(number * 4 + word as u64 + (1 << 40))));
        let (count, ()) = reads_of(&reads, || {
            others.for_each(|other| assert_eq!(segment.rank_of(other, &mut scratch).unwrap(), None));
        });
        assert!(count < 150, "{count} reads for 1000 misses");
    }
    check::<u64>();
    check::<u128>();
}

#[test]
fn the_rate_limiter_ends_the_id_index() {
    let records: Vec<_> = (0..1000).map(|id| (id / 3, id)).collect();
    let fixture = Fixture::numbers::<u64>(&records);
    let segment = Arc::new(fixture.open());
    let limiter = RateLimiter::default();
    let entries = |limiter: Option<&RateLimiter>| {
        let entries = IdIndexEntries::of::<u64>(&segment, &fixture.workspace, limiter)?;
        entries.items(&fixture.workspace).collect::<crate::error::Result<Vec<_>>>()
    };
    assert_eq!(entries(Some(&limiter)).unwrap(), entries(None).unwrap());
    limiter.stop();
    assert_eq!(entries(Some(&limiter)).unwrap_err().kind(), ErrorKind::Stopped);
}
