//! `--min-features`: documents without features, which all have the same sketch, get no fingerprint.

use std::fs;

use crate::support::{Place, fpdedup, fphash, fpload, json_object, stdout, without_trailer};

const DOCUMENTS: &str = "{\"id\":1,\"text\":\"\"}\n{\"id\":2,\"text\":\"one two three four five six\"}\n\
                         {\"id\":3,\"text\":\" .,! \"}\n{\"id\":4,\"text\":\"one two\"}\n{\"id\":5,\"text\":\"six five four three two one\"}\n";

/// Returns the ids in the output, and the standard error.
fn ids(arguments: &[&str], input: &str) -> (Vec<String>, String) {
    let mut run = fphash();
    let output = run.args(arguments).arg("-").write_stdin(input.to_owned()).assert().success().get_output().clone();
    let out = String::from_utf8(output.stdout).unwrap();
    let records = without_trailer(&out).lines().skip(1);
    let mut ids: Vec<String> = records.map(|line| line.rsplit('\t').next().unwrap().to_owned()).collect();
    ids.dedup();
    (ids, String::from_utf8(output.stderr).unwrap())
}

#[test]
fn without_features_no_result() {
    for (arguments, expected) in [
        (&["simhash"][..], &["2", "4", "5"][..]),
        (&["simhash", "--preset", "1e0ng"], &["2", "4", "5"]),
        (&["simhash", "--preset", "seomoz"], &["2", "5"]),
        (&["simhash", "--preset", "string-hash"], &["2", "3", "4", "5"]),
        (&["simhash", "--features", "words:3"], &["2", "5"]),
        (&["simhash", "--min-features", "2"], &["2", "5"]),
        (&["simhash", "--min-features", "0"], &["1", "2", "3", "4", "5"]),
        (&["minhash"], &["2", "4", "5"]),
        (&["minhash", "--preset", "datasketch"], &["2", "5"]),
        (&["minhash", "--preset", "lucene", "--bucket-count", "8"], &["2", "5"]),
        (&["minhash", "--min-features", "0"], &["1", "2", "3", "4", "5"]),
        (&["bands"], &["2", "4", "5"]),
        (&["bands", "--preset", "lucene"], &["2", "5"]),
        (&["bands", "--sentences"], &["2", "4", "5"]),
    ] {
        let (ids, message) = ids(arguments, DOCUMENTS);
        assert_eq!(ids, expected, "{arguments:?}");
        let left_out = 5 - expected.len();
        assert_eq!(message.contains(&format!("{left_out} of 5 documents")), left_out > 0, "{arguments:?}: {message}");
    }
}

/// Such documents are no errors, but counted and listed with them.
#[test]
fn listed_with_their_number_of_features() {
    let place = Place::new();
    let (list, store) = (place.path("rejects.tsv"), place.path("store"));
    let input = place.file("a.ndjson", DOCUMENTS);
    let mut run = fphash();
    run.args(["simhash", "--min-features", "3", "--rejects"]).args([&list, &input]).assert().success();
    let name = input.display();
    let few = |line: u32, features: &str| format!("{name}\t{line}\t{features}, fewer than --min-features 3\n");
    let expected = few(1, "0 features") + &few(3, "0 features") + &few(4, "1 feature");
    assert_eq!(fs::read_to_string(&list).unwrap(), expected);
    let mut load = fpload();
    load.args(["--create", "--text", "--json", "--rejects"]).args([&list, &store, &input]);
    let report = json_object(&stdout(&mut load));
    assert_eq!((&report["records"], &report["left_out"]), (&3.into(), &2.into()), "{report}");
    assert_eq!(report["left_out_reasons"]["too few features"], 2, "{report}");
}

/// Different documents without spaces, and so without shingles: with one value for all of them they would be one
/// cluster.
#[test]
fn chinese_without_spaces() {
    let place = Place::new();
    let text = |i: u32| {
        (0..150).map(|j| char::from_u32(0x4e00 + (i * 7919 + j * 104_729) % 20_000).unwrap()).collect::<String>()
    };
    let lines: String = (0..50).map(|i| format!("{{\"id\":{i},\"text\":\"{}\"}}\n", text(i))).collect();
    let (ids, message) = ids(&["simhash", "--features", "words:2"], &lines);
    assert!(ids.is_empty() && message.contains("left out 50 of 50 documents: "), "{message}");
    assert!(
        message.contains("50 too few features of a long text") && message.contains("try --features chars:4"),
        "{message}"
    );
    let (input, store) = (place.file("zh.ndjson", lines), place.path("store"));
    let kept = |store| stdout(fpdedup().args(["keep", "--quiet"]).arg(store)).lines().count();
    fpload().args(["--create", "--text", "--features", "chars:4"]).args([&store, &input]).assert().success();
    assert_eq!(kept(&store), 50);
}
