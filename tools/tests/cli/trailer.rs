//! The output of `fphash` ends with a line that tells the number of records. If that line is missing, the writer has
//! failed: nothing is loaded, and no answer is taken for complete.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use crate::support::{
    Place, fails, fpdedup, fpdump, fphash, fpload, fpquery, json_object, stdout, store_files, without_trailer,
};

const GOOD: &str =
    "{\"id\":1,\"text\":\"the first of the two texts\"}\n{\"id\":2,\"text\":\"and this is the second text\"}\n";

#[test]
fn documents_that_break_off_load_nothing() {
    let place = Place::new();
    let store = place.path("store");
    let whole = stdout(fphash().args(["simhash", "-"]).write_stdin(GOOD));
    assert!(whole.lines().next().unwrap().ends_with(" end=1"));
    assert_eq!(without_trailer(&whole).lines().count(), 3);
    let broken = fphash().args(["simhash", "-"]).write_stdin(format!("{GOOD}{{\"id\":3}}\n")).assert().code(2);
    let broken = broken.get_output().stdout.clone();
    assert!(!broken.is_empty() && !String::from_utf8_lossy(&broken).contains("#end"));
    let message =
        ["fpload: standard input: line 4: the writer did not finish", "#end records=N", "after 2 of its records"];
    fails(fpload().arg("--create").arg(&store).arg("-").write_stdin(broken.clone()), &message);
    assert!(!store.exists());
    fpload().arg("--create").arg(&store).arg("-").write_stdin(whole.clone()).assert().success();
    let before = store_files(&store);
    for bad in [broken.clone(), whole.replace("records=2", "records=3").into_bytes()] {
        let parts = ["standard input: line 4: the writer "];
        fails(fpload().arg(&store).arg("-").write_stdin(bad.clone()), &parts);
        fails(fpload().arg("--remove").arg(&store).arg("-").write_stdin(bad.clone()), &parts);
        fails(fpdedup().arg("join").arg(&store).arg("-").write_stdin(bad.clone()), &parts);
        fails(fphash().args(["health", "-"]).write_stdin(bad), &parts);
    }
    assert_eq!(store_files(&store), before);
    // Two outputs in one stream; the output of scan has no such lines and is read as before.
    fpload().arg(&store).arg("-").write_stdin(format!("{whole}{whole}")).assert().success();
    let scanned = stdout(fpdump().arg("scan").arg(&store));
    assert!(!scanned.contains("end"));
    let copy = place.path("copy");
    fpload().arg("--create").arg(&copy).arg("-").write_stdin(scanned).assert().success();
}

/// Answers are written as queries arrive, whatever the end.
#[test]
fn queries_are_answered_before_their_writer_fails() {
    let place = Place::new();
    let store = place.store(&[(1, 10), (2, 20)]);
    let mut child = Command::new(env!("CARGO_BIN_EXE_fpquery"))
        .args(["-k", "0"])
        .arg(&store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut asked = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap()).lines();
    writeln!(asked, "#fpstore width=64 end=1").unwrap();
    for (query, id) in [(2, 20), (1, 10)] {
        writeln!(asked, "{query:016x}").unwrap();
        assert_eq!(answers.next().unwrap().unwrap(), format!("{query:016x}\t{query:016x}\t0\t{id}"));
    }
    drop(asked);
    assert!(answers.next().is_none());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("standard input: line 4: the writer did not finish"), "{message}");
    let whole = "#fpstore width=64 end=1\n0000000000000001\n#end records=1\n";
    fpquery().arg(&store).write_stdin(whole).assert().success();
}

#[test]
fn every_kind_of_output_tells_its_number() {
    let place = Place::new();
    let input = place.file("a.ndjson", GOOD);
    for (options, records) in [
        (&["minhash"][..], 2),
        (&["minhash", "--preset", "lucene"], 2),
        (&["bands", "--bands", "4", "--rows", "2"], 8),
        (&["simhash", "--width", "128"], 2),
    ] {
        let text = stdout(fphash().args(options).arg(&input));
        assert_eq!(without_trailer(&text).lines().count(), records + 1, "{options:?}");
        assert!(!stdout(fphash().args(options).arg("--json").arg(&input)).contains("#"), "{options:?}");
    }
    let empty = place.file("empty.ndjson", "");
    let text = stdout(fphash().arg("simhash").arg(empty));
    assert_eq!(without_trailer(&text).lines().count(), 1);
}

/// Sorting moves the header and the trailer; the result must not be accepted as the original.
#[test]
fn sorted_output_is_refused() {
    let place = Place::new();
    let store = place.path("store");
    let whole = stdout(fphash().args(["simhash", "-"]).write_stdin(GOOD));
    let mut lines: Vec<&str> = whole.lines().collect();
    lines.sort_unstable();
    let sorted = lines.join("\n");
    fails(fpload().arg("--create").arg(&store).arg("-").write_stdin(sorted), &["line 2", "were the lines sorted"]);
    assert!(!store.exists());
    lines.rotate_left(1);
    let restored = format!("{}\n{}\n{}\n", lines[0], lines[1..3].join("\n"), lines[3]);
    let report = fpload().args(["--create", "--json"]).arg(&store).arg("-").write_stdin(restored).assert().success();
    let report = json_object(&String::from_utf8(report.get_output().stdout.clone()).unwrap());
    assert_eq!(report["records"], 2);
}

/// Only lines have a trailer.
#[test]
fn other_formats_announce_nothing() {
    let place = Place::new();
    for (name, rows) in [("a.csv", "fingerprint,id\n0000000000000001,1\n"), ("a.ndjson", "{\"fingerprint\":1}\n")] {
        let input = place.file(name, format!("#fpstore end=1\n{rows}"));
        fails(fpload().arg("--create").args([&place.path("store"), &input]), &[name, "line 1", "end=1 announces"]);
    }
}

/// New documents reach a load completely, or not at all.
#[test]
fn new_documents_that_break_off_load_nothing() {
    let place = Place::new();
    let store = place.path("store");
    let first = place.file("first.ndjson", GOOD);
    fpload().args(["--create", "--text"]).args([&store, &first]).assert().success();
    let before = store_files(&store);
    let broken = "{\"id\":3,\"text\":\"something that nothing else is like\"}\n{\"id\":4,\"text\":null}\n";
    let run = fpquery().args(["--text", "--only", "new"]).arg(&store).write_stdin(broken).assert().code(2);
    let out = run.get_output().stdout.clone();
    assert_eq!(String::from_utf8_lossy(&out).lines().count(), 2, "a header and a query");
    fails(fpload().arg(&store).arg("-").write_stdin(out), &["the writer did not finish"]);
    assert_eq!(store_files(&store), before);
}
