//! `fpload --replace`: the old fingerprints of a changed page are removed.

use crate::support::{Place, contents, fails, fpdump, fpload, fpquery, json_object, stdout};
use crate::wide::{Kind, Sort, fails_unchanged};

#[test]
fn pages_that_changed_leave_their_old_fingerprints() {
    for (kind, index) in [(Kind::Text, true), (Kind::Text, false), (Kind::U64, true), (Kind::U64, false)] {
        let place = Place::new();
        let store = place.path("store");
        let id = |n: u64| if matches!(kind, Kind::Text) { format!("https://example.org/{n}") } else { n.to_string() };
        let line = |fingerprint: u64, n: u64| format!("{fingerprint:016x}\t{}\n", id(n));
        let mut create = fpload();
        create.args(["--create", "--ids", if matches!(kind, Kind::Text) { "text" } else { "u64" }]);
        if index {
            create.arg("--id-index");
        }
        let old: String = (0..500).map(|n| line(n << 32, n)).collect();
        create.arg(&store).arg("-").write_stdin(old).assert().success();

        // The same fingerprint, another, two others, a new id; each in some order.
        let crawled = [line(7, 9000), line(1 << 32, 1), line(8, 2), line(9, 3), line(10, 3), line(8, 2)].concat();
        let mut load = fpload();
        load.args(["--replace", "--json"]).arg(&store).arg("-").write_stdin(crawled.clone());
        let assert = load.assert().success();
        let report = json_object(std::str::from_utf8(&assert.get_output().stdout).unwrap());
        let found = ["records", "already_present", "removed", "store_records"].map(|key| report[key].as_u64().unwrap());
        assert_eq!(found, [6, 2, 2, 502]);
        let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
        assert!(message.contains("warning: 1 record of an id with several fingerprints"), "{message}");
        let mut expected: Vec<String> = (0..500).filter(|n| *n != 2 && *n != 3).map(|n| line(n << 32, n)).collect();
        expected.extend([line(7, 9000), line(8, 2), line(9, 3), line(10, 3)]);
        expected.sort_unstable();
        let scan = || {
            fpdump().arg("verify").arg(&store).assert().success();
            let text = stdout(fpdump().arg("scan").arg(&store));
            text.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect::<Vec<_>>()
        };
        assert_eq!(scan(), expected);
        fpquery().args(["-k0"]).arg(&store).arg("0000000200000000").assert().code(1).stdout("");

        // Again, with compaction: only the number of segments changes.
        let mut load = fpload();
        load.args(["--replace", "--compact", "--quiet"]).arg(&store).arg("-").write_stdin(crawled).assert().success();
        assert_eq!(scan(), expected);
        let stats = json_object(&stdout(fpdump().args(["stats", "--json"]).arg(&store)));
        assert_eq!((&stats["segments"], &stats["records"]), (&1.into(), &502.into()));
    }
}

#[test]
fn an_empty_store_and_wide_fingerprints() {
    for sort in [Sort::new(128, Kind::Text), Sort::new(256, Kind::U64)] {
        let place = Place::new();
        let records = sort.families(90, 3);
        let store = sort.store(&place, "store", &[]);
        for _ in 0..2 {
            fpload().arg("--replace").arg(&store).arg("-").write_stdin(sort.lines(&records)).assert().success();
            assert_eq!(stdout(fpdump().arg("scan").arg(&store)), sort.scan(&records), "{sort:?}");
        }
    }
}

#[test]
fn documents_are_replaced_by_their_ids() {
    let place = Place::new();
    let store = place.path("store");
    let document = |id: &str, text: &str| format!("{{\"id\":\"{id}\",\"text\":\"{text}\"}}\n");
    let first = place.file("first.ndjson", document("a", "one two three") + &document("b", "four five six"));
    let second = place.file("second.ndjson", document("a", "seven eight nine") + &document("b", "four five six"));
    fpload().args(["--create", "--text"]).arg(&store).arg(&first).assert().success();
    let mut load = fpload();
    load.args(["--replace", "--text", "--json"]).arg(&store).arg(&second);
    let report = json_object(&stdout(&mut load));
    let found = ["already_present", "removed", "store_records"].map(|key| report[key].as_u64().unwrap());
    assert_eq!(found, [1, 1, 2]);
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let own = place.path("own");
    fpload().arg("--create").arg(&own).arg("-").write_stdin("0000000000000001\n").assert().success();
    let good = place.file("good.tsv", "0000000000000002\t7\n");
    fails_unchanged(&own, fpload().arg("--replace").arg(&own).arg(&good), &["numbers its records itself"]);
    let store = place.store(&[(1, 7)]);
    let bare = place.file("bare.hex", "0000000000000002\n");
    fails_unchanged(&store, fpload().arg("--replace").arg(&store).arg(&bare), &["no ids", "by the ids"]);
    let bad = place.file("bad.tsv", "0000000000000002\t7\nx\t8\n");
    fails_unchanged(&store, fpload().arg("--replace").arg(&store).arg(&bad), &["bad.tsv: line 2"]);
    fails_unchanged(&store, fpload().arg("--replace").arg(&store), &["no INPUT"]);
    fails(fpload().args(["--replace", "--create"]).arg(place.path("new")).arg(&good), &["--create"]);
    fails(fpload().args(["--replace", "--remove"]).arg(&store).arg(&good), &["--remove"]);
    let counts = place.path("counts");
    fpload().args(["--create", "--ids", "none"]).arg(&counts).arg("-").write_stdin("").assert().success();
    fails_unchanged(&counts, fpload().arg("--replace").arg(&counts).arg(&good), &["the store has no ids"]);
    let before = contents(&store);
    fpload().args(["--replace", "--dry-run"]).arg(&store).arg(&good).assert().success();
    assert!(contents(&store) == before);
}
