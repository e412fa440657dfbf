//! Fingerprints of 128 and 256 bits: pages of rows, and narrow keys that name them.

use super::When::{Open, Read, Verify};
use super::blocks::gaps;
use super::files::{Manifest, store};
use super::parts::{self, Parts};
use super::{accepted_wide, flips, refused};
use crate::support::*;
use fpstore::{Codec, Design, ErrorKind, Fingerprint, Parameters, Record, Store, U256};

const KIND: &str = "a block whose kind, count or length its table does not have";
const PAGES: &str = "the index does not describe the table's pages";
const ORDER: &str = "rows are not in ascending order, or not those of the index";
const LONG: &str = "a narrow key has more bits than those of its table";
const NARROW: &str = "a narrow key is not that of the row that it names";

fn parameters<F: Fingerprint>() -> Parameters {
    Parameters::new(3).with_width(F::WIDTH).with_block_size(128)
}

/// Rows in a whole page.
fn full<F: Fingerprint>() -> usize {
    4092 / F::BYTES
}

/// Sorted fingerprints of two pages and a half.
fn three_pages<F: Fingerprint>() -> Vec<F> {
    let mut fingerprints = wide::<F>(2 * full::<F>() + full::<F>() / 2, 61);
    fingerprints.sort_unstable();
    fingerprints
}

/// The index entry of a page of rows.
#[derive(Clone, Copy)]
struct Page {
    key: u64,
    count: u16,
    length: u16,
    kind: u8,
}

fn pages<F: Fingerprint>(fingerprints: &[F]) -> Vec<Page> {
    let page = |rows: &[F]| {
        let (key, count) = (rows[rows.len() - 1].word(0), rows.len() as u16);
        Page { key, count, length: count * F::BYTES as u16, kind: 61 }
    };
    fingerprints.chunks(full::<F>()).map(page).collect()
}

/// An index of rows: a key may equal the one before.
fn index(pages: &[Page]) -> Vec<u8> {
    let mut base = 0;
    let entry = |page: &Page| {
        let gap = page.key.wrapping_sub(base);
        base = page.key;
        (gap, page.count, page.length, page.kind)
    };
    parts::index(&pages.iter().map(entry).collect::<Vec<_>>())
}

fn in_every_width(test: [fn(); 2]) {
    test.into_iter().for_each(|test| test());
}

#[test]
fn the_index_of_rows() {
    in_every_width([index_of::<u128>, index_of::<U256>]);
}

fn index_of<F: Fingerprint>() {
    let fingerprints = three_pages::<F>();
    let parts = Parts::wide(&parameters::<F>(), &numbered(&fingerprints));
    let with = |change: &dyn Fn(&mut [Page])| {
        let (mut parts, mut pages) = (parts.clone(), pages(&fingerprints));
        change(&mut pages);
        parts.sections[2] = index(&pages);
        parts.bytes()
    };
    accepted_wide("an entry a page", &with(&|_| {}), &numbered(&fingerprints));
    let (full, bytes) = (full::<F>() as u16, F::BYTES as u16);
    type Change<'a> = &'a dyn Fn(&mut [Page]);
    let fewer = |page: &mut Page, by: u16| (page.count, page.length) = (page.count - by, page.length - by * bytes);
    let more = |page: &mut Page, by: u16| (page.count, page.length) = (page.count + by, page.length + by * bytes);
    let cases: [(&str, &str, Change<'_>); 22] = [
        ("a page that is short in the middle", KIND, &|pages| {
            fewer(&mut pages[1], 1);
            more(&mut pages[2], 1);
        }),
        ("a first page that is short", KIND, &|pages| {
            fewer(&mut pages[0], 5);
            more(&mut pages[2], 5);
        }),
        ("a page of one row in the middle", KIND, &|pages| fewer(&mut pages[1], full - 1)),
        ("more rows than a page has", KIND, &|pages| more(&mut pages[0], 1)),
        ("more rows than the last page can have", KIND, &|pages| {
            (pages[2].count, pages[2].length) = (full + 1, (full + 1) * bytes);
        }),
        ("a count that its bytes are not", KIND, &|pages| pages[0].count = 1),
        ("bytes that the rows do not take", KIND, &|pages| pages[1].length += 1),
        ("a row that is not whole", KIND, &|pages| pages[2].length -= 1),
        ("rows without bytes", KIND, &|pages| pages[2].length = 0),
        ("rows of half the width", KIND, &|pages| pages.iter_mut().for_each(|page| page.length /= 2)),
        ("gap without low bits", KIND, &|pages| pages[0].kind = 0),
        ("gap", KIND, &|pages| pages[2].kind = 56),
        ("flips", KIND, &|pages| pages[1].kind = 62),
        ("xor", KIND, &|pages| pages[1].kind = 63),
        ("none", "a kind of block that does not exist", &|pages| pages[1].kind = 60),
        ("none beyond", "a kind of block that does not exist", &|pages| pages[1].kind = 64),
        ("no rows", "a block without keys", &|pages| (pages[2].count, pages[2].length) = (0, 0)),
        ("no rows in the middle", "a block without keys", &|pages| (pages[1].count, pages[1].length) = (0, 0)),
        ("a key less than the one before", "a block key exceeds 64 bits", &|pages| pages[1].key = pages[0].key - 1),
        ("more rows than there are", PAGES, &|pages| more(&mut pages[2], 1)),
        ("fewer rows than there are", PAGES, &|pages| fewer(&mut pages[2], 1)),
        ("one row of the last page", PAGES, &|pages| {
            let count = pages[2].count;
            fewer(&mut pages[2], count - 1);
        }),
    ];
    for (label, message, change) in cases {
        refused(label, &with(change), Open, message);
    }
    refused("a key that is greater", &with(&|pages| pages[0].key += 1), Verify, ORDER);
    refused("a key that is less", &with(&|pages| pages[1].key -= 1), Verify, ORDER);
    refused("the key of the next page", &with(&|pages| pages[0].key = pages[1].key), Verify, ORDER);
    refused("the greatest key", &with(&|pages| pages[2].key = u64::MAX), Verify, ORDER);
    let mut narrow = parts.clone();
    narrow.sections[5][18] = 61;
    narrow.sections[5][5] = 0;
    refused("rows in another table", &narrow.bytes(), Open, "");
}

#[test]
fn pages_of_rows_that_begin_alike() {
    in_every_width([alike::<u128>, alike::<U256>]);
}

fn alike<F: Fingerprint>() {
    // The first words of all rows, of the middle ones, or of the last ones are equal.
    let count = 3 * full::<F>();
    for (from, to, head) in [(0, count, 0), (0, count, u64::MAX), (5, count - 5, 1 << 40), (count / 2, count, u64::MAX)]
    {
        let word = |own: usize, number: usize| match number {
            0 if own < from => own as u64,
            0 if own < to => head,
            0 => (1 << 50) + own as u64,
            _ => (own as u64).rotate_right(11 * number as u32) ^ own as u64,
        };
        let mut fingerprints: Vec<F> = (0..count).map(|own| F::from_words(|number| word(own, number))).collect();
        fingerprints.sort_unstable();
        let records = numbered(&fingerprints);
        let mut parts = Parts::wide(&parameters::<F>(), &records);
        accepted_wide(&format!("{from} to {to} begin with {head:x}"), &parts.bytes(), &records);
        parts.sections[2] = index(&pages(&fingerprints));
        let bytes = parts.bytes();
        accepted_wide(&format!("{from} to {to} begin with {head:x}, by hand"), &bytes, &records);
        let fixture = store(Manifest::naming(&[&bytes]).bytes(), &[&bytes], MODES[from % 2]);
        let store = Store::<F>::open_read_only(&fixture.path, &fixture.options).unwrap();
        for record in records.iter().step_by(37) {
            let query = record.fingerprint.flipped(F::WIDTH - 1);
            for k in [0, 1, 3] {
                assert_eq!(store.query(query, k).unwrap(), expected(&records, query, k), "{query:?} within {k}");
            }
            let all = store.searcher().scan(record.fingerprint, F::WIDTH).unwrap();
            assert_eq!(all, expected(&records, record.fingerprint, F::WIDTH));
        }
    }
}

#[test]
fn the_order_of_rows() {
    in_every_width([order_of::<u128>, order_of::<U256>]);
}

fn order_of<F: Fingerprint>() {
    let fingerprints = three_pages::<F>();
    let records = numbered(&fingerprints);
    let parts = Parts::wide(&parameters::<F>(), &records);
    let full = full::<F>();
    let with = |rows: &[F]| {
        let mut parts = parts.clone();
        parts.sections[0].clear();
        for (number, page) in rows.chunks(full).enumerate() {
            page.iter().for_each(|row| row.write_le(&mut parts.sections[0]));
            let end = if (number + 1) * full < rows.len() { 4096 * (number + 1) } else { parts.sections[0].len() + 4 };
            parts.sections[0].resize(end, 0);
        }
        parts
    };
    assert!(with(&fingerprints).bytes() == parts.bytes());
    let check = |label: &str, change: &dyn Fn(&mut [F])| {
        let mut rows = fingerprints.clone();
        change(&mut rows);
        refused(label, &with(&rows).bytes(), Verify, ORDER);
    };
    check("neighbours", &|rows| rows.swap(3, 4));
    check("the first two", &|rows| rows.swap(0, 1));
    check("the last two", &|rows| rows.swap(rows.len() - 2, rows.len() - 1));
    check("first and last of a page", &|rows| rows.swap(full, 2 * full - 1));
    check("from page to page", &|rows| rows.swap(full - 1, full));
    check("pages", &|rows| (0..full).for_each(|row| rows.swap(row, full + row)));
    check("twice", &|rows| rows[7] = rows[8]);
    check("twice, from page to page", &|rows| rows[full] = rows[full - 1]);
    check("descending", &|rows| rows.reverse());
    check("zero in the middle", &|rows| rows[full / 2] = F::default());
    // In order, but different from the rows of the other table.
    let second = F::WIDTH / 2;
    let changed = (0..fingerprints.len()).find(|&row| {
        let other = fingerprints[row].flipped(second);
        (row == 0 || fingerprints[row - 1] < other) && fingerprints.get(row + 1).is_none_or(|&next| other < next)
    });
    let mut rows = fingerprints.clone();
    rows[changed.unwrap()] = rows[changed.unwrap()].flipped(second);
    refused("another row", &with(&rows).bytes(), Verify, NARROW);
    let mut padded = parts.clone();
    padded.sections[0][4091] = 1;
    refused("padding", &padded.bytes(), Verify, "padding of a page is not zero");
    padded = parts.clone();
    padded.sections[0][full * F::BYTES] = 1;
    refused("padding behind the last row", &padded.bytes(), Verify, "padding of a page is not zero");
    let flipped = parts.bytes_with(|content| content[4096] ^= 1, |_| {});
    refused("a flip in a row", &flipped, Read, "checksum of a page does not hold");
}

#[test]
fn the_codes_of_rows() {
    let records = numbered(&wide::<u128>(300, 62));
    let mut sorted = records.clone();
    sorted.sort_unstable();
    let mut parts = Parts::wide(&parameters::<u128>(), &records);
    assert_eq!(parts.sections[1][..2], [0, 0]);
    assert_eq!(parts.sections[1].len(), 6);
    accepted_wide("no code", &parts.bytes(), &sorted);
    parts.sections[1] = [flips::DENSE.section(), vec![0; 4]].concat();
    accepted_wide("a code that no block uses", &parts.bytes(), &sorted);
    parts.sections[1] = vec![0; 7];
    refused("a byte more", &parts.bytes(), Open, "");
    parts.sections[1] = vec![0; 5];
    refused("a byte less", &parts.bytes(), Open, "");
    parts.sections[1].clear();
    refused("nothing", &parts.bytes(), Open, "the file ends within");
}

#[test]
fn wide_tables_of_codec_xor() {
    let parameters = parameters::<u128>().with_codec(Codec::Xor);
    let mut records = numbered(&wide::<u128>(300, 63));
    let parts = Parts::wide(&parameters, &records);
    records.sort_unstable();
    assert_eq!(parts.sections[1].len(), 6, "rows have no code, whatever the codec");
    assert_eq!(parts.sections[4].len(), 36);
    accepted_wide("xor", &parts.bytes(), &records);
}

/// A segment of two tables whose second one has these keys, in gap blocks.
fn narrow(mut parts: Parts, keys: &[u64]) -> Parts {
    let (mut base, mut blocks) = (0u64, Vec::new());
    let (mut data, mut index) = (Vec::new(), Vec::new());
    for (number, keys) in keys.chunks(16).enumerate() {
        let (last, others) = keys.split_last().unwrap();
        let mut next = base;
        let parts = others.iter().map(|&key| {
            let gap = key - next;
            next = key + 1;
            (gap & ((1 << 56) - 1), (gap >> 56) as usize)
        });
        let block = gaps(56, &parts.collect::<Vec<_>>()).bytes();
        let block = if others.is_empty() { Vec::new() } else { block };
        index.push((last - base, keys.len() as u16, block.len() as u16, 56));
        base = last.wrapping_add(1);
        if number % 32 == 0 && number > 0 {
            data.resize(4096 * (number / 32), 0);
        }
        data.extend(&block);
        blocks.push(block);
    }
    data.extend([0; 4]);
    parts.blocks[1] = blocks.len() as u64;
    (parts.sections[3], parts.sections[4], parts.sections[5]) = (data, vec![0; 6], parts::index(&index));
    parts
}

/// Sorted fingerprints, and the keys of table 1 of two: 18 leading bits of its part, and 12 bits of the row.
fn keyed<F: Fingerprint>() -> (Vec<Record<F>>, Vec<u64>) {
    let mut records = numbered(&wide::<F>(3000, 64));
    records.sort_unstable();
    let key = |(row, record): (u64, &Record<F>)| record.fingerprint.bits(F::WIDTH / 2, 18) << 12 | row;
    let mut keys: Vec<u64> = (0..).zip(&records).map(key).collect();
    keys.sort_unstable();
    (records, keys)
}

#[test]
fn narrow_keys() {
    in_every_width([narrow_of::<u128>, narrow_of::<U256>]);
}

fn narrow_of<F: Fingerprint>() {
    let (records, keys) = keyed::<F>();
    let base = Parts::wide(&parameters::<F>(), &records);
    let sound = narrow(base.clone(), &keys).bytes();
    accepted_wide("by hand", &sound, &records);
    assert_eq!(ask(&sound, &records, &keys), 0);
    type Change<'a> = &'a dyn Fn(&mut [u64]);
    let cases: [(&str, bool, Change<'_>); 8] = [
        ("the row behind the last", true, &|keys| keys[77] = keys[77] >> 12 << 12 | 3000),
        ("the greatest row", true, &|keys| keys[77] |= 0xfff),
        ("a row that is not there, of the first key", true, &|keys| keys[0] |= 0xfff),
        ("rows that are not there", true, &|keys| keys.iter_mut().for_each(|key| *key |= 0xfff)),
        ("another row", false, &|keys| keys[100] ^= 1),
        ("a row twice", false, &|keys| keys[100] = keys[100] >> 12 << 12 | keys[500] & 0xfff),
        ("other leading bits", false, &|keys| keys[100] ^= 1 << 12),
        ("other first bits", false, &|keys| keys[100] ^= 1 << 29),
    ];
    let long: [(&str, Change<'_>); 4] = [
        ("a bit in front", &|keys| keys[2999] |= 1 << 30),
        ("the first of 64 bits", &|keys| keys[2999] |= 1 << 63),
        ("the greatest key", &|keys| keys[2999] = u64::MAX),
        ("shifted", &|keys| keys.iter_mut().for_each(|key| *key <<= 34)),
    ];
    for (label, change) in long {
        let mut changed = keys.clone();
        change(&mut changed);
        refused(label, &narrow(base.clone(), &changed).bytes(), Open, LONG);
    }
    for (label, gone, change) in cases {
        let mut changed = keys.clone();
        change(&mut changed);
        changed.sort_unstable();
        changed.dedup();
        // A change may make keys equal; this restores the number of keys.
        for more in 0.. {
            if changed.len() == keys.len() {
                break;
            }
            let key = (1 << 30) - 1 - more;
            changed.extend((!changed.contains(&key)).then_some(key));
            changed.sort_unstable();
        }
        let bytes = narrow(base.clone(), &changed).bytes();
        refused(label, &bytes, Verify, NARROW);
        let errors = ask(&bytes, &records, &changed);
        assert_eq!(errors > 0, gone, "{label}: {errors} errors");
    }
}

/// Queries the keys and the stored records. No answer contains a missing record; returns the number of errors, which
/// only missing rows may cause.
fn ask<F: Fingerprint>(bytes: &[u8], records: &[Record<F>], keys: &[u64]) -> usize {
    let mut errors = 0;
    for mode in MODES {
        let fixture = store(Manifest::naming(&[bytes]).bytes(), &[bytes], mode);
        let store = Store::<F>::open_read_only(&fixture.path, &fixture.options).unwrap();
        let lead = |&key: &u64| {
            let half = F::WORDS / 2;
            F::from_words(|number| if number == half { key >> 12 << 46 } else { 0x5555 << number })
        };
        let stored = records.iter().step_by(301).map(|record| record.fingerprint);
        let queries: Vec<F> = keys.iter().step_by(11).map(lead).chain(stored).collect();
        for k in [0, 1, 3] {
            for &query in &queries {
                match store.query(query, k) {
                    Ok(found) if found.is_empty() => {}
                    Ok(found) => {
                        let all = expected(records, query, k);
                        assert!(found.iter().all(|one| all.contains(one)), "{query:?} within {k}");
                    }
                    Err(error) => {
                        assert_eq!(error.message(), "a narrow key names a row that is not there");
                        assert_eq!(error.kind(), ErrorKind::Damaged);
                        errors += 1;
                    }
                }
                let _ = store.contains_near(query, k);
            }
        }
    }
    errors
}

#[test]
fn narrow_keys_of_few_rows() {
    // With one row its number has no bits, and the key six.
    for count in [1, 2, 3, 4, 5] {
        for design in [1, 2, 128].map(|parts| Design::Tables { parts }) {
            let mut records = numbered(&wide::<u128>(count, 65));
            let parts = Parts::wide(&parameters::<u128>().with_design(design), &records);
            records.sort_unstable();
            accepted_wide(&format!("{count} rows in {design}"), &parts.bytes(), &records);
        }
    }
}
