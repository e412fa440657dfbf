//! `--hasher`, `--width` and the header line: accepted, recorded, and refused if they contradict the store.

use std::path::Path;

use crate::support::{Place, fails, fpdump, fpload, fpquery, json_object, stdout};
use crate::wide::fails_unchanged;

const RECORD: &str = "00000000000000ff\t1\n";

fn info(store: &Path) -> serde_json::Value {
    json_object(&stdout(fpdump().args(["info", "--json"]).arg(store)))
}

#[test]
fn a_header_is_honoured_at_creation() {
    let place = Place::new();
    let store = place.path("store");
    let text = format!("#fpstore width=128 hasher=native:3\n{:032x}\t7\n", 9);
    let report =
        fpload().args(["--create", "--json"]).arg(&store).arg("-").write_stdin(text.clone()).assert().success();
    let report = json_object(&String::from_utf8(report.get_output().stdout.clone()).unwrap());
    assert_eq!((&report["width"], &report["hasher"]), (&128.into(), &"native:3".into()));
    assert_eq!((&info(&store)["width"], &info(&store)["hasher"]), (&128.into(), &"native:3".into()));
    assert!(stdout(fpdump().arg("info").arg(&store)).contains("native:3"));
    // The output of scan says the same, and is loaded without options.
    assert_eq!(stdout(fpdump().arg("scan").arg(&store)), text);
    fpload().arg(&store).arg("-").write_stdin(text).assert().success();
}

#[test]
fn an_option_and_a_header_may_agree() {
    let place = Place::new();
    let store = place.path("store");
    let text = format!("#fpstore width=64 hasher=x\n{RECORD}");
    let mut load = fpload();
    load.args(["--create", "--width", "64", "--hasher", "x"]).arg(&store).arg("-").write_stdin(text);
    load.assert().success();
    assert_eq!(info(&store)["hasher"], "x");
    fpload().args(["--hasher", "x"]).arg(&store).arg("-").write_stdin(RECORD).assert().success();
}

#[test]
fn a_header_that_contradicts_the_options() {
    let place = Place::new();
    let new = place.path("new");
    let input = place.file("a.tsv", format!("#fpstore width=64 hasher=mine\n{RECORD}"));
    fails(fpload().args(["--create", "--hasher", "yours"]).arg(&new).arg(&input), &["a.tsv", "mine", "yours"]);
    fails(fpload().args(["--create", "--width", "128"]).arg(&new).arg(&input), &["a.tsv: line 1", "64-bit", "128-bit"]);
    let other = place.file("b.tsv", format!("#fpstore hasher=other\n{RECORD}"));
    fails(fpload().arg("--create").arg(&new).arg(&input).arg(&other), &["b.tsv", "mine", "other"]);
    assert!(!new.exists());
}

#[test]
fn a_hasher_that_is_not_the_stores() {
    let place = Place::new();
    let known = place.path("known");
    fpload().args(["--create", "--hasher", "simhash/1"]).arg(&known).arg("-").write_stdin(RECORD).assert().success();
    let unknown = place.path("unknown");
    fpload().arg("--create").arg(&unknown).arg("-").write_stdin(RECORD).assert().success();
    let other = format!("#fpstore width=64 hasher=simhash/2\n{RECORD}");
    for remove in [&[][..], &["--remove"]] {
        let load = |store: &Path, options: &[&str], text: &str| {
            let mut load = fpload();
            load.args(remove).args(options).arg(store).arg("-").write_stdin(text.to_owned());
            load
        };
        fails_unchanged(&known, &mut load(&known, &[], &other), &["simhash/1", "simhash/2", "must not be mixed"]);
        fails_unchanged(&known, &mut load(&known, &["--hasher", "b"], RECORD), &["simhash/1", "by b;"]);
        fails_unchanged(&known, &mut load(&known, &[], RECORD), &["simhash/1", "--hasher simhash/1"]);
        fails_unchanged(&unknown, &mut load(&unknown, &[], &other), &["simhash/2", "is not known"]);
        fails_unchanged(&unknown, &mut load(&unknown, &["--hasher", "b"], RECORD), &["made by b"]);
    }
    fails_unchanged(
        &known,
        fpload().arg("--dry-run").arg(&known).arg("-").write_stdin(other),
        &["simhash/1", "simhash/2"],
    );
}

/// Both orders, with a new and with an existing store.
#[test]
fn a_hasher_that_some_inputs_do_not_name() {
    let place = Place::new();
    let (new, store) = (place.path("new"), place.path("store"));
    let named = place.file("named.tsv", format!("#fpstore hasher=mine\n{RECORD}"));
    let silent = place.file("silent.tsv", "00000000000000ff\t2\n");
    fpload().args(["--create", "--hasher", "mine"]).arg(&store).arg(&silent).assert().success();
    for inputs in [[&named, &silent], [&silent, &named]] {
        fails(fpload().arg("--create").arg(&new).args(inputs), &["silent.tsv", "is not known", "--hasher mine"]);
        assert!(!new.exists());
        fails_unchanged(&store, fpload().arg(&store).args(inputs), &["silent.tsv", "is not known", "--hasher mine"]);
    }
    fpload().args(["--hasher", "mine"]).arg(&store).args([&named, &silent]).assert().success();
    let compact = ["--hasher", "yours", "--compact"];
    fails_unchanged(&store, fpload().args(compact).arg(&store), &["mine", "yours"]);
    let bad = ["--create", "--hasher", "a b"];
    fails(fpload().args(bad).arg(&new).arg(&silent), &["--hasher", "without white space"]);
    assert!(!new.exists());
}

#[test]
fn queries_of_another_hasher() {
    let place = Place::new();
    let (store, unknown) = (place.path("store"), place.path("unknown"));
    fpload().args(["--create", "--hasher", "mine"]).arg(&store).arg("-").write_stdin(RECORD).assert().success();
    fpload().arg("--create").arg(&unknown).arg("-").write_stdin(RECORD).assert().success();
    let corpus = place.file("corpus.tsv", format!("#fpstore width=64 hasher=mine\n{RECORD}"));
    for hasher in ["mine", "yours"] {
        let text = format!("#fpstore hasher={hasher}\n00000000000000ff\n");
        fpquery().arg(&unknown).write_stdin(text.clone()).assert().success();
        let (mut of_store, mut of_corpus) = (fpquery(), fpquery());
        for ask in [of_store.arg(&store), of_corpus.arg("--corpus").arg(&corpus)] {
            ask.write_stdin(text.clone());
            if hasher == "mine" {
                ask.assert().success();
            } else {
                fails(ask, &["made by yours", "by mine"]);
            }
        }
    }
}

/// `010` and `10` are two texts and one number: the header applies to every input.
#[test]
fn ids_that_are_not_the_stores() {
    let place = Place::new();
    let (numbers, new) = (place.path("numbers"), place.path("new"));
    let texts = place.file("texts.tsv", "#fpstore width=64 ids=text\n00000000000000ff\t010\n00000000000000ff\t10\n");
    let bare = place.file("bare.tsv", RECORD);
    fpload().arg("--create").arg(&numbers).arg(&bare).assert().success();
    for remove in [&[][..], &["--remove"]] {
        fails_unchanged(
            &numbers,
            fpload().args(remove).arg(&numbers).arg(&texts),
            &["texts.tsv: line 1", "text", "u64"],
        );
    }
    fails(fpload().args(["--create", "--ids", "u64"]).arg(&new).arg(&texts), &["texts.tsv: line 1", "text", "u64"]);
    fails(fpload().arg("--create").arg(&new).arg(&bare).arg(&texts), &["texts.tsv: line 1", "text", "u64"]);
    assert!(!new.exists());
    fpload().arg("--create").arg(&new).arg(&texts).arg(&bare).assert().success();
    assert_eq!((&info(&new)["ids"], &info(&new)["records"]), (&"text".into(), &3.into()));
    fpload().args(["--plan", "list"]).arg(&texts).assert().success();
}

#[test]
fn a_width_that_is_not_the_stores() {
    let place = Place::new();
    let store = place.path("store");
    fpload().arg("--create").arg(&store).arg("-").write_stdin(RECORD).assert().success();
    let wide = place.file("wide.tsv", format!("#fpstore width=128\n{:032x}\t1\n", 5));
    fails_unchanged(&store, fpload().arg(&store).arg(&wide), &["wide.tsv: line 1", "128-bit", "64-bit"]);
    let good = place.file("good.tsv", "0000000000000001\t5\n");
    fails_unchanged(&store, fpload().arg(&store).arg(&good).arg(&wide), &["wide.tsv: line 1", "128-bit", "64-bit"]);
    let bare = place.file("bare.tsv", format!("{:032x}\t1\n", 5));
    fails_unchanged(
        &store,
        fpload().arg(&store).arg(&bare),
        &["bare.tsv: line 1", "16 hexadecimal digits", "found 32"],
    );
    fails_unchanged(&store, fpload().args(["--width", "128"]).arg(&store).arg(&wide), &["--width 128", "64"]);
}

#[test]
fn a_header_that_is_wrong() {
    let place = Place::new();
    let new = place.path("new");
    for (header, part) in [
        ("#fpstore width=96", "96-bit"),
        ("#fpstore width=wide", "not a number"),
        ("#fpstore width=64 hasher=", "not a name"),
        ("#fpstore hasher=a\u{a0}b", "not a name"),
    ] {
        let input = place.file("a.tsv", format!("{header}\n{RECORD}"));
        fails(fpload().arg("--create").arg(&new).arg(&input), &["a.tsv: line 1", part]);
        assert!(!new.exists());
    }
    // Anywhere but in the first line, it is a comment.
    let text = format!("{RECORD}#fpstore width=256 hasher=z\n");
    fpload().arg("--create").arg(&new).arg("-").write_stdin(text).assert().success();
    assert_eq!(info(&new)["hasher"], serde_json::Value::Null);
}
