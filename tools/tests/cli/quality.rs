//! `--quality-column` and `--min-quality`: image hashes that are too poor to be compared.

use crate::support::{Place, fails, fpdump, fpload, fpquery, json_object, stdout};

const CSV: &str = "id,quality,fingerprint\n1,100,0000000000000001\n2,49,0000000000000002\n3,50.0,0000000000000003\n";
const TAKEN: &str = "0000000000000001\t1\n0000000000000003\t3\n";
const OPTIONS: [&str; 4] = ["--quality-column", "quality", "--min-quality", "50"];

fn json() -> String {
    CSV.lines().skip(1).fold(String::new(), |text, row| {
        let [id, quality, hex] = row.split(',').collect::<Vec<&str>>()[..] else { panic!("{row}") };
        text + &format!("{{\"id\":{id},\"quality\":{quality},\"fingerprint\":\"{hex}\"}}\n")
    })
}

#[test]
fn records_below_are_passed_over_and_counted() {
    let place = Place::new();
    for (name, content) in [("a.csv", CSV.to_owned()), ("a.ndjson", json())] {
        let (store, input) = (place.path(&format!("{name}.store")), place.file(name, content));
        let load = |options: &[&str]| {
            let mut load = fpload();
            load.args(options).args(OPTIONS).arg(&store).arg(&input);
            load
        };
        let dry = load(&["--create", "--dry-run"]).assert().success();
        let told = String::from_utf8(dry.get_output().stderr.clone()).unwrap();
        assert!(told.contains("2 records with ids, sound") && told.contains("passed over 1 record"), "{told}");
        let report = json_object(&stdout(load(&["--create"]).arg("--json")));
        assert_eq!((&report["records"], &report["below_quality"]), (&2.into(), &1.into()), "{report}");
        assert_eq!(stdout(fpdump().arg("scan").arg(&store)), TAKEN);
        let told = load(&[]).assert().success();
        let told = String::from_utf8(told.get_output().stderr.clone()).unwrap();
        assert!(told.contains(&format!("{name}: passed over 1 record below --min-quality 50")), "{told}");
    }
}

#[test]
fn what_is_refused() {
    let place = Place::new();
    let load = |name: &str, content: &str, options: &[&str]| {
        let mut load = fpload();
        load.arg("--create").args(options).arg(place.path("new")).arg(place.file(name, content));
        load
    };
    let empty = CSV.replace("100", "");
    fails(&mut load("a.csv", &empty, &OPTIONS), &["a.csv: line 2", "there is no quality in \"quality\""]);
    fails(&mut load("a.csv", &CSV.replace("100", "good"), &OPTIONS), &["a.csv: line 2", "'good'"]);
    let absent = json().replacen("\"quality\":100,", "", 1);
    fails(&mut load("a.ndjson", &absent, &OPTIONS), &["a.ndjson: line 1", "there is no quality in \"quality\""]);
    fails(&mut load("a.ndjson", &json().replace("100", "\"x\""), &OPTIONS), &["a.ndjson: line 1", "not a number"]);
    let other = ["--quality-column", "q", "--min-quality", "50"];
    fails(&mut load("a.csv", CSV, &other), &["no column \"q\"; the columns are 'id', 'quality', 'fingerprint'"]);
    fails(&mut load("a.hex", "0000000000000001\n", &OPTIONS), &["a.hex", "this input has no columns"]);
    fails(&mut load("a.csv", CSV, &["--min-quality", "50"]), &["--quality-column"]);
    assert!(!place.path("new").exists());
}

#[test]
fn queries_are_passed_over_as_well() {
    let place = Place::new();
    let (store, queries) = (place.path("store"), place.file("queries.csv", CSV));
    fpload().args(["--create", "--quiet"]).args(OPTIONS).arg(&store).arg(&queries).assert().success();
    let mut ask = fpquery();
    ask.args(["--distance", "0", "--input"]).arg(&queries).args(OPTIONS).arg(&store);
    let output = ask.assert().success().get_output().clone();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(
        told.ends_with("queries.csv: passed over 1 record below --min-quality 50\n") && told.lines().count() == 1,
        "{told}"
    );
}
