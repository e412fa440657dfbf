//! Key indexes whose keys other systems define: buckets of datatrove's MinHash, and terms of Lucene's filter.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::Value;

use crate::hash_vectors::{hashed, ndjson, objects, vectors};
use crate::support::*;

/// Every n-th document of both samples, numbered from 0.
fn documents(step: usize) -> String {
    let files = ["tests/data/rust-book-documents.ndjson.gz", "tests/data/manuals.ndjson.gz"];
    let texts = files.iter().flat_map(|file| objects(file).into_iter().step_by(step));
    ndjson(texts.zip(0_u64..).map(|(document, number)| (number.into(), document["text"].clone())))
}

/// Ids and keys of all records, as `fpdump scan` prints them.
fn records(store: &std::path::Path) -> BTreeMap<u64, BTreeSet<u64>> {
    let text = stdout(fpdump().arg("scan").arg(store));
    let objects = text.lines().filter(|line| !line.starts_with('#')).map(|line| serde_json::from_str(line).unwrap());
    let keys = |object: &Value| object["keys"].as_array().unwrap().iter().map(|key| key.as_u64().unwrap()).collect();
    objects.map(|object: Value| (object["id"].as_u64().unwrap(), keys(&object))).collect()
}

/// The candidates are those of datatrove's own stages 1 and 2.
#[test]
fn candidates_of_datatrove() {
    let place = Place::new();
    for line in vectors("datatrove_pairs.ndjson.gz") {
        let (bands, rows) = (line["bands"].to_string(), line["rows"].to_string());
        let documents = place.file("documents.ndjson", documents(line["step"].as_u64().unwrap() as usize));
        // The buckets of datatrove's own default need not be named.
        let options = [&["--preset", "datatrove"][..], &["--bands", &bands, "--rows", &rows]].concat();
        let options = if bands == "14" { &options[..2] } else { &options[..] };
        let store = place.path(&format!("store-{bands}"));
        stdout(
            fpload()
                .args(["--quiet", "--create", "--kind", "keys", "--text"])
                .args(options)
                .arg(&store)
                .arg(&documents),
        );
        let found = stdout(fpdedup().arg("pairs").arg(&store));
        let mut found: Vec<Vec<u64>> = found
            .lines()
            .map(|line| line.split('\t').take(3).map(|number| number.parse().unwrap()).collect())
            .collect();
        found.sort();
        let expected: Vec<Vec<u64>> = serde_json::from_value(line["pairs"].clone()).unwrap();
        assert!(expected.len() > 400);
        assert_eq!(found, expected, "{bands} bands");
    }
}

#[test]
fn signatures_of_datatrove() {
    let place = Place::new();
    let texts = crate::hash_vectors::repository("sketch/tests/vectors/texts.ndjson");
    for (preset, hash, precision) in [
        ("datatrove", "xxhash", 64),
        ("datatrove-32", "xxhash", 32),
        ("datatrove-sha1", "sha1", 64),
        ("datatrove-sha1-32", "sha1", 32),
    ] {
        let found = hashed(&["minhash", "--preset", preset, "--id-column", "text_id"], &texts);
        let lines = vectors("datatrove_signatures.ndjson.gz");
        let lines = lines
            .iter()
            .filter(|line| line["bands"] == 14 && line["hash_fc"] == hash && line["precision"] == precision);
        for (one, line) in found.iter().zip(lines) {
            assert_eq!(one["id"], line["text_id"]);
            // datatrove leaves documents without shingles out.
            let any = !line["signature"].as_array().unwrap().is_empty();
            let expected = if any { line["signature"].clone() } else { vec![u32::MAX; 112].into() };
            assert_eq!(one["signature"], expected, "{preset} {}", line["text_id"]);
        }
        assert_eq!(found.len(), 13);
    }
    let input = place.file("a.ndjson", "{\"id\":1,\"text\":\"one two three four five six\"}\n");
    let line = |options: &[&str]| stdout(fphash().args(["minhash", "--preset", "datatrove"]).args(options).arg(&input));
    let header = "#fpstore width=7168 hasher=minhash/datatrove/0.10.1,num-perm=112,seed=1,features=datatrove:5,normalise=none end=1\n";
    assert!(line(&[]).starts_with(header), "{}", line(&[]));
    assert!(line(&["--bits", "1"]).contains(",bits=1 end=1\n"));
    fails(fphash().args(["minhash", "--bits", "33"]).arg(&input), &["--bits 33: a place has 32 bits"]);
    assert_eq!(line(&["--bits", "64"]), line(&[]));
}

/// Lucene ranks documents by the number of terms that they share with the query.
#[test]
fn documents_ranked_by_shared_terms() {
    let place = Place::new();
    let documents = place.file("documents.ndjson", documents(15));
    let terms: BTreeMap<u64, BTreeSet<String>> = hashed(&["minhash", "--preset", "lucene"], &documents)
        .into_iter()
        .map(|one| (one["id"].as_u64().unwrap(), serde_json::from_value(one["terms_hex"].clone()).unwrap()))
        .collect();
    let ranked = |query: u64| {
        let shared = |(id, terms_of): (&u64, &BTreeSet<String>)| (terms_of.intersection(&terms[&query]).count(), *id);
        let mut ranked: Vec<(usize, u64)> = terms.iter().map(shared).filter(|(shared, _)| *shared > 0).collect();
        ranked.sort_by_key(|&(shared, id)| (std::cmp::Reverse(shared), id));
        ranked.iter().fold(String::new(), |mut lines, (shared, id)| {
            writeln!(lines, "{query}\t{id}\t{shared}\t").unwrap();
            lines
        })
    };
    let expected: String = terms.keys().map(|query| ranked(*query)).collect();
    assert!(expected.lines().count() > 2 * terms.len());

    let store = place.path("store");
    let load = ["--quiet", "--create", "--kind", "keys", "--text", "--preset", "lucene", "--terms"];
    stdout(fpload().args(load).arg(&store).arg(&documents));
    assert_eq!(stdout(fpquery().args(["--text", "--input"]).arg(&documents).arg(&store)), expected);
    // The terms travel as keys, too.
    let keys = place.path("keys.ndjson");
    stdout(fphash().args(["bands", "--preset", "lucene", "--terms", "-o"]).arg(&keys).arg(&documents));
    let other = place.path("other");
    stdout(fpload().args(["--quiet", "--create", "--kind", "keys"]).arg(&other).arg(&keys));
    assert_eq!(records(&other), records(&store));
    assert_eq!(stdout(fpquery().args(["--text", "--input"]).arg(&documents).arg(&other)), expected);
    assert_eq!(stdout(fpquery().arg("--input").arg(&keys).arg(&store)), expected);
    fails(fphash().args(["bands", "--terms"]).arg(&documents), &["--terms: only --preset lucene makes terms"]);
}

/// The order of Lucene's own terms for its reference texts.
#[test]
fn texts_ranked_by_terms_of_lucene() {
    let place = Place::new();
    let is_it = |line: &Value| {
        ["hash_count", "hash_set_size"].iter().all(|name| line[*name] == 1)
            && line["bucket_count"] == 512
            && line["with_rotation"] == true
            && line["shingle"] == false
            && line["complete"] == true
    };
    let lines: Vec<Value> = vectors("lucene_minhash.ndjson.gz").into_iter().filter(is_it).collect();
    let texts =
        place.file("texts.ndjson", ndjson(lines.iter().map(|line| (line["text_id"].clone(), line["text"].clone()))));
    let store = place.path("store");
    let load =
        ["--quiet", "--create", "--kind", "keys", "--text", "--preset", "lucene", "--terms", "--features", "tokens"];
    stdout(fpload().args(load).arg(&store).arg(&texts));
    let found = stdout(fpquery().args(["--text", "--input"]).arg(&texts).arg(&store));
    let terms = |line: &Value| serde_json::from_value::<BTreeSet<String>>(line["terms_hex"].clone()).unwrap();
    let mut expected = String::new();
    for query in &lines {
        let name = |line: &Value| line["text_id"].as_str().unwrap().to_owned();
        let mut ranked: Vec<(usize, String)> =
            lines.iter().map(|line| (terms(line).intersection(&terms(query)).count(), name(line))).collect();
        ranked.sort_by_key(|(shared, id)| (std::cmp::Reverse(*shared), id.clone()));
        for (shared, id) in ranked.into_iter().filter(|(shared, _)| *shared > 0) {
            writeln!(expected, "{}\t{id}\t{shared}\t", name(query)).unwrap();
        }
    }
    assert!(lines.len() > 5 && expected.lines().count() > lines.len(), "{expected}");
    assert_eq!(found, expected);
}
