//! Documents of every format get the same fingerprints from `fphash`; anything else is reported with its place.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::hash_vectors::{hashed, ndjson, real_documents};
use crate::support::{Place, fails, fphash, fpload, fpquery, json_lines, stdout, without_trailer};

const TEXTS: [&str; 4] =
    ["The quick brown fox jumps over the lazy dog.", "A \"quoted\", text;\nof two lines", "Ünïcödé, 日本語 and 😀", ""];

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Returns documents with numeric ids.
fn numbered() -> String {
    ndjson((10..).zip(TEXTS).map(|(id, text)| (json!(id), json!(text))))
}

fn lines(input: &Path, options: &[&str]) -> String {
    without_trailer(&stdout(fphash().args(["simhash", "--min-features", "0"]).args(options).arg(input))).to_owned()
}

#[test]
fn every_form_gives_the_same() {
    let place = Place::new();
    let json = numbered();
    let expected = lines(&place.file("a.ndjson", &json), &[]);
    assert_eq!(expected.lines().count(), 5);
    assert!(expected.lines().nth(4).unwrap() == "0000000000000000\t13", "{expected}");
    let csv: String = (10..).zip(TEXTS).fold("id,title,text\n".to_owned(), |csv, (id, text)| {
        csv + &format!("{id},x,\"{}\"\n", text.replace('"', "\"\""))
    });
    let named: String = json.replace("\"id\"", "\"number\"").replace("\"text\"", "\"body\"");
    for (name, bytes) in [
        ("a.jsonl", json.clone().into_bytes()),
        ("a.ndjson.gz", gzip(json.as_bytes())),
        ("a.ndjson.zst", zstd::encode_all(json.as_bytes(), 3).unwrap()),
        ("a.csv", csv.clone().into_bytes()),
        ("a.csv.gz", gzip(csv.as_bytes())),
        ("mark.ndjson", format!("\u{feff}# remark\r\n\r\n{}", json.replace('\n', "\r\n")).into_bytes()),
    ] {
        assert_eq!(lines(&place.file(name, bytes), &[]), expected, "{name}");
    }
    let columns = ["--id-column", "number", "--text-column", "body"];
    assert_eq!(lines(&place.file("named.ndjson", named), &columns), expected);
    assert_eq!(lines(&place.file("a.data", &csv), &["--format", "csv"]), expected);
    let piped = stdout(fphash().args(["simhash", "--min-features", "0", "-"]).write_stdin(json));
    assert_eq!(without_trailer(&piped), expected);
    let options = ["simhash", "--min-features", "0", "--format", "csv", "-"];
    let piped = stdout(fphash().args(options).write_stdin(csv));
    assert_eq!(without_trailer(&piped), expected);
}

#[test]
fn whole_files_and_directories() {
    let place = Place::new();
    fs::create_dir_all(place.path("docs/b")).unwrap();
    let names = ["docs/a.txt", "docs/b/a.html.gz", "docs/b/c", "docs/d.log"];
    for (name, text) in names.iter().zip(TEXTS) {
        let bytes = if name.ends_with(".gz") { gzip(text.as_bytes()) } else { text.as_bytes().to_vec() };
        place.file(name, bytes);
    }
    let fingerprints = hashed(&["simhash"], &place.file("a.ndjson", numbered()));
    let of_directory = hashed(&["simhash"], &place.path("docs"));
    assert_eq!(of_directory.len(), 4);
    for ((found, expected), name) in of_directory.iter().zip(&fingerprints).zip(names) {
        assert_eq!((&found["id"], &found["fingerprint"]), (&json!(place.path(name)), &expected["fingerprint"]));
    }
    let two =
        json_lines(&stdout(fphash().args(["simhash", "--json"]).args([place.path(names[2]), place.path(names[0])])));
    assert_eq!((&two[0], &two[1]), (&of_directory[2], &of_directory[0]));
    let piped = stdout(fphash().args(["simhash", "--json", "--format", "file", "-"]).write_stdin(TEXTS[0]));
    assert_eq!(
        json_lines(&piped)[0],
        json!({"schema_version": 1, "id": "-", "fingerprint": fingerprints[0]["fingerprint"]})
    );
}

#[test]
fn ids_are_numbers_texts_or_none() {
    let place = Place::new();
    let input = place.file(
        "a.ndjson",
        "{\"id\":18446744073709551615,\"text\":\"a\"}\n{\"id\":\"7\",\"text\":\"a\"}\n{\"id\":\"/é \\\" x\",\"text\":\"a\"}\n{\"text\":\"a\"}\n",
    );
    let text = lines(&input, &[]);
    let ids: Vec<Option<&str>> = text.lines().skip(1).map(|line| line.split_once('\t').map(|(_, id)| id)).collect();
    assert_eq!(ids, [Some("18446744073709551615"), Some("7"), Some("/é \" x"), None]);
    let ids: Vec<Value> = hashed(&["simhash"], &input).into_iter().map(|result| result["id"].clone()).collect();
    assert_eq!(ids, [json!(u64::MAX), json!("7"), json!("/é \" x"), Value::Null]);
}

#[test]
fn tokens_are_features_as_they_are() {
    let place = Place::new();
    let tokens = place
        .file("a.ndjson", "{\"id\":1,\"tokens\":[\"New York\",\"is\",\"big\",\"is\"]}\n{\"id\":2,\"tokens\":[]}\n");
    let options = ["simhash", "--tokens-column", "tokens"];
    let found = hashed(&options, &tokens);
    assert_eq!(found[1]["fingerprint"], "0000000000000000");
    // Neither split nor changed, and in any order.
    let other = place.file("b.ndjson", "{\"id\":1,\"tokens\":[\"is\",\"big\",\"New York\"]}\n");
    assert_eq!(
        hashed(&[&options[..], &["--features", "chars:2", "--normalise", "lower"]].concat(), &other)[0],
        found[0]
    );
    let cut = place.file("c.ndjson", "{\"id\":1,\"tokens\":[\"is\",\"big\",\"New\",\"York\"]}\n");
    assert_ne!(hashed(&options, &cut)[0], found[0]);
    let wrong = place.file("d.ndjson", "{\"id\":1,\"tokens\":\"New York\"}\n");
    fails(fphash().args(options).arg("--json").arg(&wrong), &["d.ndjson: line 1", "array of strings"]);
    fails(
        fphash().args(options).arg("--json").arg(place.file("a.csv", "id,tokens\n1,a\n")),
        &["a.csv", "holds no array"],
    );
}

#[test]
fn normalisation_and_features() {
    let place = Place::new();
    let of = |text: &str, options: &[&str]| {
        let input = place.file("x.ndjson", ndjson([(json!(1), json!(text))]));
        hashed(&[&["simhash"][..], options].concat(), &input)[0]["fingerprint"].clone()
    };
    let plain = "some words of a text & more";
    assert_eq!(of("<p>Some <b>words</b> of a\ntext &amp; more</p>", &["--normalise", "markup,lower"]), of(plain, &[]));
    assert_eq!(of("Some WORDS of a text & more", &[]), of(plain, &[]));
    assert_ne!(of("Some WORDS of a text & more", &["--normalise", "none"]), of(plain, &["--normalise", "none"]));
    assert_eq!(of("Ａ ﬁne", &["--normalise", "nfkc,lower"]), of("a fine", &[]));
    assert_ne!(of(plain, &["--features", "chars:3"]), of(plain, &["--features", "words:2"]));
    let input = place.file("x.ndjson", "{\"text\":\"x\"}\n");
    fails(fphash().args(["simhash", "--features", "chars:0"]).arg(&input), &["chars:0"]);
    fails(fphash().args(["simhash", "--normalise", "upper"]).arg(&input), &["upper", "markup"]);
    fails(fphash().args(["simhash", "--width", "32"]).arg(&input), &["--width", "64 and 128"]);
}

/// An error names the place; everything before it has been written.
#[test]
fn what_is_no_document_is_named() {
    let place = Place::new();
    let good = "{\"id\":1,\"text\":\"one\"}\n";
    for (name, bytes, parts) in [
        ("a.ndjson", b"{".to_vec(), &["a.ndjson: line 2"][..]),
        ("b.ndjson", b"{\"id\":2}".to_vec(), &["b.ndjson: line 2", "there is no \"text\"", "--text-column"]),
        ("c.ndjson", b"{\"id\":2,\"text\":5}".to_vec(), &["c.ndjson: line 2", "a text, which is a string"]),
        ("d.ndjson", b"{\"id\":\"a\\tb\",\"text\":\"x\"}".to_vec(), &["d.ndjson: line 2", "'\\t'"]),
        ("e.ndjson", b"{\"id\":2,\"text\":\"\xff\"}".to_vec(), &["e.ndjson: line 2", "not UTF-8"]),
        ("f.ndjson", b"{\"id\":-2,\"text\":\"x\"}".to_vec(), &["f.ndjson: line 2"]),
    ] {
        let input = place.file(name, [good.as_bytes(), &bytes, b"\n"].concat());
        let assert = fphash().arg("simhash").arg(&input).assert().code(2);
        let output = assert.get_output();
        let message = String::from_utf8(output.stderr.clone()).unwrap();
        assert!(parts.iter().all(|part| message.contains(part)), "{name}: {message}");
        let written = String::from_utf8(output.stdout.clone()).unwrap();
        assert!(written.starts_with("#fpstore ") && written.ends_with("\t1\n"), "{name}: {written}");
    }
    let file = |name: &str, bytes: &[u8]| place.file(name, bytes);
    let header: &[&str] = &["simhash", "--json"];
    for (input, parts) in [
        (file("a.csv", b"id,body\n1,x\n"), &["a.csv", "no column \"text\"", "--text-column"][..]),
        (file("b.csv", b"id,text\n1\n"), &["b.csv: line 2"]),
        (file("c.txt", b"caf\xe9"), &["c.txt", "not UTF-8 at byte offset 3"]),
        (file("d.ndjson.gz", b"{}"), &["d.ndjson.gz"]),
        (place.path("none.ndjson"), &["none.ndjson", "No such file"]),
    ] {
        fails(fphash().args(header).arg(input), parts);
    }
    fails(
        fphash().args(header).args(["--id-column", "url"]).arg(file("g.ndjson", good.as_bytes())),
        &["line 1", "\"url\""],
    );
    fails(fphash().args(header).args(["-", "-"]), &["standard input can be read only once"]);
    fails(fphash().arg("simhash"), &["INPUT"]);
}

/// From documents to answers.
#[test]
fn pipes_into_a_store() {
    let place = Place::new();
    let store = place.path("store");
    let hashes = stdout(fphash().args(["simhash", "--preset", "native", "--id-column", "n"]).arg(real_documents()));
    let mut load = fpload();
    load.args(["--create", "--quiet"]).arg(&store).arg("-").write_stdin(hashes.clone()).assert().success();
    let records: Vec<(u64, u64)> = without_trailer(&hashes)
        .lines()
        .skip(1)
        .map(|line| {
            let (hex, id) = line.split_once('\t').unwrap();
            (u64::from_str_radix(hex, 16).unwrap(), id.parse().unwrap())
        })
        .collect();
    assert!(records.iter().map(|record| record.1).eq(0..3000));
    let queries: Vec<u64> = records.iter().step_by(50).map(|record| record.0).collect();
    let asked = crate::support::hex_lines(queries.iter().copied());
    let expected = crate::support::brute_force_lines(&records, &queries, 3);
    assert_eq!(stdout(fpquery().arg(&store).write_stdin(asked)), expected);
    // The same store takes no fingerprints of another preset.
    let other =
        stdout(fphash().args(["simhash", "--preset", "seomoz", "-"]).write_stdin("{\"id\":1,\"text\":\"a\"}\n"));
    let mut load = fpload();
    fails(load.arg(&store).arg("-").write_stdin(other), &["simhash/seomoz/", "must not be mixed"]);
}
