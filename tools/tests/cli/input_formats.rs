//! Every format, plain and compressed, gives the same store.

use std::io::Write;
use std::path::Path;

use crate::support::{Pair, Place, brute_force_lines, families, fpload, fpquery, hex_lines, lines, stdout};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Loads a file and queries every record.
fn holds(place: &Place, name: &str, content: &[u8], options: &[&str], expected: &[Pair]) {
    let input = place.file(name, content);
    let store = place.path(&format!("{name}.store"));
    fpload().args(["--create", "--quiet"]).args(options).arg(&store).arg(&input).assert().success().stderr("");
    check(&store, expected);
}

fn check(store: &Path, expected: &[Pair]) {
    let queries: Vec<u64> = expected.iter().map(|(fingerprint, _)| *fingerprint).collect();
    let mut ask = fpquery();
    ask.args(["-k", "0"]).arg(store).write_stdin(hex_lines(queries.iter().copied()));
    assert_eq!(stdout(&mut ask), brute_force_lines(expected, &queries, 0));
}

#[test]
fn formats_with_ids() {
    let place = Place::new();
    let records = families(500, 1);
    let hex = lines(&records);
    let dec: String = records.iter().map(|(fingerprint, id)| format!("{fingerprint}\t{id}\n")).collect();
    let json: String = records
        .iter()
        .map(|(fingerprint, id)| {
            format!("{{\"title\": \"t\", \"id\": {id}, \"fingerprint\": \"{fingerprint:016x}\"}}\n")
        })
        .collect();
    let other: String = records
        .iter()
        .map(|(fingerprint, id)| format!("{{\"id\": \"a path\", \"n\": \"{id}\", \"simhash\": {fingerprint}}}\n"))
        .collect();
    for name in ["a.tsv", "a.txt", "a.hex", "plain"] {
        holds(&place, name, hex.as_bytes(), &[], &records);
    }
    holds(&place, "b.tsv.gz", &gzip(hex.as_bytes()), &[], &records);
    holds(&place, "b.tsv.zst", &zstd::encode_all(hex.as_bytes(), 3).unwrap(), &[], &records);
    holds(&place, "c.dat", hex.as_bytes(), &["--format", "hex"], &records);
    holds(&place, "d.dec", dec.as_bytes(), &["--format", "dec"], &records);
    holds(&place, "e.ndjson", json.as_bytes(), &[], &records);
    holds(&place, "e.jsonl.gz", &gzip(json.as_bytes()), &[], &records);
    let columns = ["--fingerprint-column", "simhash", "--id-column", "n"];
    holds(&place, "f.ndjson", other.as_bytes(), &columns, &records);
}

#[test]
fn raw_integers_are_numbered_in_their_order() {
    let place = Place::new();
    let records: Vec<Pair> = families(500, 2).iter().map(|(fingerprint, _)| *fingerprint).zip(0..).collect();
    let raw: Vec<u8> = records.iter().flat_map(|(fingerprint, _)| fingerprint.to_le_bytes()).collect();
    holds(&place, "a.u64", &raw, &[], &records);
    holds(&place, "a.bin", &raw, &[], &records);
    holds(&place, "a.u64.gz", &gzip(&raw), &[], &records);
    holds(&place, "a.u64.zst", &zstd::encode_all(raw.as_slice(), 3).unwrap(), &[], &records);
    holds(&place, "a.raw", &raw, &["--format", "le"], &records);
}

#[test]
fn what_is_no_part_of_a_record() {
    let place = Place::new();
    let text = "\u{feff}#fpstore width=64 hasher=native\r\n\r\n# a remark\n0xFFFFFFFFFFFFFFFF\t3\r\n  \n\
                000000000000000A\t18446744073709551615";
    holds(&place, "a.tsv", text.as_bytes(), &[], &[(u64::MAX, 3), (10, u64::MAX)]);
}

#[test]
fn standard_input_and_several_files() {
    let place = Place::new();
    let records = families(90, 3);
    let one = place.file("one.tsv", lines(&records[..30]));
    let two = place.file("two.tsv.gz", gzip(lines(&records[60..]).as_bytes()));
    let store = place.path("store");
    let mut load = fpload();
    load.arg("--create").arg(&store).arg(one).arg("-").arg(two).write_stdin(lines(&records[30..60])).assert().success();
    check(&store, &records);

    let dec = place.path("dec");
    fpload().args(["--create", "--format", "dec"]).arg(&dec).arg("-").write_stdin("17\t4\n").assert().success();
    check(&dec, &[(17, 4)]);
}

#[test]
fn queries_are_read_in_all_formats_too() {
    let place = Place::new();
    let records = families(300, 4);
    let store = place.store(&records);
    let queries: Vec<u64> = records.iter().map(|(fingerprint, _)| *fingerprint).collect();
    let expected = brute_force_lines(&records, &queries, 3);
    let raw: Vec<u8> = queries.iter().flat_map(|query| query.to_le_bytes()).collect();
    let json: String = queries.iter().map(|query| format!("{{\"fingerprint\":\"{query:016x}\"}}\n")).collect();
    for (name, content) in [
        ("q.hex", hex_lines(queries.iter().copied()).into_bytes()),
        ("q.u64", raw.clone()),
        ("q.u64.gz", gzip(&raw)),
        ("q.ndjson", json.into_bytes()),
        ("q.tsv", lines(&records).into_bytes()),
    ] {
        let input = place.file(name, content);
        assert_eq!(stdout(fpquery().arg("--input").arg(input).arg(&store)), expected, "{name}");
    }
}
