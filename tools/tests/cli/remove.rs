//! `fpload --remove` and `--compact`.

use std::path::Path;

use crate::support::{Place, contents, fails, fpdump, fpload, fpquery, json_object, stdout};
use crate::wide::{Kind, Record, Sort, fails_unchanged, queries};

fn remove(sort: Sort, store: &Path, records: &[Record]) -> serde_json::Value {
    let mut load = fpload();
    load.args(["--remove", "--json"]).arg(store).arg("-").write_stdin(sort.lines(records));
    json_object(&stdout(&mut load))
}

fn segments(store: &Path) -> u64 {
    json_object(&stdout(fpdump().args(["stats", "--json"]).arg(store)))["segments"].as_u64().unwrap()
}

#[test]
fn records_that_are_there_and_others() {
    for sort in Sort::all() {
        let place = Place::new();
        let records = sort.families(900, 1);
        let store = sort.store(&place, "store", &records[..400]);
        fpload().arg(&store).arg("-").write_stdin(sort.lines(&records[400..800])).assert().success();

        // Other records: never loaded, or with other ids.
        let mut absent: Vec<Record> = sort.families(100, 77);
        let report = remove(sort, &store, &absent);
        assert_eq!((&report["records"], &report["removed"]), (&100.into(), &0.into()), "{sort:?}");
        assert!(stdout(fpdump().arg("scan").arg(&store)) == sort.scan(&records[..800]), "{sort:?}");

        // From both segments, together with unknown records.
        absent.extend_from_slice(&records[200..600]);
        let report = remove(sort, &store, &absent);
        assert_eq!((&report["records"], &report["removed"]), (&500.into(), &400.into()), "{sort:?}");
        let left = [&records[..200], &records[600..800]].concat();
        assert_eq!(report["store_records"], left.len(), "{sort:?}");
        assert!(stdout(fpdump().arg("scan").arg(&store)) == sort.scan(&left), "{sort:?}");
        let asked = queries(sort, &records, 5, 2);
        assert!(sort.ask(&store, &[], &asked) == sort.all_answers(&left, &asked, sort.distance), "{sort:?}");
        fpdump().arg("verify").arg(&store).assert().success();

        // Removed records can be added again.
        fpload().arg(&store).arg("-").write_stdin(sort.lines(&records[200..600])).assert().success();
        assert!(stdout(fpdump().arg("scan").arg(&store)) == sort.scan(&records[..800]), "{sort:?}");

        let report = remove(sort, &store, &records[..800]);
        assert_eq!((&report["removed"], &report["store_records"]), (&800.into(), &0.into()), "{sort:?}");
        assert_eq!(stdout(fpdump().arg("scan").arg(&store)), sort.scan(&[]));
        fpquery().arg(&store).arg(sort.hex(&records[0].0)).assert().code(1).stdout("");
        fpdump().arg("verify").arg(&store).assert().success();
    }
}

#[test]
fn what_scan_prints_removes_everything() {
    for sort in Sort::all() {
        let place = Place::new();
        let store = sort.store(&place, "store", &sort.families(300, 2));
        let all = stdout(fpdump().arg("scan").arg(&store));
        fpload().arg("--remove").arg(&store).arg("-").write_stdin(all).assert().success();
        assert_eq!(stdout(fpdump().arg("scan").arg(&store)), sort.scan(&[]), "{sort:?}");
    }
}

#[test]
fn counts_go_down_one_by_one() {
    let place = Place::new();
    let sort = Sort::new(64, Kind::None);
    let store = place.path("store");
    let lines = |n: usize| "00000000000000ff\n".repeat(n);
    sort.create().arg(&store).arg("-").write_stdin(lines(3)).assert().success();
    fpload().arg(&store).arg("-").write_stdin(lines(4)).assert().success();
    let count = || {
        let asked = fpquery().args(["-k0"]).arg(&store).arg("00000000000000ff").assert();
        let text = String::from_utf8(asked.get_output().stdout.clone()).unwrap();
        text.trim_end().rsplit('\t').next().unwrap_or_default().to_owned()
    };
    assert_eq!(count(), "7");
    for (taken, removed, left) in [(2, 2, "5"), (4, 4, "1"), (3, 1, "")] {
        let mut load = fpload();
        load.args(["--remove", "--json"]).arg(&store).arg("-").write_stdin(lines(taken));
        let report = json_object(&stdout(&mut load));
        assert_eq!((&report["records"], &report["removed"]), (&taken.into(), &removed.into()));
        assert_eq!(count(), left);
    }
}

#[test]
fn numbers_are_never_used_again() {
    let place = Place::new();
    let store = place.path("store");
    let line = "00000000000000ff\n";
    fpload().arg("--create").arg(&store).arg("-").write_stdin(line.repeat(3)).assert().success();
    let all = stdout(fpdump().arg("scan").arg(&store));
    fpload().arg("--remove").arg(&store).arg("-").write_stdin(all).assert().success();
    fpload().arg(&store).arg("-").write_stdin(line).assert().success();
    assert_eq!(stdout(fpdump().arg("scan").arg(&store)), "00000000000000ff\t3\n");
}

#[test]
fn wrong_use() {
    for sort in Sort::widths(Kind::U64) {
        let place = Place::new();
        let records = sort.families(20, 3);
        let store = sort.store(&place, "store", &records);
        let bare: String = records.iter().map(|(bits, _)| sort.hex(bits) + "\n").collect();
        let bare = place.file("bare.tsv", bare);
        fails_unchanged(&store, fpload().arg("--remove").arg(&store).arg(&bare), &["no ids", "fpdump scan"]);
        let good = place.file("good.tsv", sort.lines(&records));
        let bad = place.file("bad.tsv", format!("{}x\n", sort.lines(&records[..2])));
        fails_unchanged(&store, fpload().arg("--remove").arg(&store).arg(&good).arg(&bad), &["bad.tsv: line 3"]);
        fails_unchanged(&store, fpload().arg("--remove").arg(&store), &["no INPUT"]);
        let new = place.path("new");
        fails(fpload().args(["--remove", "--create"]).arg(&new).arg(&good), &["--create"]);
        fails(fpload().arg("--remove").arg(&new).arg(&good), &["there is no store"]);
        fails(fpload().arg("--compact").arg(&new), &["there is no store"]);
        assert!(!new.exists());
        let before = contents(&store);
        fpload().args(["--remove", "--dry-run"]).arg(&store).arg(&good).assert().success();
        assert!(contents(&store) == before);
    }
}

#[test]
fn compaction_makes_one_segment_with_the_same_answers() {
    for sort in Sort::all() {
        let place = Place::new();
        let records = sort.families(900, 4);
        let store = sort.store(&place, "store", &records[..300]);
        for part in [&records[300..600], &records[600..]] {
            fpload().arg(&store).arg("-").write_stdin(sort.lines(part)).assert().success();
        }
        assert_eq!(segments(&store), 3, "{sort:?}");
        let (asked, scan) = (queries(sort, &records, 4, 5), stdout(fpdump().arg("scan").arg(&store)));
        let answers = sort.ask(&store, &[], &asked);
        let report = json_object(&stdout(fpload().args(["--compact", "--json"]).arg(&store)));
        assert_eq!((&report["compacted"], &report["store_records"]), (&true.into(), &900.into()), "{sort:?}");
        assert_eq!(segments(&store), 1, "{sort:?}");
        assert!(stdout(fpdump().arg("scan").arg(&store)) == scan && sort.ask(&store, &[], &asked) == answers);
        assert!(answers == sort.all_answers(&records, &asked, sort.distance), "{sort:?}");
        fpdump().arg("verify").arg(&store).assert().success();

        // Nothing is left to compact; after a load there is again.
        let report = json_object(&stdout(fpload().args(["--compact", "--json"]).arg(&store)));
        assert_eq!(report["compacted"], false);
        let more = sort.families(50, 99);
        fpload().arg("--compact").arg(&store).arg("-").write_stdin(sort.lines(&more)).assert().success();
        assert_eq!(segments(&store), 1, "{sort:?}");
        assert!(stdout(fpdump().arg("scan").arg(&store)) == sort.scan(&[&records[..], &more].concat()), "{sort:?}");
        let mut take = fpload();
        take.args(["--remove", "--compact"]).arg(&store).arg("-").write_stdin(sort.lines(&more)).assert().success();
        assert!(stdout(fpdump().arg("scan").arg(&store)) == scan, "{sort:?}");
    }
}
