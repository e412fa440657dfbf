//! `fpdedup documents`: what is refused, and what is left behind.

use std::fs;

use crate::support::{Place, fails, fpdedup};

#[test]
fn wrong_use() {
    let place = Place::new();
    let input = place.file("a.ndjson", "{\"id\":1,\"text\":\"a b c\"}\n{\"id\":2,\"text\":\"d e f\"}\n");
    let table = place.file("t.csv", "id,text\n1,a\n");
    let (out, docs) = (place.path("out.ndjson"), place.path("docs"));
    fs::create_dir(&docs).unwrap();
    fs::write(docs.join("a.txt"), "a").unwrap();
    let run = |options: &[&str]| {
        let mut run = fpdedup();
        run.current_dir(place.path(".")).arg("documents").args(options);
        run
    };
    for (options, parts) in [
        (&["a.ndjson"][..], &["--output"][..]),
        (&["-o", "out.ndjson"], &["INPUT"]),
        (&["a.ndjson", "-o", "out.csv"], &["--output out.csv: the output has the format", "is JSON", ".ndjson"]),
        (&["t.csv", "-o", "out.ndjson"], &["is a table", ".csv or .tsv"]),
        (&["a.ndjson", "t.csv", "-o", "out.ndjson"], &["t.csv is a table"]),
        (&["-", "-o", "out.ndjson"], &["standard input: documents are read more than once", "write it to a file"]),
        (&["a.ndjson", "-o", "a.ndjson"], &["--output a.ndjson: this is an input"]),
        (&["a.ndjson", "-o", "out.ndjson", "--evidence", "out.ndjson"], &["--evidence", "the file of --output"]),
        (&["a.ndjson", "-o", "out.ndjson", "--evidence", "x.xls"], &["--evidence x.xls", ".tsv"]),
        (&["docs", "-o", "docs/out.ndjson"], &["--output: it would be in the input directory docs"]),
        (&["docs", "-o", "out.ndjson", "--tmp-dir", "docs"], &["--tmp-dir: it would be in the input directory"]),
        (&["docs", "-o", "out.ndjson", "--evidence", "docs/gone.tsv"], &["--evidence: it would be in the input"]),
        (&["docs", "-o", "out.ndjson", "--rejects", "docs/bad.tsv"], &["--rejects: it would be in the input"]),
        (&["a.ndjson", "-o", "no/out.ndjson"], &["--output no", "No such file"]),
        (&["no.ndjson", "-o", "out.ndjson"], &["no.ndjson: No such file"]),
        (&["a.ndjson", "-o", "out.ndjson", "-k", "65"], &["--distance 65"]),
        (&["a.ndjson", "-o", "out.ndjson", "-k", "3", "--threshold", "0.8"], &["--threshold"]),
        (&["a.ndjson", "-o", "out.ndjson", "--verify", "0"], &["above 0"]),
        (&["a.ndjson", "-o", "out.ndjson", "--memory", "1MiB"], &["64"]),
        (&["a.ndjson", "-o", "out.ndjson", "--text-column", "body"], &["a.ndjson", "\"body\""]),
    ] {
        fails(&mut run(options), parts);
        assert!(!out.exists() && !place.path("out.ndjson.fpdedup").exists(), "{options:?}");
    }
    assert!(input.exists() && table.exists());
}

#[test]
fn bad_documents_end_the_run() {
    let place = Place::new();
    let mixed = place.file("mixed.ndjson", "{\"id\":1,\"text\":\"a b\"}\n{\"text\":\"c d\"}\n");
    let bad = place.file("bad.ndjson", "{\"text\":\"a b\"}\nno object\n");
    let out = place.path("out.ndjson");
    let run = |input: &std::path::Path, options: &[&str]| {
        let mut run = fpdedup();
        run.arg("documents").args(options).arg(input).arg("-o").arg(&out);
        run
    };
    fails(&mut run(&bad, &[]), &["bad.ndjson: line 2: ", "--on-error skip"]);
    fails(&mut run(&mixed, &[]), &["mixed.ndjson: line 2: some documents have ids and others have none"]);
    assert!(!out.exists() && !place.path("out.ndjson.fpdedup").exists());
    run(&bad, &["--on-error", "skip"]).assert().success();
    assert_eq!(fs::read_to_string(&out).unwrap(), "{\"text\":\"a b\"}\n");
}
