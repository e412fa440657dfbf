//! `fpdump`: every subcommand on stores and files, for people and for programs.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::support::{
    Pair, Place, contents, fails, families, fpdump, fpload, json_lines, json_object, lines, stdout, store_files,
};

fn sorted(mut records: Vec<Pair>) -> Vec<Pair> {
    records.sort_unstable();
    records.dedup();
    records
}

/// Creates a store of two segments with overlapping records.
fn two_segments(place: &Place, records: &[Pair]) -> PathBuf {
    let half = records.len() / 2;
    let store = place.store_with(&records[..half + 10], &["--plan", "tables-2"]);
    fpload().arg(&store).arg("-").write_stdin(lines(&records[half..])).assert().success();
    store
}

/// Returns the segment files of a store, oldest first.
fn segments(store: &Path) -> Vec<PathBuf> {
    let layout = json_lines(&stdout(fpdump().args(["layout", "--json"]).arg(store)));
    let mut files: Vec<PathBuf> = layout.iter().map(|section| store.join(section["file"].as_str().unwrap())).collect();
    files.dedup();
    files
}

fn report(subcommand: &[&str], path: &Path) -> serde_json::Value {
    json_object(&stdout(fpdump().args(subcommand).arg(path).arg("--json")))
}

#[test]
fn scan_gives_what_fpload_reads() {
    let place = Place::new();
    let records = families(3000, 1);
    let store = two_segments(&place, &records);
    let text = stdout(fpdump().arg("scan").arg(&store));
    assert!(text == lines(&sorted(records.clone())));

    let copy = place.path("copy");
    fpload().arg("--create").arg(&copy).arg("-").write_stdin(text.clone()).assert().success();
    assert!(stdout(fpdump().arg("scan").arg(&copy)) == text);

    let objects = json_lines(&stdout(fpdump().args(["scan", "--json"]).arg(&store)));
    let fields = |object: &serde_json::Value| {
        format!("{}\t{}\n", object["fingerprint"].as_str().unwrap(), object["id"].as_u64().unwrap())
    };
    assert!(objects.iter().map(fields).collect::<String>() == text);

    let half = records.len() / 2;
    let first = &segments(&store)[0];
    assert!(stdout(fpdump().arg("scan").arg(first)) == lines(&sorted(records[..half + 10].to_vec())));
}

#[test]
fn get() {
    let place = Place::new();
    let mut records = families(1000, 2);
    records.extend([(42, 7), (42, 3), (42, 1 << 60)]);
    let store = two_segments(&place, &records);
    let expected = "000000000000002a\t3\n000000000000002a\t7\n000000000000002a\t1152921504606846976\n";
    assert_eq!(stdout(fpdump().args(["get", "000000000000002A"]).arg(&store)), expected);
    assert_eq!(stdout(fpdump().args(["get", "0x000000000000002a"]).arg(&segments(&store)[1])), expected);
    fpdump().args(["get", "000000000000002a"]).arg(&segments(&store)[0]).assert().code(1).stdout("");
    fpdump().args(["get", "000000000000002b"]).arg(&store).assert().code(1).stdout("");
    let objects = json_lines(&stdout(fpdump().args(["get", "000000000000002a", "--json"]).arg(&store)));
    assert_eq!(objects[0], serde_json::json!({"schema_version": 1, "fingerprint": "000000000000002a", "id": 3}));
    fails(fpdump().args(["get", "2a"]).arg(&store), &["16 hexadecimal digits"]);
}

#[test]
fn statistics_have_the_promised_fields() {
    let place = Place::new();
    let records = families(5000, 3);
    let store = two_segments(&place, &records);
    let report = report(&["stats"], &store);
    assert_eq!(report["records"], 5000);
    assert_eq!(report["segments"], 2);
    assert_eq!(report["filter_bytes"], 0);
    let size: u64 = store_files(&store).iter().map(|(_, bytes)| bytes.len() as u64).sum();
    assert_eq!(report["file_bytes"], size);
    for field in ["fingerprints", "id_bytes", "resident_bytes"] {
        assert!(report[field].as_u64().unwrap() > 0, "{field}: {report}");
    }
    let tables = report["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 2);
    for table in tables {
        assert!(table["name"].is_string());
        assert_eq!(table["fingerprints"], report["fingerprints"]);
        let (data, index) = (table["data_bytes"].as_u64().unwrap(), table["index_bytes"].as_u64().unwrap());
        let bits = table["bits_per_fingerprint"].as_f64().unwrap();
        let counted = (data + index) as f64 * 8.0 / table["fingerprints"].as_f64().unwrap();
        assert!(bits >= counted && bits < counted * 1.2, "{table}");
        assert!(table["information_bound_bits"].as_f64().unwrap() > 40.0);
    }
    let text = stdout(fpdump().arg("stats").arg(&store));
    for part in ["records", "5,000", "information bound", "table"] {
        assert!(text.contains(part), "no '{part}' in {text}");
    }
    let one: u64 =
        segments(&store).iter().map(|path| self::report(&["stats"], path)["records"].as_u64().unwrap()).sum();
    assert_eq!(one, 5000);
}

#[test]
fn an_empty_store_has_statistics_too() {
    let place = Place::new();
    let store = place.path("store");
    fpload().args(["--create", "--plan", "tables-4"]).arg(&store).assert().success();
    let report = report(&["stats"], &store);
    assert_eq!((&report["records"], &report["segments"]), (&0.into(), &0.into()));
    for table in report["tables"].as_array().unwrap() {
        assert!(table["information_bound_bits"].is_null(), "{table}");
    }
    for what in ["info", "stats", "layout", "blocks", "scan", "verify", "plan", "what-if", "hex"] {
        fpdump().arg(what).arg(&store).assert().success();
    }
    assert_eq!(stdout(fpdump().arg("scan").arg(&store)), "");
}

#[test]
fn info_of_stores_and_files() {
    let place = Place::new();
    let store = two_segments(&place, &families(300, 4));
    let info = report(&["info"], &store);
    assert_eq!(
        (&info["kind"], &info["plan"], &info["codec"]),
        (&"store".into(), &"tables-2".into(), &"adaptive".into())
    );
    assert_eq!((&info["width"], &info["max_distance"], &info["block_size"]), (&64.into(), &3.into(), &256.into()));
    let file = &segments(&store)[0];
    let info = report(&["info"], file);
    assert_eq!((&info["kind"], &info["records"]), (&"segment".into(), &160.into()));
    for path in [&store, file] {
        let text = stdout(fpdump().arg("info").arg(path));
        for part in ["plan", "tables-2", "64 bit", "records"] {
            assert!(text.contains(part), "no '{part}' in {text}");
        }
    }
}

#[test]
fn the_layout_covers_the_segments() {
    let place = Place::new();
    let store = two_segments(&place, &families(3000, 5));
    for file in segments(&store) {
        let sections = json_lines(&stdout(fpdump().args(["layout", "--json"]).arg(&file)));
        let mut end = 0;
        for section in &sections {
            let offset = section["offset"].as_u64().unwrap();
            assert!(offset >= end, "{section}");
            end = offset + section["bytes"].as_u64().unwrap();
        }
        assert_eq!(end, file.metadata().unwrap().len());
    }
    let text = stdout(fpdump().arg("layout").arg(&store));
    assert!(text.contains("table 1 data") && text.contains("ids"), "{text}");
}

#[test]
fn blocks_hold_every_fingerprint_once() {
    let place = Place::new();
    let records = families(4000, 6);
    let store = two_segments(&place, &records);
    for file in segments(&store) {
        let number = report(&["stats"], &file)["fingerprints"].as_u64().unwrap();
        for table in ["0", "1"] {
            let blocks = json_lines(&stdout(fpdump().args(["blocks", "--table", table, "--json"]).arg(&file)));
            let counted: u64 = blocks.iter().map(|block| block["count"].as_u64().unwrap()).sum();
            assert_eq!(counted, number);
            let mut keys = Vec::new();
            for (n, block) in blocks.iter().enumerate() {
                assert_eq!(block["block"], n);
                let n = n.to_string();
                let decoded = report(&["block", &n, "--table", table], &file);
                let found = decoded["keys"].as_array().unwrap();
                assert_eq!(block["count"], found.len(), "{decoded}");
                assert_eq!(block["last_key"], *found.last().unwrap());
                keys.extend(found.iter().map(|key| key.as_str().unwrap().to_owned()));
            }
            assert!(keys.is_sorted() && keys.len() as u64 == number);
        }
    }
    let file = &segments(&store)[0];
    let text = stdout(fpdump().args(["block", "0"]).arg(file).args(["--table", "1"]));
    assert!(text.contains("key"), "{text}");
    fails(fpdump().args(["block", "100000"]).arg(file), &["100000"]);
    fails(fpdump().args(["block", "0", "--table", "2"]).arg(file), &["table 2"]);
    fails(fpdump().args(["blocks", "--table", "2"]).arg(file), &["table 2"]);
}

#[test]
fn plans() {
    let place = Place::new();
    let store = place.store_with(&families(30, 7), &["--plan", "tables-3"]);
    let plan = report(&["plan"], &store);
    assert_eq!((&plan["plan"], &plan["max_distance"]), (&"tables-3".into(), &3.into()));
    let tables = plan["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 3);
    let leading: Vec<u64> = tables.iter().map(|table| table["leading_bits"].as_u64().unwrap()).collect();
    assert_eq!(leading, [22, 21, 21]);
    // The index is the distance: at 3 the first table is probed with radius 1, the others exactly.
    let radii: Vec<_> = tables.iter().map(|table| table["radii"].clone()).collect();
    assert_eq!(radii[0], serde_json::json!([0, 0, 0, 1]));
    assert_eq!(radii[2], serde_json::json!([null, null, 0, 0]));
    let text = stdout(fpdump().arg("plan").arg(&store));
    assert!(text.contains("tables-3") && text.contains("22") && text.contains("Predicted for a query near"), "{text}");
    assert!(plan["predicted"]["from_data"] == true && plan["predicted"]["with_filters"]["blocks_read"].is_f64());
}

#[test]
fn hex_shows_every_byte() {
    let place = Place::new();
    let store = two_segments(&place, &families(500, 8));
    for (path, bytes) in store_files(&store) {
        let fields = json_lines(&stdout(fpdump().args(["hex", "--json"]).arg(&path)));
        let mut shown = Vec::new();
        for field in &fields {
            assert_eq!(field["offset"], shown.len(), "{field}");
            let hex = field["bytes"].as_str().unwrap();
            shown.extend((0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()));
        }
        assert!(shown == bytes, "{}", path.display());
        let text = stdout(fpdump().arg("hex").arg(&path));
        assert!(text.starts_with("00000000  "), "{text}");
    }
}

#[test]
fn nothing_is_ever_written() {
    let place = Place::new();
    let store = two_segments(&place, &families(300, 9));
    let before = contents(&store);
    for what in ["info", "stats", "layout", "blocks", "scan", "verify", "plan", "what-if", "hex"] {
        fpdump().arg(what).arg(&store).assert().success();
    }
    assert_eq!(contents(&store), before);
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let none = place.path("none");
    for what in ["info", "stats", "layout", "blocks", "scan", "verify", "plan", "what-if", "hex"] {
        fails(fpdump().arg(what).arg(&none), &["none"]);
    }
    assert!(!none.exists());
    fails(fpdump().arg("what").arg(&none), &["what"]);
    fpdump().assert().code(2).stdout("");
    let empty = place.path("empty");
    std::fs::create_dir(&empty).unwrap();
    fails(fpdump().arg("info").arg(&empty), &["empty"]);
}

#[test]
fn a_reader_that_has_seen_enough_is_success() {
    let place = Place::new();
    let store = place.store(&families(30_000, 10));
    for arguments in [["scan"].as_slice(), &["hex"], &["hex", "--json"], &["blocks", "--json"]] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fpdump"))
            .args(arguments)
            .arg(&store)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdout.take().unwrap().read_exact(&mut [0; 5]).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
