//! `--ids`: how auto decides, and which kinds may not be mixed.

use std::path::Path;

use crate::support::{Place, fails, fpdump, fpload, json_object, stdout};
use crate::wide::fails_unchanged;

const F: &str = "00000000000000ff";

fn info(store: &Path) -> serde_json::Value {
    json_object(&stdout(fpdump().args(["info", "--json"]).arg(store)))
}

#[test]
fn auto_takes_what_the_first_record_has() {
    for (n, (text, ids, numbering)) in [
        (format!("{F}\t17\n"), "u64", "given"),
        (format!("{F}\t18446744073709551615\n"), "u64", "given"),
        (format!("{F}\t18446744073709551616\n"), "text", ""),
        (format!("{F}\t-1\n"), "text", ""),
        (format!("{F}\thttps://example.org/ä b\n"), "text", ""),
        (format!("{F}\turl\n{F}\t17\n"), "text", ""),
        (format!("{F}\n{F}\n"), "u64", "own"),
        (String::new(), "u64", "undecided"),
    ]
    .into_iter()
    .enumerate()
    {
        for options in [&[][..], &["--ids", "auto"]] {
            let place = Place::new();
            let store = place.path("store");
            fpload().arg("--create").args(options).arg(&store).arg("-").write_stdin(text.clone()).assert().success();
            let info = info(&store);
            assert_eq!(info["ids"], ids, "{n}: {text}");
            assert_eq!(info["numbering"].as_str().unwrap_or_default(), numbering, "{n}: {text}");
        }
    }
}

#[test]
fn auto_in_structured_input() {
    let place = Place::new();
    let object = |id: &str| format!("{{\"fingerprint\": \"{F}\", \"id\": {id}}}\n");
    for (name, text, ids) in [
        ("a.ndjson", object("5"), "u64"),
        ("b.ndjson", object("\"5\""), "u64"),
        ("c.ndjson", object("\"five\""), "text"),
        ("d.ndjson", format!("{{\"fingerprint\": \"{F}\"}}\n"), "u64"),
        ("e.csv", format!("fingerprint,id\n{F},5\n"), "u64"),
        ("f.csv", format!("fingerprint,id\n{F},\"a, b\"\n"), "text"),
        ("g.csv", format!("fingerprint\n{F}\n"), "u64"),
    ] {
        let store = place.path(&format!("{name}.store"));
        fpload().arg("--create").arg(&store).arg(place.file(name, text)).assert().success();
        assert_eq!(info(&store)["ids"], ids, "{name}");
    }
}

#[test]
fn what_a_creation_may_not_mix() {
    let place = Place::new();
    let new = place.path("new");
    for (ids, text, parts) in [
        ("auto", format!("{F}\t1\n{F}\tx\n"), ["line 2", "'x' is not a decimal number"]),
        ("auto", format!("{F}\t1\n\n{F}\n"), ["line 3", "no id"]),
        ("auto", format!("{F}\n{F}\t1\n"), ["line 2", "has an id"]),
        ("auto", format!("{F}\tx\n{F}\n"), ["line 2", "no id"]),
        ("u64", format!("{F}\tx\n"), ["line 1", "--ids text"]),
        ("text", format!("{F}\n"), ["line 1", "every record needs one"]),
        ("text", format!("{F}\ta\n{F}\t\n"), ["line 2", "empty"]),
        ("text", format!("{F}\t{}\n", "x".repeat(4097)), ["line 1", "4097 bytes"]),
        ("text", format!("{F}\ta\0b\n"), ["line 1", "the id"]),
        ("none", format!("{F}\n{F}\t1\n"), ["line 2", "has an id"]),
    ] {
        let input = place.file("a.tsv", &text);
        let parts = [&["a.tsv"], &parts[..]].concat();
        fails(fpload().args(["--create", "--ids", ids]).arg(&new).arg(&input), &parts);
        assert!(!new.exists(), "{ids} {text}");
    }
    let long = place.file("long.tsv", format!("{F}\t{}\n", "x".repeat(4096)));
    fpload().args(["--create", "--ids", "text"]).arg(&new).arg(&long).assert().success();
}

#[test]
fn what_a_store_may_not_be_given() {
    let place = Place::new();
    let (number, text, bare) = (format!("{F}\t1\n"), format!("{F}\tx\n"), format!("{F}\n"));
    for (name, ids, first, refused, part) in [
        ("given", "u64", &number, &bare, "the store has ids that its user gave"),
        ("given-2", "u64", &number, &text, "a.tsv: line 2: the id 'x'"),
        ("own", "u64", &bare, &number, "the store numbers its records itself"),
        ("own-2", "u64", &bare, &text, "a.tsv: line 2: the id 'x'"),
        ("text", "text", &text, &bare, "a.tsv: line 2: this record has no id"),
        ("none", "none", &bare, &number, "a.tsv: line 2: this record has an id"),
        ("none-2", "none", &bare, &text, "a.tsv: line 2: this record has an id"),
    ] {
        let store = place.path(name);
        fpload().args(["--create", "--ids", ids]).arg(&store).arg("-").write_stdin(first.clone()).assert().success();
        let input = place.file("a.tsv", format!("# remark\n{refused}"));
        fails_unchanged(&store, fpload().arg(&store).arg(&input), &[part]);
        fails_unchanged(&store, fpload().arg("--dry-run").arg(&store).arg(&input), &[part]);
        // A good file before a bad one changes nothing either.
        let good = place.file("good.tsv", first);
        fails(fpload().arg(&store).arg(&good).arg(&input), &["a.tsv: line 2"]);
        let before = stdout(fpdump().arg("scan").arg(&store));
        assert_eq!(before.lines().filter(|line| !line.starts_with('#')).count(), 1, "{name}");
    }
}

#[test]
fn numbers_are_texts_where_the_store_has_texts() {
    let place = Place::new();
    let store = place.path("store");
    let text = format!("{F}\t10\n{F}\t9\n{F}\t010\n");
    fpload().args(["--create", "--ids", "text"]).arg(&store).arg("-").write_stdin(text).assert().success();
    // Bytewise, and leading zeros are part of the text.
    let scanned = stdout(fpdump().arg("scan").arg(&store));
    assert_eq!(scanned, format!("#fpstore width=64 ids=text\n{F}\t010\n{F}\t10\n{F}\t9\n"));
    let copy = place.path("copy");
    fpload().arg("--create").arg(&copy).arg("-").write_stdin(scanned.clone()).assert().success();
    assert_eq!(stdout(fpdump().arg("scan").arg(&copy)), scanned);
    let object = format!("{{\"fingerprint\": \"{F}\", \"id\": 11}}\n");
    fpload().arg(&store).arg(place.file("a.ndjson", object)).assert().success();
    assert_eq!(stdout(fpdump().args(["get", F]).arg(&store)).lines().nth(2), Some(&*format!("{F}\t11")));
}

/// As numbers, 7 and 007 would be one id.
#[test]
fn zeros_before_a_number_are_part_of_an_id() {
    let place = Place::new();
    let input = place.file("a.tsv", "0000000000000001\t007\n0000000000000001\t07\n0000000000000001\t7\n");
    let store = place.path("store");
    fpload().arg("--create").args([&store, &input]).assert().success();
    let records = stdout(fpdump().arg("scan").arg(&store));
    assert!(records.ends_with("0000000000000001\t007\n0000000000000001\t07\n0000000000000001\t7\n"), "{records}");
    let mixed = place.file("b.tsv", "0000000000000001\t7\n0000000000000001\t07\n");
    fails(
        fpload().arg("--create").args([&place.path("b"), &mixed]),
        &["line 2", "'07' would be the number without its zeros", "--ids text"],
    );
    fpload().args(["--create", "--ids", "u64"]).args([&place.path("b"), &mixed]).assert().success();
}
