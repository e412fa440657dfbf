//! `fpdedup documents --method minhash`: the result is that of comparing the bands, the signatures and the texts of all
//! documents.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

use crate::documents::book;
use crate::support::{Place, fails, fpdedup, fphash, stdout};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/rust-book-documents.ndjson.gz");

fn object(line: &str) -> Value {
    serde_json::from_str(line).unwrap()
}

/// A row of evidence.
struct Row {
    keeper: u64,
    shared: usize,
    jaccard: f64,
}

/// Runs the program; returns the documents that stay, and the evidence.
fn run(place: &Place, options: &[&str]) -> (BTreeSet<u64>, BTreeMap<u64, Row>) {
    let (clean, gone) = (place.path("clean.ndjson"), place.path("gone.ndjson"));
    let mut run = fpdedup();
    run.args(["documents", "--method", "minhash", "--id-column", "n", "--quiet", "--output"]).arg(&clean);
    run.arg("--evidence").arg(&gone).args(options).arg(BOOK).assert().success().stdout("");
    let kept = fs::read_to_string(clean).unwrap();
    let lines: BTreeMap<u64, String> = book().into_iter().collect();
    let kept = kept.lines().map(|line| {
        let id = object(line)["n"].as_u64().unwrap();
        assert_eq!(line, lines[&id]);
        id
    });
    let number = |row: &Value, name: &str| row[name].as_u64().unwrap();
    let gone = fs::read_to_string(gone).unwrap();
    let rows = gone.lines().map(|line| {
        let row = object(line);
        let keeper = number(&row, "keeper");
        // By the order of the input, the keeper of a star is its first document.
        assert_eq!(keeper, number(&row, "cluster"));
        let shared = usize::try_from(number(&row, "shared_keys")).unwrap();
        (number(&row, "id"), Row { keeper, shared, jaccard: row["jaccard"].as_f64().unwrap() })
    });
    (kept.collect(), rows.collect())
}

/// What `fphash` makes of all documents.
fn made<T: Clone + Ord>(options: &[&str], member: &str, value: impl Fn(&Value) -> T) -> BTreeMap<u64, Vec<T>> {
    let text = stdout(fphash().args(options).args(["--json", "--id-column", "n"]).arg(BOOK));
    let rows = text.lines().map(object);
    rows.map(|row| (row["id"].as_u64().unwrap(), row[member].as_array().unwrap().iter().map(&value).collect()))
        .collect()
}

fn shared(bands: &BTreeMap<u64, Vec<String>>, a: u64, b: u64) -> usize {
    bands[&a].iter().zip(&bands[&b]).filter(|(a, b)| a == b).count()
}

#[test]
fn any_common_band_of_given_bands() {
    let place = Place::new();
    let (kept, gone) = run(&place, &["--bands", "16", "--rows", "6"]);
    let bands = made(&["bands", "--bands", "16", "--rows", "6", "--num-perm", "96"], "bands", |band| {
        band.as_str().unwrap().to_owned()
    });
    let mut expected = BTreeSet::new();
    for (id, _) in book() {
        match expected.iter().copied().find(|&keeper| bands.contains_key(&id) && shared(&bands, keeper, id) > 0) {
            Some(keeper) => {
                assert_eq!(gone[&id].keeper, keeper);
                assert_eq!(gone[&id].shared, shared(&bands, keeper, id));
            }
            None => _ = expected.insert(id),
        }
    }
    assert_eq!(kept, expected);
    assert!(gone.len() > 100 && kept.len() + gone.len() == book().len());
    let one = run(&place, &["--bands", "16", "--rows", "6", "--threads", "1", "--memory", "64MiB"]);
    assert_eq!(one.0, kept);
}

#[test]
fn near_by_their_signatures_or_by_their_texts() {
    let place = Place::new();
    let signatures = made(&["minhash", "--num-perm", "128"], "signature", |place| place.as_u64().unwrap());
    // The lowest byte of each place; two that differ agree by chance in one of 256.
    let estimate = |a: u64, b: u64| {
        let places = signatures[&a].iter().zip(&signatures[&b]);
        let same = places.filter(|(a, b)| **a % 256 == **b % 256).count();
        let [same, chance] = [same as f64 / 128.0, 1.0 / 256.0];
        ((same - chance) / (1.0 - chance)).max(0.0)
    };
    for (options, least) in [(&[][..], 0.8), (&["--min-jaccard", "0.6"], 0.6)] {
        let (kept, gone) = run(&place, options);
        assert!(!gone.is_empty() && kept.len() + gone.len() == book().len());
        for (id, row) in &gone {
            assert!(kept.contains(&row.keeper) && row.shared > 0);
            assert!((row.jaccard - estimate(*id, row.keeper)).abs() < 1e-4 && row.jaccard >= least, "{id}");
        }
    }
    let (kept, gone) = run(&place, &["--threshold", "0.7"]);
    assert!(!gone.is_empty() && gone.values().all(|row| kept.contains(&row.keeper) && row.jaccard >= 0.7));
    let texts: BTreeMap<u64, String> =
        book().into_iter().map(|(id, line)| (id, object(&line)["text"].as_str().unwrap().to_owned())).collect();
    for (id, row) in gone.iter().step_by(20) {
        let files = [id, &row.keeper].map(|id| place.file(&format!("{id}.txt"), &texts[id]));
        let by = ["compare", "--json", "--by", "jaccard:unicode:5", "--normalise", "lower"];
        let exact = fphash().args(by).args(files).output().unwrap();
        let exact = object(std::str::from_utf8(&exact.stdout).unwrap())["value"].as_f64().unwrap();
        assert!((exact - row.jaccard).abs() < 1e-12, "{id}: {exact} {}", row.jaccard);
    }
}

#[test]
fn far_documents_of_a_chain_are_counted_once() {
    let place = Place::new();
    // Each document replaces some words of the one before, so the ends of the chain have little in common.
    let words = |document: u64| (0..3000u64).map(move |word| word + if word < 120 * document { 1_000_000 } else { 0 });
    let line = |id| {
        let text: Vec<String> = words(id).map(|word| word.to_string()).collect();
        format!("{{\"id\":{id},\"text\":\"{}\"}}\n", text.join(" "))
    };
    let input = place.file("chain.ndjson", (0..12).map(line).collect::<String>());
    let (clean, gone) = (place.path("clean.ndjson"), place.path("gone.ndjson"));
    let mut run = fpdedup();
    run.args(["documents", "--method", "minhash", "--bands", "1", "--rows", "1", "--num-perm", "128"]);
    run.args(["--min-jaccard", "0.85", "--linkage", "single", "--features", "words:1", "--output"]).arg(&clean);
    let found = run.arg("--evidence").arg(&gone).arg(&input).assert().success();
    let told = String::from_utf8(found.get_output().stderr.clone()).unwrap();
    let gone = fs::read_to_string(gone).unwrap();
    let far = gone.lines().filter(|row| object(row)["jaccard"].as_f64().unwrap() < 0.85).count();
    let removed = gone.lines().count();
    let line = |name: &str| {
        let line = told.lines().find(|line| line.contains(name)).unwrap_or_else(|| panic!("{name}: {told}"));
        line.split(name).nth(1).unwrap().split_whitespace().next().unwrap().parse::<usize>().unwrap()
    };
    assert!(far > 0 && removed > far);
    assert_eq!(line("far ones"), far, "{told}");
    assert_eq!(line("all bands in common") + line("near ones"), removed - far, "{told}");
}

#[test]
fn options_of_the_other_method() {
    let place = Place::new();
    place.file("a.ndjson", "{\"id\":1,\"text\":\"a b c\"}\n");
    let run = |options: &[&str]| {
        let mut run = fpdedup();
        run.current_dir(place.path(".")).args(["documents", "a.ndjson", "-o", "out.ndjson"]).args(options);
        run
    };
    for (options, part) in [
        (&["--method", "minhash", "--distance", "3"][..], "are for fingerprints"),
        (&["--method", "minhash", "--width", "64"], "are for fingerprints"),
        (&["--method", "minhash", "--weights", "distinct"], "go with --method simhash"),
        (&["--method", "minhash", "--preset", "seomoz"], "seomoz"),
        (&["--method", "minhash", "--bands", "3"], "--rows"),
        (&["--method", "minhash", "--bands", "3", "--rows", "4", "--threshold", "0.5"], "--threshold chooses"),
        (&["--method", "minhash", "--min-jaccard", "1.5"], "from 0 to 1"),
        (&["--bands", "3", "--rows", "4"], "go with --method minhash"),
        (&["--min-jaccard", "0.5"], "go with --method minhash"),
    ] {
        fails(&mut run(options), &[part]);
        assert!(!place.path("out.ndjson").exists() && !place.path("out.ndjson.fpdedup").exists());
    }
    run(&["--method", "minhash", "--json"]).assert().success();
}
