//! `fphash verify`: the texts of removed documents and of their keepers, compared exactly.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{Place, Random, fails, fpdedup, fphash, fpload, json_lines, stdout};

/// Documents in families, with ids, and the evidence of `fpdedup keep`.
struct Corpus {
    place: Place,
    texts: Vec<(String, String)>,
}

impl Corpus {
    fn new(documents: u64) -> Self {
        let mut random = Random::new(11);
        let mut words: Vec<u64> = Vec::new();
        let mut texts = Vec::new();
        for number in 0..documents {
            if number % 5 == 0 {
                let length = 5 + random.below(400);
                words = (0..length).map(|_| random.below(1000)).collect();
            }
            let length = words.len() as u64;
            for _ in 0..random.below(4) {
                words[usize::try_from(random.below(length)).unwrap()] = random.below(1000);
            }
            let text = words.iter().fold(String::new(), |mut text, word| {
                write!(text, "W{word} ").unwrap();
                text
            });
            texts.push((format!("p/{}", random.below(1 << 40)), text));
        }
        Self { place: Place::new(), texts }
    }

    fn documents(&self, from: usize, to: usize, name: &str) -> PathBuf {
        let lines =
            self.texts[from..to].iter().map(|(id, text)| format!("{}\n", serde_json::json!({"id": id, "text": text})));
        self.place.file(name, lines.collect::<String>())
    }

    fn text(&self, id: &str) -> &str {
        &self.texts.iter().find(|(one, _)| one == id).unwrap().1
    }

    fn evidence(&self, documents: &Path, name: &str) -> PathBuf {
        let (store, gone) = (self.place.path("store"), self.place.path(name));
        fpload()
            .args(["--create", "--text", "--max-distance", "12"])
            .args([&store, &documents.to_owned()])
            .assert()
            .success();
        fpdedup().args(["keep", "--evidence"]).arg(&gone).arg(&store).assert().success();
        fs::remove_dir_all(store).unwrap();
        gone
    }
}

/// Shared pairs of words as a share of all, and 1 - edits / length by the textbook.
fn similarity(a: &str, b: &str) -> (f64, f64) {
    let pairs = |text: &str| {
        let words: Vec<String> = text.split(' ').filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        words.windows(2).map(<[String]>::to_vec).collect::<BTreeSet<_>>()
    };
    let (of_a, of_b) = (pairs(a), pairs(b));
    let jaccard = of_a.intersection(&of_b).count() as f64 / of_a.union(&of_b).count() as f64;
    let (a, b): (Vec<char>, Vec<char>) = (a.to_lowercase().chars().collect(), b.to_lowercase().chars().collect());
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.iter().enumerate() {
        let mut before = std::mem::replace(&mut row[0], i + 1);
        for (j, y) in b.iter().enumerate() {
            let new = (before + usize::from(x != y)).min(row[j] + 1).min(row[j + 1] + 1);
            before = std::mem::replace(&mut row[j + 1], new);
        }
    }
    (jaccard, 1.0 - row[b.len()] as f64 / a.len().max(b.len()) as f64)
}

#[test]
fn confirmed_and_doubtful_by_brute_force() {
    let corpus = Corpus::new(400);
    let all = corpus.documents(0, 400, "all.ndjson");
    let gone = corpus.evidence(&all, "gone.tsv");
    let evidence = fs::read_to_string(&gone).unwrap();
    // In another order, in two files.
    let (one, two) = (corpus.documents(0, 150, "1.ndjson"), corpus.documents(150, 400, "2.ndjson"));
    let run = |options: &[&str]| {
        let mut run = fphash();
        run.args(["verify", "--min-jaccard", "0.7"]).args(options).arg("--evidence").arg(&gone).args([&two, &one]);
        run
    };
    let rows = json_lines(&stdout(run(&["--json"]).arg("--quiet")));
    assert_eq!(rows.len(), evidence.lines().count());
    let (mut short, mut doubtful) = (0, 0);
    for (row, line) in rows.iter().zip(evidence.lines()) {
        let cells: Vec<&str> = line.split('\t').collect();
        assert_eq!([&row["id"], &row["keeper"], &row["cluster"]], [cells[0], cells[1], cells[2]]);
        assert_eq!(row["distance"], cells[3].parse::<u64>().unwrap());
        let [a, b] = [cells[0], cells[1]].map(|id| corpus.text(id));
        let (jaccard, edit) = similarity(a, b);
        assert!((row["jaccard"].as_f64().unwrap() - jaccard).abs() < 1e-12, "{row}");
        if a.len().max(b.len()) <= 2048 {
            short += 1;
            assert!((row["edit"].as_f64().unwrap() - edit).abs() < 1e-12, "{row}");
        } else {
            assert!(row["edit"].is_null());
        }
        let is_doubtful = jaccard < 0.7;
        doubtful += u64::from(is_doubtful);
        assert_eq!(row["verdict"], if is_doubtful { "doubtful" } else { "confirmed" });
    }
    assert!(short > 50 && doubtful > 3 && rows.len() > 150, "{short} {doubtful} {}", rows.len());

    let lines = stdout(&mut run(&["--threads", "1"]));
    assert_eq!(lines, stdout(&mut run(&["--threads", "3", "--memory", "64MiB"])));
    let (confirmed, unsure) = (corpus.place.path("confirmed.csv"), corpus.place.path("doubtful.tsv"));
    let mut split = run(&[]);
    split.arg("--confirmed").arg(&confirmed).arg("--doubtful").arg(&unsure);
    let assert = split.assert().success().stdout("");
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(message.contains(&format!("{} confirmed, {doubtful} doubtful", rows.len() as u64 - doubtful)), "{message}");
    let unsure = fs::read_to_string(unsure).unwrap();
    assert_eq!(
        unsure,
        lines.lines().filter(|line| line.ends_with("doubtful")).map(|line| format!("{line}\n")).collect::<String>()
    );
    let confirmed = fs::read_to_string(confirmed).unwrap();
    assert!(confirmed.starts_with("id,keeper,cluster,distance,jaccard,edit,verdict\n"));
    assert_eq!(confirmed.lines().count() - 1 + unsure.lines().count(), rows.len());
}

#[test]
fn evidence_of_every_format_and_other_features() {
    let corpus = Corpus::new(60);
    let all = corpus.documents(0, 60, "all.ndjson");
    let mut outputs = BTreeSet::new();
    for name in ["a.tsv", "a.csv.gz", "a.ndjson", "a.parquet"] {
        if name.ends_with("parquet") && cfg!(not(feature = "parquet")) {
            continue;
        }
        let gone = corpus.evidence(&all, name);
        let mut run = fphash();
        run.args(["verify", "--substring", "--features", "chars:3", "--evidence"]).arg(&gone).arg(&all);
        outputs.insert(stdout(&mut run));
    }
    assert_eq!(outputs.len(), 1, "the same rows");
    let lines = outputs.into_iter().next().unwrap();
    assert!(lines.lines().all(|line| line.split('\t').count() == 8), "{lines}");
    for line in lines.lines().take(10) {
        let cells: Vec<&str> = line.split('\t').collect();
        let [a, b] = [cells[0], cells[1]].map(|id| corpus.place.file(&id.replace('/', "-"), corpus.text(id)));
        for (cell, measure) in [(4, "jaccard:chars:3"), (6, "substring")] {
            let mut compare = fphash();
            compare.args(["compare", "--normalise", "lower", "--by", measure, "--threshold", "0"]).args([&a, &b]);
            assert_eq!(stdout(&mut compare).trim_end().rsplit('\t').next().unwrap(), cells[cell], "{measure}");
        }
    }
}

/// Steps that prepare a text are taken once: markup that a text shows, escaped, is text.
#[test]
fn texts_are_prepared_once() {
    let place = Place::new();
    let line = |id: u64, shown: &str| {
        let text = format!("<p>one two three four &lt;{shown}&gt; eleven</p>");
        format!("{}\n", serde_json::json!({"id": id, "text": text}))
    };
    let documents = [line(1, "five six seven eight nine ten"), line(2, "other words here and there too")].concat();
    let (documents, gone) = (place.file("a.ndjson", documents), place.file("gone.tsv", "2\t1\t1\t1\n"));
    for options in [&[][..], &["--substring"]] {
        let mut run = fphash();
        run.args(["verify", "--json", "--normalise", "markup,lower", "--evidence"]).arg(&gone).arg(&documents);
        let row = &json_lines(&stdout(run.args(options)))[0];
        // 3 pairs of words of 17 are the same.
        assert!((row["jaccard"].as_f64().unwrap() - 3.0 / 17.0).abs() < 1e-12, "{row}");
        assert_eq!(row["verdict"], "doubtful");
    }
}

#[test]
fn documents_that_cannot_be_read() {
    let place = Place::new();
    let documents = place.file("a.ndjson", "{\"text\":\"a b c\"}\nno object\n{\"text\":\"a b c\"}\n");
    let clean = place.path("clean.ndjson");
    let gone = place.path("gone.tsv");
    let mut dedup = fpdedup();
    dedup.args(["documents", "--on-error", "skip", "--evidence"]).arg(&gone).arg("-o").arg(clean).arg(&documents);
    dedup.assert().success();
    let run = |options: &[&str]| {
        let mut run = fphash();
        run.arg("verify").args(options).arg("--evidence").arg(&gone).arg(&documents);
        run
    };
    fails(&mut run(&[]), &["a.ndjson: line 2: ", "--on-error skip"]);
    assert_eq!(stdout(&mut run(&["--on-error", "skip"])), "2\t0\t0\t0\t1\t1\tconfirmed\n");
}

/// More ids than the memory holds: the evidence is taken in parts.
#[test]
fn in_parts() {
    let place = Place::new();
    let id = |number: u64| format!("{number:0>400}");
    let (mut documents, mut evidence) = (String::new(), String::new());
    for number in 0..60_000_u64 {
        writeln!(documents, "{}", serde_json::json!({"id": id(number), "text": format!("a b c {}", number % 2)}))
            .unwrap();
        if number > 0 {
            writeln!(evidence, "{}\t{}\t{}\t1", id(number), id(number - 1), id(0)).unwrap();
        }
    }
    let (documents, evidence) = (place.file("a.ndjson", documents), place.file("gone.tsv", evidence));
    let run = |memory: &str| {
        let mut run = fphash();
        run.args(["verify", "--min-jaccard", "0.5", "--memory", memory, "--evidence"]).arg(&evidence);
        run
    };
    let whole = stdout(run("1GiB").arg(&documents));
    assert!(whole == stdout(run("64MiB").arg(&documents)));
    assert_eq!(whole.lines().filter(|line| line.ends_with("0.5\t0.8571428571428572\tconfirmed")).count(), 59_999);
    // The rows of the first part are written before.
    let assert = run("64MiB").arg("-").write_stdin(fs::read(&documents).unwrap()).assert().code(2);
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(message.contains("the ids of the evidence need more than half of --memory"), "{message}");
}

/// Evidence of a key index has shared keys in place of distances, under their own name.
#[test]
fn evidence_of_a_key_index() {
    let corpus = Corpus::new(60);
    let all = corpus.documents(0, 60, "all.ndjson");
    let store = corpus.place.path("store");
    let mut load = fpload();
    load.args(["--quiet", "--create", "--kind", "keys", "--text", "--bands", "16", "--rows", "4", "--sketch", "64"]);
    stdout(load.arg(&store).arg(&all));
    let mut of_distances = None;
    for (name, options) in [
        ("a.tsv", &["--keys"][..]),
        ("a.csv.gz", &[]),
        ("a.ndjson", &[]),
        ("a.ndjson", &["--keys"]),
        ("a.parquet", &[]),
    ] {
        if name.ends_with("parquet") && cfg!(not(feature = "parquet")) {
            continue;
        }
        let (gone, rows) = (corpus.place.path(name), corpus.place.path("rows.ndjson"));
        stdout(fpdedup().args(["keep", "--output"]).arg(&rows).arg("--evidence").arg(&gone).arg(&store));
        let expected = corpus.place.path("expected.ndjson");
        stdout(fpdedup().args(["keep", "--output"]).arg(&rows).arg("--evidence").arg(&expected).arg(&store));
        let expected = json_lines(&fs::read_to_string(&expected).unwrap());
        let verify = |form: &[&str]| {
            let mut run = fphash();
            run.arg("verify").args(options).args(form).arg("--evidence").arg(&gone).arg(&all);
            stdout(&mut run)
        };
        let found = json_lines(&verify(&["--json"]));
        assert_eq!(found.len(), expected.len());
        assert!(found.len() > 20);
        for (row, line) in found.iter().zip(&expected) {
            for name in ["id", "keeper", "cluster", "shared_keys"] {
                assert_eq!(row[name], line[name]);
            }
            let [a, b] = ["id", "keeper"].map(|name| corpus.text(row[name].as_str().unwrap()));
            assert!(row["shared_keys"].as_u64().unwrap() > 0 && row.get("distance").is_none());
            // Not the estimate.
            assert!((row["jaccard"].as_f64().unwrap() - similarity(a, b).0).abs() < 1e-12, "{row}");
        }
        let csv = corpus.place.path("all.csv");
        verify(&["--substring", "--output", csv.to_str().unwrap()]);
        let header = "id,keeper,cluster,shared_keys,jaccard,edit,substring,verdict\n";
        assert!(fs::read_to_string(csv).unwrap().starts_with(header));
        let lines = verify(&[]);
        assert_eq!(of_distances.get_or_insert_with(|| lines.clone()), &lines);
    }
    let mixed = "{\"id\":\"a\",\"keeper\":\"b\",\"cluster\":\"a\",\"distance\":1}\n\
                 {\"id\":\"c\",\"keeper\":\"b\",\"cluster\":\"a\",\"shared_keys\":1}\n";
    let mixed = corpus.place.file("mixed.ndjson", mixed);
    let texts = ["a", "b", "c"].map(|id| format!("{{\"id\":\"{id}\",\"text\":\"a b c\"}}\n")).concat();
    let texts = corpus.place.file("texts.ndjson", texts);
    fails(
        fphash().args(["verify", "--output"]).arg(corpus.place.path("x.tsv")).arg("--evidence").arg(&mixed).arg(texts),
        &["--evidence: line 2: distances and shared keys are mixed"],
    );
    // It cannot be continued for fingerprints.
    let fingerprints = corpus.place.path("fingerprints");
    stdout(fpload().args(["--quiet", "--create", "--text"]).args([&fingerprints, &all]));
    let mut keep = fpdedup();
    keep.args(["keep", "--previous"]).arg(&mixed).arg("--new").arg(&fingerprints).arg(&fingerprints);
    fails(&mut keep, &["mixed.ndjson", "evidence of a key index"]);
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let documents = place.file("a.ndjson", "{\"id\":1,\"text\":\"a b\"}\n{\"id\":2,\"text\":\"a c\"}\n");
    let gone = place.file("gone.tsv", "2\t1\t1\t1\n3\t1\t1\t1\n");
    let run = |options: &[&str]| {
        let mut run = fphash();
        run.arg("verify").args(options).arg("--evidence").arg(&gone).arg(&documents);
        run
    };
    fails(&mut run(&[]), &["--evidence: line 2: no document has the id '3'", "--id-column"]);
    fails(&mut run(&["--min-jaccard", "1.5"]), &["from 0 to 1"]);
    fails(&mut run(&["--tokens-column", "w"]), &["--tokens-column: texts are compared"]);
    fails(&mut run(&["--doubtful", "x.doc"]), &["--doubtful x.doc", ".tsv"]);
    fails(&mut run(&["--output", gone.to_str().unwrap()]), &["--output", "this is an input"]);
    let twice = place
        .file("twice.ndjson", "{\"id\":1,\"text\":\"a b\"}\n{\"id\":2,\"text\":\"a\"}\n{\"id\":2,\"text\":\"c\"}\n");
    let once = place.file("once.tsv", "2\t1\t1\t1\n");
    let mut run = fphash();
    run.args(["verify", "--evidence"]).args([&once, &twice]);
    fails(&mut run, &["twice.ndjson: line 3: another document has the id '2'"]);
    let empty = place.file("none.tsv", "");
    let mut none = fphash();
    none.args(["verify", "--evidence"]).arg(empty).arg(&documents);
    none.assert().success().stdout("");
    let broken = place.file("broken.tsv", "2\t1\n");
    let mut bad = fphash();
    bad.args(["verify", "--evidence"]).arg(broken).arg(&documents);
    fails(&mut bad, &["broken.tsv: line 1: expected four columns"]);
}
