//! `fphash compare --matches`: the texts decide about the matches of a store.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::hash_vectors::{ndjson, objects, real_documents};
use crate::support::{Place, Random, fails, fpdedup, fphash, fpload, fpquery, json_lines, stdout};

fn filter(matches: &Path, documents: &Path, options: &[&str]) -> assert_cmd::Command {
    let mut command = fphash();
    command.args(["compare", "--matches"]).arg(matches).arg("--documents").arg(documents).args(options);
    command
}

/// Returns documents in families, as tokens.
fn families(number: usize) -> Vec<Vec<String>> {
    let mut random = Random::new(9);
    let mut parent: Vec<String> = Vec::new();
    let documents = (0..number).map(|_| {
        if parent.is_empty() || random.below(4) == 0 {
            parent = (0..60).map(|_| format!("w{}", random.below(500))).collect();
        }
        let change = random.below(30);
        parent
            .iter()
            .map(|word| if random.below(60) < change { format!("x{}", random.below(500)) } else { word.clone() })
            .collect()
    });
    documents.collect()
}

fn jaccard(a: &[String], b: &[String]) -> f64 {
    let (a, b): (HashSet<&String>, HashSet<&String>) = (a.iter().collect(), b.iter().collect());
    a.intersection(&b).count() as f64 / a.union(&b).count() as f64
}

/// Returns the lines whose documents are similar, with the value.
fn expected(lines: &str, columns: [usize; 2], documents: &HashMap<String, Vec<String>>, threshold: f64) -> String {
    lines.lines().fold(String::new(), |mut kept, line| {
        let cells: Vec<&str> = line.split('\t').collect();
        let value = jaccard(&documents[cells[columns[0]]], &documents[cells[columns[1]]]);
        if value >= threshold {
            writeln!(kept, "{line}\t{value}").unwrap();
        }
        kept
    })
}

struct Case {
    place: Place,
    documents: PathBuf,
    by_id: HashMap<String, Vec<String>>,
    pairs: String,
}

/// Returns documents, a store of them, and all its pairs. Their ids are numbers, or texts.
fn case(ids: fn(usize) -> Value) -> Case {
    let place = Place::new();
    let families = families(400);
    let text = |words: &Vec<String>| json!(words.join(" "));
    let documents =
        place.file("docs.ndjson", ndjson(families.iter().enumerate().map(|(i, words)| (ids(i), text(words)))));
    let name = |id: Value| id.as_str().map_or(id.to_string(), str::to_owned);
    let by_id = families.iter().cloned().enumerate().map(|(i, words)| (name(ids(i)), words)).collect();
    let hashes = stdout(fphash().args(["simhash", "--features", "unicode:1"]).arg(&documents));
    let store = place.path("store");
    let mut load = fpload();
    load.args(["--create", "--quiet", "--max-distance", "12"])
        .arg(&store)
        .arg("-")
        .write_stdin(hashes)
        .assert()
        .success();
    let pairs = stdout(fpdedup().args(["pairs", "--quiet"]).arg(&store));
    assert!(pairs.lines().count() > 100, "{}", pairs.lines().count());
    Case { place, documents, by_id, pairs }
}

const BY: [&str; 4] = ["--by", "jaccard:tokens", "--threshold", "0.6"];

#[test]
fn pairs_of_a_store_whose_texts_are_similar() {
    for ids in [|i| json!(i * 3 + 1), |i| json!(format!("/pages/{i}.html"))] as [fn(usize) -> Value; 2] {
        let case = case(ids);
        let kept = expected(&case.pairs, [3, 4], &case.by_id, 0.6);
        let (all, some) = (case.pairs.lines().count(), kept.lines().count());
        assert!(some > 50 && some < all, "{some} of {all}");
        let matches = case.place.file("pairs.tsv", &case.pairs);
        for options in [
            [].as_slice(),
            &["--threads", "1"],
            &["--threads", "5", "--memory", "64MiB"],
            &["--id-columns", "5,4", "--quiet"],
        ] {
            assert_eq!(
                stdout(&mut filter(&matches, &case.documents, &[&BY[..], options].concat())),
                kept,
                "{options:?}"
            );
        }
        let mut piped = filter(Path::new("-"), &case.documents, &BY);
        assert_eq!(stdout(piped.write_stdin(case.pairs.clone())), kept);
        let packed = case.place.file("pairs.tsv.zst", zstd::encode_all(case.pairs.as_bytes(), 1).unwrap());
        assert_eq!(stdout(&mut filter(&packed, &case.documents, &BY)), kept);

        let objects = json_lines(&stdout(&mut filter(&matches, &case.documents, &[&BY[..], &["--json"]].concat())));
        assert_eq!(objects.len(), some);
        for (object, line) in objects.iter().zip(kept.lines()) {
            let cells: Vec<&str> = line.split('\t').collect();
            let id = |cell: &str| cell.parse::<u64>().map_or(json!(cell), |number| json!(number));
            let value: f64 = cells[5].parse().unwrap();
            assert_eq!((&object["id_a"], &object["id_b"]), (&id(cells[3]), &id(cells[4])));
            assert!((object["value"].as_f64().unwrap() - value).abs() < 1e-12, "{object} {line}");
            assert_eq!(object.as_object().unwrap().len(), 4);
        }
    }
}

#[test]
fn answers_of_queries() {
    let case = case(|i| json!(i));
    let queries: String = case.pairs.lines().fold(String::new(), |mut text, line| {
        let cells: Vec<&str> = line.split('\t').collect();
        writeln!(text, "{}\t{}", cells[0], cells[3]).unwrap();
        text
    });
    let queries = case.place.file("queries.tsv", queries);
    let store = case.place.path("store");
    let found = stdout(fpquery().args(["--with-query-id", "--input"]).arg(&queries).arg(&store));
    let kept = expected(&found, [0, 4], &case.by_id, 0.6);
    assert!(kept.lines().count() > 100);
    let matches = case.place.file("found.tsv", &found);
    assert_eq!(stdout(&mut filter(&matches, &case.documents, &[&BY[..], &["--id-columns", "1,5"]].concat())), kept);
}

/// Another program counted the similarities of tests/data, of five words in a row.
#[test]
fn similarities_of_real_documents() {
    let place = Place::new();
    let pairs: Vec<Value> = objects("tests/data/rust-book-jaccard.ndjson.gz").into_iter().step_by(9).collect();
    let lines: String = pairs.iter().map(|pair| format!("{}\t{}\n", pair["a"], pair["b"])).collect();
    let matches = place.file("pairs.tsv", lines);
    let options = ["--by", "jaccard:words:5", "--threshold", "0.8", "--id-column", "n", "--id-columns", "1,2"];
    let found = stdout(&mut filter(&matches, &real_documents(), &options));
    let number = |pair: &Value, key: &str| pair[key].as_f64().unwrap();
    let similar = |pair: &&Value| number(pair, "inter") / number(pair, "union") >= 0.8;
    let kept: String = pairs
        .iter()
        .filter(similar)
        .map(|pair| format!("{}\t{}\t{}\n", pair["a"], pair["b"], number(pair, "inter") / number(pair, "union")))
        .collect();
    assert!(kept.lines().count() > 500);
    assert_eq!(found, kept);
}

#[test]
fn texts_are_normalised_and_nothing_found_is_one() {
    let place = Place::new();
    let documents = place.file("d.ndjson", "{\"id\":1,\"text\":\"<b>One</b> two\"}\n{\"id\":2,\"text\":\"one two\"}\n");
    let matches = place.file("m.tsv", "# remark\n\n1\t2\tx\r\n");
    let edit = ["--by", "edit", "--id-columns", "1,2", "--threshold"];
    let options = |threshold, normalise| [&edit[..], &[threshold, "--normalise", normalise]].concat();
    filter(&matches, &documents, &options("0.9", "none")).assert().code(1).stdout("");
    // Tags are spaces: two of nine characters.
    filter(&matches, &documents, &options("0.9", "markup,lower")).assert().code(1).stdout("");
    let line = format!("1\t2\tx\t{}\n", 1.0 - 2.0 / 9.0);
    filter(&matches, &documents, &options("0.7", "markup,lower")).assert().code(0).stdout(line);
    let empty = place.file("empty.tsv", "");
    filter(&empty, &documents, &options("0.9", "none")).assert().code(1).stdout("");
}

/// A store numbers documents without ids from 0.
#[test]
fn documents_without_ids() {
    let place = Place::new();
    let a = place.file("a.ndjson", "{\"text\":\"a b c\"}\n{\"text\":\"x y z\"}\n");
    let b = place.file("b.ndjson", "{\"text\":\"a b c\"}\n");
    let matches = place.file("m.tsv", "0\t2\n0\t1\n");
    let options = ["--id-columns", "1,2", "--by", "jaccard", "--threshold", "0.9"];
    let mut command = filter(&matches, &a, &[]);
    assert_eq!(stdout(command.arg(&b).args(options)), "0\t2\t1\n");
    let mixed = place.file("c.ndjson", "{\"text\":\"a\"}\n{\"id\":1,\"text\":\"b\"}\n");
    fails(&mut filter(&matches, &mixed, &options), &["some documents have ids and others have none"]);
    // Whole files: the path is the id.
    let (one, two) = (place.file("1.txt", "a b"), place.file("2.txt", "a b"));
    let files = place.file("files.tsv", format!("{}\t{}\n", one.display(), two.display()));
    assert_eq!(
        stdout(filter(&files, &one, &[]).arg(&two).args(options)),
        format!("{}\t{}\t1\n", one.display(), two.display())
    );
}

#[test]
fn what_does_not_fit_together() {
    let place = Place::new();
    let documents =
        place.file("d.ndjson", "{\"id\":1,\"text\":\"a\"}\n{\"id\":2,\"text\":\"a\"}\n{\"id\":\"2\",\"text\":\"b\"}\n");
    let good = place.file("good.ndjson", "{\"id\":1,\"text\":\"a\"}\n{\"id\":2,\"text\":\"a\"}\n");
    let matches = |text: &str| place.file("m.tsv", text);
    let edit = ["--by", "edit", "--id-columns", "1,2"];
    let fails_of = |text: &str, documents: &Path, options: &[&str], parts: &[&str]| {
        fails(&mut filter(&matches(text), documents, options), parts);
    };
    fails_of("1\t2\n#\n2\t3\n", &good, &edit, &["m.tsv: line 3: no document has the id '3'", "--documents"]);
    fails_of("1\t2\n1\t02\n", &good, &edit, &["m.tsv: line 2: no document has the id '02'"]);
    fails_of("1\t2\n1\n", &good, &edit, &["m.tsv: line 2: there is no column 2, only 1", "--id-columns"]);
    fails_of("1\t2\n", &good, &["--by", "edit"], &["line 1: there is no column 5, only 2"]);
    fails_of("1\t2\n", &documents, &edit, &["line 3: another document has the id '2'"]);
    // Faults of documents that are not needed are ignored.
    filter(&matches("1\t1\n"), &documents, &edit).assert().code(0).stdout("1\t1\t1\n");
    for (options, parts) in [
        (&["--id-columns", "1,2"][..], &["--by"][..]),
        (&["--by", "edit", "--id-columns", "0,1"], &["--id-columns", "4,5"]),
        (&["--by", "edit", "--id-columns", "3"], &["--id-columns"]),
        (&["--by", "euclidean"], &["--threshold"]),
        (&["--by", "edit", "--minhash"], &["--minhash"]),
        (&["--by", "edit", "--features", "tokens"], &["--features"]),
        (&["--by", "edit", "--tokens-column", "t"], &["--tokens-column"]),
        (&["--by", "edit", "--memory", "1MiB"], &["64MiB is the least"]),
        (&["--by", "edit", "--tmp-dir", "/no/such/directory"], &["--tmp-dir /no/such/directory"]),
    ] {
        fails_of("1\t2\n", &good, options, parts);
    }
    let mut alone = fphash();
    fails(alone.args(["compare", "--by", "edit", "--matches"]).arg(matches("")), &["--documents"]);
    fails(&mut filter(Path::new("-"), Path::new("-"), &edit), &["standard input can be read only once"]);
    fails(&mut filter(&place.path("none.tsv"), &good, &edit), &["none.tsv", "No such file"]);
}

#[test]
fn more_ids_than_memory_holds() {
    let place = Place::new();
    let lines: String = (0..600_000).step_by(2).fold(String::new(), |mut lines, id| {
        writeln!(lines, "{id}\t{}", id + 1).unwrap();
        lines
    });
    let (matches, documents) = (place.file("m.tsv", lines), place.file("d.ndjson", "{\"id\":1,\"text\":\"a\"}\n"));
    let options = ["--by", "edit", "--id-columns", "1,2", "--memory", "64MiB"];
    fails(&mut filter(&matches, &documents, &options), &["m.tsv: line ", "--memory", "split"]);
}
