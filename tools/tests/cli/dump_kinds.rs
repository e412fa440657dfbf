//! `fpdump` on stores of every width and kind of ids.

use std::path::{Path, PathBuf};

use crate::support::{Place, fails, fpdump, fpload, json_lines, json_object, stdout, store_files};
use crate::wide::{Kind, Record, Sort};

/// Creates a store of two segments.
fn store(place: &Place, sort: Sort) -> (PathBuf, Vec<Record>) {
    let records = sort.families(1500, 1);
    let store = sort.store(place, "store", &records[..1000]);
    fpload().arg(&store).arg("-").write_stdin(sort.lines(&records[1000..])).assert().success();
    (store, records)
}

fn report(what: &[&str], path: &Path) -> serde_json::Value {
    json_object(&stdout(fpdump().args(what).arg("--json").arg(path)))
}

fn segments(store: &Path) -> Vec<PathBuf> {
    let files = store_files(store).into_iter().map(|(path, _)| path);
    files.filter(|path| path.extension().is_some_and(|ending| ending == "segment")).collect()
}

/// Returns the lines of `fpdump scan`, without the header.
fn records_of(path: &Path) -> Vec<String> {
    let text = stdout(fpdump().arg("scan").arg(path));
    text.lines().filter(|line| !line.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn what_scan_prints_makes_the_same_store() {
    for sort in Sort::all() {
        let place = Place::new();
        let (store, records) = store(&place, sort);
        let text = stdout(fpdump().arg("scan").arg(&store));
        assert!(text == sort.scan(&records), "{sort:?}");
        let copy = place.path("copy");
        // The text says width and kind of ids.
        let load = fpload().arg("--create").arg(&copy).arg("-").write_stdin(text.clone()).assert();
        load.success();
        assert!(stdout(fpdump().arg("scan").arg(&copy)) == text, "{sort:?}");
        let info = report(&["info"], &copy);
        assert_eq!((&info["width"], &info["ids"]), (&sort.width.into(), &sort.kind.name().into()));
        let objects = json_lines(&stdout(fpdump().args(["scan", "--json"]).arg(&store)));
        assert_eq!(objects.len(), records.len(), "{sort:?}");
        let of_segments: usize = segments(&store)
            .iter()
            .map(|path| stdout(fpdump().args(["scan", "--json"]).arg(path)).lines().count())
            .sum();
        assert_eq!(of_segments, records.len());
    }
}

#[test]
fn reports() {
    for sort in Sort::all() {
        let place = Place::new();
        let (store, records) = store(&place, sort);
        let info = report(&["info"], &store);
        assert_eq!((&info["kind"], &info["records"]), (&"store".into(), &records.len().into()));
        assert_eq!((&info["width"], &info["ids"]), (&sort.width.into(), &sort.kind.name().into()));
        assert_eq!(info["max_distance"], sort.distance);
        let text = stdout(fpdump().arg("info").arg(&store));
        assert!(text.contains(&format!("of {} bit", sort.width)), "{text}");

        let stats = report(&["stats"], &store);
        assert_eq!((&stats["records"], &stats["segments"]), (&records.len().into(), &2.into()));
        let size: u64 = store_files(&store).iter().map(|(_, bytes)| bytes.len() as u64).sum();
        assert_eq!(stats["file_bytes"], size, "{sort:?}");
        let tables = stats["tables"].as_array().unwrap();
        assert_eq!(tables.len(), info["tables"].as_u64().unwrap() as usize, "{sort:?}");
        for table in tables {
            assert_eq!(table["fingerprints"], stats["fingerprints"]);
            let (bits, bound) = (&table["bits_per_fingerprint"], &table["information_bound_bits"]);
            assert!(bits.as_f64().unwrap() > 8.0 && bound.as_f64().unwrap() > 8.0, "{table}");
            assert!(table["data_bytes"].as_u64().unwrap() > 0 && table["index_bytes"].as_u64().unwrap() > 0);
        }
        let text = stdout(fpdump().arg("stats").arg(&store));
        assert!(text.contains("information bound") && text.contains("1,500"), "{text}");

        let plan = report(&["plan"], &store);
        assert_eq!(plan["max_distance"], sort.distance);
        assert_eq!(plan["tables"].as_array().unwrap().len(), tables.len());
        assert_eq!(report(&["verify"], &store)["sound"], true);
        assert!(stdout(fpdump().arg("verify").arg(&store)).contains("sound"));
    }
}

#[test]
fn parts_of_segments() {
    for sort in Sort::all() {
        let place = Place::new();
        let (store, records) = store(&place, sort);
        for path in segments(&store) {
            let sections = json_lines(&stdout(fpdump().args(["layout", "--json"]).arg(&path)));
            let end = sections.iter().fold(0, |end, section| {
                let offset = section["offset"].as_u64().unwrap();
                assert!(offset >= end, "{section}");
                offset + section["bytes"].as_u64().unwrap()
            });
            assert_eq!(end, path.metadata().unwrap().len(), "{sort:?}");
            let number = report(&["stats"], &path)["fingerprints"].as_u64().unwrap();
            let last = (report(&["info"], &path)["tables"].as_u64().unwrap() - 1).to_string();
            for table in ["0", &last] {
                let blocks = json_lines(&stdout(fpdump().args(["blocks", "--table", table, "--json"]).arg(&path)));
                let mut all = Vec::new();
                for block in &blocks {
                    let n = block["block"].to_string();
                    let decoded = report(&["block", &n, "--table", table], &path);
                    let list = |field: &str| -> Vec<String> {
                        decoded[field].as_array().unwrap().iter().map(|one| one.as_str().unwrap().to_owned()).collect()
                    };
                    let (keys, found) = (list("keys"), list("fingerprints"));
                    assert_eq!(block["count"], found.len(), "{sort:?}");
                    // A block of rows has the fingerprints themselves.
                    let keys = if block["kind"] == "rows" { &found } else { &keys };
                    assert_eq!(block["first_key"].as_str(), keys.first().map(String::as_str), "{sort:?}");
                    assert_eq!(block["last_key"].as_str(), keys.last().map(String::as_str), "{sort:?}");
                    assert!(keys.is_sorted(), "{sort:?}");
                    all.extend(found);
                }
                all.sort();
                let mut expected: Vec<String> =
                    records_of(&path).into_iter().map(|line| line[..sort.width as usize / 4].to_owned()).collect();
                expected.dedup();
                assert!(all == expected && all.len() as u64 == number, "{sort:?} table {table}");
            }
            assert!(!stdout(fpdump().args(["block", "0"]).arg(&path)).is_empty());
        }
        fpdump().arg("layout").arg(&store).assert().success();
        fpdump().arg("blocks").arg(&store).assert().success();
        let hex = sort.hex(&records[5].0);
        let mut same: Vec<Record> = records.iter().filter(|(bits, _)| *bits == records[5].0).cloned().collect();
        same.sort();
        let found = stdout(fpdump().args(["get", &hex.to_uppercase()]).arg(&store));
        if sort.kind == Kind::None {
            assert!(found.starts_with(&hex), "{found}");
        } else {
            assert_eq!(found, sort.lines(&same), "{sort:?}");
        }
    }
}

fn hex_shows_every_byte(kinds: &[Kind]) {
    for sort in Sort::all().into_iter().filter(|sort| kinds.contains(&sort.kind)) {
        let place = Place::new();
        let (store, _) = store(&place, sort);
        for (path, bytes) in store_files(&store) {
            let mut shown = Vec::new();
            for field in json_lines(&stdout(fpdump().args(["hex", "--json"]).arg(&path))) {
                assert_eq!(field["offset"], shown.len(), "{sort:?} {field}");
                let hex = field["bytes"].as_str().unwrap();
                shown.extend((0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()));
            }
            assert!(shown == bytes, "{sort:?} {}", path.display());
        }
        fpdump().arg("hex").arg(&store).assert().success();
    }
}

#[test]
fn hex_shows_every_byte_of_numbers_and_counts() {
    hex_shows_every_byte(&[Kind::U64, Kind::None]);
}

#[test]
fn hex_shows_every_byte_of_texts() {
    hex_shows_every_byte(&[Kind::Text]);
}

#[test]
fn damage_is_found_in_all() {
    for sort in Sort::all() {
        let place = Place::new();
        let (store, _) = store(&place, sort);
        let path = &segments(&store)[1];
        let sound = std::fs::read(path).unwrap();
        for part in 1..8 {
            let mut bytes = sound.clone();
            let at = bytes.len() * part / 8;
            bytes[at] ^= 0x10;
            std::fs::write(path, bytes).unwrap();
            let assert = fpdump().arg("verify").arg(&store).assert().code(1);
            let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
            assert!(text.contains("00000002.segment") && text.contains("offset"), "{sort:?} at {at}: {text}");
        }
    }
}

#[test]
fn wide_stores_are_not_encoded_anew() {
    for sort in Sort::all() {
        let place = Place::new();
        let (store, _) = store(&place, sort);
        if sort.width == 64 {
            fpdump().arg("what-if").arg(&store).assert().success();
        } else {
            fails(fpdump().arg("what-if").arg(&store), &["only stores of 64-bit fingerprints"]);
        }
    }
}
