//! `fpquery --output`: the same answers in every format, and a file only after success.

use std::fs;
use std::path::Path;

use crate::support::{Place, fails, families, fpquery, json_lines, lines, stdout};

/// Returns the decompressed content of a file.
fn text(path: &Path) -> String {
    let bytes = fs::read(path).unwrap();
    let mut text = String::new();
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("gz") => {
            _ = std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(bytes.as_slice()), &mut text).unwrap();
        }
        Some("zst") => text = String::from_utf8(zstd::decode_all(bytes.as_slice()).unwrap()).unwrap(),
        _ => text = String::from_utf8(bytes).unwrap(),
    }
    text
}

#[test]
fn every_question_in_every_format() {
    let place = Place::new();
    let records = families(2000, 1);
    let store = place.store(&records);
    let input = place.file("queries.tsv", lines(&records[..300]));
    let questions: [&[&str]; 6] = [
        &[],
        &["--with-query-id"],
        &["--count"],
        &["--count", "--with-query-id"],
        &["--only", "new", "--not-self"],
        &["--nearest", "2"],
    ];
    for question in questions {
        let ask = |options: &[&str]| {
            let mut ask = fpquery();
            ask.args(question).args(options).arg("--input").arg(&input).arg(&store);
            ask
        };
        let (expected, objects) = (stdout(&mut ask(&[])), stdout(&mut ask(&["--json"])));
        assert!(expected.lines().count() >= 20 && json_lines(&objects).len() == expected.lines().count());
        for (name, expected) in [
            ("found.tsv", &expected),
            ("found.tsv.gz", &expected),
            ("found.ndjson", &objects),
            ("found.ndjson.zst", &objects),
        ] {
            let path = place.path(name);
            ask(&["--output", path.to_str().unwrap()]).assert().success().stdout("");
            assert!(text(&path) == *expected, "{question:?} {name}");
        }
    }
}

#[test]
fn a_directory_that_is_not_there_is_named() {
    let place = Place::new();
    let store = place.store(&families(20, 1));
    let nowhere = place.path("nowhere");
    let mut ask = fpquery();
    ask.arg("--output").arg(nowhere.join("found.tsv")).arg(&store).arg("0000000000000000");
    fails(&mut ask, &["--output", nowhere.to_str().unwrap(), "not found; make it first"]);
}

/// Read as input: the matches of a query column, and queries that are new.
#[cfg(feature = "parquet")]
#[test]
fn parquet_is_read_again() {
    let place = Place::new();
    let records = families(2000, 1);
    let store = place.store(&records[..1000]);
    let input = place.file("queries.tsv", lines(&records[1000..]));
    let ask = |options: &[&str], name: &str| {
        let path = place.path(name);
        let mut ask = fpquery();
        ask.args(options).arg("--output").arg(&path).arg("--input").arg(&input).arg(&store).assert().success();
        path
    };
    let unseen = ask(&["--only", "new"], "new.parquet");
    let new = place.path("new");
    crate::support::fpload().arg("--create").arg(&new).arg(&unseen).assert().success();
    let scanned = stdout(crate::support::fpdump().arg("scan").arg(&new));
    let mut expected: Vec<String> = text(&ask(&["--only", "new"], "new.tsv")).lines().map(str::to_owned).collect();
    expected.sort_by_key(|line| (line[..16].to_owned(), line[17..].parse::<u64>().unwrap()));
    assert_eq!(scanned.lines().collect::<Vec<_>>(), expected);

    let matches = ask(&["--with-query-id"], "matches.parquet");
    let again = place.path("again");
    let mut load = crate::support::fpload();
    load.args(["--create", "--fingerprint-column", "match"]).arg(&again).arg(&matches);
    load.assert().success();
    assert!(!stdout(crate::support::fpdump().arg("scan").arg(&again)).is_empty());

    // Some ids of queries are not numbers.
    let mixed = place.file("mixed.tsv", format!("{}{:016x}\tx\n", lines(&records[..5]), records[5].0));
    let mut bad = fpquery();
    bad.args(["--with-query-id", "--output"]).arg(place.path("bad.parquet")).arg("--input").arg(&mixed).arg(&store);
    fails(&mut bad, &["numbers and some are texts", ".tsv"]);
    assert!(!place.path("bad.parquet").exists());
}

#[test]
fn a_file_appears_when_all_is_answered() {
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    let (bad, good) = (place.file("bad.tsv", "0000000000000001\nno\n"), place.file("good.tsv", "0000000000000001\n"));
    let found = place.path("found.tsv");
    let ask = |input: &Path, output: &Path| {
        let mut ask = fpquery();
        ask.arg("--output").arg(output).arg("--input").arg(input).arg(&store);
        ask
    };
    fails(&mut ask(&bad, &found), &["line 2"]);
    assert!(!found.exists());
    fails(&mut ask(&good, &place.path("found.xls")), &["found.xls", "ending"]);
    fails(&mut ask(&good, &place.path("no/found.tsv")), &["no/found.tsv"]);
    ask(&good, &found).assert().code(0).stdout("");
    assert_eq!(text(&found), "0000000000000001\t0000000000000001\t0\t1\n");
    // No matches: an empty table.
    fpquery().arg("--output").arg(&found).arg(&store).arg("ffffffffffffffff").assert().code(1);
    assert_eq!(text(&found), "");
}
