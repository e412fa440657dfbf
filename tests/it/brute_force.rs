//! Answers equal brute force: on real and on uniform data, for every design, codec, reading mode and number of
//! segments.

use crate::points::{every, points};
use crate::support::*;
use fpstore::{Parameters, ReadMode, Record};
use rayon::prelude::*;

/// Stored values with 0 to 4 random bits flipped.
fn flipped(values: &[u64], seed: u64) -> Vec<u64> {
    let mut random = Random(seed);
    values
        .iter()
        .map(|&value| {
            let flips = u32::try_from(random.below(5)).unwrap();
            random.flip(value, flips)
        })
        .collect()
}

/// Brute force for many queries over many records: computes each distance to a distinct fingerprint once, for all k.
fn distances(fingerprints: &[u64], query: u64, limit: u32) -> Vec<(u32, u64)> {
    let mut near: Vec<(u32, u64)> =
        fingerprints.iter().map(|&f| ((f ^ query).count_ones(), f)).filter(|&(d, _)| d <= limit).collect();
    near.sort_unstable();
    near
}

#[test]
fn every_real_value_with_up_to_four_flips_at_every_k_up_to_five() {
    let real = real();
    let records = numbered(&real);
    let store = store_of(&Parameters::new(3), &records, 1, ReadMode::Mmap);
    let mut distinct = real.clone();
    distinct.sort_unstable();
    distinct.dedup();
    let mut ids: std::collections::HashMap<u64, Vec<u64>> = std::collections::HashMap::new();
    records.iter().for_each(|record| ids.entry(record.fingerprint).or_default().push(record.id.number().unwrap()));
    // A prime as for other points, but these are very many.
    let queries: Vec<u64> = every(31, flipped(&real, 1)).collect();
    queries.par_chunks(500).for_each(|queries| {
        let mut searcher = store.searcher();
        for &query in queries {
            let near = distances(&distinct, query, 5);
            for k in 0..=5 {
                let found = searcher.query(query, k).unwrap();
                let found = found.iter().map(|m| (m.distance, m.fingerprint, m.id.number().unwrap()));
                let expected =
                    near.iter().filter(|&&(d, _)| d <= k).flat_map(|&(d, f)| ids[&f].iter().map(move |&id| (d, f, id)));
                assert!(found.eq(expected), "{query:016x} within {k}");
            }
        }
    });
}

#[test]
fn every_design_codec_and_mode_in_one_and_three_segments_on_real_data() {
    let real = real();
    let queries: Vec<u64> = every(5, flipped(&real, 2).into_iter().step_by(401)).collect();
    let records = numbered(&real);
    let ways = [(MODES[0], 1), (MODES[1], 3), (MODES[0], 3), (MODES[1], 1)];
    // A short run takes a third of the designs and codecs, each in one way.
    for (number, parameters) in every(3, combinations().enumerate()) {
        for (mode, segments) in every(4, ways.into_iter().cycle().skip(number).take(4)) {
            let store = store_of(&parameters, &records, segments, mode);
            let label = format!("{} {} {mode:?} {segments}", parameters.design(), parameters.codec());
            compare(&store, &records, &queries, 0..=5, &label);
        }
    }
}

#[test]
fn one_million_uniform_values() {
    let values = uniform(1_000_000, 3);
    let records = numbered(&values);
    let mut queries: Vec<u64> = flipped(&values, 4).into_iter().step_by(25_000).collect();
    queries.extend(uniform(20, 5));
    // A short run takes other designs and codecs every day.
    for (number, parameters) in points(combinations().enumerate()) {
        let segments = 1 + number % 2;
        let store = store_of(&parameters, &records, segments, MODES[number / 2 % 2]);
        assert_eq!(store.statistics().segments, segments as u64);
        compare(&store, &records, &queries, 0..=5, &format!("{} {}", parameters.design(), parameters.codec()));
    }
}

#[test]
fn every_block_size() {
    let records: Vec<Record> = numbered(&real()).into_iter().step_by(5).collect();
    let queries: Vec<u64> = records.iter().step_by(401).map(|record| record.fingerprint ^ 0x8000_0001).collect();
    for shift in 7..=16 {
        let store = store_of(&Parameters::new(3).with_block_size(1 << shift), &records, 1, ReadMode::Pread);
        compare(&store, &records, &queries, 2..=3, &format!("{} bytes", 1 << shift));
    }
}

#[test]
fn distances_beyond_the_maximum_are_answered_completely() {
    let mut values = uniform(300, 6);
    let centre = values[0];
    let mut random = Random(7);
    values.extend((0..=64).map(|flips| random.flip(centre, flips)));
    let records = numbered(&values);
    for design in DESIGNS {
        let store = store_of(&Parameters::new(1).with_design(design).with_block_size(128), &records, 2, ReadMode::Mmap);
        compare(&store, &records, &[centre, !centre], 0..=64, &design.to_string());
        assert!(store.query(centre, 65).is_err());
    }
}

#[test]
fn scan_and_nearest_agree_with_brute_force() {
    let real = real();
    let records: Vec<Record> = numbered(&real).into_iter().step_by(7).collect();
    let store = store_of(&Parameters::new(3), &records, 3, ReadMode::Mmap);
    for query in flipped(&real, 8).into_iter().step_by(9001).chain([0, u64::MAX]) {
        for k in [0, 3, 20] {
            assert_eq!(store.searcher().scan(query, k).unwrap(), expected(&records, query, k));
        }
        let all = expected(&records, query, 64);
        for count in [0, 1, 2, 10, 500, records.len(), records.len() + 1] {
            let mut searcher = store.searcher();
            let nearest = &all[..count.min(all.len())];
            assert_eq!(searcher.nearest(query, count).unwrap(), nearest, "{count} nearest {query:016x}");
            for k in [0, 2, 3, 4, 17, 64] {
                let near = &nearest[..nearest.partition_point(|found| found.distance <= k)];
                let label = format!("{count} nearest {query:016x} within {k}");
                assert_eq!(searcher.nearest_within(query, count, k).unwrap(), near, "{label}");
                assert_eq!(searcher.scan_nearest(query, count, k).unwrap(), near, "{label}");
            }
        }
    }
}

#[test]
fn the_reference_pairs_of_the_document_sample() {
    // The number of pairs of distinct values among the 85,364 within three bits, 73,231, comes from another program.
    let mut distinct = real();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), 44_751);
    let store = store_of(&Parameters::new(3), &numbered(&distinct), 1, ReadMode::Mmap);
    let pairs: usize = distinct
        .par_chunks(500)
        .map(|queries| {
            let mut searcher = store.searcher();
            queries
                .iter()
                .map(|&q| searcher.query(q, 3).unwrap().iter().filter(|m| m.fingerprint > q).count())
                .sum::<usize>()
        })
        .sum();
    assert_eq!(pairs, 73_231);
}

#[test]
fn bits_that_never_vary_do_not_make_the_index_useless() {
    // 24 constant leading bits: prefixes of the usual length would not separate any values.
    let values: Vec<u64> = uniform(100_000, 9).into_iter().map(|value| value >> 24).collect();
    let records = numbered(&values);
    let store = store_of(&Parameters::new(3), &records, 1, ReadMode::Mmap);
    let queries: Vec<u64> = flipped(&values, 10).into_iter().step_by(2503).collect();
    compare(&store, &records, &queries, 0..=4, "dead bits");
    let mut searcher = store.searcher();
    queries.iter().for_each(|&query| _ = searcher.query(query, 3).unwrap());
    let (read, all) = (searcher.stats().blocks / queries.len() as u64, store.statistics().tables[0].blocks);
    assert!(read < all / 8, "{read} of {all} blocks a query");
}
