//! `fpdedup clusters --previous --new`: the same labels as a run from scratch, from labels of every format.

use crate::dedup::{records, text};
use crate::points::every;
use crate::support::{Pair, Place, Random, fpdedup, fpload, lines};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

fn labels(store: &Path, options: &[&str]) -> String {
    text(fpdedup().args(["clusters", "-q"]).args(options).arg(store))
}

/// Returns what a run with labels reports as compared.
fn compared(store: &Path, options: &[&str]) -> String {
    let output = fpdedup().arg("clusters").args(options).arg(store).assert().success().get_output().clone();
    String::from_utf8(output.stderr).unwrap().trim_end().rsplit("; ").next().unwrap().to_owned()
}

/// Returns a store of old records, new records, and the labels of both from scratch.
fn old_and_new(place: &Place) -> (PathBuf, Vec<Pair>, String) {
    let all = records(500);
    let (new, old): (Vec<Pair>, Vec<Pair>) = all.iter().partition(|record| record.1 % 4 == 0);
    let both = place.path("both");
    fpload().arg("--create").arg(&both).arg("-").write_stdin(lines(&all)).assert().success();
    (place.store(&old), new, labels(&both, &[]))
}

#[test]
fn as_from_scratch_whatever_the_files_are() {
    let place = Place::new();
    let (store, new, expected) = old_and_new(&place);
    let names: &[&str] = if cfg!(feature = "parquet") {
        &["a.tsv", "a.tsv.gz", "a.csv", "a.ndjson", "a.ndjson.zst", "a.parquet"]
    } else {
        &["a.tsv", "a.tsv.gz", "a.csv", "a.ndjson", "a.ndjson.zst"]
    };
    let count = format!("{} fingerprints compared", new.iter().map(|one| one.0).collect::<BTreeSet<u64>>().len());
    let file = place.file("new.tsv", lines(&new));
    let loaded = place.path("loaded");
    fpload().arg("--create").arg(&loaded).arg(&file).assert().success();
    for name in names {
        let previous = place.path(name);
        fpdedup().arg("clusters").arg(&store).arg("-o").arg(&previous).assert().success();
        let previous = previous.to_str().unwrap();
        for new in [&file, &loaded] {
            let new = new.to_str().unwrap();
            let options = ["--previous", previous, "--new", new];
            assert_eq!(labels(&store, &options), expected, "{name}");
            assert_eq!(compared(&store, &options), count, "{name}");
        }
    }
    // The same from scratch, from pipes, and after the new records were loaded.
    assert_eq!(labels(&store, &["--new", file.to_str().unwrap()]), expected);
    let before = labels(&store, &[]);
    let run = text(
        fpdedup().args(["clusters", "--previous", "-", "--new"]).args([&file, &store]).write_stdin(before.clone()),
    );
    assert_eq!(run, expected);
    let previous = place.file("previous.tsv", before);
    let previous = previous.to_str().unwrap();
    let run = fpdedup()
        .args(["clusters", "--new", "-", "--previous", previous])
        .arg(&store)
        .write_stdin(lines(&new))
        .assert();
    assert_eq!(String::from_utf8(run.success().get_output().stdout.clone()).unwrap(), expected);
    fpload().arg(&store).arg(&file).assert().success();
    assert_eq!(labels(&store, &["--previous", previous, "--new", file.to_str().unwrap()]), expected);
    assert_eq!(labels(&store, &["--previous", previous]), expected);
}

#[test]
fn after_records_were_removed() {
    let place = Place::new();
    let all = records(500);
    let store = place.store(&all);
    let previous = place.file("previous.tsv", labels(&store, &[]));
    let (_, kept): (Vec<Pair>, Vec<Pair>) = all.iter().partition(|record| record.1 % 7 == 0);
    let rest = place.path("rest");
    fpload().arg("--create").arg(&rest).arg("-").write_stdin(lines(&kept)).assert().success();
    let expected = labels(&rest, &[]);
    assert_eq!(labels(&rest, &["--previous", previous.to_str().unwrap()]), expected);
}

#[test]
fn texts_and_stores_without_ids() {
    let place = Place::new();
    // Some texts look like comments.
    let line = |record: &Pair, kind: &str, width: &str| match kind {
        "text" => format!("{:016x}\t#{}\n", record.0, record.1),
        _ => format!("{:0>1$x}\n", record.0, width.parse::<usize>().unwrap() / 4),
    };
    let names: &[&str] = if cfg!(feature = "parquet") {
        &["labels.tsv", "labels.csv", "labels.ndjson", "labels.parquet"]
    } else {
        &["labels.tsv", "labels.csv", "labels.ndjson"]
    };
    for (kind, width) in [("text", "64"), ("none", "64"), ("none", "128"), ("none", "256")] {
        let all = records(300);
        let some = |wanted: &dyn Fn(u64) -> bool| -> String {
            all.iter().filter(|record| wanted(record.1)).map(|record| line(record, kind, width)).collect()
        };
        let load = |name: &str, records: String| {
            let path = place.path(&format!("{name}-{kind}-{width}"));
            fpload()
                .args(["--create", "--ids", kind, "--width", width])
                .arg(&path)
                .arg("-")
                .write_stdin(records)
                .assert()
                .success();
            path
        };
        let old = load("old", some(&|id| id % 3 > 0));
        let expected = labels(&load("all", some(&|_| true)), &[]);
        let new = place.file(&format!("new-{kind}-{width}.tsv"), some(&|id| id % 3 == 0));
        let count = all.iter().filter(|one| one.1 % 3 == 0).map(|one| one.0).collect::<BTreeSet<u64>>();
        let known = all.iter().filter(|one| one.1 % 3 > 0).map(|one| one.0).collect::<BTreeSet<u64>>();
        // Without ids, a fingerprint that is present is not new.
        let count = if kind == "text" { count.len() } else { count.difference(&known).count() };
        for name in names {
            let previous = place.path(&format!("{kind}-{width}-{name}"));
            fpdedup().arg("clusters").arg(&old).arg("-o").arg(&previous).assert().success();
            let options = ["--previous", previous.to_str().unwrap(), "--new", new.to_str().unwrap()];
            assert_eq!(labels(&old, &options), expected, "{kind} {width} {name}");
            assert_eq!(compared(&old, &options), format!("{count} fingerprints compared"), "{kind} {width} {name}");
        }
    }
}

#[test]
fn wrong_use_is_said() {
    let place = Place::new();
    let store = place.store(&records(30));
    let refused = |arguments: &[&str], said: &str| {
        let output = fpdedup().arg("clusters").args(arguments).arg(&store).assert().code(2).get_output().clone();
        let message = String::from_utf8(output.stderr).unwrap();
        assert!(message.contains(said) && output.stdout.is_empty(), "{arguments:?}: {message}");
    };
    let file = |name: &str, text: &str| place.file(name, text).to_str().unwrap().to_owned();
    refused(&["--previous", "no-such.tsv"], "no-such.tsv");
    refused(&["--previous", &file("one.tsv", "1\t1\n2\n")], "one.tsv: line 2: expected two columns");
    refused(&["--previous", &file("text.tsv", "a\tb\n")], "text.tsv: line 1: ");
    refused(&["--new", "no-such.tsv"], "no-such.tsv");
    refused(&["--new", &file("bare.tsv", "0000000000000001\n")], "have no ids");
    refused(&["--new", &file("wide.tsv", "#fpstore width=128\n")], "128 bits");
    refused(&["--format", "hex"], "--new");
    refused(&["--previous", "-", "--new", "-"], "both");
}

/// Where little has changed, lines are copied from the file; the output is that of a run from scratch.
#[test]
fn lines_that_stay_and_lines_that_do_not() {
    let place = Place::new();
    let line = |record: &Pair, kind: &str| match kind {
        "text" => format!("{:016x}\tx/{}\n", record.0, record.1),
        "u64" => format!("{:016x}\t{}\n", record.0, record.1),
        _ => format!("{:016x}\n", record.0),
    };
    for kind in ["u64", "text", "none"] {
        let all = records(4000);
        let load = |name: &str, wanted: &dyn Fn(u64) -> bool| {
            let path = place.path(&format!("{name}-{kind}"));
            let records: String =
                (0..).zip(&all).filter(|(number, _)| wanted(*number)).map(|(_, one)| line(one, kind)).collect();
            fpload().args(["--create", "--ids", kind]).arg(&path).arg("-").write_stdin(records).assert().success();
            path
        };
        let is_new = |number: u64| number % 700 == 5;
        let (old, both) = (load("old", &|number| !is_new(number)), load("both", &|_| true));
        let of_new: String = (0..).zip(&all).filter(|one| is_new(one.0)).map(|one| line(one.1, kind)).collect();
        let new = place.file(&format!("new-{kind}.tsv"), of_new);
        let (before, after) = (labels(&old, &[]), labels(&both, &[]));
        let lines: Vec<&str> = before.lines().collect();
        let (first, rest) = (lines[..1000].join("\n"), lines[1000..].join("\n"));
        let unknown = match kind {
            "u64" => "99999999\t99999999",
            "text" => "y\ty",
            _ => "0123456789abcdef\t0123456789abcdef",
        };
        let variants = [
            before.clone(),
            before.replace('\n', "\r\n"),
            format!("\u{feff}{before}"),
            before.trim_end().to_owned(),
            format!("{first}\n\n{rest}\n"),
            format!("{first}\n{unknown}\n{rest}\n"),
            format!("{first}\n{}\n", lines[1003..].join("\n")),
            format!("{first}\n{}\n{rest}\n", lines[999]),
            format!("{rest}\n{first}\n"),
            lines.iter().rev().map(|line| format!("{line}\n")).collect(),
            lines[..1].concat(),
            String::new(),
            if kind == "text" { before.clone() } else { format!("{}\n", before.to_uppercase().trim_end()) },
            if kind == "u64" { lines.iter().map(|line| format!("0{line}\n")).collect() } else { before.clone() },
        ];
        for (number, variant) in every(3, variants.into_iter().enumerate()) {
            let file = place.file(&format!("{kind}-{number}.tsv"), &variant);
            let previous = file.to_str().unwrap();
            let told = format!("{kind} {number}");
            assert_eq!(labels(&old, &["--previous", previous]), before, "{told}");
            assert_eq!(labels(&old, &["--previous", previous, "--new", new.to_str().unwrap()]), after, "{told}");
            assert_eq!(labels(&both, &["--previous", previous]), after, "{told}");
            // Over the previous file.
            let options = ["clusters", "-q", "--previous", previous, "--new", new.to_str().unwrap(), "-o", previous];
            fpdedup().args(options).arg(&old).assert().success();
            assert_eq!(std::fs::read_to_string(&file).unwrap(), after, "{told}");
        }
    }
}

/// A nightly run may load the records that it labels: they are in the store and among the new ones, and have no label.
#[test]
fn records_that_are_loaded_already_and_new() {
    for options in [&[][..], &["--ids", "text"]] {
        let place = Place::new();
        let mut random = Random::new(11);
        let mut records: Vec<Pair> = (0..600).map(|n| (random.next(), 1000 + n)).collect();
        records.extend([(0xff, 5), (0xfe, 7)]);
        let store = place.store_with(&records, options);
        let old = place.file("old.tsv", labels(&store, &[]));
        // The least id of its cluster now, with a known fingerprint.
        let new = place.file("new.tsv", "00000000000000ff\t3\n");
        fpload().arg(&store).arg(&new).assert().success();
        let (old, new) = (old.to_str().unwrap(), new.to_str().unwrap());
        let full = labels(&store, &["--new", new]);
        let gone_on = labels(&store, &["--previous", old, "--new", new]);
        assert!(full.contains("7\t3\n"), "{full}");
        assert_eq!(gone_on, full, "{options:?}");
    }
}
