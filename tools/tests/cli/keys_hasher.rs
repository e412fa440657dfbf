//! The hasher of keys, as it travels in JSON.

use crate::hash_vectors::{ndjson, objects};
use crate::support::*;

/// `fphash bands --json` says in each object what made the keys.
#[test]
fn hashers_of_bands_in_json() {
    let place = Place::new();
    let documents = place.file("documents.ndjson", {
        let all = objects("tests/data/rust-book-documents.ndjson.gz");
        ndjson(all.iter().take(20).map(|document| (document["n"].clone(), document["text"].clone())))
    });
    let options = ["bands", "--bands", "14", "--rows", "8"];
    let text = stdout(fphash().args(options).arg(&documents));
    let identity = text.lines().next().unwrap().strip_prefix("#fpstore hasher=").unwrap();
    let json = stdout(fphash().args(options).arg("--json").arg(&documents));
    assert!(json_lines(&json).iter().all(|line| line["bands"].is_array() && line["hasher"] == identity));
    let create = |store: &std::path::Path, input: &str, options: &[&str]| {
        let mut load = fpload();
        load.args(["--quiet", "--create", "--kind", "keys"]).args(options).arg(store).arg("-");
        load.write_stdin(input.to_owned()).assert()
    };
    let store = place.path("store");
    create(&store, &json, &[]).success();
    let asked = stdout(fpquery().args(["--text", "--not-self", "--input"]).arg(&documents).arg(&store));
    let same = stdout(fpquery().args(["--not-self", "--input"]).arg(place.file("b.ndjson", &json)).arg(&store));
    assert_eq!(asked, same);
    assert_eq!(json_object(&stdout(fpdump().args(["info", "--json"]).arg(&store)))["hasher"], identity);
    // As an array, laid out in another way, and added to the store again.
    let array = format!("[{}]", json.trim_end().replace('\n', ",\n ").replace("\"bands\":", "\n\"bands\": "));
    let mut again = fpload();
    again.args(["--json"]).arg(&store).arg("-").write_stdin(array);
    let summary = again.assert().success().get_output().stdout.clone();
    assert_eq!(json_object(&String::from_utf8(summary).unwrap())["added"], 0);
    // Objects that name another hasher, or none, do not pass.
    let other = json.replacen("seed=1", "seed=2", 1);
    let silent = json.replacen(&format!(",\"hasher\":\"{identity}\""), "", 1);
    let lines: Vec<&str> = silent.lines().collect();
    let last: String = [&lines[1..], &lines[..1]].concat().iter().map(|line| format!("{line}\n")).collect();
    for (input, message) in [
        (&other, "line 2: the keys were made by"),
        (&silent, "line 2: the keys were made by"),
        (&last, "does not name its hasher"),
    ] {
        let output = create(&place.path("refused"), input, &[]).code(2).get_output().stderr.clone();
        let output = String::from_utf8(output).unwrap();
        assert!(output.contains(message), "{output}");
    }
    // Queries of another hasher neither.
    fails(
        fpquery().arg("--input").arg(place.file("o.ndjson", json.replace("seed=1", "seed=2"))).arg(&store),
        &["seed=2"],
    );
}
