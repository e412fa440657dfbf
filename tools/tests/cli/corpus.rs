//! `fpquery --corpus`: the same answers from a streamed file as from a store.

use std::fmt::Write as _;

use crate::support::{
    Pair, Place, Random, brute_force, brute_force_lines, fails, families, fpquery, hex_lines, json_lines, json_object,
    lines, nearest_lines, stdout,
};

/// Returns queries near records, and others; some of them twice.
fn queries(records: &[Pair]) -> Vec<u64> {
    let mut random = Random::new(2);
    let mut queries: Vec<u64> =
        records.iter().step_by(9).map(|(fingerprint, _)| random.flipped(*fingerprint, 5)).collect();
    queries.extend((0..20).map(|_| random.next()));
    queries.extend_from_within(..30);
    queries
}

/// Returns records, some of them twice.
fn records() -> Vec<Pair> {
    let mut records = families(3000, 1);
    records.extend_from_within(..500);
    records
}

#[test]
fn all_matches_in_order_whatever_the_way() {
    let place = Place::new();
    let records = records();
    let queries = queries(&records);
    let tsv = place.file("all.tsv", lines(&records));
    let zst = place.file("all.tsv.zst", zstd::encode_all(lines(&records).as_bytes(), 1).unwrap());
    let input = place.file("queries.hex", hex_lines(queries.iter().copied()));
    for k in [0, 1, 3, 6] {
        let expected = brute_force_lines(&records, &queries, k);
        let k = k.to_string();
        for options in [["--threads", "1"].as_slice(), &["--threads", "3"], &["--scan"], &["--memory", "64MiB"]] {
            let found = stdout(
                fpquery().args(["--distance", &k]).args(options).arg("--corpus").arg(&tsv).arg("--input").arg(&input),
            );
            assert!(found == expected, "k = {k}, {options:?}");
        }
        let piped =
            stdout(fpquery().args(["-k", &k, "--corpus", "-", "--input"]).arg(&input).write_stdin(lines(&records)));
        assert!(piped == expected, "standard input, k = {k}");
    }
    let expected = brute_force_lines(&records, &queries, 3);
    let found = stdout(fpquery().arg("--corpus").arg(&zst).write_stdin(hex_lines(queries.iter().copied())));
    assert!(found == expected, "compressed, at the distance of 3");
}

#[test]
fn counts_first_and_nearest() {
    let place = Place::new();
    let records = records();
    let queries = queries(&records);
    let corpus = place.file("all.tsv", lines(&records));
    let ask = |options: &[&str]| {
        stdout(fpquery().args(options).arg("--corpus").arg(&corpus).write_stdin(hex_lines(queries.iter().copied())))
    };
    let counts = queries.iter().fold(String::new(), |mut text, query| {
        writeln!(text, "{query:016x}\t{}", brute_force(&records, *query, 3).len()).unwrap();
        text
    });
    assert_eq!(ask(&["--count"]), counts);
    assert_eq!(ask(&["--count", "--scan"]), counts);
    for object in json_lines(&ask(&["--count", "--json"])) {
        let query = u64::from_str_radix(object["query"].as_str().unwrap(), 16).unwrap();
        assert_eq!(object["count"], brute_force(&records, query, 3).len());
    }
    let first = ask(&["--first"]);
    let mut found = first.lines();
    for query in &queries {
        // The earliest record of the file.
        let earliest = records.iter().find(|(fingerprint, _)| (fingerprint ^ query).count_ones() <= 3);
        let expected = earliest.map(|record| brute_force_lines(&[*record], &[*query], 3));
        let expected = expected.as_deref().map(str::trim_end);
        assert!(expected.is_none() || found.next() == expected);
    }
    assert_eq!(found.next(), None);
    assert_eq!(ask(&["--first", "--threads", "1"]), first);
    for (options, n, k) in [
        (["--nearest", "3"].as_slice(), 3, 64),
        (&["--nearest", "1", "--scan"], 1, 64),
        (&["--nearest", "2", "--distance", "4"], 2, 4),
        (&["--nearest", "2", "--distance", "4", "--scan"], 2, 4),
    ] {
        let expected: String = queries.iter().map(|query| nearest_lines(&records, *query, n, k)).collect();
        assert!(ask(options) == expected, "{options:?}");
    }
}

#[test]
fn all_are_near_at_the_greatest_distance() {
    let place = Place::new();
    let records = records();
    let corpus = place.file("all.tsv", lines(&records));
    let queries = [0, u64::MAX, 7];
    for options in [["--nearest", "1000000"].as_slice(), &["-k", "64"]] {
        let found = stdout(fpquery().args(options).arg("--corpus").arg(&corpus).write_stdin(hex_lines(queries)));
        assert!(found == brute_force_lines(&records, &queries, 64), "{options:?}");
    }
}

#[test]
fn records_without_ids_are_numbered_and_texts_stay_texts() {
    let place = Place::new();
    let numbers: Vec<u64> = families(2000, 3).into_iter().map(|(fingerprint, _)| fingerprint).collect();
    let numbered: Vec<Pair> = numbers.iter().copied().chain(numbers.iter().copied()).zip(0..).collect();
    let raw: Vec<u8> = numbered.iter().flat_map(|(fingerprint, _)| fingerprint.to_le_bytes()).collect();
    let queries = &numbers[..50];
    let corpus = place.file("all.u64", raw);
    let found = stdout(fpquery().arg("--corpus").arg(&corpus).write_stdin(hex_lines(queries.iter().copied())));
    assert_eq!(found, brute_force_lines(&numbered, queries, 3));

    let csv = "id,fp\n/b,0000000000000001\n/a,0000000000000001\n/a,0000000000000001\n12,0000000000000000\n";
    let corpus = place.file("all.csv", csv);
    let ask = |options: &[&str]| {
        stdout(fpquery().args(["--fingerprint-column", "fp", "--corpus"]).arg(&corpus).args(options))
    };
    let (query, match_) = ("0000000000000001", "0000000000000001\t0000000000000001\t0");
    let expected = format!("{match_}\t/a\n{match_}\t/b\n0000000000000001\t0000000000000000\t1\t12\n");
    assert_eq!(ask(&[query]), expected);
    assert_eq!(ask(&["--count", query]), format!("{query}\t3\n"));
    assert_eq!(ask(&["--first", query]), format!("{match_}\t/b\n"));
    let objects = json_lines(&ask(&["--json", "--with-query-id", "-k0", "ffffffffffffffff", query]));
    assert_eq!((&objects[0]["id"], &objects[0]["query_id"]), (&"/a".into(), &1.into()));
}

#[test]
fn wide_fingerprints() {
    let place = Place::new();
    let query = format!("{:032x}", 5);
    for (name, head) in [("all.hex", "#fpstore width=128\n"), ("all.tsv", "#fpstore width=128 hasher=native\n")] {
        let corpus = place.file(name, format!("{head}{:032x}\n{:032x}\n", 4, u128::MAX));
        let found = stdout(fpquery().arg("--corpus").arg(&corpus).arg(&query));
        assert_eq!(found, format!("{query}\t{:032x}\t1\t0\n", 4));
    }
    let corpus = place.file("all.u256", [[0_u8; 32], [255; 32]].concat());
    let query = format!("{}01", "ff".repeat(31));
    let found = stdout(fpquery().args(["-k", "31", "--corpus"]).arg(&corpus).arg(&query));
    assert_eq!(found, format!("{query}\t{}\t7\t1\n", "ff".repeat(32)));
    fails(fpquery().arg("--corpus").arg(&corpus).arg("0000000000000001"), &["query 1: expected 64"]);
}

#[test]
fn exit_codes_and_statistics() {
    let place = Place::new();
    let corpus = place.file("all.tsv", "0000000000000001\t7\n00000000000000ff\t8\n");
    let ask = |arguments: &[&str]| {
        let mut ask = fpquery();
        ask.arg("--corpus").arg(&corpus).args(arguments);
        ask
    };
    ask(&["0000000000000003"]).assert().code(0).stdout("0000000000000003\t0000000000000001\t1\t7\n").stderr("");
    ask(&["ffffffffffffffff"]).assert().code(1).stdout("").stderr("");
    ask(&["--count", "ffffffffffffffff"]).assert().code(1).stdout("ffffffffffffffff\t0\n");
    ask(&[]).write_stdin("").assert().code(1).stdout("");
    let empty = place.file("empty.tsv", "");
    fpquery().arg("--corpus").arg(&empty).arg("0000000000000001").assert().code(1);

    let assert = ask(&["--stats", "0000000000000003"]).assert().success();
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(["queries", "records", "plan", "candidates", "records/s"].iter().all(|part| text.contains(part)), "{text}");
    let assert = ask(&["--stats", "--json", "0000000000000003"]).assert().success();
    let report = json_object(&String::from_utf8(assert.get_output().stderr.clone()).unwrap());
    assert_eq!([&report["queries"], &report["matches"], &report["records"]], [1, 1, 2]);
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let good = place.file("good.tsv", "0000000000000001\t7\n");
    let bad = place.file("bad.tsv", "0000000000000001\t7\n1\n");
    let (good, bad) = (good.to_str().unwrap(), bad.to_str().unwrap());
    let query = "0000000000000001";
    for (arguments, part) in [
        (vec!["--corpus", bad, query], "bad.tsv: line 2"),
        (vec!["--corpus", "/no/such/file.tsv", query], "/no/such/file.tsv"),
        (vec!["--corpus", "/", query], "is a directory"),
        (vec!["--corpus", "-"], "only once"),
        (vec!["--corpus", good, query, "12"], "query 2: expected 16"),
        (vec!["--corpus", good, "--input", bad, query], "--input"),
        (vec!["--corpus", good, "--input", bad], "bad.tsv: line 2"),
        (vec!["--corpus", good, "-k", "65", query], "65"),
        (vec!["--corpus", good, "--read", "mmap", query], "--read"),
        (vec!["--corpus", good, "--filter", "on", query], "--filter"),
        (vec!["--corpus", good, "--memory", "1", query], "64MiB"),
    ] {
        fails(fpquery().args(arguments), &[part]);
    }
}

#[test]
fn matches_beyond_memory_are_an_error_that_says_what_helps() {
    let place = Place::new();
    let corpus = place.file("all.u64", vec![0; 8 * 4000]);
    let queries = hex_lines((0..1000).map(|_| 0));
    let ask = |options: &[&str]| {
        let mut ask = fpquery();
        ask.args(["--memory", "64MiB", "--corpus"]).arg(&corpus).args(options).write_stdin(queries.clone());
        ask
    };
    fails(&mut ask(&[]), &["1,000 queries", "--count", "--memory", "smaller --distance"]);
    assert_eq!(stdout(&mut ask(&["--count"])), "0000000000000000\t4000\n".repeat(1000));
    assert_eq!(stdout(&mut ask(&["--first"])), format!("{0}\t{0}\t0\t0\n", "0".repeat(16)).repeat(1000));
    let two: String = (0..2).map(|number| format!("{0}\t{0}\t0\t{number}\n", "0".repeat(16))).collect();
    assert_eq!(stdout(&mut ask(&["--nearest", "2"])), two.repeat(1000));
}

/// Files of raw integers and of hexadecimal digits without a header do not tell the width; an option or the queries do.
#[test]
fn the_width_of_a_corpus() {
    let place = Place::new();
    let lines = |values: &[u128]| {
        values.iter().zip(0..).fold(String::new(), |text, (value, id)| format!("{text}{value:032x}\t{id}\n"))
    };
    let corpus = place.file("wide.tsv", lines(&[1 << 100, 0xffff, u128::MAX]));
    let query = format!("{:032x}", (1u128 << 100) ^ 1);
    let expected = format!("{query}\t{:032x}\t1\t0\n", 1u128 << 100);
    assert_eq!(stdout(fpquery().args(["-k", "3", "--corpus"]).arg(&corpus).arg(&query)), expected);
    let ask = |options: &[&str]| {
        let mut ask = fpquery();
        ask.args(["-k", "3", "--corpus"]).arg(&corpus).args(options).write_stdin(format!("{query}\n"));
        ask
    };
    assert_eq!(stdout(&mut ask(&["--width", "128"])), expected);
    fails(&mut ask(&[]), &["line 1", "16 hexadecimal digits", "found 32"]);
    fails(&mut ask(&["--width", "96"]), &["--width", "96"]);
    let headed = place.file("headed.tsv", format!("#fpstore width=128\n{}", lines(&[5])));
    let text = format!("{:032x}\n", 4);
    let found = stdout(fpquery().arg("--corpus").arg(&headed).write_stdin(text));
    assert_eq!(found, format!("{:032x}\t{:032x}\t1\t0\n", 4, 5));
    fails(fpquery().args(["--width", "256", "--corpus"]).arg(&headed).write_stdin(""), &["headed.tsv", "128", "256"]);
    let store = place.store(&[(1, 1)]);
    fails(fpquery().args(["--width", "64"]).arg(store).arg("0000000000000001"), &["--corpus"]);
}

/// Half a million queries do not fit the least memory, and are refused before they take it.
#[test]
fn more_queries_than_the_memory_holds() {
    let place = Place::new();
    let corpus = place.file("all.tsv", lines(&records()));
    let queries = place.file("queries.hex", hex_lines(0..800_000));
    let ask = |memory: &str, options: &[&str]| {
        let mut ask = fpquery();
        ask.args(["-k", "1", "--count", "--memory", memory]).args(options).arg("--corpus").arg(&corpus);
        ask.arg("--input").arg(&queries);
        ask
    };
    for options in [&[][..], &["--scan"]] {
        fails(&mut ask("64MiB", options), &["do not fit", "--memory"]);
    }
    ask("1GiB", &[]).assert().code(1);
}
