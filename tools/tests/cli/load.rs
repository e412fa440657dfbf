//! `fpload`: creating, adding, counting, and the report.

use crate::support::{
    Place, brute_force_lines, contents, families, fpload, fpquery, hex_lines, json_object, lines, stdout,
};

#[test]
fn a_store_is_a_set() {
    let place = Place::new();
    let store = place.path("store");
    let first = "0000000000000001\t1\n0000000000000001\t2\n0000000000000001\t1\n";
    let report = stdout(fpload().args(["--create", "--json"]).arg(&store).arg("-").write_stdin(first));
    let report = json_object(&report);
    assert_eq!(report["created"], true);
    assert_eq!(report["dry_run"], false);
    assert_eq!((&report["records"], &report["already_present"]), (&3.into(), &1.into()), "{report}");
    assert_eq!((&report["store_records"], &report["fingerprints"]), (&2.into(), &1.into()), "{report}");

    let second = "0000000000000001\t2\n0000000000000002\t1\n";
    let report = json_object(&stdout(fpload().arg("--json").arg(&store).arg("-").write_stdin(second)));
    assert_eq!(report["created"], false);
    assert_eq!((&report["records"], &report["already_present"]), (&2.into(), &1.into()), "{report}");
    assert_eq!(report["store_records"], 3, "{report}");
    let expected = "0000000000000001\t0000000000000001\t0\t1\n0000000000000001\t0000000000000001\t0\t2\n";
    assert_eq!(stdout(fpquery().args(["-k", "0"]).arg(&store).arg("0000000000000001")), expected);
}

#[test]
fn numbers_go_on_from_load_to_load() {
    let place = Place::new();
    let store = place.path("store");
    fpload().arg("--create").arg(&store).arg("-").write_stdin(hex_lines([5, 5, 9])).assert().success();
    fpload().arg(&store).arg("-").write_stdin(hex_lines([9, 12])).assert().success();
    let expected = "5\t0\n5\t1\n9\t2\n9\t3\n12\t4\n";
    let found = stdout(fpquery().args(["-k", "0"]).arg(&store).write_stdin(hex_lines([5, 9, 12])));
    let found: String = found
        .lines()
        .map(|line| {
            let columns: Vec<_> = line.split('\t').collect();
            format!("{}\t{}\n", u64::from_str_radix(columns[1], 16).unwrap(), columns[3])
        })
        .collect();
    assert_eq!(found, expected);
}

#[test]
fn several_loads_answer_as_one() {
    let place = Place::new();
    let records = families(3000, 5);
    let store = place.store(&records[..1000]);
    for part in [&records[1000..1001], &records[1001..3000], &records[500..1500]] {
        fpload().arg(&store).arg("-").write_stdin(lines(part)).assert().success();
    }
    let queries: Vec<u64> = records.iter().step_by(3).map(|(fingerprint, _)| fingerprint ^ 4).collect();
    let mut ask = fpquery();
    ask.arg(&store).write_stdin(hex_lines(queries.iter().copied()));
    assert_eq!(stdout(&mut ask), brute_force_lines(&records, &queries, 3));
}

#[test]
fn empty_stores_and_empty_inputs_are_legal() {
    let place = Place::new();
    let store = place.path("store");
    let report = json_object(&stdout(fpload().args(["--create", "--json"]).arg(&store)));
    assert_eq!((&report["records"], &report["store_records"]), (&0.into(), &0.into()));
    fpload().arg(&store).arg("-").write_stdin("").assert().success();
    fpquery().arg(&store).arg("0000000000000001").assert().code(1).stdout("");
    fpload().arg(&store).arg("-").write_stdin("0000000000000001\t7\n").assert().success();
    fpquery().arg(&store).arg("0000000000000001").assert().success();

    let other = place.path("other");
    fpload().arg("--create").arg(&other).arg("-").write_stdin("# nothing\n").assert().success();
    fpquery().args(["--nearest", "3"]).arg(&other).arg("0000000000000001").assert().code(1).stdout("");
}

#[test]
fn a_dry_run_writes_nothing() {
    let place = Place::new();
    let input = place.file("a.tsv", lines(&families(100, 6)));
    let new = place.path("new");
    let assert = fpload().args(["--create", "--dry-run"]).arg(&new).arg(&input).assert().success().stdout("");
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(message.contains("100 records with ids") && message.contains("would be created"), "{message}");
    assert!(!new.exists());

    let store = place.store(&families(10, 7));
    let before = contents(&store);
    let report = json_object(&stdout(fpload().args(["--dry-run", "--json"]).arg(&store).arg(&input)));
    assert_eq!((&report["dry_run"], &report["records"]), (&true.into(), &100.into()));
    assert!(report.get("already_present").is_none(), "{report}");
    assert_eq!(contents(&store), before);
}

#[test]
fn the_summary_is_for_people_and_goes_to_standard_error() {
    let place = Place::new();
    let input = place.file("a.tsv", lines(&families(1234, 8)));
    let assert = fpload().arg("--create").arg(place.path("a")).arg(&input).assert().success().stdout("");
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    for part in ["1,234 records", "0 already present", "distinct fingerprints", "KiB", "information bound", "a second"]
    {
        assert!(message.contains(part), "no '{part}' in {message}");
    }
    fpload().args(["--create", "--quiet"]).arg(place.path("b")).arg(&input).assert().success().stdout("").stderr("");
}

#[test]
fn every_figure_of_the_summary_is_in_the_json() {
    let place = Place::new();
    let mut load = fpload();
    load.args(["--create", "--json", "--plan", "tables-2", "--codec", "xor", "--block-size", "1KiB"]);
    load.args(["--max-distance", "4", "--width", "64", "--ids", "u64", "--threads", "1"]);
    load.arg(place.path("store")).arg("-").write_stdin(lines(&families(1000, 9)));
    let report = json_object(&stdout(&mut load));
    assert_eq!(report["plan"], "tables-2");
    assert_eq!(report["codec"], "xor");
    assert_eq!(report["block_size"], 1024);
    assert_eq!(report["max_distance"], 4);
    assert!(report["seconds"].as_f64().unwrap() > 0.0 && report["records_per_second"].as_f64().unwrap() > 0.0);
    assert!(report["file_bytes"].as_u64().unwrap() > 1000);
    let tables = report["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 2);
    for table in tables {
        assert!(
            table["bits_per_fingerprint"].as_f64().unwrap() > table["information_bound_bits"].as_f64().unwrap() / 4.0
        );
    }
}
