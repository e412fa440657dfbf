//! `--like STORE`: fingerprints made like those of a store, which is the default where documents go into it.

use crate::support::{Place, fails, fpdump, fphash, fpload, json_object, stdout};

const DOCS: &str =
    "{\"id\":1,\"text\":\"One text of several words, for all\"}\n{\"id\":2,\"text\":\"And another one, too\"}\n";

const OPTIONS: [&str; 6] = ["--width", "128", "--features", "words:2", "--normalise", "nfkc,lower"];

#[test]
fn parameters_are_not_repeated() {
    let place = Place::new();
    let (docs, store) = (place.file("docs.ndjson", DOCS), place.path("store"));
    fpload().args(["--create", "--text"]).args(OPTIONS).arg(&store).arg(&docs).assert().success();
    let expected = stdout(fphash().arg("simhash").args(OPTIONS).arg(&docs));
    assert_eq!(stdout(fphash().args(["simhash", "--like"]).arg(&store).arg(&docs)), expected);
    // Options that agree are accepted, others are not.
    let like = |options: &[&str]| {
        let mut like = fphash();
        like.args(["simhash", "--like"]).arg(&store).args(options).arg(&docs);
        like
    };
    assert_eq!(stdout(&mut like(&["--preset", "native", "--width", "128"])), expected);
    for (option, value) in [("--width", "64"), ("--features", "chars:4"), ("--preset", "1e0ng"), ("--weights", "count")]
    {
        fails(&mut like(&[option, value]), &["--like", "must not be mixed", "leave the options that differ out"]);
    }

    // Into the store itself without options, and into a new one like it.
    let again = json_object(&stdout(fpload().args(["--text", "--json"]).arg(&store).arg(&docs)));
    assert_eq!(again["already_present"], 2);
    fails(fpload().args(["--text", "--features", "chars:4"]).arg(&store).arg(&docs), &["must not be mixed"]);
    let new = place.path("new");
    fpload().args(["--create", "--text", "--like"]).arg(&store).arg(&new).arg(&docs).assert().success();
    assert_eq!(stdout(fpdump().arg("scan").arg(&new)), stdout(fpdump().arg("scan").arg(&store)));
}

#[test]
fn a_table_of_weights_is_named_again() {
    let place = Place::new();
    let (docs, words) = (place.file("docs.ndjson", DOCS), place.file("words.txt", "of\nfor\n"));
    let (store, words) = (place.path("store"), words.to_str().unwrap());
    let options = ["--features", "unicode:1", "--weights", "count", "--stop-words", words];
    fpload().args(["--create", "--text"]).args(options).arg(&store).arg(&docs).assert().success();
    let like = |options: &[&str]| {
        let mut like = fphash();
        like.args(["simhash", "--like"]).arg(&store).args(options).arg(&docs);
        like
    };
    fails(&mut like(&[]), &["--like", "--weights", "--stop-words"]);
    let expected = stdout(fphash().arg("simhash").args(options).arg(&docs));
    assert_eq!(stdout(&mut like(&["--weights", "count", "--stop-words", words])), expected);
    let mut again = fpload();
    again.args(["--text", "--json", "--stop-words", words]).arg(&store).arg(&docs);
    assert_eq!(json_object(&stdout(&mut again))["already_present"], 2);
}

#[test]
fn stores_that_are_like_nothing() {
    let place = Place::new();
    let docs = place.file("docs.ndjson", DOCS);
    let like = |store: &std::path::Path| {
        let mut like = fphash();
        like.args(["simhash", "--like"]).arg(store).arg(&docs);
        like
    };
    fails(&mut like(&place.path("none")), &["--like", "none"]);
    let unknown = place.store(&[(1, 1)]);
    fails(&mut like(&unknown), &["--like", "does not record", "name the preset"]);
    for (hasher, part) in [("pdq", "describes no simhash"), ("simhash/native/0,width=64", "another version")] {
        let place = Place::new();
        fails(&mut like(&place.store_with(&[(1, 1)], &["--hasher", hasher])), &["--like", part]);
    }
}
