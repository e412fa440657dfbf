use super::*;
use crate::plan::filter_shape::FilterShape;
use crate::plan::masks::masks;
use crate::plan::mix;
use std::collections::BTreeSet;

fn even(number: u64) -> u64 {
    mix(number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

fn shape(keys: u64, leading: u32) -> LineShape {
    let Some(FilterShape::Lines(shape)) = FilterShape::new(keys, leading, Some(1)) else { panic!() };
    shape
}

/// The filter of ascending keys, however many have no place.
fn filter(keys: &[u64], leading: u32) -> LineFilter {
    let mut builder = LineFilterBuilder::new(shape(keys.len() as u64, leading)).unwrap();
    keys.iter().for_each(|&key| builder.push(key));
    builder.filter
}

/// Least and greatest keys of what passes.
fn passing(filter: &LineFilter, key: u64, near: Nearness) -> BTreeSet<(u64, u64)> {
    let mut found = BTreeSet::new();
    for mask in masks(filter.shape.flipped, near.radius) {
        let prefix = filter.begin(key & leading_ones(filter.shape.prefix()), mask);
        filter.pass(&prefix, near, &mut |first, last| {
            assert!(found.insert((first, last)));
        });
    }
    found
}

#[test]
fn exactly_the_near_prefixes_pass_each_once_and_those_of_keys_without_a_place() {
    // Spread evenly; in families; all in a few lines; with thousands of keys to a prefix.
    let spread = |number: u64| even(number);
    let families = |number: u64| even(number / 50) ^ 1 << (even(number) % 64) ^ 1 << (even(number) / 64 % 64);
    let in_few_lines = |number: u64| even(number) >> 12;
    let in_few_prefixes = |number: u64| even(number % 7) & leading_ones(40) | even(number) >> 44;
    for make in [&spread as &dyn Fn(u64) -> u64, &families, &in_few_lines, &in_few_prefixes] {
        let keys: BTreeSet<u64> = (0..70_000).map(make).collect();
        let mut keys: Vec<u64> = keys.into_iter().collect();
        while keys.len() < 65_536 {
            keys.push(keys.last().unwrap() + 1);
        }
        // Within the bits that a filter has, and beyond them.
        for leading in [12, 16, 20] {
            let filter = filter(&keys, leading);
            let bits = filter.shape.prefix();
            let prefixes: BTreeSet<u64> = keys.iter().map(|key| key & leading_ones(bits)).collect();
            let ascending: Vec<u64> = prefixes.iter().copied().collect();
            assert!(keys.iter().all(|&key| filter.passes(key)));
            for number in 0..40 {
                let stored = keys[(even(number) % keys.len() as u64) as usize];
                let query = stored ^ [0, 1 << (63 - number), even(number) & even(!number)][(number % 3) as usize];
                for (radius, distance) in [(0, 0), (0, 3), (1, 1), (1, 3), (3, 3), (2, 16)] {
                    let is_near = |prefix: &&u64| {
                        let differing = (**prefix ^ query) & leading_ones(bits);
                        differing.count_ones() <= distance && (differing & leading_ones(leading)).count_ones() <= radius
                    };
                    let passing = passing(&filter, query, Nearness { radius, distance });
                    let exact = |first: u64| (first, first | !leading_ones(bits));
                    let holds = |key: u64| passing.iter().any(|&(first, last)| (first..=last).contains(&key));
                    let near: Vec<u64> = prefixes.iter().filter(is_near).copied().collect();
                    assert!(near.iter().all(|&prefix| holds(prefix)));
                    for &(first, last) in &passing {
                        let is_near = near.contains(&first) && exact(first) == (first, last);
                        assert!(is_near || is_unsure(&filter, &ascending, last), "{first:x}");
                    }
                }
                assert!(filter.passes(query) || !prefixes.contains(&(query & leading_ones(bits))));
            }
        }
    }
}

/// Whether keys up to `last` may have no place among the ascending prefixes: behind the last entry of
/// their line, or before the first one.
fn is_unsure(filter: &LineFilter, prefixes: &[u64], last: u64) -> bool {
    let line = filter.line(last);
    let of_line = prefixes.partition_point(|&key| filter.line(key) < line)
        ..prefixes.partition_point(|&key| filter.line(key) <= line);
    let of_line = &prefixes[of_line];
    of_line.len() > MOST_ENTRIES && !(of_line[0]..of_line[MOST_ENTRIES - 1]).contains(&last)
}

#[test]
fn of_evenly_spread_keys_few_have_no_place_and_of_uneven_ones_there_is_no_filter() {
    for keys in [65_536, 300_000, 1_000_000] {
        let mut all: Vec<u64> = (0..keys).map(even).collect();
        all.sort_unstable();
        let mut builder = LineFilterBuilder::new(shape(keys, 17)).unwrap();
        all.iter().for_each(|&key| builder.push(key));
        let missing = builder.missing as f64 / keys as f64;
        let expected = builder.filter.shape.unsure;
        assert!((missing - expected).abs() < 0.15 * expected + 0.0001, "{missing}, not {expected}");
        assert!(builder.finish().is_some());
        let mut builder = LineFilterBuilder::new(shape(keys, 17)).unwrap();
        // Half of the keys begin with the same four bits.
        let mut uneven: Vec<u64> = all.iter().map(|&key| if key & 1 == 0 { key >> 4 } else { key }).collect();
        uneven.sort_unstable();
        uneven.iter().for_each(|&key| builder.push(key));
        assert!(builder.finish().is_none());
    }
}

#[test]
fn lanes_are_counted() {
    for word in [0, u64::MAX, 0x0001_8000_0000_00ff, 0x7fff_fffe_0100_1111] {
        let marks = |is: &dyn Fn(u16) -> bool| {
            (0..LANES).filter(|&number| is(lane(word, number))).fold(0, |marks, number| marks | 0x8000 << (16 * number))
        };
        assert_eq!(zero_lanes(word), marks(&|lane| lane == 0));
        for limit in 0..20 {
            assert_eq!(at_most(word, limit), marks(&|lane| lane.count_ones() <= limit), "{word:x} {limit}");
        }
    }
}

#[test]
fn a_line_has_places_for_31_prefixes() {
    let shape = shape(65_536, 12);
    assert_eq!((shape.lines, shape.flipped), (4096, 12));
    // Lines of 31, 32 and 33 prefixes, two apart. Those of the first line are in the middle of it.
    for (line, count) in [(5u64, 31u64), (6, 32), (7, 33)] {
        let key = |number: u64| (line << 52) + (number << (64 - shape.prefix()));
        let mut builder = LineFilterBuilder::new(shape).unwrap();
        (0..count).for_each(|number| builder.push(key(2 * number + 100)));
        assert_eq!(builder.missing, count - MOST_ENTRIES as u64);
        let filter = builder.filter;
        for number in 0..300 {
            let is_there = number % 2 == 0 && (100..100 + 2 * count).contains(&number);
            // The flipped bits are the same for the whole line, so all of it passes if it lacks a key.
            assert_eq!(filter.passes(key(number)), is_there || count > 31, "{line} {number}");
        }
    }
}
