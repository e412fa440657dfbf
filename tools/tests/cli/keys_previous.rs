//! `fpdedup clusters|keep --previous --new` of a key index: what a run over one index with all records says.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::*;

/// Records in families, as lines of JSON: neighbours share most of their keys, every seventh has a key of its own day.
fn lines(count: u64, id: impl Fn(u64) -> String) -> Vec<String> {
    let mut random = Random::new(9);
    let mut keys: Vec<u64> = Vec::new();
    let mut line = |number: u64| {
        if number.is_multiple_of(5) {
            keys = (0..6).map(|_| random.next()).collect();
        }
        // Some belong to families of another day.
        let place = random.below(6) as usize;
        keys[place] = if random.below(8) == 0 { 1 << 60 } else { random.next() };
        let keys: Vec<String> = keys.iter().map(u64::to_string).collect();
        format!("{{\"id\":{},\"keys\":[{}]}}\n", id(number), keys.join(","))
    };
    (0..count).map(&mut line).collect()
}

fn index(dir: &Place, name: &str, lines: &[String]) -> PathBuf {
    let store = dir.path(name);
    let input = dir.file("loaded.ndjson", lines.concat());
    stdout(fpload().args(["--quiet", "--create", "--kind", "keys"]).arg(&store).arg(input));
    store
}

fn load(dir: &Place, store: &Path, lines: &[String]) {
    stdout(fpload().arg("--quiet").args([store, &dir.file("loaded.ndjson", lines.concat())]));
}

/// What a run writes to standard output and to the evidence, and its messages.
fn keep(dir: &Place, store: &Path, options: &[&str], name: &str) -> (String, Vec<u8>, String) {
    let evidence = dir.path(name);
    let run = fpdedup().arg("keep").args(options).arg("--evidence").args([&evidence, store]).assert().success();
    let output = run.get_output();
    let read = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (read(&output.stdout), fs::read(&evidence).unwrap(), read(&output.stderr))
}

fn number(number: u64) -> String {
    number.to_string()
}

fn text(number: u64) -> String {
    format!("\"doc {number:06}\"")
}

#[test]
fn labels_of_every_day_byte_for_byte() {
    let dir = Place::new();
    for (id, rule) in [(number as fn(u64) -> String, &[][..]), (text, &["--min-shared", "4"])] {
        let all = lines(600, id);
        let name = format!("{}-{}", rule.len(), all[0].len());
        let (store, labels) = (index(&dir, &format!("old-{name}"), &all[..300]), dir.path("labels.tsv"));
        let whole = |before: usize, until: usize| {
            let whole = index(&dir, &format!("whole-{name}-{before}-{until}"), &all[..until]);
            stdout(fpdedup().arg("clusters").args(rule).arg(&whole))
        };
        fs::write(&labels, stdout(fpdedup().arg("clusters").args(rule).arg(&store))).unwrap();
        for (before, until) in [(300, 302), (302, 500), (500, 500), (500, 600)] {
            // Some of the records to add are in the index, and come from a file or another index.
            let new = &all[before - 10..until];
            let (file, other) = (dir.file("new.ndjson", new.concat()), format!("new-{name}-{before}-{until}"));
            let new = if until == 500 { index(&dir, &other, new) } else { file };
            let options = |threads: &str| {
                ["--previous".to_owned(), labels.display().to_string(), "--threads".to_owned(), threads.to_owned()]
            };
            let run = |threads: &str| {
                let mut run = fpdedup();
                run.arg("clusters").args(options(threads)).arg("--new").arg(&new).args(rule).arg(&store);
                run
            };
            let found = run("2").assert().success();
            let message = String::from_utf8(found.get_output().stderr.clone()).unwrap();
            let expected = whole(before, until);
            assert!(found.get_output().stdout == expected.as_bytes(), "{name} {until}");
            assert!(stdout(&mut run("1")) == expected, "{name} {until}, one thread");
            if before == 300 {
                // The two new records, and those whose labels are doubted: they are in the new file, too.
                assert!(message.contains(" records compared"), "{message}");
            }
            let json = stdout(run("1").arg("--json")).lines().count();
            assert_eq!(json, expected.lines().count());
            // Loaded since, without --new.
            load(&dir, &store, &all[before..until]);
            let mut loaded = fpdedup();
            loaded.arg("clusters").args(options("2")).args(rule).arg(&store);
            let done = loaded.assert().success();
            assert!(done.get_output().stdout == expected.as_bytes(), "{name} {until}, loaded");
            let message = String::from_utf8(done.get_output().stderr.clone()).unwrap();
            let compared = format!(
                "; {} compared",
                if until - before == 1 { "1 record".to_owned() } else { format!("{} records", until - before) }
            );
            assert!(message.contains(&compared), "{message}");
            fs::write(&labels, expected).unwrap();
        }
    }
}

#[test]
fn evidence_of_every_day_byte_for_byte() {
    let dir = Place::new();
    let mut names = vec!["gone.tsv", "gone.csv", "gone.ndjson", "gone.tsv.zst"];
    names.extend(cfg!(feature = "parquet").then_some("gone.parquet"));
    for (at, name) in names.into_iter().enumerate() {
        let id = [number as fn(u64) -> String, text][at % 2];
        let rule = [&["--min-shared", "3"][..], &[]][at / 2 % 2];
        let all = lines(600, id);
        let store = index(&dir, &format!("old-{at}"), &all[..250]);
        let mut found = keep(&dir, &store, rule, name);
        let evidence = dir.path(name);
        for (before, until) in [(250, 251), (251, 400), (400, 600)] {
            let new = dir.file("new.ndjson", all[before - 7..until].concat());
            let options = ["--previous", evidence.to_str().unwrap(), "--new", new.to_str().unwrap()];
            found = keep(&dir, &store, &[&options[..], rule].concat(), name);
            let compared = if until == 251 {
                "; 1 record compared".to_owned()
            } else {
                format!("; {} records compared", until - before)
            };
            assert!(found.2.contains(&compared) && !found.2.contains("warning"), "{}", found.2);
            load(&dir, &store, &all[before..until]);
        }
        let whole = index(&dir, &format!("whole-{at}"), &all);
        let expected = keep(&dir, &whole, rule, &format!("whole-{name}"));
        assert!((&found.0, &found.1) == (&expected.0, &expected.1), "{name}");
        let new = dir.file("new.ndjson", all[400..].concat());
        let old = index(&dir, &format!("first-{at}"), &all[..400]);
        let new = ["--new", new.to_str().unwrap()];
        let once = keep(&dir, &old, &[&new[..], rule].concat(), name);
        assert!((&once.0, &once.1) == (&expected.0, &expected.1), "{name}, no --previous");
    }
}

#[test]
fn reports_of_continued_clusters_are_those_of_all() {
    let dir = Place::new();
    let all = lines(600, number);
    let (old, whole) = (index(&dir, "old", &all[..400]), index(&dir, "whole", &all));
    let new = dir.file("new.ndjson", all[390..].concat());
    let picture = dir.path("picture.svg");
    for (rule, linkage) in [(&[][..], "single"), (&["--min-shared", "4"], "single"), (&["--min-shared", "3"], "star")] {
        let subcommand = if linkage == "star" { "keep" } else { "clusters" };
        let previous = dir.path("previous.tsv");
        let mut first = fpdedup();
        first.arg(subcommand).args(rule).arg(if linkage == "star" { "--evidence" } else { "--output" });
        stdout(first.args([&previous, &old]));
        let report = |options: &[&std::ffi::OsStr], store: &Path| {
            let mut run = fpdedup();
            run.args([subcommand, "--report", "--picture"]).arg(&picture).args(rule).args(options);
            let found = stdout(run.arg(store));
            (found, stdout(run.arg("--json")), fs::read_to_string(&picture).unwrap())
        };
        let new: [&std::ffi::OsStr; 4] =
            ["--previous".as_ref(), previous.as_os_str(), "--new".as_ref(), new.as_os_str()];
        let (mut text, json, svg) = report(&new, &old);
        let expected = report(&[], &whole);
        if linkage == "star" {
            let why = "unknown: with --previous, only new records are compared\n";
            assert!(text.contains(why), "{text}");
            text = text.replace(why, "");
        }
        let without = "unknown: with --min-shared or --min-jaccard, stars are found without all pairs\n";
        assert_eq!((text, json, svg), (expected.0.replace(without, ""), expected.1, expected.2), "{linkage}");
        // Rows and the evidence are what they are without a report.
        let rows = |more: &[&str], name: &str| {
            let mut run = fpdedup();
            stdout(run.arg(subcommand).args(more).args(rule).args(new).arg("--output").args([&dir.path(name), &old]));
            fs::read(dir.path(name)).unwrap()
        };
        assert_eq!(rows(&["--report"], "reported.tsv"), rows(&[], "rows.tsv"), "{linkage}");
    }
    // Stars that any shared key makes have no chains either.
    let _ = keep(&dir, &old, &[], "gone.tsv");
    let mut run = fpdedup();
    run.args(["keep", "--report", "--json", "--previous"]).arg(dir.path("gone.tsv")).arg("--new").args([&new, &old]);
    let report = json_object(&stdout(&mut run));
    assert!(report["chains"].is_null() && report["single_linkage"].is_null() && report["far_records"] == 0, "{report}");
}

#[test]
fn keys_that_become_too_frequent_are_told() {
    let dir = Place::new();
    let record = |id: u64, keys: &[u64]| {
        let mut line = format!("{{\"id\":{id},\"keys\":[");
        keys.iter()
            .enumerate()
            .for_each(|(at, key)| write!(line, "{}{}", if at > 0 { "," } else { "" }, key << 50).unwrap());
        line + "]}\n"
    };
    let old = [record(1, &[5, 6]), record(2, &[5]), record(3, &[6])];
    let store = index(&dir, "store", &old);
    let new = dir.file("new.ndjson", record(4, &[5, 9]));
    let rule = ["--max-key-frequency", "2"];
    let labels = dir.file("labels.tsv", stdout(fpdedup().arg("clusters").args(rule).arg(&store)));
    assert_eq!(fs::read_to_string(&labels).unwrap(), "1\t1\n2\t1\n3\t1\n");
    let going_on = |command: &str, previous: &Path| {
        let mut run = fpdedup();
        run.arg(command).args(rule).arg("--previous").arg(previous).arg("--new").args([&new, &store]);
        let run = run.assert().success();
        let output = run.get_output();
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8(bytes.clone()).unwrap())
    };
    // Without key 5, the second record is alone.
    let [found, message] = going_on("clusters", &labels);
    assert_eq!(found, "1\t1\n2\t2\n3\t1\n4\t4\n");
    assert!(message.contains("at least 1 key of more than 2 records did not count"), "{message}");
    let _ = keep(&dir, &store, &rule, "gone.tsv");
    let [found, message] = going_on("keep", &dir.path("gone.tsv"));
    assert_eq!(found, "1\n4\n");
    assert!(
        message.contains("1 key is too frequent to count (--max-key-frequency), which earlier records"),
        "{message}"
    );
    assert!(message.contains("1 of 2 records that are left out are not near"), "{message}");
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = Place::new();
    let all = lines(60, number);
    let (store, new) = (index(&dir, "index", &all[..40]), dir.file("new.ndjson", all[40..].concat()));
    let labels = dir.file("labels.tsv", stdout(fpdedup().arg("clusters").arg(&store)));
    let _ = keep(&dir, &store, &[], "gone.tsv");
    let gone = dir.path("gone.tsv");
    let mut clusters = fpdedup();
    clusters.args(["clusters", "--linkage", "star", "--previous"]).args([&labels, &store]);
    fails(&mut clusters, &["--previous continues labels of --linkage single"]);
    fails(fpdedup().args(["keep", "--previous"]).args([&gone, &store]), &["say with --new which records are added"]);
    let with_new = |previous: &Path, new: &Path, store: &Path| {
        let mut run = fpdedup();
        run.args(["keep", "--previous"]).arg(previous).arg("--new").args([new, store]);
        run
    };
    // Evidence of fingerprints, and of other keys.
    let other = dir.file("other.csv", "id,keeper,cluster,distance\n1,0,0,3\n");
    fails(&mut with_new(&other, &new, &store), &["it is evidence of fingerprints, the store is a key index"]);
    let foreign = dir.file("foreign.tsv", "39\t0\t0\t5\t\n");
    fails(&mut with_new(&foreign, &new, &store), &["39 is removed by a record that is not near it", "another store"]);
    fails(&mut with_new(&gone, &dir.store(&[(1, 1)]), &store), &["fingerprints"]);
    let texts = dir.file("texts.ndjson", "{\"id\":\"a\",\"keys\":[1]}\n");
    fails(&mut with_new(&gone, &texts, &store), &["texts.ndjson"]);
    let without = dir.file("without.ndjson", "{\"keys\":[1]}\n");
    fails(&mut with_new(&gone, &without, &store), &["its records have no ids, and those of the store do"]);
    let numbered = index(&dir, "numbered", &["{\"keys\":[7]}\n".to_owned()]);
    fails(&mut with_new(&gone, &new, &numbered), &["numbers its records itself", "--previous without --new"]);
    fails(&mut with_new(&gone, &numbered, &store), &["numbers its records itself", "load the new records"]);
}
