//! `fprepair`: its plan, the repair with `--yes` only, the list of losses, and the exit codes.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fpstore::{Durability, Options, Store, inspect};
use serde_json::Value;

use crate::support::{Pair, Place, contents, fails, families, fpdump, fpload, fprepair, json_object, stdout};

fn store(place: &Place) -> (PathBuf, Vec<Pair>) {
    let records = families(3000, 4);
    let store = place.store_with(&records, &["--plan", "tables-2", "--block-size", "256"]);
    (store, records)
}

/// Changes a byte in the middle of a section of the first segment, and returns the path of the segment.
fn damage(store: &Path, section: &str) -> PathBuf {
    let path = store.join("00000001.segment");
    let views = inspect::open(&path, &Options::new()).unwrap();
    let section = views[0].sections().into_iter().find(|one| one.name == section).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[usize::try_from(section.offset + section.length / 2).unwrap()] ^= 0x10;
    fs::write(&path, bytes).unwrap();
    path
}

/// Returns the records of a store, as unordered lines.
fn scan(store: &Path) -> BTreeSet<String> {
    stdout(fpdump().arg("scan").arg(store)).lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

/// Returns the standard output of a program that ends with this code.
fn output(command: &mut assert_cmd::Command, code: i32) -> String {
    String::from_utf8(command.assert().code(code).get_output().stdout.clone()).unwrap()
}

#[test]
fn a_sound_store_needs_nothing() {
    let place = Place::new();
    let (store, _) = store(&place);
    let before = contents(&store);
    for options in [&[][..], &["--yes"]] {
        let text = stdout(fprepair().args(options).arg(&store));
        assert!(text.contains("sound, nothing to do"), "{text}");
        let report = json_object(&stdout(fprepair().args(options).arg("--json").arg(&store)));
        assert_eq!((&report["sound"], &report["saved"]), (&Value::Bool(true), &Value::Bool(true)));
        assert_eq!(report["done"], Value::Bool(!options.is_empty()));
    }
    fprepair().args(["--quiet"]).arg(&store).assert().success().stdout("");
    let is_lock = |path: &Path| path.ends_with("LOCK");
    let others =
        |files: Vec<(PathBuf, Vec<u8>)>| -> Vec<_> { files.into_iter().filter(|(path, _)| !is_lock(path)).collect() };
    assert!(others(contents(&store)) == others(before));
}

#[test]
fn a_damaged_table_is_made_anew_and_nothing_is_lost() {
    let place = Place::new();
    for section in ["table 0 data", "table 1 data", "table 1 index", "table 0 codes", "id index"] {
        let (store, _) = store(&place);
        let records = scan(&store);
        let path = damage(&store, section);
        let before = contents(&store);
        let text = output(fprepair().arg(&store), 1);
        assert!(text.contains(section) && text.contains("would be done: "), "{text}");
        assert!(text.contains("nothing would be lost"), "{text}");
        assert!(contents(&store) == before, "without --yes nothing is written");
        let plan = json_object(&output(fprepair().arg("--json").arg(&store), 1));
        let text = output(fprepair().arg("--yes").arg(&store), 0);
        assert!(text.contains("done: ") && text.contains("nothing is lost"), "{text}");
        assert_eq!(plan["losses"], serde_json::json!([]));
        assert_eq!(plan["actions"][0]["saved_records"], plan["actions"][0]["records"]);
        fpdump().arg("verify").arg(&store).assert().success();
        assert_eq!(scan(&store), records);
        assert!(!path.exists() && !path.with_extension("segment.damaged").exists());
        assert_eq!(output(fprepair().arg(&store), 0).lines().count(), 1);
        fs::remove_dir_all(&store).unwrap();
    }
}

#[test]
fn lost_ids_are_listed_exactly() {
    let place = Place::new();
    let (store, _) = store(&place);
    let records = scan(&store);
    let path = damage(&store, "ids");
    let damaged = fs::read(&path).unwrap();
    let plan = json_object(&output(fprepair().arg("--json").arg(&store), 1));
    let report = json_object(&output(fprepair().args(["--yes", "--json"]).arg(&store), 1));
    for part in ["damages", "actions", "losses", "kept_aside"] {
        assert_eq!(plan[part], report[part]);
    }
    assert_eq!((&report["done"], &report["saved"]), (&Value::Bool(true), &Value::Bool(false)));
    let loss = &report["losses"][0];
    assert_eq!((&loss["lost"], &loss["section"]), (&Value::from("ids"), &Value::from("ids")));
    let of: BTreeSet<&str> = loss["of"].as_array().unwrap().iter().map(|text| text.as_str().unwrap()).collect();
    let left = scan(&store);
    let gone: Vec<&String> = records.difference(&left).collect();
    assert!(left.is_subset(&records) && !left.is_empty());
    assert_eq!(loss["records"], gone.len());
    for line in gone {
        let fingerprint = line.split('\t').next().unwrap();
        assert!(of.contains(fingerprint), "{line}");
    }
    // The damaged file stays, even after later writes to the store.
    let aside = store.join("00000001.segment.damaged");
    assert_eq!(report["kept_aside"], serde_json::json!([aside.display().to_string()]));
    drop(Store::<u64>::open(&store, &Options::new()).unwrap());
    assert!(fs::read(aside).unwrap() == damaged);
    fpdump().arg("verify").arg(&store).assert().success();
    assert!(stdout(fprepair().arg(&store)).contains("sound"));
}

#[test]
fn the_list_for_people_names_every_fingerprint() {
    let place = Place::new();
    let (store, _) = store(&place);
    damage(&store, "ids");
    let json = json_object(&output(fprepair().arg("--json").arg(&store), 1));
    let text = output(fprepair().arg(&store), 1);
    for fingerprint in json["losses"][0]["of"].as_array().unwrap() {
        assert!(text.contains(&format!("  fingerprint {}: ids are lost\n", fingerprint.as_str().unwrap())));
    }
    assert!(text.contains("cannot be saved: ") && text.contains("would stay: the old file, as "), "{text}");
    let quiet = output(fprepair().arg("--quiet").arg(&store), 1);
    assert!(quiet.contains("ids are lost") && !quiet.contains("would be done"), "{quiet}");
    let done = output(fprepair().arg("--yes").arg(&store), 1);
    assert!(done.contains("not saved: ") && done.contains("stays: the old file"), "{done}");
}

/// Creates a key index of 3,000 records with three keys each. Segment 1 has the records, segment 2 the keys.
fn key_index(place: &Place) -> PathBuf {
    let store = place.path("index");
    let line = |id: u64| {
        let keys = [1_u64, 2, 3].map(|number| (id * number).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_string());
        format!("{{\"id\":{},\"keys\":[{}]}}\n", 5000 + id * id, keys.join(","))
    };
    let input = place.file("keys.ndjson", (0..3000).map(line).collect::<String>());
    stdout(fpload().args(["--quiet", "--create", "--kind", "keys", "--block-size", "256"]).arg(&store).arg(input));
    store
}

#[test]
fn keys_that_are_lost_are_counted_and_their_records_stay() {
    let place = Place::new();
    let store = key_index(&place);
    let section = |path: &Path, name: &str| {
        let views = inspect::open(path, &Options::new()).unwrap();
        views[0].sections().into_iter().find(|one| one.name == name).unwrap().offset + 3
    };
    let path = store.join("00000002.segment");
    flip(&path, section(&path, "table 0 data"));
    let report = json_object(&output(fprepair().arg("--json").arg(&store), 1));
    assert_eq!((&report["actions"][0]["role"], &report["losses"][0]["role"]), (&"keys".into(), &"keys".into()));
    let lost: u64 = report["losses"]
        .as_array()
        .unwrap()
        .iter()
        .map(|loss| if loss["lost"] == "fingerprints" { loss["records"].as_u64().unwrap() } else { 0 })
        .sum();
    let (kept, all) = (&report["actions"][0]["saved_records"], &report["actions"][0]["records"]);
    assert!(lost > 0 && kept.as_u64().unwrap() + lost == all.as_u64().unwrap(), "{report}");
    let text = output(fprepair().arg("--yes").arg(&store), 1);
    assert!(
        text.contains("pairs of a key and a record") && text.contains(" stay with the keys that are left"),
        "{text}"
    );
    assert!(
        text.contains(" keys between the beginning and ") && text.contains("repaired as far as possible"),
        "{text}"
    );
    fpdump().arg("verify").arg(&store).assert().success();
    assert!(stdout(fprepair().arg(&store)).contains("sound"));
    assert_eq!(scan(&store).len(), 3000);

    // Numbers of lost records are numbers.
    let path = store.join("00000001.segment");
    flip(&path, section(&path, "ids"));
    let text = output(fprepair().arg("--yes").arg(&store), 1);
    assert!(
        text.contains("  number 1: ids are lost\n") && text.contains("keys and sketches of records that"),
        "{text}"
    );
    let left = scan(&store).len();
    assert!(left > 0 && left < 3000, "{left}");
    fpdump().arg("verify").arg(&store).assert().success();
}

/// Creates a store with a log of three batches; returns also their offsets in the log.
fn with_log(place: &Place) -> (PathBuf, PathBuf, Vec<u64>) {
    let store = place.store(&families(50, 5));
    let open = Store::<u64>::open(&store, &Options::new()).unwrap();
    (0..3).for_each(|number| open.insert(number, number, Durability::SyncData).unwrap());
    drop(open);
    let log = inspect::logs(&store, &Options::new()).unwrap().remove(0);
    let mut view = inspect::LogView::open(&log, &Options::new()).unwrap();
    let frames = std::iter::from_fn(|| view.next_frame::<u64>().unwrap().map(|frame| frame.offset)).collect();
    (store, log, frames)
}

fn flip(path: &Path, at: u64) {
    let mut bytes = fs::read(path).unwrap();
    bytes[usize::try_from(at).unwrap()] ^= 1;
    fs::write(path, bytes).unwrap();
}

#[test]
fn the_torn_end_of_a_log_is_left_out() {
    let place = Place::new();
    let (store, log, frames) = with_log(&place);
    flip(&log, frames[2] + 3);
    let before = contents(&store);
    let report = json_object(&output(fprepair().arg("--json").arg(&store), 1));
    assert_eq!(report["actions"][0]["action"], "flush logs");
    assert_eq!((&report["torn"][0]["offset"], &report["losses"]), (&Value::from(frames[2]), &serde_json::json!([])));
    assert!(contents(&store) == before);
    assert!(output(fprepair().arg("--yes").arg(&store), 0).contains("2 batches with 2 operations go from 1 log"));
    assert!(!log.exists() && !log.with_extension("wal.damaged").exists());
    assert!(stdout(fprepair().arg(&store)).contains("sound"));
    assert_eq!(Store::<u64>::open(&store, &Options::new()).unwrap().records().count(), 52);
}

#[test]
fn a_log_that_is_damaged_in_its_middle_keeps_what_holds() {
    let place = Place::new();
    let (store, log, frames) = with_log(&place);
    flip(&log, frames[1] + 30);
    fpdump().arg("verify").arg(&store).assert().code(1);
    let text = output(fprepair().arg("--yes").arg(&store), 1);
    assert!(text.contains("batches of writes 3 to 3") || text.contains("batches of writes 2 to 2"), "{text}");
    assert!(text.contains("2 batches with 2 operations go from 1 log to segments"), "{text}");
    assert!(!log.exists() && log.with_extension("wal.damaged").exists());
    fpdump().arg("verify").arg(&store).assert().success();
    assert_eq!(Store::<u64>::open(&store, &Options::new()).unwrap().records().count(), 52);
}

#[test]
fn what_cannot_be_told_is_left() {
    let place = Place::new();
    let (store, _) = store(&place);
    fs::write(store.join("MANIFEST"), b"fpstore\0").unwrap();
    let before = contents(&store);
    for options in [&[][..], &["--yes"]] {
        let text = output(fprepair().args(options).arg(&store), 1);
        assert!(text.contains("left as it is") && text.contains("restore it from a copy"), "{text}");
        let verdict = if options.is_empty() { "cannot be repaired: restore" } else { "nothing is repaired" };
        assert!(text.contains(verdict) && text.contains("from a backup"), "{text}");
    }
    let names = |files: &[(PathBuf, Vec<u8>)]| -> Vec<PathBuf> { files.iter().map(|(path, _)| path.clone()).collect() };
    assert_eq!(names(&contents(&store)), names(&before));
}

#[test]
fn wrong_use_and_a_store_that_is_being_written() {
    let place = Place::new();
    fails(fprepair().arg(place.path("none")), &["there is no store here"]);
    fails(fprepair().arg("--yes").arg(place.path("none")), &["there is no store here"]);
    assert!(!place.path("none").exists());
    fails(&mut fprepair(), &["STORE"]);
    fails(fprepair().args(["--memory", "1KiB", "x"]), &["64MiB"]);
    let store = place.store(&families(20, 6));
    let open = Store::<u64>::open(&store, &Options::new()).unwrap();
    fails(fprepair().arg("--yes").arg(&store), &["has the store open for writing"]);
    // Reading is possible meanwhile.
    fprepair().arg(&store).assert().success();
    drop(open);
    assert!(stdout(fprepair().arg("--help")).contains("Examples:"));
    assert!(stdout(fprepair().args(["--generate", "man"])).contains("fprepair"));
}
