//! `fpquery`: every kind of query, compared with brute force to the last byte.

use std::path::PathBuf;

use crate::points::points;
use crate::support::{
    Pair, Place, Random, brute_force, brute_force_lines, families, fpquery, hex_lines, json_lines, nearest_lines,
    stdout,
};

struct Case {
    _place: Place,
    store: PathBuf,
    records: Vec<Pair>,
    queries: Vec<u64>,
}

fn case() -> Case {
    let place = Place::new();
    let records = families(4000, 1);
    let store = place.store(&records);
    let mut random = Random::new(2);
    let near = records.iter().step_by(7).map(|(fingerprint, _)| *fingerprint).collect::<Vec<_>>();
    let mut queries: Vec<u64> = near.into_iter().map(|fingerprint| random.flipped(fingerprint, 5)).collect();
    queries.extend((0..20).map(|_| random.next()));
    queries.extend([0, u64::MAX]);
    Case { _place: place, store, records, queries }
}

impl Case {
    fn ask(&self, options: &[&str]) -> String {
        stdout(fpquery().args(options).arg(&self.store).write_stdin(hex_lines(self.queries.iter().copied())))
    }
}

#[test]
fn all_matches_in_order_whatever_the_way() {
    let case = case();
    for k in 0..=5 {
        let expected = brute_force_lines(&case.records, &case.queries, k);
        let k = k.to_string();
        for options in [
            ["--threads", "1"].as_slice(),
            &["--threads", "4"],
            &["--read", "pread"],
            &["--read", "pread", "--page-cache", "0"],
            &["--read", "pread", "--page-cache", "64KiB"],
            &["--read", "mmap", "--scan"],
            &["--quiet"],
        ] {
            let found = case.ask(&[&["--distance", &k], options].concat());
            assert!(found == expected, "k = {k}, {options:?}");
        }
    }
}

#[test]
fn counts() {
    let case = case();
    let expected: String = case
        .queries
        .iter()
        .map(|query| format!("{query:016x}\t{}\n", brute_force(&case.records, *query, 3).len()))
        .collect();
    assert_eq!(case.ask(&["--count"]), expected);
    assert_eq!(case.ask(&["--count", "--scan", "-k3"]), expected);
    let objects = json_lines(&case.ask(&["--count", "--json"]));
    for (object, query) in objects.iter().zip(&case.queries) {
        assert_eq!(object["query"], format!("{query:016x}"));
        assert_eq!(object["count"], brute_force(&case.records, *query, 3).len());
    }
    assert_eq!(objects.len(), case.queries.len());
}

#[test]
fn any_one_match() {
    let case = case();
    for options in [["--first"].as_slice(), &["--first", "--scan"], &["--first", "-k", "1"]] {
        let k = if options.contains(&"-k") { 1 } else { 3 };
        let found = case.ask(options);
        let mut lines = found.lines();
        for query in &case.queries {
            let all = brute_force_lines(&case.records, &[*query], k);
            if !all.is_empty() {
                let line = lines.next().unwrap();
                assert!(all.lines().any(|match_line| match_line == line), "{line}");
            }
        }
        assert_eq!(lines.next(), None);
    }
}

#[test]
fn the_nearest() {
    let case = case();
    for (options, n, k) in [
        (["--nearest", "3"].as_slice(), 3, 64),
        (&["--nearest", "1"], 1, 64),
        (&["--nearest", "5", "--scan"], 5, 64),
        (&["--nearest", "2", "--distance", "2"], 2, 2),
        (&["--nearest", "2", "--distance", "2", "--scan"], 2, 2),
    ] {
        let expected: String = case.queries.iter().map(|query| nearest_lines(&case.records, *query, n, k)).collect();
        assert_eq!(case.ask(options), expected, "{options:?}");
    }
    let queries: Vec<u64> = points(case.queries.iter().copied()).collect();
    let mut ask = fpquery();
    let all = stdout(ask.args(["--nearest", "1000000"]).arg(&case.store).write_stdin(hex_lines(queries.clone())));
    assert_eq!(all.lines().count(), case.records.len() * queries.len());
}

#[test]
fn ids_of_queries() {
    let place = Place::new();
    let store = place.store(&[(1, 10), (2, 20)]);
    let numbered = stdout(fpquery().args(["--with-query-id", "-k0"]).arg(&store).write_stdin(hex_lines([2, 9, 1])));
    assert_eq!(
        numbered,
        "0\t0000000000000002\t0000000000000002\t0\t20\n2\t0000000000000001\t0000000000000001\t0\t10\n"
    );
    let own = place.file("q.tsv", "0000000000000002\t77\n0000000000000001\t5\n");
    let named = stdout(fpquery().args(["--with-query-id", "-k0", "--input"]).arg(&own).arg(&store));
    assert_eq!(named, "77\t0000000000000002\t0000000000000002\t0\t20\n5\t0000000000000001\t0000000000000001\t0\t10\n");
    let counted = stdout(fpquery().args(["--with-query-id", "--count", "-k0", "--input"]).arg(&own).arg(&store));
    assert_eq!(counted, "77\t0000000000000002\t1\n5\t0000000000000001\t1\n");
    let without = stdout(fpquery().args(["-k0", "--input"]).arg(&own).arg(&store));
    assert!(without.starts_with("0000000000000002\t0000000000000002\t0\t20\n"), "{without}");
}

#[test]
fn objects_for_programs() {
    let case = case();
    let objects = json_lines(&case.ask(&["--json", "--with-query-id"]));
    let expected = case.queries.iter().zip(0..).flat_map(|(query, number)| {
        brute_force(&case.records, *query, 3).into_iter().map(move |(distance, fingerprint, id)| {
            serde_json::json!({
                "schema_version": 1, "query": format!("{query:016x}"), "match": format!("{fingerprint:016x}"),
                "distance": distance, "id": id, "query_id": number
            })
        })
    });
    assert_eq!(objects, expected.collect::<Vec<_>>());
}

#[test]
fn queries_on_the_command_line() {
    let place = Place::new();
    let records = [(0xff, 1), (0xfe, 2)];
    let store = place.store(&records);
    let found = stdout(fpquery().arg(&store).args(["00000000000000ff", "0X00000000000000FE", "0123456789abcdef"]));
    assert_eq!(found, brute_force_lines(&records, &[0xff, 0xfe], 3));
}
