//! `fpquery --batch`: merging the queries with the store does not change the output.

use crate::points::every;
use crate::support::{Place, Random, brute_force_lines, fails, families, fpquery, hex_lines, json_object, stdout};

#[test]
fn the_modes_write_the_same() {
    let place = Place::new();
    let records = families(20_000, 1);
    let store = place.store(&records);
    let mut random = Random::new(3);
    let mut queries: Vec<u64> =
        records.iter().step_by(2).map(|(fingerprint, _)| random.flipped(*fingerprint, 3)).collect();
    queries.extend((0..1000).map(|_| random.next()));
    let file = place.file("q.tsv", hex_lines(queries.iter().copied()));
    let ask = |mode: &str, options: &[&str]| {
        stdout(fpquery().args(["--batch", mode]).args(options).arg("--input").arg(&file).arg(&store))
    };
    assert!(ask("always", &[]) == brute_force_lines(&records, &queries, 3));
    let all: [&[&str]; 5] = [
        &[],
        &["--count"],
        &["--with-query-id"],
        &["--json", "--distance", "2"],
        &["--threads", "1", "--read", "pread"],
    ];
    for options in every(3, all) {
        let never = ask("never", options);
        assert!(!never.is_empty());
        for mode in ["auto", "always"] {
            assert!(ask(mode, options) == never, "{mode} {options:?}");
        }
        let piped = stdout(
            fpquery().args(["--batch", "always"]).args(options).arg(&store).write_stdin(std::fs::read(&file).unwrap()),
        );
        assert!(piped == never, "{options:?}");
    }
}

#[test]
fn statistics_tell_what_was_merged() {
    let place = Place::new();
    let records = families(20_000, 1);
    let store = place.store(&records);
    let file = place.file("q.tsv", hex_lines(records.iter().map(|(fingerprint, _)| *fingerprint)));
    for (mode, merged) in [("always", 1), ("auto", 1), ("never", 0)] {
        let mut ask = fpquery();
        ask.args(["--stats", "--json", "--count", "--batch", mode, "--input"]).arg(&file).arg(&store);
        let report = json_object(&String::from_utf8(ask.assert().success().get_output().stderr.clone()).unwrap());
        assert_eq!(
            (&report["segments_merged"], &report["queries"]),
            (&merged.into(), &20_000.into()),
            "{mode}: {report}"
        );
        assert!(report["matches"].as_u64().unwrap() >= 20_000);
        let text = fpquery().args(["--stats", "--batch", mode, "--input"]).arg(&file).arg(&store).assert().success();
        assert!(String::from_utf8_lossy(&text.get_output().stderr).contains("segments merged"));
    }
}

#[test]
fn answers_before_a_bad_line_are_given() {
    let place = Place::new();
    let records = [(1, 10), (2, 20)];
    let store = place.store(&records);
    let file = place.file("q.tsv", format!("{}no\n{}", hex_lines([1, 2]), hex_lines([1])));
    let assert = fpquery().args(["--batch", "always", "--input"]).arg(&file).arg(&store).assert().code(2);
    assert_eq!(String::from_utf8_lossy(&assert.get_output().stdout), brute_force_lines(&records, &[1, 2], 3));
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("line 3"));
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    let query = "0000000000000001";
    for other in [&["--first"][..], &["--nearest", "2"], &["--scan"]] {
        fails(fpquery().args(["--batch", "always"]).args(other).arg(&store).arg(query), &["--batch always", other[0]]);
        for mode in ["auto", "never"] {
            fpquery().args(["--batch", mode]).args(other).arg(&store).arg(query).assert().success();
        }
    }
    fails(fpquery().args(["--batch", "often"]).arg(&store).arg(query), &["often"]);
    fails(fpquery().args(["--batch", "always", "--corpus", "x.u64", query]), &["--corpus"]);
}
