//! `fpquery`: exit codes, warnings, statistics, and wrong use.

use crate::support::{Place, fails, families, fpquery, hex_lines, json_object};

#[test]
fn exit_codes() {
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    fpquery().arg(&store).arg("0000000000000001").assert().code(0);
    fpquery().arg(&store).arg("ffffffffffffffff").assert().code(1).stdout("").stderr("");
    fpquery().arg("--count").arg(&store).arg("ffffffffffffffff").assert().code(1).stdout("ffffffffffffffff\t0\n");
    fpquery().arg(&store).write_stdin("").assert().code(1);
    fpquery().arg(&store).args(["ffffffffffffffff", "0000000000000001"]).assert().code(0);
}

#[test]
fn a_distance_beyond_the_stores_is_answered_with_a_warning() {
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    let ask = |options: &[&str]| {
        let assert = fpquery().args(options).arg(&store).arg("0000000000000001").assert().success();
        String::from_utf8(assert.get_output().stderr.clone()).unwrap()
    };
    let warning = ask(&["-k", "4"]);
    assert!(warning.starts_with("fpquery: warning: distance 4 is beyond the 3"), "{warning}");
    assert_eq!(ask(&["-k", "3"]), "");
    assert_eq!(ask(&["-k", "64", "--quiet"]), "");
    assert_eq!(ask(&["-k", "64", "--scan"]), "");
    assert_eq!(ask(&["--nearest", "1"]), "");
}

#[test]
fn statistics() {
    let place = Place::new();
    let records = families(3000, 1);
    let store = place.store(&records);
    let queries = hex_lines(records.iter().map(|(fingerprint, _)| *fingerprint));
    let assert = fpquery().arg("--stats").arg(&store).write_stdin(queries.clone()).assert().success();
    let text = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    for part in ["queries", "3,000", "matches", "probes", "blocks read", "candidates", "p50", "p90", "p99", "max"] {
        assert!(text.contains(part), "no '{part}' in {text}");
    }
    let mut ask = fpquery();
    let assert = ask.args(["--stats", "--json", "--count"]).arg(&store).write_stdin(queries).assert().success();
    let report = json_object(&String::from_utf8(assert.get_output().stderr.clone()).unwrap());
    assert_eq!(report["queries"], 3000);
    for field in ["matches", "probes", "blocks_read", "candidates"] {
        assert!(report[field].as_u64().unwrap() >= 3000, "{field}: {report}");
    }
    let latency = &report["latency_us"];
    let times: Vec<f64> = ["p50", "p90", "p99", "max"].iter().map(|name| latency[name].as_f64().unwrap()).collect();
    assert!(times.is_sorted() && times[0] > 0.0, "{latency}");
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    let store = store.to_str().unwrap();
    let query = "0000000000000001";
    for (arguments, part) in [
        (vec![store, "-k", "65", query], "65"),
        (vec![store, "-k", "-1", query], "-1"),
        (vec![store, "--nearest", "0", query], "0"),
        (vec![store, "--first", "--count", query], "--count"),
        (vec![store, "--first", "--nearest", "2", query], "--nearest"),
        (vec![store, "--count", "--nearest", "2", query], "--nearest"),
        (vec![store, "--read", "dma", query], "dma"),
        (vec![store, "--input", "x", query], "--input"),
        (vec![store, "--format", "dec", query], "--format"),
        (vec![store, query, "123"], "query 2: expected 16"),
        (vec![store, "--input", "/no/such/file.tsv"], "/no/such/file.tsv"),
        (vec![store, "--input", store], "is a store"),
        (vec!["/no/such/store", query], "/no/such/store"),
        (vec![], "STORE"),
    ] {
        fails(fpquery().args(arguments), &[part]);
    }
}

#[test]
fn help_and_version() {
    for mut program in [crate::support::fpload(), fpquery(), crate::support::fpdump()] {
        let text = crate::support::stdout(program.arg("--help"));
        assert!(text.contains("Examples:\n"), "{text}");
    }
    assert!(crate::support::stdout(fpquery().arg("--version")).starts_with("fpquery "));
}
