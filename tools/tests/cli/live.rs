//! Stores with live writes: the output of `fpdump manifest` and `fpdump wal`, and loading into them.

use std::fs;
use std::path::PathBuf;

use fpstore::{Durability, Options, Store};
use serde_json::{Value, json};

use crate::support::{Place, families, fpdump, fpload, fpquery, lines, stdout};

/// Creates a store of one load, with three batches in a log; the last batch removes.
fn store(place: &Place) -> PathBuf {
    let store = place.store(&families(50, 5));
    let open = Store::<u64>::open(&store, &Options::new()).unwrap();
    open.insert(0xabc, 7_000_001, Durability::SyncData).unwrap();
    open.insert_many([(0xabd, 7_000_002), (0xabe, 7_000_003)], Durability::SyncData).unwrap();
    open.remove(0xabc, 7_000_001, Durability::SyncData).unwrap();
    store
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn the_logs_batch_by_batch() {
    let place = Place::new();
    let store = store(&place);
    let text = stdout(fpdump().arg("wal").arg(&store));
    assert!(text.starts_with("00000001.wal: log 1, batches from number 2 on\n"), "{text}");
    assert!(text.ends_with("3 batches\n"), "{text}");
    let found = objects(&stdout(fpdump().args(["wal", "--json"]).arg(&store)));
    let field = |name: &str| found.iter().map(|object| object[name].clone()).collect::<Vec<_>>();
    assert_eq!(field("kind"), ["batch", "batch", "batch", "log"]);
    assert_eq!(field("sequence"), [json!(2), json!(3), json!(4), Value::Null]);
    assert_eq!(field("inserted"), [json!(1), json!(2), json!(0), Value::Null]);
    assert_eq!(field("removed"), [json!(0), json!(0), json!(1), Value::Null]);
    assert_eq!((&found[3]["batches"], &found[3]["torn_bytes"]), (&json!(3), &json!(0)));
    // One log by its name, and its operations.
    let log = store.join("00000001.wal");
    let found = objects(&stdout(fpdump().args(["wal", "--json", "--operations"]).arg(&log)));
    let operation =
        |removed: bool, fingerprint: &str, id: u64| json!({ "removed": removed, "fingerprint": fingerprint, "id": id });
    let inserted = [operation(false, "0000000000000abd", 7_000_002), operation(false, "0000000000000abe", 7_000_003)];
    assert_eq!(found[1]["operations"], json!(inserted));
    assert_eq!(found[2]["operations"], json!([operation(true, "0000000000000abc", 7_000_001)]));
    let text = stdout(fpdump().args(["wal", "--operations"]).arg(&log));
    assert!(text.contains("0000000000000abe") && text.contains("7000003"), "{text}");
}

#[test]
fn a_torn_log_is_shown_up_to_where_it_holds_and_a_damaged_one_is_an_error() {
    let place = Place::new();
    let store = store(&place);
    let log = store.join("00000001.wal");
    let whole = fs::read(&log).unwrap();
    let frames = objects(&stdout(fpdump().args(["wal", "--json"]).arg(&log)));
    let offset = |number: usize| usize::try_from(frames[number]["offset"].as_u64().unwrap()).unwrap();
    let mut torn = whole.clone();
    torn[offset(2) + 26] ^= 1;
    fs::write(&log, &torn).unwrap();
    let text = stdout(fpdump().arg("wal").arg(&store));
    assert!(text.contains("2 batches; torn after byte") && text.contains("cut short by a crash"), "{text}");
    fpdump().arg("verify").arg(&store).assert().success();
    // If a later batch confirms that these bytes were durable, it is damage.
    let mut damaged = whole;
    damaged[offset(0) + 26] ^= 1;
    fs::write(&log, &damaged).unwrap();
    let assert = fpdump().arg("wal").arg(&store).assert().code(2);
    let error = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(error.contains("00000001.wal") && error.contains("fprepair"), "{error}");
}

/// A dangling link is listed but cannot be opened, like a log that a writer removes meanwhile.
#[cfg(unix)]
#[test]
fn a_log_that_goes_between_listing_and_opening_is_no_error() {
    let place = Place::new();
    let store = store(&place);
    let ghost = |number: u64| std::os::unix::fs::symlink("nowhere", store.join(format!("{number:08}.wal"))).unwrap();
    Store::<u64>::open(&store, &Options::new()).unwrap().flush().unwrap();
    ghost(1);
    let assert = fpdump().arg("wal").arg(&store).assert().success();
    let output = assert.get_output();
    assert!(String::from_utf8_lossy(&output.stdout).starts_with("no logs"), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("00000001.wal was removed meanwhile"), "{output:?}");
    assert_eq!(stdout(fpdump().args(["wal", "--json"]).arg(&store)), "");
    // A log that the user names, or that the manifest requires, must exist.
    fpdump().arg("wal").arg(store.join("00000001.wal")).assert().code(2);
    ghost(77);
    fpdump().arg("wal").arg(&store).assert().code(2);
}

#[test]
fn the_manifest_run_by_run() {
    let place = Place::new();
    let store = store(&place);
    let found = objects(&stdout(fpdump().args(["manifest", "--json"]).arg(&store))).remove(0);
    assert_eq!((&found["flushed"], &found["first_log"], &found["id_index"]), (&json!(1), &json!(1), &json!(false)));
    let runs = found["runs"].as_array().unwrap();
    assert_eq!((runs.len(), &runs[0]["segments"][0]["role"]), (1, &json!("records")));
    // The log becomes a run, and its removals another segment of the run.
    let open = Store::<u64>::open(&store, &Options::new()).unwrap();
    let (fingerprint, id) = families(50, 5)[3];
    open.remove(fingerprint, id, Durability::SyncData).unwrap();
    open.flush().unwrap();
    drop(open);
    let manifest = store.join("MANIFEST");
    for path in [&store, &manifest] {
        let found = objects(&stdout(fpdump().args(["manifest", "--json"]).arg(path))).remove(0);
        let segments = found["runs"][1]["segments"].as_array().unwrap();
        let roles: Vec<_> = segments.iter().map(|segment| segment["role"].as_str().unwrap()).collect();
        assert_eq!((roles, &found["flushed"]), (vec!["removals", "records"], &json!(5)));
        let net: Vec<_> = found["runs"].as_array().unwrap().iter().map(|run| &run["net_records"]).collect();
        assert_eq!(net, [&json!(50), &json!(1)]);
        for segment in segments {
            let length = fs::metadata(store.join(segment["file"].as_str().unwrap())).unwrap().len();
            assert_eq!(segment["bytes"], json!(length));
        }
        let text = stdout(fpdump().arg("manifest").arg(path));
        assert!(text.contains("removals") && text.contains("writes up to number 5"), "{text}");
        let rows: Vec<&str> = text.lines().filter(|line| line.contains(".segment ")).collect();
        let net = rows.iter().map(|row| row.split_whitespace().skip(9).collect::<Vec<_>>());
        assert!(net.eq([vec!["50"], vec!["1"], vec![]]), "{text}");
    }
    // All segments, and all bytes of each.
    let info = objects(&stdout(fpdump().args(["info", "--json"]).arg(&store))).remove(0);
    let [segments, others] = ["segments", "other_segments"].map(|field| info[field].as_array().unwrap());
    assert_eq!((segments.len(), others.len(), &others[0]["role"]), (2, 1, &json!("removals")));
    let sections = objects(&stdout(fpdump().args(["layout", "--json"]).arg(&store)));
    for segment in segments.iter().chain(others) {
        let own = sections.iter().filter(|section| section["file"] == segment["file"]);
        assert_eq!(own.map(|section| section["bytes"].as_u64().unwrap()).sum::<u64>(), segment["bytes"]);
    }
    assert!(stdout(fpdump().arg("info").arg(&store)).contains("removals"));
    assert!(stdout(fpdump().arg("wal").arg(&store)).contains("no logs"));
    let stats = objects(&stdout(fpdump().args(["stats", "--json"]).arg(&store))).remove(0);
    assert!(stats["space_amplification"].as_f64().unwrap() >= 1.0, "{stats}");
    assert!(stats["write_amplification"].as_f64().unwrap() >= 1.0, "{stats}");
}

#[test]
fn a_load_into_a_store_with_logs_has_both() {
    let place = Place::new();
    let store = store(&place);
    let more = families(40, 6).into_iter().map(|(fingerprint, id)| (fingerprint, id + 1_000_000)).collect::<Vec<_>>();
    fpload().arg(&store).arg("-").write_stdin(lines(&more)).assert().success();
    assert!(stdout(fpdump().arg("wal").arg(&store)).contains("no logs"), "they were flushed before");
    let mut expected: Vec<_> = families(50, 5).into_iter().chain(more).collect();
    expected.extend([(0xabd, 7_000_002), (0xabe, 7_000_003)]);
    let ids: std::collections::BTreeSet<u64> = expected.iter().map(|(_, id)| *id).collect();
    let open = Store::<u64>::open_read_only(&store, &Options::new()).unwrap();
    let found: std::collections::BTreeSet<u64> =
        open.records().map(|record| record.unwrap().id.number().unwrap()).collect();
    assert_eq!(found, ids);
    drop(open);
    let near = stdout(fpquery().args(["-k", "1"]).arg(&store).arg("0000000000000abd"));
    assert!(near.contains("7000002") && !near.contains("7000001"), "{near}");
    fpdump().arg("verify").arg(&store).assert().success();
}
