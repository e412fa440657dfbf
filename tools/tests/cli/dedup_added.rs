//! `fpdedup keep --previous --new`: what a run from scratch says, from evidence of every format.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::dedup::{records, text};
use crate::support::{Pair, Place, fails, fpdedup, fpload, lines};

/// What a run keeps, its evidence in a file of this name, and its messages.
fn keep(place: &Place, store: &Path, options: &[&str], name: &str) -> (String, Vec<u8>, String) {
    let evidence = place.path(name);
    let run = fpdedup().arg("keep").args(options).arg("--evidence").args([&evidence, store]).assert().success();
    let output = run.get_output();
    let read = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    (read(&output.stdout), fs::read(&evidence).unwrap(), read(&output.stderr))
}

/// Records in the order of their ids, and the store of all of them.
fn by_id(place: &Place) -> (Vec<Pair>, PathBuf) {
    let mut all: Vec<Pair> = records(900).into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    all.sort_by_key(|record| record.1);
    let both = place.path("both");
    fpload().arg("--create").arg(&both).arg("-").write_stdin(lines(&all)).assert().success();
    (all, both)
}

#[test]
fn ids_that_grow_are_as_a_run_from_scratch_byte_for_byte() {
    let place = Place::new();
    let (all, both) = by_id(&place);
    let (old, new) = all.split_at(700);
    let store = place.store(old);
    // Some of the records to add are in the store.
    let file = place.file("new.tsv", lines(&all[650..]));
    let new_store = place.path("new-store");
    fpload().arg("--create").arg(&new_store).arg(&file).assert().success();
    let mut names = vec!["a.tsv", "a.csv", "a.tsv.gz", "a.ndjson", "a.ndjson.zst"];
    names.extend(cfg!(feature = "parquet").then_some("a.parquet"));
    let count =
        new.iter().map(|one| one.0).filter(|one| old.iter().all(|old| old.0 != *one)).collect::<BTreeSet<u64>>();
    for (number, name) in names.into_iter().enumerate() {
        let expected = keep(&place, &both, &["-k", "4"], &format!("both-{name}"));
        let _ = keep(&place, &store, &["-k", "4"], name);
        let previous = place.path(name);
        let new = [&file, &new_store][number % 2].to_str().unwrap();
        // Over the earlier evidence.
        let options = ["-k", "4", "--previous", previous.to_str().unwrap(), "--new", new];
        let found = keep(&place, &store, &options, name);
        assert!(found.0 == expected.0 && found.1 == expected.1, "{name}");
        assert!(found.2.contains(&format!("; {} fingerprints compared", count.len())), "{name}: {}", found.2);
        assert!(!found.2.contains("warning"), "{}", found.2);
        assert_eq!(expected.0, text(fpdedup().args(["keep", "-k", "4", "--new", new]).arg(&store)), "no --previous");
    }
    let threads: Vec<_> = ["1", "3"]
        .map(|threads| {
            let previous = place.path("again.tsv");
            let _ = keep(&place, &store, &[], "again.tsv");
            let new = file.to_str().unwrap();
            let options = ["--previous", previous.to_str().unwrap(), "--new", new, "--threads", threads, "-q"];
            keep(&place, &store, &options, "out.tsv")
        })
        .into();
    assert_eq!(threads[0], threads[1]);
}

#[test]
fn day_after_day() {
    let place = Place::new();
    let (all, both) = by_id(&place);
    let expected = keep(&place, &both, &[], "both.tsv");
    let (store, evidence) = (place.store(&all[..300]), place.path("gone.tsv"));
    let mut found = keep(&place, &store, &[], "gone.tsv");
    for until in [301, 600, 603, 900] {
        let before = if until == 301 {
            300
        } else if until == 600 {
            301
        } else if until == 603 {
            600
        } else {
            603
        };
        let today = place.file("today.tsv", lines(&all[before..until]));
        let options = ["--previous", evidence.to_str().unwrap(), "--new", today.to_str().unwrap()];
        found = keep(&place, &store, &options, "gone.tsv");
        fpload().arg(&store).arg(&today).assert().success();
    }
    assert!((found.0, found.1) == (expected.0, expected.1));
}

#[test]
fn texts_and_stores_without_ids() {
    let place = Place::new();
    let (all, _) = by_id(&place);
    for kind in ["text", "none"] {
        // Texts that grow as the numbers do; without ids, fingerprints that grow.
        let mut records = all.clone();
        records.sort_by_key(|record| if kind == "none" { record.0 } else { record.1 });
        let of = |records: &[Pair]| -> String {
            let line = |record: &Pair| match kind {
                "text" => format!("{:016x}\t#{:09}\n", record.0, record.1),
                _ => format!("{:016x}\n", record.0),
            };
            records.iter().map(line).collect()
        };
        let load = |name: &str, records: &[Pair]| {
            let path = place.path(&format!("{name}-{kind}"));
            let mut load = fpload();
            load.args(["--create", "--ids", kind]).arg(&path).arg("-").write_stdin(of(records)).assert().success();
            path
        };
        let (old, both) = (load("old", &records[..600]), load("all", &records));
        let new = place.file("new.tsv", of(&records[600..]));
        let mut names = vec!["a.tsv", "a.csv", "a.ndjson"];
        names.extend(cfg!(feature = "parquet").then_some("a.parquet"));
        for name in names {
            let expected = keep(&place, &both, &[], name);
            let _ = keep(&place, &old, &[], name);
            let previous = place.path(name);
            let options = ["--previous", previous.to_str().unwrap(), "--new", new.to_str().unwrap()];
            let found = keep(&place, &old, &options, name);
            assert!((&found.0, &found.1) == (&expected.0, &expected.1), "{kind} {name}");
            assert!(!found.2.contains("warning"), "{}", found.2);
        }
    }
}

#[test]
fn new_records_with_priority_are_counted() {
    let place = Place::new();
    let (zero, one) = ("0000000000000000", "0000000000000001");
    let far = "ffffffffffffffff";
    let store = place.path("store");
    let input = format!("{zero}\t50\n{one}\t60\n{far}\t70\n");
    fpload().arg("--create").arg(&store).arg("-").write_stdin(input).assert().success();
    let previous = place.file("gone.tsv", "60\t50\t50\t1\n");
    let run = |new: &str, keep_what: &str| {
        let new = place.file("new.tsv", new);
        let options = ["--keep", keep_what, "--previous", previous.to_str().unwrap(), "--new", new.to_str().unwrap()];
        let (kept, evidence, said) = keep(&place, &store, &options, "out.tsv");
        (kept, String::from_utf8(evidence).unwrap(), said)
    };
    let (kept, evidence, said) = run(&format!("{one}\t7\n{zero}\t9\n{zero}\t51\n"), "smallest");
    assert_eq!(kept, "50\n70\n");
    assert_eq!(evidence, "9\t50\t7\t0\n51\t50\t7\t0\n7\t50\t7\t1\n60\t50\t7\t1\n");
    assert!(
        said.contains("warning: 2 new records have been removed by earlier keepers although --keep prefers them"),
        "{said}"
    );
    let (.., said) = run(&format!("{one}\t7\n{zero}\t9\n{zero}\t51\n"), "largest");
    assert!(
        said.contains("warning: 1 new record has been removed by earlier keepers although --keep prefers it"),
        "{said}"
    );
    let first = place.file("first.txt", "70\n50\n");
    let (.., said) = run(&format!("{one}\t7\n{zero}\t9\n"), first.to_str().unwrap());
    assert!(!said.contains("warning"), "{said}");
}

#[test]
fn wrong_use() {
    let place = Place::new();
    let store = place.path("store");
    let input = "0000000000000000\t1\n0000000000000001\t2\n0000000000000003\t3\nffffffffffffffff\t4\n";
    fpload().arg("--create").arg(&store).arg("-").write_stdin(input).assert().success();
    let new = place.file("new.tsv", "0000000000000007\t5\n");
    let new = new.to_str().unwrap();
    let refused = |options: &[&str], parts: &[&str]| fails(fpdedup().arg("keep").args(options).arg(&store), parts);
    let good = place.file("good.tsv", "2\t1\t1\t1\n3\t1\t1\t2\n");
    let good = good.to_str().unwrap();
    for linkage in ["single", "complete"] {
        let options = ["--previous", good, "--new", new, "--linkage", linkage];
        refused(&options, &["--previous continues the evidence of --linkage star"]);
    }
    refused(&["--previous", good], &["--new"]);
    refused(&["--format", "hex"], &["--new"]);
    refused(&["--previous", "-", "--new", "-"], &["both"]);
    refused(&["--previous", "none.tsv", "--new", new], &["none.tsv"]);
    refused(&["--previous", good, "--new", new, "--evidence", new], &["--evidence"]);
    refused(&["--previous", good, "--new", new, "-k", "1"], &["good.tsv: line 2: the distance from the keeper is 2"]);
    for (rows, part) in [
        ("2\t1\t1\n", "line 1: expected four columns"),
        ("2\t1\t1\t1\nx\t1\t1\t1\n", "line 2: the ids of the store are decimal numbers"),
        ("2\t1\t1\t1\n\n9\t1\t1\t1\n", "line 3: the store has no such record"),
        ("2\t1\t1\t1\n3\t2\t1\t1\n", "line 2: its keeper is not a record of the store that is kept"),
        ("2\t9\t1\t1\n", "line 1: its keeper is not a record of the store that is kept"),
        ("2\t1\t1\t1\n2\t1\t1\t1\n", "line 2: there was a row for this record"),
        ("2\t1\t1\t4\n", "line 1: the distance from the keeper is 4, more than 3"),
        ("2\t2\t1\t0\n", "line 1: a record cannot be its own keeper"),
        ("2\t4\t1\t1\n", "the keeper of fingerprint 0000000000000001 differs in more than 3 bits"),
    ] {
        let bad = place.file("bad.tsv", rows);
        refused(&["--previous", bad.to_str().unwrap(), "--new", new], &["bad.tsv", part]);
    }
    let evidence = place.path("kept-back.tsv");
    let bad = place.file("bad.tsv", "9\t1\t1\t1\n");
    let options = ["--previous", bad.to_str().unwrap(), "--new", new, "--evidence", evidence.to_str().unwrap()];
    refused(&options, &["line 1"]);
    assert!(!evidence.exists(), "an output appears when it is complete");
}
