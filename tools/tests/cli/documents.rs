//! `fpdedup documents`: the result is that of its steps run one by one, and each removal is true by brute force.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::points::every;
use crate::support::{Place, fpdedup, fphash, fpload, json_object, stdout};

const BOOK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/rust-book-documents.ndjson.gz");

/// Returns the documents of the sample, in order: their numbers and their lines.
pub(crate) fn book() -> Vec<(u64, String)> {
    let mut text = String::new();
    flate2::read::GzDecoder::new(fs::File::open(BOOK).unwrap()).read_to_string(&mut text).unwrap();
    text.lines().map(|line| (number(line), line.to_owned())).collect()
}

fn number(line: &str) -> u64 {
    serde_json::from_str::<serde_json::Value>(line).unwrap()["n"].as_u64().unwrap()
}

fn text(line: &str) -> String {
    serde_json::from_str::<serde_json::Value>(line).unwrap()["text"].as_str().unwrap().to_owned()
}

/// Runs `fpdedup documents` on the sample; returns the lines that stay and the rows of evidence.
fn documents(place: &Place, options: &[&str]) -> (String, String) {
    let (clean, gone) = (place.path("clean.ndjson"), place.path("gone.tsv"));
    let mut run = fpdedup();
    run.args(["documents", "--quiet", "--id-column", "n", "--output"]).arg(&clean).arg("--evidence").arg(&gone);
    run.args(options).arg(BOOK).assert().success().stdout("");
    (fs::read_to_string(clean).unwrap(), fs::read_to_string(gone).unwrap())
}

/// Returns the ids that stay and the evidence, of the steps run one by one.
fn steps(place: &Place, options: &[&str], k: &str, linkage: &str) -> (BTreeSet<u64>, BTreeSet<String>) {
    let (store, removed) = (place.path("store"), place.path("removed.tsv"));
    let hashes = stdout(fphash().args(["simhash", "--id-column", "n"]).args(options).arg(BOOK));
    fpload().args(["--create", "--max-distance", k]).arg(&store).arg("-").write_stdin(hashes).assert().success();
    let kept = stdout(fpdedup().args(["keep", "--linkage", linkage, "--evidence"]).arg(&removed).arg(&store));
    fs::remove_dir_all(store).unwrap();
    let removed = fs::read_to_string(removed).unwrap();
    (kept.lines().map(|id| id.parse().unwrap()).collect(), removed.lines().map(str::to_owned).collect())
}

#[test]
fn as_the_steps_one_by_one() {
    let place = Place::new();
    let book = book();
    let ways = [
        (&[][..], "6", "star"),
        (&["--width", "128"], "20", "star"),
        (&["--features", "chars:5"], "3", "complete"),
        (&["--preset", "seomoz", "--features", "words:2"], "4", "single"),
    ];
    for (options, k, linkage) in every(4, ways) {
        let mut all = options.to_vec();
        // The distances of the first two are the defaults.
        if !["6", "20"].contains(&k) {
            all.extend(["--distance", k]);
        }
        all.extend(["--linkage", linkage, "--threads", "3"]);
        let (kept, removed) = steps(&place, options, k, linkage);
        let (clean, gone) = documents(&place, &all);
        let expected: String =
            book.iter().filter(|(id, _)| kept.contains(id)).map(|(_, line)| format!("{line}\n")).collect();
        assert!(clean == expected, "{options:?}");
        assert_eq!(gone.lines().map(str::to_owned).collect::<BTreeSet<_>>(), removed, "{options:?}");
        let order: Vec<u64> = gone.lines().map(|row| row.split('\t').next().unwrap().parse().unwrap()).collect();
        assert!(order.is_sorted());
        all.truncate(all.len() - 2);
        all.extend(["--threads", "1", "--memory", "64MiB"]);
        assert!(documents(&place, &all) == (clean, gone), "other threads, other memory");
        assert!(!place.path("clean.ndjson.fpdedup").exists());
    }
}

#[test]
fn verified_by_the_texts() {
    let place = Place::new();
    let texts: BTreeMap<u64, String> = book().into_iter().map(|(id, line)| (id, text(&line))).collect();
    let (all, without) = documents(&place, &["--linkage", "single"]);
    let (clean, gone) = documents(&place, &["--linkage", "single", "--verify", "0.8"]);
    let file = |id: u64| -> PathBuf { place.file(&format!("{id}.txt"), &texts[&id]) };
    let similarity = |a: u64, b: u64| {
        let by = ["compare", "--json", "--by", "jaccard:unicode:2", "--normalise", "lower"];
        let output = fphash().args(by).args([file(a), file(b)]).output().unwrap();
        json_object(std::str::from_utf8(&output.stdout).unwrap())["value"].as_f64().unwrap()
    };
    let rows: BTreeMap<u64, (String, f64)> = gone
        .lines()
        .map(|row| {
            let (row, similarity) = row.rsplit_once('\t').unwrap();
            (row.split('\t').next().unwrap().parse().unwrap(), (row.to_owned(), similarity.parse().unwrap()))
        })
        .collect();
    assert!(rows.values().all(|(_, similarity)| *similarity >= 0.8));
    // Some removals, some that another document did, and some that were taken back.
    let (mut again, mut stay) = (0, 0);
    for (place, row) in without.lines().enumerate() {
        let cells: Vec<u64> = row.split('\t').map(|cell| cell.parse().unwrap()).collect();
        let is_checked = place % 20 == 0;
        match rows.get(&cells[0]) {
            Some((same, value)) if same == row => {
                assert!(!is_checked || (similarity(cells[0], cells[1]) - value).abs() < 1e-12, "{row}");
            }
            Some((other, value)) => {
                again += 1;
                let keeper: u64 = other.split('\t').nth(1).unwrap().parse().unwrap();
                assert!(!rows.contains_key(&keeper), "{other}");
                assert!(again % 20 > 0 || similarity(cells[0], cells[1]) < 0.8, "{row}");
                assert!(again % 20 > 0 || (similarity(cells[0], keeper) - value).abs() < 1e-12, "{other}");
            }
            None => {
                stay += 1;
                assert!(stay % 10 > 0 || similarity(cells[0], cells[1]) < 0.8, "{row}");
            }
        }
    }
    assert!(again > 50 && stay > 20, "{again} {stay}");
    assert_eq!(clean.lines().count(), all.lines().count() + stay);
    // The threshold chooses the distance, and verifies.
    let by_threshold = documents(&place, &["--threshold", "0.9"]);
    assert!(by_threshold == documents(&place, &["--distance", "7", "--verify", "0.9"]));
}

#[test]
fn texts_that_differ_are_compared_among_themselves() {
    let place = Place::new();
    let line = |text: &str| format!("{{\"text\":\"{text}\"}}\n");
    let (one, other, third) = (line("alpha beta gamma"), line("quite other words here"), line("no two are alike"));
    let input = place.file("docs.ndjson", [&*one, &other, &third, &other, &third, &other].concat());
    let (clean, gone) = (place.path("clean.ndjson"), place.path("gone.tsv"));
    let mut run = fpdedup();
    // By their fingerprints all are near.
    run.args(["documents", "-k", "64", "--verify", "0.9"])
        .arg(&input)
        .arg("-o")
        .arg(&clean)
        .arg("--evidence")
        .arg(&gone);
    run.assert().success();
    assert_eq!(fs::read_to_string(clean).unwrap(), [one, other, third].concat());
    assert_eq!(fs::read_to_string(gone).unwrap(), "3\t1\t1\t0\t1\n4\t2\t2\t0\t1\n5\t1\t1\t0\t1\n");
}

#[test]
fn the_summary() {
    let place = Place::new();
    let docs = [
        r#"{"id":"a","text":"one two three four five six seven eight"}"#,
        r#"{"id":"b","text":""}"#,
        r#"{"id":"c","text":"one two three four five six seven eight"}"#,
        r#"{"id":"d","text":null}"#,
        r#"{"id":"e","text":"quite another text about something else entirely"}"#,
        r#"{"id":"f","text":""}"#,
    ];
    let input = place.file("docs.ndjson", docs.join("\n"));
    let (clean, rejects) = (place.path("clean.jsonl"), place.path("rejects.tsv"));
    let mut run = fpdedup();
    run.args(["documents", "--on-error", "skip", "--rejects"]).arg(&rejects).arg("-o").arg(&clean).arg(&input);
    let assert = run.assert().success().stdout("");
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    for part in ["documents             6", "removed               1", "equal fingerprints  1", "no fingerprint      2"]
    {
        assert!(message.contains(part), "no '{part}' in {message}");
    }
    assert_eq!(fs::read_to_string(&clean).unwrap(), [docs[0], docs[1], docs[4], docs[5], ""].join("\n"));
    assert!(fs::read_to_string(&rejects).unwrap().ends_with("\t4\tthe text is null\n"));
    let object = json_object(&stdout(run.arg("--json")));
    for (field, value) in
        [("documents", 6), ("kept", 4), ("removed", 1), ("left_out", 1), ("without_fingerprint", 2), ("doubtful", 0)]
    {
        assert_eq!(object[field], value, "{field}");
    }
    assert_eq!(object["by_distance"], serde_json::json!([1]));
    let phases: Vec<&str> =
        object["phases"].as_array().unwrap().iter().map(|phase| phase["phase"].as_str().unwrap()).collect();
    assert_eq!(phases, ["hashing", "comparing", "writing"]);
    assert!(Path::new(object["output"].as_str().unwrap()) == clean);
}

#[test]
fn documents_without_ids_are_numbered() {
    let place = Place::new();
    let line = |text: &str| format!("{{\"text\":\"{text}\"}}\n");
    let lines = [line("a b c d"), line("x y"), line("a b c d"), line("x y"), line("a b c d")].concat();
    let input = place.file("docs.ndjson", &lines);
    let gone = place.path("gone.ndjson");
    let mut run = fpdedup();
    run.arg("documents").arg(&input).arg("-o").arg(place.path("clean.ndjson")).arg("--evidence").arg(&gone);
    run.assert().success();
    let rows: Vec<serde_json::Value> =
        fs::read_to_string(gone).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let keepers: Vec<(u64, u64)> =
        rows.iter().map(|row| (row["id"].as_u64().unwrap(), row["keeper"].as_u64().unwrap())).collect();
    assert_eq!(keepers, [(2, 0), (3, 1), (4, 0)]);
}
