//! The library and the naive reader of `naive/` on the same bytes: both accept with equal values, or both reject.

use crate::codecs::{BlockCase, decode};
use crate::files::{TableCase, footer_case, index_case, manifest_case, text_case};
use crate::logs::{self, LogCase};
use crate::{Take, naive_parameters};
use fpstore::{Codec, ReadMode, fuzzing};
use naive::Res;
use std::fmt::Debug;

/// Compares both results, without the texts of errors.
fn same<T: PartialEq + Debug, E: Debug>(library: Result<T, E>, naive: Res<T>) {
    match (library, naive) {
        (Ok(library), Ok(naive)) => assert_eq!(library, naive),
        (Err(_), Err(_)) => {}
        (library, naive) => panic!("library: {library:?}\nnaive: {naive:?}"),
    }
}

/// The first byte selects the structure of the others.
pub fn differential(data: &[u8]) {
    let mut take = Take(data);
    match take.u8() % 14 {
        0 | 11 => blocks(&mut take),
        1 => codes(&mut take),
        2 => {
            let last = take.u8() & 1 == 1;
            same(fuzzing::id_page(take.0, last), naive::ids::read_page(take.0, last));
        }
        3 => indexes(&mut take),
        4 => same(fuzzing::text_payload(take.0).map(|read| read.0), naive::text_ids::read_payload(take.0)),
        5 => {
            let length = take.u64() >> 40;
            let mut section = take.rest().to_vec();
            naive::seal::text_index(&mut section);
            let library = fuzzing::text_index(&section, length);
            let library = library.map(|frames| frames.into_iter().map(|(l, b)| (l.into(), b.into())).collect());
            same(library, naive::text_ids::read_index(&section, length));
        }
        6 => {
            let (bytes, [ids, index, dictionary]) = text_case(&mut take);
            let (first, rest) = bytes.split_at(ids as usize);
            let (second, third) = rest.split_at(index as usize);
            let library = fuzzing::text_ids(&bytes, [ids, index, dictionary], ReadMode::Mmap);
            same(library, naive::text_ids::read_text_ids(first, second, third));
        }
        7 => tables(&mut take),
        8 => {
            let (bytes, offset) = footer_case(&mut take);
            // The naive reader checks this with the sections; the target `segment` compares whole files.
            let library = fuzzing::footer(&bytes, offset).map(|_| ());
            let early = |error: &fpstore::Error| error.message() == "the footer's counts do not fit its sections";
            if !library.as_ref().is_err_and(early) {
                same(library, naive::segment::read_footer(&bytes, offset).map(|_| ()));
            }
        }
        9 => {
            let bytes = manifest_case(&mut take);
            same(fuzzing::manifest(&bytes).map(|_| ()), naive::manifest::read_manifest(&bytes).map(|_| ()));
        }
        12 => logs::compare(&LogCase::take(&mut take)),
        _ => {
            let (mode, pages) = (take.u8(), u64::from(take.u16()));
            if mode & 1 == 0 {
                same(fuzzing::header(take.0), naive::segment::read_header(take.0));
                return;
            }
            let mut section = take.rest().to_vec();
            naive::seal::id_index(&mut section);
            let library = fuzzing::id_index(&section, pages)
                .map(|ranks| ranks.windows(2).map(|two| two[1] - two[0]).collect::<Vec<_>>());
            same(library, naive::ids::read_index(&section, pages as usize));
        }
    }
}

fn blocks(take: &mut Take<'_>) {
    let Some(case) = BlockCase::take(take) else { return };
    let Some(library) = decode(&case) else { return };
    let shape = case.shape;
    let entry = naive::blocks::Entry {
        key: shape.last,
        count: shape.count as u16,
        length: shape.length as u16,
        kind: shape.kind,
        base: shape.base,
    };
    let code = naive::codes::read_codes(&case.section, u8::from(case.codec == Codec::Adaptive), 0).unwrap();
    same(library, naive::blocks::read_block(&case.body[..shape.length], &code, entry));
}

fn codes(take: &mut Take<'_>) {
    let (mode, table) = (take.u8(), take.u8());
    if mode & 1 == 0 {
        let library = fuzzing::TableCodes::parse_flips(take.0).map(|_| ());
        same(library, naive::codes::read_flips_code(take.0).map(|_| ()));
        return;
    }
    let codec = if mode & 2 == 0 { Codec::Adaptive } else { Codec::Xor };
    let mut section = [take.rest(), &[0; 4]].concat();
    naive::seal::unit(&mut section, 0x100 + u32::from(table), 0);
    let library = fuzzing::TableCodes::parse(&section, codec, table).map(|_| ());
    same(library, naive::codes::read_codes(&section, u8::from(codec == Codec::Adaptive), table).map(|_| ()));
}

fn indexes(take: &mut Take<'_>) {
    let (parameters, table, blocks, section) = index_case(take);
    let naive = naive::segment::read_index(&section, blocks, &naive_parameters(&parameters), table);
    let naive = naive.map(|entries| {
        entries.into_iter().map(|entry| (entry.key, entry.count, entry.length, entry.kind)).collect::<Vec<_>>()
    });
    same(fuzzing::index(&section, blocks, &parameters, table), naive);
}

/// The library checks the order of rows, padding and boundaries only in verification, which the target `segment` compares.
fn tables(take: &mut Take<'_>) {
    let case = TableCase::take(take);
    let shape = naive_parameters(&case.parameters);
    let [data, codes, index] = case.lengths.map(|length| length as usize);
    let (data, rest) = case.bytes.split_at(data);
    let (codes, index) = rest.split_at(codes.min(rest.len().saturating_sub(index)));
    let naive = naive::segment::read_table(data, codes, index, case.blocks, &shape, case.number, case.fingerprints);
    match (case.read(), naive) {
        (_, Err("padding of a page" | "rows that do not ascend" | "a last row that is not that of the index")) => {}
        (_, Err("boundaries that are not those of the keys")) => {}
        (Ok(library), Ok(naive)) => {
            // Looks up narrow keys like keys of 64 bits.
            let shift = |keys: &[Vec<u64>]| -> Option<u32> {
                let (mine, theirs) = (keys.concat().last().copied()?, naive.concat().last().copied()?);
                Some(mine.trailing_zeros().saturating_sub(theirs.trailing_zeros()))
            };
            let shift = shift(&library).unwrap_or(0);
            let naive: Vec<Vec<u64>> = naive.iter().map(|keys| keys.iter().map(|key| key << shift).collect()).collect();
            assert_eq!(library, naive);
        }
        (library, naive) => same(library, naive),
    }
}
