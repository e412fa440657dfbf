//! `fpdump verify` finds damage anywhere and names it; the exit code distinguishes it from wrong use.

use std::fs;
use std::path::PathBuf;

use crate::support::{
    Pair, Place, families, fpdump, fpload, fpquery, hex_lines, json_object, lines, stdout, store_files,
};

fn store(place: &Place) -> (PathBuf, Vec<Pair>) {
    let records = families(600, 1);
    let store = place.store_with(&records[..400], &["--plan", "tables-2", "--block-size", "256"]);
    fpload().arg(&store).arg("-").write_stdin(lines(&records[400..])).assert().success();
    (store, records)
}

#[test]
fn a_sound_store() {
    let place = Place::new();
    let (store, _) = store(&place);
    let text = stdout(fpdump().arg("verify").arg(&store));
    assert!(text.contains("sound"), "{text}");
    let report = json_object(&stdout(fpdump().args(["verify", "--json"]).arg(&store)));
    assert_eq!(report["sound"], true);
    assert_eq!(report["damages"], serde_json::json!([]));
    fpdump().args(["verify", "--quiet"]).arg(&store).assert().success().stdout("");
    for (path, _) in store_files(&store) {
        fpdump().arg("verify").arg(&path).assert().success();
    }
}

#[test]
fn every_flip_and_cut_is_reported_and_named() {
    let place = Place::new();
    let (store, records) = store(&place);
    let queries = hex_lines(records.iter().step_by(20).map(|(fingerprint, _)| *fingerprint));
    let expected = stdout(fpquery().arg(&store).write_stdin(queries.clone()));
    for (path, bytes) in store_files(&store) {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let places = (0..bytes.len()).step_by(bytes.len() / 23 + 1);
        let flipped = places.clone().map(|i| {
            let mut bytes = bytes.clone();
            bytes[i] ^= 1 << (i % 8);
            bytes
        });
        for damaged in flipped.chain(places.map(|i| bytes[..i].to_vec())) {
            fs::write(&path, &damaged).unwrap();
            let assert = fpdump().args(["verify", "--json"]).arg(&store).assert().code(1);
            let report = json_object(&String::from_utf8(assert.get_output().stdout.clone()).unwrap());
            assert_eq!(report["sound"], false);
            let damages = report["damages"].as_array().unwrap();
            assert!(damages.iter().any(|damage| damage["file"].as_str().unwrap().contains(&name)), "{report}");
            // A query either fails or answers correctly.
            let output = fpquery().arg(&store).write_stdin(queries.clone()).output().unwrap();
            let found = String::from_utf8(output.stdout).unwrap();
            assert!(output.status.code() == Some(2) || found == expected, "{name}");
        }
        fs::write(&path, &bytes).unwrap();
    }
    fpdump().arg("verify").arg(&store).assert().success();
}

#[test]
fn the_place_is_named() {
    let place = Place::new();
    let (store, _) = store(&place);
    let (path, mut bytes) = store_files(&store).into_iter().max_by_key(|(_, bytes)| bytes.len()).unwrap();
    bytes[100] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let name = path.file_name().unwrap().to_str().unwrap().to_owned();
    for target in [&store, &path] {
        let assert = fpdump().arg("verify").arg(target).assert().code(1);
        let text = String::from_utf8(assert.get_output().stdout.clone()).unwrap();
        assert!(text.contains(&name) && text.contains("table 0 data"), "{text}");
    }
}

#[test]
fn a_missing_file_is_damage_of_the_store() {
    let place = Place::new();
    let (store, _) = store(&place);
    let (path, _) = store_files(&store).into_iter().max_by_key(|(_, bytes)| bytes.len()).unwrap();
    fs::remove_file(&path).unwrap();
    fpdump().arg("verify").arg(&store).assert().code(1);
    fpdump().arg("verify").arg(place.path("none")).assert().code(2).stdout("");
}

#[test]
fn a_file_that_is_something_else() {
    let place = Place::new();
    for (n, content) in
        [b"".as_slice(), b"x", &[0; 5000], b"%PDF-1.7 and so on, long enough for a header or two"].iter().enumerate()
    {
        let file = place.file(&format!("{n}.segment"), content);
        let code = fpdump().arg("verify").arg(&file).assert().get_output().status.code();
        assert!(matches!(code, Some(1 | 2)), "{n}: {code:?}");
        for what in ["info", "stats", "layout", "blocks", "scan", "plan", "hex"] {
            let code = fpdump().arg(what).arg(&file).assert().get_output().status.code();
            assert!(matches!(code, Some(0 | 2)), "{what} {n}: {code:?}");
        }
    }
}
