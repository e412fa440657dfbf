//! `fphash`: the output names the hasher, and the same name means the same value, however the documents are read.

use crate::support::{Place, fails, fphash, fpload, json_object, stdout, without_trailer};

/// Returns the hasher in the first line, and the lines after it.
fn hashed(arguments: &[&str], input: &str) -> (String, Vec<String>) {
    let text = stdout(fphash().args(arguments).arg("-").write_stdin(input));
    let (header, lines) = without_trailer(&text).split_once('\n').unwrap();
    let hasher = header.split_once("hasher=").unwrap().1.trim_end_matches(" end=1").to_owned();
    (hasher, lines.lines().map(str::to_owned).collect())
}

/// A text and its tokens are split differently, so their hashers have different names. Options that do not apply to
/// tokens change neither value nor name.
#[test]
fn ready_made_tokens_have_a_name_of_their_own() {
    let tokens = "{\"id\":1,\"text\":\"a b c\",\"tokens\":[\"a\",\"b\",\"c\"]}\n";
    for command in ["simhash", "minhash", "bands"] {
        let text = hashed(&[command], tokens);
        let given = hashed(&[command, "--tokens-column", "tokens"], tokens);
        assert!(text.0 != given.0 && text.1 != given.1, "{command}: {text:?}");
        assert!(given.0.contains("features=given"), "{}", given.0);
        let idle = [command, "--tokens-column", "tokens", "--features", "words:3", "--normalise", "nfkc"];
        assert_eq!(hashed(&idle, tokens), given);
    }
    let place = Place::new();
    let (docs, store) = (place.file("docs.ndjson", tokens), place.path("store"));
    fpload().args(["--create", "--text"]).arg(&store).arg(&docs).assert().success();
    fails(fpload().args(["--text", "--tokens-column", "tokens"]).arg(&store).arg(&docs), &["must not be mixed"]);
}

#[test]
fn one_definition_has_one_name() {
    let text = "{\"id\":1,\"text\":\"a b c d e f\"}\n";
    let simhash = |features| hashed(&["simhash", "--features", features], text);
    assert_eq!(simhash("tokens"), simhash("words:1"));
    let lucene = |rotation| {
        hashed(&["minhash", "--preset", "lucene", "--hash-set-size", "2", "--with-rotation", rotation], text)
    };
    assert_eq!(lucene("true"), lucene("false"));
}

/// The Java code of bkdr joins the lines of a file; fphash does so for documents that are files.
#[test]
fn bkdr_reads_files_as_its_own_code_does() {
    let place = Place::new();
    let broken = place.file("broken.txt", "alpha/n beta/v \r\ngamma/n delta/v\n");
    let joined = place.file("joined.txt", "alpha/n beta/v gamma/n delta/v");
    let mut run = fphash();
    run.args(["simhash", "--preset", "bkdr", "--width", "32", "--json"]).args([&broken, &joined]);
    let lines: Vec<_> = stdout(&mut run).lines().map(|line| json_object(line)["fingerprint"].clone()).collect();
    assert_eq!(lines[0], lines[1]);
    let mut compare = fphash();
    compare.args(["compare", "--preset", "bkdr", "--width", "32", "--json"]).args([&broken, &joined]);
    assert_eq!(json_object(&stdout(&mut compare))["a"], lines[0]);
}

#[test]
fn weights_are_those_of_the_features_of_a_preset() {
    let input = "{\"text\":\"A-b Cd\"}\n{\"text\":\"ab cd\"}\n";
    let weights = |options: &[&str]| {
        let mut run = fphash();
        stdout(run.arg("weights").args(options).args(["--min-documents", "1", "-"]).write_stdin(input))
    };
    // 1e0ng uses four letters in a row of the lower-case text. Both documents have the same single feature.
    let e0ng = weights(&["--preset", "1e0ng"]);
    assert!(e0ng.starts_with("#default\t2.09") && e0ng.ends_with("\nabcd\t1\n"), "{e0ng}");
    let json = weights(&["--preset", "1e0ng", "--json"]);
    let lines: Vec<_> = json.lines().map(json_object).collect();
    assert_eq!((&lines[0]["feature"], &lines[1]["feature"]), (&serde_json::Value::Null, &"abcd".into()));
    assert_eq!((lines[1]["weight"].as_f64(), &lines[1]["schema_version"]), (Some(1.0), &1.into()));
    let mut refused = fphash();
    fails(refused.args(["weights", "--preset", "bkdr", "-"]).write_stdin(input), &["weights of bkdr are fixed"]);
    let place = Place::new();
    let words = place.file("words.txt", "the\n");
    let mut refused = fphash();
    refused.args(["simhash", "--weights", "count", "-", "--stop-words"]).arg(words);
    fails(refused.write_stdin(input), &["one of unicode:2 is longer", "--features tokens"]);
}

#[test]
fn bands_of_every_preset() {
    let input = "{\"id\":1,\"text\":\"a b c d e f\"}\n{\"id\":2,\"text\":\"\"}\n";
    for preset in ["native", "datasketch", "datasketch-legacy", "lucene"] {
        let mut run = fphash();
        run.args(["bands", "--preset", preset, "--bands", "8", "--rows", "16", "--json", "--min-features", "0", "-"]);
        run.write_stdin(input);
        let text = stdout(&mut run);
        let keys: Vec<usize> = text.lines().map(|line| json_object(line)["bands"].as_array().unwrap().len()).collect();
        // A document without features has none in common with any other.
        assert_eq!(keys, [8, 0], "{preset}");
    }
}
