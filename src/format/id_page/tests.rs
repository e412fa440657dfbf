//! Tests of pages of ids: round trips, sizes, and pages that may be anything.

use super::*;
use proptest::prelude::*;

fn ids_of(page: &IdPage<'_>, part: Option<Part>) -> Result<Vec<u64>> {
    let mut ids = Vec::new();
    _ = page.visit(part.ok_or_else(|| Error::damaged("no such part"))?, |id| {
        ids.push(id);
        ControlFlow::Continue(())
    })?;
    Ok(ids)
}

fn all(page: &IdPage<'_>) -> Result<Vec<IdEntry>> {
    let mut all = Vec::new();
    _ = page.visit_all(|begins, id| {
        all.push(IdEntry { id, begins });
        ControlFlow::Continue(())
    })?;
    Ok(all)
}

/// How a page tells which records begin a fingerprint, and how many it takes: what takes most, or the least bytes.
fn chosen(entries: &[IdEntry]) -> (u8, usize) {
    let marked = fill(entries);
    if entries[..marked].iter().all(|entry| entry.begins) {
        return (PLAIN, marked);
    }
    let grouped = id_groups_writer::fill(entries, MAX_RECORDS, ROOM);
    let bytes = bitmap_bytes(marked, Packing::best(range(&entries[..marked]).1));
    let best = if (grouped.records, bytes) > (marked, grouped.bytes) { GROUPS } else { BITMAP };
    (best, if best == GROUPS { grouped.records } else { marked })
}

/// Returns the bytes of all pages, and how many have groups.
fn round_trip(entries: &[IdEntry]) -> (usize, usize) {
    let (mut rest, mut pages, mut grouped, mut length) = (entries, 0_usize, 0, 0);
    while !rest.is_empty() {
        let mut bytes = Vec::new();
        let (now, behind) = rest.split_at(write(rest, &mut bytes));
        assert_eq!((bytes[4].min(GROUPS), now.len()), chosen(rest));
        grouped += usize::from(bytes[4] >= GROUPS);
        close(&mut bytes, pages as u64, behind.is_empty());
        assert!(bytes.len() <= SIZE);
        length += bytes.len();
        let payload = page::open(&bytes, page::Stream::Ids, pages as u64).unwrap();
        let page = IdPage::parse(&mut Fields::new(payload, 0)).unwrap();
        let again = IdPage::parsed(payload).unwrap();
        page.check(behind.is_empty()).unwrap();
        assert!(all(&page).unwrap() == now && all(&again).unwrap() == now);
        assert_eq!((page.records, again.records), (now.len(), now.len()));
        let first = now.iter().position(|entry| entry.begins).unwrap_or(now.len());
        let (continued, others) = now.split_at(first);
        let mut parts: Vec<&[IdEntry]> = others.chunk_by(|_, next| !next.begins).collect();
        assert_eq!((page.begun(), again.begun()), (parts.len(), parts.len()));
        parts.insert(0, continued);
        for (nth, expected) in parts.iter().enumerate() {
            let part = nth.checked_sub(1).map_or_else(|| again.continued(), |nth| again.part(nth)).unwrap();
            assert_eq!(part.records(), expected.len());
            assert_eq!(again.ends_with(&part), expected.as_ptr_range().end == now.as_ptr_range().end);
            assert!(ids_of(&again, Some(part)).unwrap().into_iter().eq(expected.iter().map(|entry| entry.id)));
        }
        assert!(page.part(parts.len() - 1).is_none());
        (rest, pages) = (behind, pages + 1);
    }
    (length, grouped)
}

/// Reads everything of a page that may be anything, if it is taken for one.
fn read_all(bytes: &[u8]) {
    let pages = [IdPage::parse(&mut Fields::new(bytes, 0)).ok(), IdPage::parsed(bytes)];
    for page in pages.into_iter().flatten() {
        let records = page.records;
        _ = (page.check(true), all(&page), page.begun(), ids_of(&page, page.continued()));
        for record in (0..=records).step_by(1 + records / 100) {
            _ = ids_of(&page, page.part(record));
        }
    }
}

/// Entries of groups of ascending ids.
fn entries(groups: Vec<Vec<u64>>) -> Vec<IdEntry> {
    let group = |mut ids: Vec<u64>| {
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter().enumerate().map(|(at, id)| IdEntry { id, begins: at == 0 })
    };
    groups.into_iter().flat_map(group).collect()
}

/// Sets as a generator draws them: `sizes` in turn, out of so many numbers.
fn drawn(sizes: &[usize], groups: usize, numbers: u64) -> Vec<Vec<u64>> {
    let mut random = 7_u64;
    let mut draw = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((u128::from(random) * u128::from(numbers)) >> 64) as u64
    };
    (0..groups).map(|group| (0..sizes[group % sizes.len()]).map(|_| draw()).collect()).collect()
}

#[test]
fn sets_of_ids_take_little_more_than_their_number_says() {
    // log2 of the number of sets, and of the ways to divide as many ids among as many sets.
    let choices = |count: f64, chosen: usize| -> f64 {
        (0..chosen).map(|at| ((count - at as f64) / (at as f64 + 1.0)).log2()).sum()
    };
    for (sizes, numbers, most) in [
        (&[1, 1, 1, 1, 2, 1, 1, 1, 3, 1][..], 20_000_u64, 1.03),
        (&[1, 1, 1, 2, 1, 1, 1, 2, 1, 1, 4, 1, 1, 9], 1_000_000, 1.025),
        (&[1, 1, 2], 20_000, 1.03),
        (&[2], 20_000, 1.035),
        (&[3, 4, 5], 20_000, 1.075),
        (&[1, 1, 1, 2, 1, 50, 1, 1], 20_000, 1.04),
        (&[2_000], 1_000_000, 1.025),
        (&[100_000], 1_000_000, 1.03),
    ] {
        let entries = entries(drawn(sizes, (300_000 / sizes.iter().sum::<usize>()).max(1) * sizes.len(), numbers));
        let groups = entries.iter().filter(|entry| entry.begins).count();
        let sets: f64 = entries.chunk_by(|_, next| !next.begins).map(|set| choices(numbers as f64, set.len())).sum();
        let bound = sets + choices(entries.len() as f64 - 1.0, groups - 1);
        let (bytes, grouped) = round_trip(&entries);
        let bits = bytes as f64 * 8.0;
        assert!(grouped > 0 && bits <= bound * most, "{sizes:?} of {numbers}: {:.4}", bits / bound);
    }
}

#[test]
fn ids_that_number_the_records_cost_a_fraction_of_a_bit_more_than_they_must() {
    for records in [20_000_000u64, 100_000_000, 16_777_216, 16_777_217] {
        let entries: Vec<IdEntry> =
            (0..100_000u64).map(|i| IdEntry { id: (i * 982_451_653) % records, begins: true }).collect();
        let bits = round_trip(&entries).0 as f64 * 8.0 / entries.len() as f64;
        assert!(bits <= (records as f64).log2() + 0.6, "{records}: {bits} bits an id");
    }
}

#[test]
fn a_page_takes_no_more_records_than_it_can_count() {
    // Equal ids take no bits, so only the limit ends the page, even if another id comes late.
    let mut entries = vec![IdEntry { id: 5, begins: true }; MAX_RECORDS + 10];
    assert_eq!(write(&entries, &mut Vec::new()), MAX_RECORDS);
    entries.push(IdEntry { id: 6, begins: true });
    assert_eq!(write(&entries, &mut Vec::new()), MAX_RECORDS);
    round_trip(&entries);
}

proptest! {
    #[test]
    fn any_ids_round_trip(
        groups in prop::collection::vec(
            (
                prop::collection::vec(prop_oneof![any::<u64>(), 0u64..10, 5_000_000_000u64..5_000_100_000], 1..50),
                prop_oneof![Just(1), 1..4usize, Just(50)],
            ),
            1..200,
        ),
        plain: bool, narrow in 0u32..64, cut in 0..50usize,
    ) {
        let narrow = |(ids, most): (Vec<u64>, usize)| {
            ids.into_iter().map(|id| id >> narrow).take(if plain { 1 } else { most }).collect()
        };
        let entries = entries(groups.into_iter().map(narrow).collect());
        round_trip(&entries[cut.min(entries.len() - 1)..]);
    }

    #[test]
    fn any_pages_are_read_without_a_panic(
        records in prop_oneof![0u16..2000, any::<u16>()],
        packing in prop_oneof![(0u8..8, 0u8..140), any::<(u8, u8)>()],
        flags in 0u8..5,
        (least, span) in (any::<u64>(), prop_oneof![any::<u64>(), Just(u64::MAX), Just(0)]),
        rest in prop::collection::vec(any::<u8>(), 0..SIZE),
        end in prop_oneof![Just(SIZE), 0..SIZE],
    ) {
        let mut bytes = records.to_le_bytes().to_vec();
        bytes.extend([packing.0, packing.1, flags]);
        bytes.extend([least, span].map(u64::to_le_bytes).concat());
        bytes.extend(rest);
        bytes.truncate(end);
        read_all(&bytes);
    }

    #[test]
    fn pages_that_change_after_their_check_are_read_without_a_panic(
        sizes in prop::collection::vec(prop_oneof![Just(1), 1..4usize, 1..300usize], 1..20),
        groups in 1..300usize,
        numbers in prop_oneof![300..3000u64, any::<u64>()],
        changes in prop::collection::vec((prop_oneof![0..HEADER + 13, 0..SIZE], any::<u8>()), 1..5),
    ) {
        let mut bytes = Vec::new();
        write(&entries(drawn(&sizes, groups, numbers.max(1))), &mut bytes);
        for (at, byte) in changes {
            let at = at % bytes.len();
            bytes[at] = byte;
        }
        read_all(&bytes);
    }
}
