//! Ids as handles: `fpload --remove --by-id`, `--id-index`, `fpquery --id`, `fpdump get --id`.

use std::path::Path;

use crate::support::{
    Pair, Place, brute_force, contents, fails, fpdump, fpload, fpquery, json_lines, json_object, lines, stdout,
};
use crate::wide::{Kind, Sort, fails_unchanged};

/// Returns four records of each id from 0 to 99. Those of one id are far from each other, and near those of other ids.
fn records() -> Vec<Pair> {
    (0..400).map(|n: u64| ((n / 7).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ (1 << (n % 7)), n % 100)).collect()
}

fn scan(records: &[Pair]) -> String {
    let mut sorted = records.to_vec();
    sorted.sort_unstable();
    lines(&sorted)
}

fn without(records: &[Pair], gone: impl Fn(u64) -> bool) -> Vec<Pair> {
    records.iter().copied().filter(|record| !gone(record.1)).collect()
}

fn scanned(store: &Path) -> String {
    fpdump().arg("verify").arg(store).assert().success();
    let text = stdout(fpdump().arg("scan").arg(store));
    text.split_once('\n')
        .filter(|(header, _)| header.starts_with('#'))
        .map_or(text.clone(), |(_, rest)| rest.to_owned())
}

pub(crate) fn stderr(command: &mut assert_cmd::Command, code: i32) -> String {
    String::from_utf8(command.assert().code(code).get_output().stderr.clone()).unwrap()
}

#[test]
fn ids_are_removed_with_an_index_and_without() {
    for options in [&["--id-index"][..], &[]] {
        for (name, input, column) in [
            ("gone.txt", "7\n7\n900\n\n8\n901", None),
            ("gone.csv", "when,url\nx,7\nx,7\nx,900\nx,8\nx,901\n", Some("url")),
            ("gone.ndjson", "{\"id\":7}\n{\"id\":\"7\"}\n{\"id\":900}\n{\"id\":8,\"x\":[1]}\n{\"id\":901}\n", None),
        ] {
            let place = Place::new();
            let store = place.store_with(&records(), options);
            let file = place.file(name, input);
            let mut load = fpload();
            load.args(["--remove", "--by-id", "--json"]).arg(&store).arg(&file);
            if let Some(column) = column {
                load.args(["--id-column", column]);
            }
            let assert = load.assert().success();
            let report = json_object(std::str::from_utf8(&assert.get_output().stdout).unwrap());
            let found = ["records", "removed", "not_found", "store_records"].map(|key| report[key].as_u64().unwrap());
            assert_eq!(found, [5, 8, 2, 392], "{name}");
            let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
            assert!(message.contains("warning: not found: 2 ids of the input: '900', '901'"), "{message}");
            assert_eq!(scanned(&store), scan(&without(&records(), |id| id == 7 || id == 8)), "{name}");

            // All other ids: more than are looked up one by one.
            let all = (0..100).fold(String::new(), |text, id| format!("{text}{id}\n"));
            let message = stderr(fpload().args(["--remove", "--by-id"]).arg(&store).arg("-").write_stdin(all), 0);
            assert!(message.contains("392 records of 100 ids; not found: 2"), "{message}");
            assert_eq!(scanned(&store), "");
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn a_column_of_parquet_names_ids() {
    let place = Place::new();
    let store = place.store_with(&records(), &["--id-index"]);
    // Labels of clusters have a column `id`.
    let labels = place.path("labels.parquet");
    let mut clusters = crate::support::fpdedup();
    clusters.args(["clusters", "--min-size", "1", "--output"]).arg(&labels).arg(&store).assert().success();
    let mut load = fpload();
    load.args(["--remove", "--by-id", "--json"]).arg(&store).arg(&labels);
    assert_eq!(json_object(&stdout(&mut load))["removed"], 400);
    fails(
        fpload().args(["--remove", "--by-id", "--id-column", "url"]).arg(&store).arg(&labels),
        &["labels.parquet", "there is no column \"url\"; the columns are 'id', 'cluster'"],
    );
}

#[test]
fn text_ids_of_any_length_and_look() {
    for options in [&["--id-index", "--ids", "text"][..], &["--ids", "text"]] {
        let place = Place::new();
        let (long, plain) = ("x".repeat(4096), "#7 ; a \"b\"");
        let input = format!("{}1\t{long}\n{}2\t{plain}\n{}3\t7\n", "0".repeat(15), "0".repeat(15), "0".repeat(15));
        let store = place.path("store");
        fpload().arg("--create").args(options).arg(&store).arg("-").write_stdin(input).assert().success();
        for id in [&*long, plain] {
            let found = stdout(fpdump().args(["get", "--id", id]).arg(&store));
            assert!(found.ends_with(&format!("\t{id}\n")) && found.lines().count() == 1, "{found}");
        }
        let gone = format!("{plain}\r\n{long}\n");
        fpload().args(["--remove", "--by-id"]).arg(&store).arg("-").write_stdin(gone).assert().success();
        assert_eq!(scanned(&store), "0000000000000003\t7\n");
        let long = format!("{long}x\n");
        fails_unchanged(
            &store,
            fpload().args(["--remove", "--by-id"]).arg(&store).arg("-").write_stdin(long),
            &["line 1", "4096"],
        );
    }
}

#[test]
fn an_index_is_made_for_a_store_that_is_there() {
    let place = Place::new();
    let store = place.store(&records()[..200]);
    fpload().arg(&store).arg("-").write_stdin(lines(&records()[200..])).assert().success();
    let more = place.file("more.tsv", "0000000000000001\t5000\n");
    fails_unchanged(&store, fpload().arg("--id-index").arg(&store).arg(&more), &["make one first", "--id-index"]);
    let before = contents(&store);
    let message = stderr(fpload().args(["--id-index", "--dry-run"]).arg(&store), 0);
    assert!(message.contains("would get an index of its ids") && contents(&store) == before, "{message}");

    let message = stderr(fpload().arg("--id-index").arg(&store), 0);
    assert!(message.contains("id index  made"), "{message}");
    assert_eq!(scanned(&store), scan(&records()));
    let stats = json_object(&stdout(fpdump().args(["stats", "--json"]).arg(&store)));
    assert!(stats["id_index_bytes"].as_u64().unwrap() > 0 && stats["segments"] == 1, "{stats}");
    let message = stderr(fpload().arg("--id-index").arg(&store), 0);
    assert!(message.contains("there is one"), "{message}");

    // Loads keep the index, and queries give no warning.
    fpload().arg("--id-index").arg(&store).arg(&more).assert().success();
    let mut get = fpdump();
    get.args(["get", "--id", "5000"]).arg(&store).assert().success().stdout("0000000000000001\t5000\n").stderr("");
    let counts = place.path("counts");
    fpload().args(["--create", "--ids", "none"]).arg(&counts).arg("-").write_stdin("").assert().success();
    fails_unchanged(&counts, fpload().arg("--id-index").arg(&counts), &["the store has no ids"]);
}

#[test]
fn what_is_near_the_records_of_an_id() {
    for options in [&["--id-index"][..], &[]] {
        let place = Place::new();
        let store = place.store_with(&records(), options);
        let expected = |id: u64, most: usize| {
            let mut own = without(&records(), |other| other != id);
            own.sort_unstable();
            let others = without(&records(), |other| other == id);
            let mut text = String::new();
            for (query, _) in own {
                for (distance, found, id) in brute_force(&others, query, 3).into_iter().take(most) {
                    text.push_str(&format!("{query:016x}\t{found:016x}\t{distance}\t{id}\n"));
                }
            }
            text
        };
        let ask = |arguments: &[&str]| stdout(fpquery().args(arguments).arg(&store));
        assert!(expected(17, usize::MAX).lines().count() > 8);
        assert_eq!(ask(&["--id", "17"]), expected(17, usize::MAX));
        assert_eq!(ask(&["--id", "40", "--id", "17"]), expected(40, usize::MAX) + &expected(17, usize::MAX));
        assert_eq!(ask(&["--id", "17", "--scan"]), expected(17, usize::MAX));
        assert_eq!(ask(&["--id", "17", "--first"]), expected(17, 1));
        assert_eq!(ask(&["--id", "17", "--nearest", "2", "-k", "3"]), expected(17, 2));
        assert_eq!(ask(&["--id", "17", "--nearest", "2"]).lines().count(), 8);
        let with_id = ask(&["--id", "17", "--with-query-id"]);
        assert!(with_id.lines().all(|line| line.starts_with("17\t")), "{with_id}");
        let count: usize =
            ask(&["--id", "17", "--count"]).lines().map(|line| line[17..].parse::<usize>().unwrap()).sum();
        assert_eq!(count, expected(17, usize::MAX).lines().count());
        assert!(json_lines(&ask(&["--id", "17", "--json"])).iter().all(|found| found["id"] != 17));

        // An id without records, alone and beside another id.
        let message = stderr(fpquery().args(["--id", "999"]).arg(&store), 1);
        assert!(message.contains("no record has the id '999'"), "{message}");
        assert_eq!(message.contains("warning"), options.is_empty(), "{message}");
        assert!(options.is_empty() == message.contains("fpload --id-index"), "{message}");
        let message = stderr(fpquery().args(["--id", "999", "--id", "17"]).arg(&store), 0);
        assert!(message.contains("'999'") && !message.contains("'17'"), "{message}");
        fails(fpquery().args(["--id", "x"]).arg(&store), &["--id: the id 'x'"]);
        fails(fpquery().args(["--id", "17"]).arg(&store).arg("0000000000000001"), &["--id"]);
        fails(fpquery().args(["--id", "17", "-k", "65"]).arg(&store), &["--distance 65"]);
    }
    let (place, sort) = (Place::new(), Sort::new(256, Kind::Text));
    let wide = sort.families(60, 5);
    let store = sort.store(&place, "store", &wide);
    let text = stdout(fpdump().arg("scan").arg(&store));
    let (line, id) = text.lines().rev().find_map(|line| Some((line, line.split_once('\t')?.1))).unwrap();
    let found = stdout(fpdump().args(["get", "--quiet", "--id", id]).arg(&store));
    assert!(found.lines().any(|found| found == line), "{found}");
    fpdump().args(["get", "--quiet", "--id", "no such id"]).arg(&store).assert().code(1).stdout("").stderr("");
}

#[test]
fn records_of_an_id_are_shown() {
    for options in [&["--id-index"][..], &[]] {
        let place = Place::new();
        let store = place.store_with(&records(), options);
        let before = contents(&store);
        let own = scan(&without(&records(), |id| id != 17));
        assert_eq!(stdout(fpdump().args(["get", "--id", "17"]).arg(&store)), own);
        let objects = json_lines(&stdout(fpdump().args(["get", "--json", "--id", "17"]).arg(&store)));
        assert!(objects.len() == 4 && objects.iter().all(|object| object["id"] == 17));
        fpdump().args(["get", "--id", "999"]).arg(&store).assert().code(1).stdout("");
        let segment = store.join("00000001.segment");
        assert_eq!(stdout(fpdump().args(["get", "--id", "17"]).arg(&segment)), own);
        assert!(contents(&store) == before);
        fails(fpdump().arg("get").arg(&store), &["HEX"]);
        fails(fpdump().args(["get", "--id", "17", "0000000000000001"]).arg(&store), &["--id"]);
    }
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let store = place.store(&records());
    let good = place.file("good.txt", "7\n");
    let pairs = place.file("pairs.tsv", lines(&records()[..3]));
    let load = |options: &[&str], input: &Path, parts: &[&str]| {
        fails_unchanged(&store, fpload().args(options).arg(&store).arg(input), parts);
    };
    load(&["--by-id"], &good, &["--remove"]);
    load(&["--remove", "--by-id"], &pairs, &["pairs.tsv: line 1: expected an id alone", "--by-id"]);
    load(&["--remove", "--by-id"], &place.file("bad.txt", "7\nx\n"), &["bad.txt: line 2: the id 'x'"]);
    load(&["--remove", "--by-id", "--text"], &good, &["--text"]);
    load(&["--remove", "--by-id", "--fingerprint-column", "f"], &good, &["--fingerprint-column"]);
    load(&["--remove", "--by-id"], &place.file("raw.u64", [0; 8]), &["raw.u64: raw integers are fingerprints"]);
    load(&["--remove", "--by-id"], &place.path("none.txt"), &["none.txt"]);
    let before = contents(&store);
    let message = stderr(fpload().args(["--remove", "--by-id", "--dry-run"]).arg(&store).arg(&good), 0);
    assert!(message.contains("1 id, sound") && message.contains("would be removed from"), "{message}");
    assert!(contents(&store) == before);
    let counts = place.path("counts");
    fpload().args(["--create", "--ids", "none"]).arg(&counts).arg("-").write_stdin("").assert().success();
    fails_unchanged(&counts, fpload().args(["--remove", "--by-id"]).arg(&counts).arg(&good), &["the store has no ids"]);
    fails(fpquery().args(["--id", "7"]).arg(&counts), &["the store has no ids"]);
    fails(fpdump().args(["get", "--id", "7"]).arg(&counts), &["the store has no ids"]);
}

#[test]
fn ids_of_directories_and_patterns() {
    let place = Place::new();
    let store = place.store_with(&records(), &["--id-index"]);
    std::fs::create_dir(place.path("gone")).unwrap();
    place.file("gone/a.txt", "7\n");
    place.file("gone/b.csv", "id\n8\n");
    let nothing = place.file("none.txt", "");
    let mut load = fpload();
    load.args(["--remove", "--by-id"]).arg(&store).args([place.path("gone"), place.path("no*.txt")]);
    let told = stderr(&mut load, 0);
    assert!(told.contains(&format!("{} holds no records", nothing.display())), "{told}");
    assert_eq!(scanned(&store), scan(&without(&records(), |id| id == 7 || id == 8)));
}
