//! The planner's predictions: predicted work beside measured work, and scans where they are cheaper.

use crate::points::every;
use crate::support::*;
use fpstore::plan::{Cost, Design, Goal, Skew, Timings, Workload, best, predict};
use fpstore::{Filters, Parameters, QueryStats, Records, Store};

/// One design of each kind: the others differ only in the number of tables.
const TRIED: [Design; 4] = [
    Design::Tables { parts: 1 },
    Design::Tables { parts: 2 },
    Design::Tables { parts: 3 },
    Design::Choose { chosen: 2, parts: 5 },
];

/// A store in memory, with filters or without.
fn store(values: &[u64], design: Design, filters: Filters) -> Store {
    let fixture = Fixture::new(fpstore::ReadMode::Mmap);
    let options = fixture.options.with_filters(filters);
    let parameters = Parameters::new(3).with_design(design);
    <Store>::create_loaded("store", &parameters, &options, Records::Numbered(values.to_vec())).unwrap().0
}

fn workload(fingerprints: u64, filter: bool) -> Workload {
    Workload { fingerprints, width: 64, distance: 3, block_size: Parameters::BLOCK_SIZE, filter }
}

/// Stored values with 0 to 3 flips; independent of the planner's own sample.
fn near(values: &[u64], count: usize, seed: u64) -> Vec<u64> {
    let mut random = Random(seed);
    let query = |_| {
        let stored = values[random.below(values.len() as u64) as usize];
        let flips = random.below(4) as u32;
        random.flip(stored, flips)
    };
    (0..count).map(query).collect()
}

/// Real fingerprints and others that differ from them in one to six bits: at least 200,000 distinct ones in families.
fn real_like() -> Vec<u64> {
    let mut random = Random(77);
    let real = real();
    let mut values: Vec<u64> = real.clone();
    for _ in 0..3 {
        values.extend(real.iter().map(|&value| {
            let flips = 1 + random.below(6) as u32;
            random.flip(value, flips)
        }));
    }
    values.sort_unstable();
    values.dedup();
    assert!(values.len() > 200_000, "{}", values.len());
    values
}

/// Work of one query on average.
fn measure(store: &Store, queries: &[u64], k: u32) -> [f64; 3] {
    let mut searcher = store.searcher();
    queries.iter().for_each(|&query| _ = searcher.query(query, k).unwrap());
    let QueryStats { probes, blocks, candidates, .. } = searcher.stats();
    [probes, blocks, candidates].map(|total| total as f64 / queries.len() as f64)
}

/// Requires that prediction and measurement differ by no more than a factor.
fn agree(predicted: &Cost, measured: [f64; 3], factor: f64, label: &str) {
    let Cost { probes, blocks, candidates, .. } = *predicted;
    let all = ["probes", "blocks", "candidates"].into_iter().zip([probes, blocks, candidates]).zip(measured);
    for ((name, predicted), measured) in all {
        assert!(
            (measured / factor..=measured * factor).contains(&predicted),
            "{label}: {predicted:.2} {name} predicted, {measured:.2} measured"
        );
    }
}

fn agree_on_data(values: &[u64], designs: &[Design], filters: &[bool], factor: f64, label: &str) {
    let skew = Skew::new(values.to_vec());
    let queries = near(values, 1000, 5);
    // A short run takes one of the designs, with filters or without.
    let cases = designs.iter().flat_map(|design| filters.iter().map(move |filter| (*design, *filter)));
    let share = cases.clone().count() as u64;
    for (design, filter) in every(share, cases) {
        let store = store(values, design, if filter { Filters::AtOpen } else { Filters::Off });
        let cost = skew.predict(design, &workload(skew.fingerprints(), filter)).unwrap();
        let label = format!("{label} {design} {}", if filter { "filtered" } else { "plain" });
        agree(&cost, measure(&store, &queries, 3), factor, &label);
        let bytes: u64 = store.statistics().tables.iter().map(|t| t.data_bytes + t.index_bytes + t.code_bytes).sum();
        let ratio = cost.disk_bytes / bytes as f64;
        assert!((0.8..1.25).contains(&ratio), "{label}: {ratio} of {bytes} bytes");
        assert_eq!(cost.filter_bytes as u64, store.filter_bytes());
    }
}

#[test]
fn the_prediction_holds_on_uniform_data() {
    agree_on_data(&uniform(1_000_000, 21), &TRIED, &[true, false], 1.5, "uniform");
}

#[test]
fn the_prediction_holds_on_real_data() {
    agree_on_data(&real(), &DESIGNS, &[false], 2.5, "real");
    agree_on_data(&real_like(), &TRIED, &[true, false], 2.5, "real-like");
}

#[test]
fn without_data_the_prediction_is_for_even_fingerprints_and_queries() {
    let values = uniform(1_000_000, 22);
    let queries = uniform(1000, 23);
    for (design, filter) in every(8, TRIED.into_iter().flat_map(|design| [(design, true), (design, false)])) {
        let store = store(&values, design, if filter { Filters::AtOpen } else { Filters::Off });
        let cost = predict(design, &workload(1_000_000, filter)).unwrap();
        agree(&cost, measure(&store, &queries, 3), 1.5, &format!("{design} {filter}"));
    }
}

#[test]
fn the_design_that_is_recommended_is_the_best_of_all() {
    let skewed = || uniform(200_000, 30).into_iter().map(|value| value & 0x0000_0fff_ffff_ffff).collect();
    let uniform = || uniform(200_000, 31);
    let data = [("uniform", uniform as fn() -> Vec<u64>), ("real", real), ("like", real_like), ("skewed", skewed)];
    let ways = [(false, true), (true, false), (false, false), (true, true)];
    let cases = data.into_iter().flat_map(|data| ways.map(|way| (data, way)));
    // A short run takes one of the data, with one size and filters or without.
    for ((name, values), (has_grown, filter)) in every(16, cases) {
        let skew = Skew::new(values());
        let workload = workload(if has_grown { 20_000_000 } else { skew.fingerprints() }, filter);
        let costs = Design::LISTED.map(|design| (design, skew.predict(design, &workload).unwrap()));
        for goal in [Goal::Balanced, Goal::Space, Goal::Latency, Goal::Disk] {
            let recommended = skew.recommend(goal, &workload).unwrap();
            assert_eq!(Some(recommended), best(goal, &costs), "{name} {workload:?} {goal:?}");
        }
    }
}

#[test]
fn a_store_that_has_grown_is_predicted_from_its_beginning() {
    // Drops whole families from the beginning: the members of a family share the unflipped bits.
    let all = real_like();
    let beginning: Vec<u64> = all.chunks(64).step_by(4).flatten().copied().collect();
    let skew = Skew::new(beginning);
    let n = all.len() as u64;
    let queries = near(&all, 1000, 6);
    for filter in every(2, [true, false]) {
        let design = Design::Tables { parts: 2 };
        let store = store(&all, design, if filter { Filters::AtOpen } else { Filters::Off });
        let cost = skew.predict(design, &workload(n, filter)).unwrap();
        agree(&cost, measure(&store, &queries, 3), 2.5, &format!("grown {filter}"));
    }
}

#[test]
fn a_scan_where_it_is_cheaper() {
    let n = 100_000;
    let values = uniform(n as usize, 24);
    let Timings { filter, place, block, key, next_block, .. } = Timings::IN_USE;
    for design in [Design::Tables { parts: 1 }, Design::Tables { parts: 2 }, Design::Tables { parts: 4 }] {
        for filters in [Filters::AtOpen, Filters::Off] {
            let store = store(&values, design, filters);
            let blocks = store.statistics().tables[0].blocks as f64;
            let scan = blocks * next_block + n as f64 * key;
            let mut scanned = false;
            for k in 0..=24 {
                let mut searcher = store.searcher();
                let queries = near(&values, 3, u64::from(k));
                queries.iter().for_each(|&query| _ = searcher.query(query, k).unwrap());
                let work = searcher.stats();
                let label = format!("{design} {filters:?} {k}: {work:?}");
                assert!(work.scans == 0 || work.scans == 3, "{label}");
                assert!(work.scans == 3 || !scanned, "a scan is cheaper at a smaller distance only: {label}");
                scanned = work.scans == 3;
                if scanned {
                    assert_eq!((work.probes, work.candidates), (0, 3 * n), "{label}");
                    continue;
                }
                // The measured work, in the planner's own units, costs no more than a scan.
                let asked = if filters == Filters::Off { 0.0 } else { work.probes as f64 * filter };
                let rest =
                    work.index_lookups as f64 * place + work.blocks as f64 * block + work.candidates as f64 * key;
                assert!(asked + rest <= 3.0 * scan * 1.25, "{label}");
            }
            assert!(scanned, "{design}: probing at distance 24");
            let mut searcher = store.searcher();
            searcher.query(values[7], 3).unwrap();
            assert_eq!(searcher.stats().scans, 0, "{design}");
            assert!(searcher.stats().candidates < n / 4, "{design}");
            // The planner predicts the same.
            let workload = |distance| Workload { distance, ..workload(n, filters != Filters::Off) };
            assert!(predict(design, &workload(20)).unwrap().scan && !predict(design, &workload(3)).unwrap().scan);
        }
    }
}
