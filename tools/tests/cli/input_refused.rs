//! Bad input is refused by name and line, and the store stays as it was, or absent.

use crate::support::{Place, contents, fails, families, fpload, fpquery, lines};

/// A creation, an addition and a query all refuse the input.
fn refused(place: &Place, name: &str, content: &[u8], options: &[&str], parts: &[&str]) {
    let parts = [&[name], parts].concat();
    load_refused(place, name, content, options, &parts);
    let mut ask = fpquery();
    let assert = ask.args(options).arg("--input").arg(place.path(name)).arg(place.path("store")).assert().code(2);
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

/// The store refuses the input's ids. Queries may have any ids.
fn ids_refused(place: &Place, name: &str, content: &[u8], parts: &[&str]) {
    load_refused(place, name, content, &[], &[&[name], parts].concat());
    fpquery().arg("--input").arg(place.path(name)).arg(place.path("store")).assert().code(1).stderr("");
}

/// A creation and an addition both refuse the input.
fn load_refused(place: &Place, name: &str, content: &[u8], options: &[&str], parts: &[&str]) {
    let input = place.file(name, content);
    let new = place.path("new");
    fails(fpload().arg("--create").args(options).arg(&new).arg(&input), parts);
    assert!(!new.exists(), "{name}");

    let store = place.path("store");
    let before = contents(&store);
    let good = place.file("good.tsv", "0000000000000000\t999\n");
    fails(fpload().args(options).arg(&store).arg(good).arg(&input), parts);
    assert_eq!(contents(&store), before, "{name}");
}

#[test]
fn text_that_is_no_record() {
    let place = Place::new();
    place.store(&families(50, 1));
    let good = "00000000000000ff\t1\n";
    for (n, (line, part)) in [
        ("ff\t2", "found 2"),
        ("00000000000000fff\t2", "found 17"),
        ("00000000000000fg\t2", "16 hexadecimal digits"),
        ("00000000000000ff 2", "a TAB separates"),
        ("00000000000000ff,2", "a TAB separates"),
        ("00000000000000ff\t", "the id is empty"),
        ("00000000000000ff\t2\t3", "more than two columns"),
        ("a\u{0}b", "16 hexadecimal digits"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("{good}# remark\n\n{line}\n{good}");
        refused(&place, &format!("a{n}.tsv"), text.as_bytes(), &[], &["line 4", part]);
    }
    for (n, (id, part)) in [
        ("/path", "the id '/path' is not a decimal number; the ids are u64 here"),
        ("-2", "not a decimal number"),
        ("18446744073709551616", "does not fit 64 bits"),
    ]
    .into_iter()
    .enumerate()
    {
        let text = format!("{good}00000000000000ff\t{id}\n");
        ids_refused(&place, &format!("b{n}.tsv"), text.as_bytes(), &["line 2", part]);
    }
    ids_refused(&place, "c.tsv", format!("{good}00000000000000ff\n").as_bytes(), &["line 2", "no id"]);
    refused(&place, "c.txt", b"12x\t1\n", &["--format", "dec"], &["line 1", "expected a decimal number"]);
    refused(&place, "d.txt", b"18446744073709551616\t1", &["--format", "dec"], &["line 1", "does not fit"]);
    refused(&place, "e.txt", b"#fpstore width=96 hasher=x\n", &[], &["line 1", "96-bit"]);
}

#[test]
fn an_id_after_records_without() {
    let place = Place::new();
    let input = place.file("a.tsv", "00000000000000ff\n00000000000000ff\t1\n");
    let store = place.path("store");
    fails(fpload().arg("--create").arg(&store).arg(input), &["a.tsv: line 2", "has an id"]);
    assert!(!store.exists());
}

#[test]
fn a_line_without_an_end() {
    let place = Place::new();
    place.store(&families(50, 1));
    let text = [b"00000000000000ff\t1\n".to_vec(), vec![b'0'; 3 << 20]].concat();
    refused(&place, "a.tsv", &text, &[], &["line 2", "longer than 1 MiB"]);
}

#[test]
fn raw_integers_that_are_cut() {
    let place = Place::new();
    let store = place.path("store");
    let good = place.file("good.u64", [7; 16]);
    fpload().arg("--create").arg(&store).arg(good).assert().success();
    let input = place.file("a.u64", [7; 21]);
    let before = contents(&store);
    fails(fpload().arg(&store).arg(&input), &["a.u64", "record 3", "5 of the 8 bytes"]);
    assert_eq!(contents(&store), before);
}

#[test]
fn json_that_is_no_record() {
    let place = Place::new();
    place.store(&families(50, 1));
    let good = r#"{"fingerprint": "00000000000000ff", "id": 1}"#;
    for (n, (line, part)) in [
        ("{", "EOF"),
        ("[]", "a JSON object"),
        (r#"{"id": 2}"#, r#"there is no "fingerprint""#),
        (r#"{"fingerprint": "ff", "id": 2}"#, "16 hexadecimal digits"),
        (r#"{"fingerprint": -1, "id": 2}"#, "unsigned 64-bit"),
    ]
    .into_iter()
    .enumerate()
    {
        refused(&place, &format!("a{n}.ndjson"), format!("{good}\n{line}\n").as_bytes(), &[], &["line 2", part]);
    }
    for (name, text, part) in [
        ("c", r#"{"fingerprint": 1, "id": "doc"}"#, "the id 'doc' is not a decimal number; the ids are u64 here"),
        ("d", r#"{"fingerprint": 1}"#, "no id"),
    ] {
        ids_refused(&place, &format!("{name}.ndjson"), format!("{good}\n{text}\n").as_bytes(), &["line 2", part]);
    }
    let text = r#"{"fingerprint": 1}"#;
    refused(&place, "b.ndjson", text.as_bytes(), &["--id-column", "id"], &["line 1", r#"there is no "id""#]);
}

#[test]
fn compressed_input_that_is_cut_or_is_something_else() {
    let place = Place::new();
    place.store(&families(50, 1));
    let text = lines(&families(2000, 2));
    let zst = zstd::encode_all(text.as_bytes(), 3).unwrap();
    refused(&place, "a.tsv.zst", &zst[..zst.len() - 3], &[], &["line"]);
    refused(&place, "a.tsv.gz", text.as_bytes(), &[], &["line 1", "gzip"]);
    refused(&place, "b.tsv.gz", b"", &[], &["empty"]);
    refused(&place, "b.tsv.zst", b"plain text", &[], &["line 1"]);
}

#[test]
fn formats_that_are_not_known() {
    let place = Place::new();
    place.store(&families(50, 1));
    refused(&place, "a.parquet", b"", &[], &["Parquet file too small"]);
    refused(&place, "a.xml", b"", &[], &["--format"]);
    refused(&place, "a.u512", b"", &[], &["--format"]);
    fails(fpload().args(["--format", "xml", "--create"]).arg(place.path("x")).arg("-"), &["xml"]);
}

/// A name that does not fit the content: the message suggests an option.
#[test]
fn formats_that_a_name_misleads_about() {
    let place = Place::new();
    for (name, content, part) in [
        ("a.csv", "0000000000000001\t1\n0000000000000002\t2\n", "say --format hex"),
        ("a.tsv", "id\tfingerprint\n1\t0000000000000001\n", "say --format tsv"),
        ("a.hex", "fingerprint,id\n0000000000000001,1\n", "say --format csv"),
        ("a.ndjson", "{\n  \"fingerprint\": 1\n}\n", "an object that is longer than a line needs --format json"),
    ] {
        let input = place.file(name, content);
        fails(fpload().arg("--create").args([&place.path("store"), &input]), &[name, "line 1", part]);
        let format = part.rsplit_once("--format ").unwrap().1;
        fpload()
            .args(["--create", "--format", format])
            .args([&place.path(&format!("{name}.store")), &input])
            .assert()
            .success();
    }
    let wide: Vec<u8> = "\u{feff}fingerprint,id\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for name in ["b.csv", "b.tsv"] {
        fails(
            fpload().arg("--create").args([&place.path("store"), &place.file(name, &wide)]),
            &["iconv -f UTF-16 -t UTF-8"],
        );
    }
}
