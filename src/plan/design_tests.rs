//! Completeness, by exhaustion.

use super::*;
use crate::bits::low_mask;

/// Whether some table of the design, probed with prefixes of `prefix(leading)` bits, sees the error pattern.
fn seen(tables: &[TableLayout], radii: &[Option<u32>], width: u32, error: u64, prefix: impl Fn(u32) -> u32) -> bool {
    tables.iter().zip(radii).any(|(table, radius)| {
        let prefix = prefix(table.leading);
        let flips = table.permutation.apply(error).checked_shr(width - prefix).unwrap_or(0).count_ones();
        radius.is_some_and(|radius| flips <= radius)
    })
}

/// All patterns of at most `k` of `width` bits.
fn patterns(width: u32, k: u32) -> Vec<u64> {
    let mut all = vec![0u64];
    let mut last = vec![0u64];
    for _ in 0..k {
        last = last
            .iter()
            .flat_map(|&p| (0..width - crate::bits::bit_length(p)).map(move |s| p | 1 << (width - 1 - s)))
            .collect();
        all.extend(&last);
    }
    all
}

#[test]
fn every_pattern_of_three_of_64_bits_is_seen_by_every_design_at_every_prefix_length() {
    let all = patterns(64, 3);
    assert_eq!(all.len(), 43_745);
    for design in Design::LISTED {
        let tables = design.tables(64).unwrap();
        let longest = tables.iter().map(|table| table.leading).max().unwrap();
        for k in 0..=3 {
            let radii = design.radii(k);
            assert_eq!(radii.len(), tables.len());
            for &error in all.iter().filter(|error| error.count_ones() <= k) {
                for prefix in 0..=longest {
                    // Each table with this prefix length, or its whole leading part where that is shorter.
                    assert!(
                        seen(&tables, &radii, 64, error, |leading| prefix.min(leading)),
                        "{design} k={k} {error:x}"
                    );
                }
            }
        }
    }
}

#[test]
fn every_pattern_of_small_widths_is_seen_at_every_k() {
    for width in 1..=12u32 {
        let parts = 1..=u8::try_from(width).unwrap();
        let mut designs: Vec<Design> = parts.clone().map(|parts| Design::Tables { parts }).collect();
        for m in parts.clone() {
            designs.extend((1..=m).map(|chosen| Design::Choose { chosen, parts: m }));
            designs.extend(parts.clone().map(|inner| Design::Nested { outer: m, inner }));
        }
        for design in designs {
            let Ok(tables) = design.tables(width) else { continue };
            for k in 0..=width {
                let radii = design.radii(k);
                for error in (0..=low_mask(width)).filter(|error| error.count_ones() == k) {
                    assert!(
                        seen(&tables, &radii, width, error, |leading| leading),
                        "{design} f={width} k={k} {error:b}"
                    );
                }
            }
        }
    }
}

#[test]
fn a_smaller_radius_anywhere_would_miss_something() {
    // The radius rule is tight: with one table's radius reduced some pattern of k errors is not seen.
    for (design, width) in
        [(Design::Tables { parts: 2 }, 10), (Design::Tables { parts: 3 }, 9), (Design::Tables { parts: 4 }, 12)]
    {
        let tables = design.tables(width).unwrap();
        for k in 0..width {
            let radii = design.radii(k);
            for table in (0..radii.len()).filter(|&table| radii[table].is_some_and(|r| r < tables[table].leading)) {
                let mut smaller = radii.clone();
                smaller[table] = radii[table].and_then(|radius| radius.checked_sub(1));
                let missed = patterns(width, k).into_iter().any(|error| !seen(&tables, &smaller, width, error, |l| l));
                assert!(missed, "{design} k={k} table {table}");
            }
        }
    }
}

#[test]
fn the_papers_designs_have_its_numbers_of_tables_and_leading_bits() {
    let shape = |name: &str| {
        let tables = name.parse::<Design>().unwrap().tables(64).unwrap();
        (tables.len(), tables.iter().map(|t| t.leading).min().unwrap(), tables.iter().map(|t| t.leading).max().unwrap())
    };
    assert_eq!(shape("tables-4"), (4, 16, 16));
    assert_eq!(shape("choose-2-of-5"), (10, 25, 26));
    assert_eq!(shape("nested-4x4"), (16, 28, 28));
    assert_eq!(shape("choose-3-of-6"), (20, 31, 33));
    assert_eq!("tables-2".parse::<Design>().unwrap().radii(3), [Some(1), Some(1)]);
    assert_eq!("tables-3".parse::<Design>().unwrap().radii(3), [Some(1), Some(0), Some(0)]);
    assert_eq!("tables-4".parse::<Design>().unwrap().radii(1), [Some(0), Some(0), None, None]);
}

#[test]
fn every_table_is_a_permutation_and_the_first_is_the_identity() {
    for design in Design::LISTED {
        for (number, table) in design.tables(64).unwrap().iter().enumerate() {
            let mut hit = 0u64;
            for bit in 0..64 {
                let key = table.permutation.apply(1 << bit);
                assert_eq!(key.count_ones(), 1);
                assert_eq!(table.permutation.invert(key), 1 << bit);
                hit |= key;
            }
            assert_eq!(hit, u64::MAX);
            assert_eq!(number == 0, table.permutation.groups().len() == 1);
        }
    }
}

#[test]
fn nonsense_is_refused_and_never_panics() {
    for a in [0, 1, 5, 64, 65, 255] {
        for b in [0, 1, 3, 64, 65, 255] {
            let (chosen, parts, outer, inner) = (a, b, a, b);
            for design in [Design::Tables { parts }, Design::Choose { chosen, parts }, Design::Nested { outer, inner }]
            {
                for width in [0, 1, 64, 65, 128, 256, 257, u32::MAX] {
                    if let Ok(tables) = design.tables(width) {
                        assert!((1..=256).contains(&width) && tables.len() == design.table_count(), "{design} {width}");
                    }
                }
                for k in [0, 3, 64, u32::MAX] {
                    assert!(design.radii(k).len() <= 256, "{design}");
                }
            }
        }
    }
    let workload =
        |width, block_size| crate::plan::Workload { fingerprints: 5, width, distance: 3, block_size, filter: true };
    assert!(crate::plan::predict(Design::Tables { parts: 2 }, &workload(257, 512)).is_err());
    assert!(crate::plan::predict(Design::Tables { parts: 2 }, &workload(64, 0)).unwrap().nanos.is_finite());
}

#[test]
fn the_number_of_tables_is_right_for_every_choice() {
    for parts in 1..=64u8 {
        for chosen in 1..=parts {
            let design = Design::Choose { chosen, parts };
            // Pascal's triangle.
            let mut row = vec![1u128];
            for _ in 0..parts {
                row = std::iter::once(1).chain(row.windows(2).map(|pair| pair[0] + pair[1])).chain([1]).collect();
            }
            assert_eq!(design.table_count() as u128, row[usize::from(chosen)].min(u128::from(u64::MAX)), "{design}");
            if let Ok(tables) = design.tables(64) {
                assert_eq!(
                    (tables.len(), design.radii(3).len()),
                    (design.table_count(), design.table_count()),
                    "{design}"
                );
            }
        }
    }
}

#[test]
fn names_round_trip_and_nonsense_is_refused() {
    for design in Design::LISTED {
        assert_eq!(design.to_string().parse::<Design>().unwrap(), design);
    }
    for name in ["", "tables-", "tables-x", "choose-2", "nested-4", "tables-300", "16"] {
        assert!(name.parse::<Design>().is_err(), "{name}");
    }
    for name in
        ["tables-0", "tables-65", "choose-0-of-3", "choose-4-of-3", "nested-1x4", "nested-4x49", "choose-8-of-30"]
    {
        assert!(name.parse::<Design>().unwrap().tables(64).is_err(), "{name}");
    }
}
