//! `fpquery --text`: documents as queries, with fingerprints made like the store's.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{Place, fails, fphash, fpload, fpquery, json_lines, stdout};

const FOX: &str = "The quick brown fox jumps over the lazy dog and runs away from all the hounds that follow it today";

fn ndjson(texts: &[&str]) -> String {
    let object = |(id, text): (usize, &&str)| format!("{{\"id\":{id},\"text\":\"{text}\"}}\n");
    texts.iter().enumerate().map(object).collect()
}

/// Creates a store of documents, made with these sketch options.
fn store(place: &Place, options: &[&str]) -> PathBuf {
    let (store, docs) =
        (place.path("store"), place.file("docs.ndjson", ndjson(&[FOX, "Something else, of no importance"])));
    fpload().args(["--create", "--text"]).args(options).arg(&store).arg(docs).assert().success();
    store
}

#[test]
fn the_parameters_are_those_of_the_store() {
    for options in [
        &[][..],
        &["--width", "128", "--features", "chars:5"],
        &["--preset", "1e0ng"],
        &["--normalise", "markup,nfkc,lower", "--weights", "count"],
    ] {
        let place = Place::new();
        let store = store(&place, options);
        let new = place.file("new.ndjson", ndjson(&["A text about whales and the sea they swim in", FOX]));
        // As with two steps.
        let hashed = stdout(fphash().arg("simhash").args(options).arg(&new));
        let expected = fpquery().args(["--with-query-id", "-k", "0"]).arg(&store).write_stdin(hashed.clone()).assert();
        let expected = String::from_utf8(expected.code(0).get_output().stdout.clone()).unwrap();
        assert!(expected.starts_with("1\t") && expected.ends_with("\t0\t0\n"), "{options:?}: {expected}");
        let ask = |options: &[&str]| {
            let mut ask = fpquery();
            ask.args(["--text", "-k", "0"]).args(options).arg(&store).arg(&new);
            ask
        };
        assert_eq!(stdout(&mut ask(&["--with-query-id"])), expected, "{options:?}");
        // New documents, to be loaded: with the header of their hasher.
        let unseen = stdout(&mut ask(&["--only", "new"]));
        let lines: Vec<&str> = hashed.lines().collect();
        assert_eq!(unseen.lines().collect::<Vec<_>>(), [lines[0], lines[1], "#end records=1"], "{options:?}");
        fpload().arg(&store).arg("-").write_stdin(unseen).assert().success();
        ask(&["--only", "new"]).assert().code(1);
    }
}

#[test]
fn files_directories_and_pipes() {
    let place = Place::new();
    let store = store(&place, &[]);
    std::fs::create_dir(place.path("docs")).unwrap();
    let (a, _) =
        (place.file("docs/a.txt", FOX), place.file("docs/b.txt", "Another text, which is about nothing at all"));
    let ask = |options: &[&str], input: &Path| {
        json_lines(&stdout(
            fpquery().args(["--text", "--json", "--with-query-id"]).args(options).arg(&store).arg(input),
        ))
    };
    let found = ask(&[], &place.path("docs"));
    assert_eq!((found.len(), &found[0]["query_id"]), (1, &a.to_str().unwrap().into()));
    let piped = fpquery().arg("--text").arg(&store).write_stdin(ndjson(&[FOX, FOX])).assert().code(0);
    assert_eq!(String::from_utf8_lossy(&piped.get_output().stdout).lines().count(), 2);
    let csv = place.file("docs.csv", format!("url,body\n/x,\"{FOX}\"\n"));
    let found = ask(&["--id-column", "url", "--text-column", "body"], &csv);
    assert_eq!(found[0]["query_id"], "/x");
    let input =
        fpquery().args(["--text", "--count", "--input"]).arg(&csv).args(["--text-column", "body"]).arg(&store).assert();
    assert!(String::from_utf8_lossy(&input.code(0).get_output().stdout).ends_with("\t1\n"));
    // A document of the store is not its own neighbour.
    let docs = place.path("docs.ndjson");
    let mut others = fpquery();
    others.args(["--text", "--not-self"]).arg(&store).arg(&docs).assert().code(1).stdout("");
    // Answers before the error are written.
    let bad = format!("{}no object\n", ndjson(&[FOX]));
    let assert = fpquery().arg("--text").arg(&store).write_stdin(bad).assert().code(2);
    assert_eq!(String::from_utf8_lossy(&assert.get_output().stdout).lines().count(), 1);
    assert!(String::from_utf8_lossy(&assert.get_output().stderr).contains("line 2"));
}

/// Queries and faults arrive one by one, so that a fault comes without a document beside it.
#[test]
fn faults_between_documents_that_trickle_in() {
    let place = Place::new();
    let store = store(&place, &[]);
    let cases = [(&[][..], 2, 1), (&["--on-error", "skip"], 0, 2)];
    for ((options, code, answers), input) in cases.into_iter().zip(["-", "/dev/stdin"]) {
        let mut child = Command::new(env!("CARGO_BIN_EXE_fpquery"))
            .args(["--text", "--count"])
            .args(options)
            .arg(&store)
            .arg(input)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut asked = child.stdin.take().unwrap();
        let mut answered = BufReader::new(child.stdout.take().unwrap()).lines();
        write!(asked, "{}", ndjson(&[FOX])).unwrap();
        assert!(answered.next().unwrap().unwrap().ends_with("\t1"));
        writeln!(asked, "no object").unwrap();
        thread::sleep(Duration::from_millis(100));
        // Nothing is read after a fault, unless it is left out.
        let more = write!(asked, "{}", ndjson(&[FOX]));
        drop(asked);
        assert!(code == 2 || more.is_ok());
        assert_eq!(answered.count() + 1, answers);
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{errors}");
        let told = if code == 2 { "line 2" } else { "1 of 3 documents" };
        assert!(errors.contains(told), "{errors}");
    }
}

#[test]
fn weights_are_named_again_and_tokens_too() {
    let place = Place::new();
    let weights = place.file("weights.tsv", "quick brown\t5\nlazy dog\t0.5\n");
    let other = place.file("other.tsv", "quick brown\t6\n");
    let store = store(&place, &["--weights", weights.to_str().unwrap()]);
    let docs = place.path("docs.ndjson");
    let ask = |options: &[&str]| {
        let mut ask = fpquery();
        ask.arg("--text").args(options).arg(&store).arg(&docs);
        ask
    };
    fails(&mut ask(&[]), &["weights of a file", "--weights"]);
    fails(&mut ask(&["--weights", other.to_str().unwrap()]), &["must not be mixed"]);
    assert_eq!(stdout(&mut ask(&["--weights", weights.to_str().unwrap()])).lines().count(), 2);

    let place = Place::new();
    let docs = place.file("tokens.ndjson", "{\"id\":1,\"words\":[\"a\",\"b\",\"c\"]}\n");
    let store = place.path("store");
    let tokens = ["--text", "--tokens-column", "words"];
    fpload().arg("--create").args(tokens).arg(&store).arg(&docs).assert().success();
    assert!(stdout(fpquery().args(tokens).arg(&store).arg(&docs)).ends_with("\t0\t1\n"));
    fails(fpquery().arg("--text").arg(&store).arg(&docs), &["ready-made tokens", "--tokens-column"]);
}

#[test]
fn what_is_refused() {
    let place = Place::new();
    let docs = place.file("docs.ndjson", ndjson(&[FOX]));
    let unknown = place.store(&[(1, 1)]);
    let ask = |store: &Path, options: &[&str]| {
        let mut ask = fpquery();
        ask.args(options).arg(store).arg(&docs);
        ask
    };
    fails(&mut ask(&unknown, &["--text"]), &["does not record", "name the preset"]);
    ask(&unknown, &["--text", "--preset", "native"]).assert().code(1);
    let made = Place::new();
    let known = store(&made, &[]);
    fails(&mut ask(&known, &["--text", "--preset", "1e0ng"]), &["simhash/native/", "must not be mixed"]);
    fails(&mut ask(&known, &["--text", "--features", "chars:3"]), &["chars:3", "must not be mixed"]);
    fails(&mut ask(&known, &["--preset", "native"]), &["go with --text"]);
    fails(&mut ask(&known, &["--text", "--format", "hex"]), &["documents are ndjson"]);
    // Made by another version of the program, or by another program.
    for (hasher, part) in [("simhash/native/0,width=64", "another version"), ("pdq", "describes no simhash")] {
        let place = Place::new();
        let store = place.store_with(&[(1, 1)], &["--hasher", hasher]);
        fails(&mut ask(&store, &["--text"]), &[part]);
    }
}

#[test]
fn options_of_documents_go_with_documents() {
    let place = Place::new();
    let store = store(&place, &[]);
    for options in
        [&["--rejects", "r.tsv"][..], &["--on-error", "skip"], &["--min-features", "3"], &["--preset", "native"]]
    {
        fails(fpquery().args(options).arg(&store).arg("0000000000000001"), &["go with --text"]);
        fails(fpquery().args(options).args(["--corpus", "-", "0000000000000001"]), &["go with --text"]);
    }
}
