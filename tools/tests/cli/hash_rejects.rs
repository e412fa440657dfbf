//! `--on-error` and `--rejects`: a document that cannot be read ends the run, or is left out and listed.

use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

use crate::points::every;
use crate::support::{Place, fails, fpdump, fphash, fpload, json_object, stdout, without_trailer};

/// Bad lines: line number and error.
const BAD: [(&str, &str); 10] = [
    ("{\"id\":2,\"text\":null}", "the text is null"),
    ("{\"id\":3}", "there is no \"text\""),
    ("{\"id\":4,\"text\":\"a \\ud800 b\"}", "a lone surrogate \\ud800 (column 19)"),
    ("{\"id\":5,\"text\":", "EOF while parsing"),
    ("{\"id\":\"a\\tb\",\"text\":\"words of a text\"}", "may not have: '\\t'"),
    ("{\"id\":-7,\"text\":\"words of a text\"}", "integer `-7`, expected an unsigned 64-bit number or a string"),
    ("{\"id\":8,\"text\":7}", "expected a text, which is a string"),
    ("[1,2]", "expected a JSON object"),
    ("not JSON", "(column 2)"),
    ("{\"id\":11,\"text\":\"a\",\"text\":\"b\"}", "occurs twice"),
];

/// Creates a file of the bad lines, with a good line before each and one at the end.
fn mixed(place: &Place) -> PathBuf {
    let mut text = String::new();
    for (number, (bad, _)) in BAD.iter().enumerate() {
        text += &format!("{{\"id\":{},\"text\":\"good text number {number}\"}}\n{bad}\n", 100 + number);
    }
    place.file("mixed.ndjson", text + "{\"id\":999,\"text\":\"the last good text\"}\n")
}

fn stderr(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stderr.clone()).unwrap()
}

/// Returns the lines of a file of rejects: input, place, reason.
fn rejects(path: &Path) -> Vec<[String; 3]> {
    let text = fs::read_to_string(path).unwrap();
    let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<_>>().try_into().unwrap();
    text.lines().map(cells).collect()
}

#[test]
fn bad_documents_are_left_out_and_listed() {
    let place = Place::new();
    let input = mixed(&place);
    let list = place.path("rejects.tsv");
    for command in ["simhash", "minhash", "bands"] {
        for threads in ["1", "7"] {
            let _ = fs::remove_file(&list);
            let mut run = fphash();
            run.args([command, "--on-error", "skip", "--threads", threads, "--rejects"]).args([&list, &input]);
            let output = run.assert().success().get_output().clone();
            let out = String::from_utf8(output.stdout).unwrap();
            let ids: Vec<&str> =
                without_trailer(&out).lines().skip(1).map(|line| line.rsplit('\t').next().unwrap()).collect();
            let mut good: Vec<String> = (100..110).map(|id| id.to_string()).collect();
            good.push("999".to_owned());
            let mut found = ids.clone();
            found.dedup();
            assert_eq!(found, good, "{command}");
            let listed = rejects(&list);
            assert_eq!(listed.len(), BAD.len(), "{command}");
            for (number, ([name, line, reason], (_, expected))) in listed.iter().zip(BAD).enumerate() {
                assert_eq!((name.as_str(), line), (input.to_str().unwrap(), &(2 * number + 2).to_string()));
                assert!(reason.contains(expected), "{reason}");
            }
            let message = String::from_utf8(output.stderr).unwrap();
            let expected = "fphash: warning: left out 10 of 21 documents: 1 null text, 1 no text, 1 lone surrogate, \
                            6 malformed, 1 unusable id; see ";
            assert!(message.starts_with(expected) && message.ends_with("rejects.tsv\n"), "{message}");
        }
    }
    // Without a file, the first ones are named; with --quiet, none is.
    let mut run = fphash();
    let message = stderr(run.args(["simhash", "--on-error", "skip"]).arg(&input));
    assert!(
        message.contains("; the first: ") && message.contains("mixed.ndjson: line 2: the text is null; "),
        "{message}"
    );
    assert!(
        message.contains("line 6: ") && !message.contains("line 8: ") && message.contains("--rejects FILE lists all")
    );
    assert_eq!(stderr(fphash().args(["simhash", "--quiet", "--on-error", "skip"]).arg(&input)), "");
    // Counting features for weights continues as well.
    let mut weights = fphash();
    weights.args(["weights", "--on-error", "skip", "--features", "unicode:1"]).arg(&input);
    let output = weights.assert().success().get_output().clone();
    assert!(String::from_utf8(output.stdout).unwrap().contains("good\t"));
    assert!(String::from_utf8(output.stderr).unwrap().contains("left out 10 of 21 documents"));
}

/// By default the first one ends the run, with a hint how to continue; the list of a failed run does not appear.
#[test]
fn the_first_bad_document_ends_the_run() {
    let place = Place::new();
    let (input, list) = (mixed(&place), place.path("rejects.tsv"));
    let mut run = fphash();
    let output = run.args(["simhash", "--rejects"]).args([&list, &input]).assert().code(2).get_output().clone();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(message.contains("mixed.ndjson: line 2: the text is null (--on-error skip leaves"), "{message}");
    assert!(String::from_utf8(output.stdout).unwrap().ends_with("\t100\n"));
    assert!(!list.exists() && fs::read_dir(place.path("")).unwrap().count() == 1);
    fails(fphash().args(["simhash", "--json", "--rejects", "-"]).arg(&input), &["--rejects", "standard output"]);
    fails(fphash().args(["simhash", "--json", "--on-error", "stop"]).arg(&input), &["--on-error", "skip"]);
}

#[test]
fn files_that_are_no_texts() {
    let place = Place::new();
    fs::create_dir(place.path("docs")).unwrap();
    place.file("docs/a.txt", "words of a text");
    place.file("docs/b.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR");
    place.file("docs/c.txt", b"caf\xe9");
    place.file("docs/d\te.txt", "a name with a TAB");
    place.file("docs/e.txt", vec![b'x'; (64 << 20) + 1]);
    place.file("docs/f.txt", "\u{feff}words of another text");
    let (docs, list) = (place.path("docs"), place.path("rejects.tsv.gz"));
    fails(
        fphash().args(["simhash", "--json", "--threads", "1"]).arg(place.path("docs/b.png")),
        &["b.png: is not text: byte 0x89 at offset 0; this looks like a PNG image", "--on-error skip"],
    );
    let out = stdout(fphash().args(["simhash", "--on-error", "skip", "--rejects"]).args([&list, &docs]));
    let names: Vec<&str> = without_trailer(&out).lines().skip(1).map(|line| line.rsplit('/').next().unwrap()).collect();
    assert_eq!(names, ["a.txt", "f.txt"]);
    let mut text = String::new();
    std::io::Read::read_to_string(&mut flate2::read::GzDecoder::new(fs::File::open(&list).unwrap()), &mut text)
        .unwrap();
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('\t').collect()).collect();
    for (line, (name, reason)) in lines.iter().zip([
        ("b.png", "is not text: byte 0x89"),
        ("c.txt", "not UTF-8 at byte offset 3"),
        ("d\\te.txt", "the path is the id, but the id"),
        ("e.txt", "the document is longer than 64 MiB"),
    ]) {
        assert!(line[0].ends_with(name) && line[1].is_empty() && line[2].contains(reason), "{line:?}");
    }
    assert_eq!(lines.len(), 4);
    // A file that cannot be read to its end is an error of the input, not of a document.
    place.file("docs/g.txt.gz", b"\x1f\x8b\x08\0");
    fails(
        fphash().args(["simhash", "--json", "--quiet", "--on-error", "skip"]).arg(place.path("docs/g.txt.gz")),
        &["g.txt.gz"],
    );
}

#[test]
fn rows_and_lines_that_are_too_long() {
    let place = Place::new();
    let list = place.path("rejects.tsv");
    let skip = ["simhash", "--on-error", "skip", "--rejects"];
    let csv =
        place.file("a.csv", "id,text\n1,one good row\n2\n3,a,b\na\tb,text of a bad id\n5,\"another\ngood row\"\n");
    let out = stdout(fphash().args(skip).args([&list, &csv]));
    assert!(without_trailer(&out).lines().skip(1).map(|line| line.split('\t').nth(1).unwrap()).eq(["1", "5"]), "{out}");
    let places: Vec<String> = rejects(&list).into_iter().map(|[_, line, _]| line).collect();
    assert_eq!(places, ["3", "4", "5"]);

    let long = "x".repeat((64 << 20) + 10);
    let line = place.file("long.ndjson", format!("{long}\n{{\"id\":1,\"text\":\"the next line\"}}\n"));
    let row = place.file("long.csv", format!("id,text\n0,{long}\n1,the next row\n"));
    let array = [
        format!("[{{\"text\":\"{long}\"}},\n{{\"id\":1,\"text\":\"the next one\"}}]"),
        format!("[{{\"id\":1,\"text\":\"the first one\"}},\n{{\"text\":\"{long}\"}}]"),
    ];
    let [first, second] = [0, 1].map(|n| place.file(&format!("long{n}.json"), &array[n]));
    for (input, place) in every(2, [(line, "1"), (row, "2"), (first, "1"), (second, "2")]) {
        let out = stdout(fphash().args(skip).args([&list, &input]));
        let out = without_trailer(&out);
        assert!(out.ends_with("\t1\n") && out.lines().count() == 2, "{out}");
        let [_, number, reason] = &rejects(&list)[0];
        assert!(number == place && reason.contains("longer than 64 MiB"), "{number} {reason}");
    }
}

#[test]
fn a_load_of_documents_leaves_them_out() {
    let place = Place::new();
    let (input, list, store) = (mixed(&place), place.path("rejects.tsv"), place.path("store"));
    let mut load = fpload();
    fails(
        load.args(["--create", "--text"]).args([&store, &input]),
        &["mixed.ndjson: line 2: the text is null", "--on-error skip"],
    );
    assert!(!store.exists());
    let mut load = fpload();
    load.args(["--create", "--text", "--json", "--on-error", "skip", "--rejects"]).args([&list, &store, &input]);
    let report = json_object(&stdout(&mut load));
    assert_eq!((&report["records"], &report["left_out"]), (&11.into(), &10.into()), "{report}");
    assert_eq!(report["left_out_reasons"]["null text"], 1, "{report}");
    assert_eq!(rejects(&list).len(), 10);
    assert_eq!(stdout(fpdump().arg("scan").arg(&store)).lines().skip(1).count(), 11);
    // Ids of another kind than the store's.
    let other = place.file(
        "other.ndjson",
        "{\"id\":\"/a\",\"text\":\"a text id\"}\n{\"id\":5,\"text\":\"a good id\"}\n{\"text\":\"none\"}\n",
    );
    let mut load = fpload();
    let message = stderr(load.args(["--text", "--on-error", "skip", "--rejects"]).args([&list, &store, &other]));
    assert!(message.contains("left out  2 of 3 documents: 2 unusable id"), "{message}");
    let reasons: Vec<String> = rejects(&list).into_iter().map(|[_, _, reason]| reason).collect();
    assert!(reasons[0].contains("'/a' is not a decimal number") && reasons[1].contains("has no id"), "{reasons:?}");
    let mut load = fpload();
    fails(load.args(["--on-error", "skip"]).arg(&store).arg("-").write_stdin(""), &["go with --text"]);
}

/// Nulls and ids in Parquet; a damaged file remains an error.
#[cfg(feature = "parquet")]
#[test]
fn records_of_parquet() {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use std::sync::Arc;
    let place = Place::new();
    let texts: ArrayRef =
        Arc::new(StringArray::from(vec![Some("one good text"), None, Some("a bad id"), Some("the last one")]));
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, -3, 4]));
    let batch = RecordBatch::try_from_iter_with_nullable([("id", ids, true), ("text", texts, true)]).unwrap();
    let mut writer = parquet::arrow::ArrowWriter::try_new(Vec::new(), batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    let bytes = writer.into_inner().unwrap();
    let (input, list) = (place.file("a.parquet", &bytes), place.path("rejects.tsv"));
    let out = stdout(fphash().args(["simhash", "--on-error", "skip", "--rejects"]).args([&list, &input]));
    assert!(without_trailer(&out).lines().skip(1).map(|line| line.split('\t').nth(1).unwrap()).eq(["1", "4"]), "{out}");
    let found: Vec<(String, String)> = rejects(&list).into_iter().map(|[_, number, reason]| (number, reason)).collect();
    assert_eq!(found, [("2".into(), "the text is null".into()), ("3".into(), "the id -3 is negative".into())]);
    let cut = place.file("cut.parquet", &bytes[..bytes.len() - 9]);
    fails(fphash().args(["simhash", "--json", "--on-error", "skip"]).arg(cut), &["cut.parquet"]);
}

/// Returns the error of a run that fails after some output.
fn failure(command: &mut Command) -> String {
    String::from_utf8(command.assert().code(2).get_output().stderr.clone()).unwrap()
}

/// A malformed quote affects its row, and if it swallows other rows, the run.
#[test]
fn quotes_in_the_middle_of_a_cell() {
    let place = Place::new();
    let (list, rest) = (place.path("rejects.tsv"), "3,a third text that is good\n");
    let skip = ["simhash", "--on-error", "skip", "--rejects"];
    let one = place.file("one.csv", format!("id,text\n1,good words of a text\n2,\"bar\" baz, \"qux\n{rest}"));
    let out = stdout(fphash().args(skip).args([&list, &one]));
    assert!(without_trailer(&out).lines().skip(1).map(|line| line.split('\t').nth(1).unwrap()).eq(["1", "3"]), "{out}");
    let [_, line, reason] = &rejects(&list)[0];
    assert!(line == "3" && reason.contains("closed on line 3, where ' ' follows"), "{line} {reason}");
    let two = place.file("two.csv", format!("id,text\n2,\"bar\n4,\"qux\"\n{rest}"));
    let failed = failure(fphash().args(skip).args([&list, &two]));
    assert!(failed.contains("line 2: the quote that opens a cell on this line is closed on line 3"), "{failed}");
}

/// A missing bracket must not hide the rest of the input.
#[test]
fn brackets_that_are_not_closed() {
    let place = Place::new();
    let skip = ["simhash", "--on-error", "skip"];
    let text = "{\"id\":1,\"text\":\"some good words\"\n{\"id\":2,\"text\":\"more good words\"}\n";
    let failed = failure(fphash().args(skip).arg(place.file("a.json", text)));
    assert!(failed.contains("line 1: the input ends inside the object that begins here"), "{failed}");
    let out = stdout(fphash().args(skip).arg(place.file("a.ndjson", text)));
    assert_eq!(without_trailer(&out).lines().count(), 2);
}
