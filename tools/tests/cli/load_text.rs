//! `fpload --text`: a store of documents.

use std::path::Path;

use crate::support::{Place, fails, fpdedup, fpdump, fphash, fpload, json_object, stdout};

const DOCUMENTS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/rust-book-documents.ndjson.gz");

fn scan(store: &Path) -> String {
    stdout(fpdump().arg("scan").arg(store))
}

/// One step and two steps give the same store with the same hasher, for all real documents and any memory.
#[test]
fn one_step_is_as_good_as_two() {
    let place = Place::new();
    let hashed = place.file("hashed.hex", stdout(fphash().args(["simhash", "--id-column", "path", DOCUMENTS])));
    for (name, options) in [("wide", &[][..]), ("narrow", &["--memory", "64MiB", "--threads", "3"])] {
        let (one, two) = (place.path(&format!("{name}-one")), place.path(&format!("{name}-two")));
        let mut text = fpload();
        text.args(["--create", "--text", "--json", "--id-column", "path"]).args(options).arg(&one).arg(DOCUMENTS);
        let report = json_object(&stdout(&mut text));
        assert_eq!((&report["records"], &report["ids"]), (&3000.into(), &"text".into()), "{report}");
        assert!(report["hasher"].as_str().unwrap().starts_with("simhash/native/2,width=64,"), "{report}");
        fpload().arg("--create").args(options).arg(&two).arg(&hashed).assert().success();
        assert_eq!(scan(&one), scan(&two));
    }
    let clusters = stdout(fpdedup().args(["clusters", "--min-size", "2"]).arg(place.path("wide-one")));
    assert!(clusters.lines().count() > 100 && clusters.contains("rust-lang/book:"), "{clusters}");
}

#[test]
fn files_and_directories() {
    let place = Place::new();
    std::fs::create_dir(place.path("docs")).unwrap();
    let text = "A text that is long enough to be told from another one.";
    let (a, b) = (place.file("docs/a.txt", text), place.file("docs/b.html", format!("<p>{text}</p>")));
    let other = place.file("other.md", "Something else altogether, about other things.");
    let store = place.path("store");
    let mut create = fpload();
    create.args(["--create", "--text", "--width", "128", "--normalise", "markup,lower"]).arg(&store);
    create.arg(place.path("docs")).arg(&other).assert().success();
    let scanned = scan(&store);
    let lines: Vec<Vec<&str>> = scanned.lines().skip(1).map(|line| line.split('\t').collect()).collect();
    let of = |path: &Path| lines.iter().find(|line| line[1] == path.to_str().unwrap()).unwrap()[0];
    assert_eq!((of(&a), of(&a).len()), (of(&b), 32));
    assert_ne!(of(&a), of(&other));
    // More documents of the same kind, and documents that are present already.
    let mut again = fpload();
    again.args(["--text", "--json", "--normalise", "markup,lower"]).arg(&store).arg(&a);
    assert_eq!(json_object(&stdout(&mut again))["already_present"], 1);
}

#[test]
fn what_is_refused() {
    let place = Place::new();
    let docs = place.file("docs.ndjson", "{\"id\":1,\"text\":\"one\"}\n{\"id\":2}\n");
    let good = place.file("good.ndjson", "{\"id\":1,\"text\":\"one\"}\n");
    let mixed = place.file("mixed.ndjson", "{\"id\":1,\"text\":\"one\"}\n{\"text\":\"two\"}\n");
    let store = place.path("store");
    let mut create = fpload();
    fails(create.args(["--create", "--text"]).arg(&store).arg(&docs), &["docs.ndjson: line 2: there is no \"text\""]);
    let mut create = fpload();
    fails(
        create.args(["--create", "--text"]).arg(&store).arg(&mixed),
        &["mixed.ndjson: line 2: this record has no id"],
    );
    let mut create = fpload();
    fails(create.args(["--create", "--text", "--width", "256"]).arg(&store).arg(&good), &["64 or 128 bits"]);
    let mut create = fpload();
    fails(create.args(["--create", "--preset", "1e0ng"]).arg(&store).arg(&good), &["go with --text"]);
    let mut create = fpload();
    fails(create.args(["--create", "--text", "--format", "hex"]).arg(&store).arg(&good), &["documents are ndjson"]);
    let mut create = fpload();
    let short = ["--create", "--text", "--preset", "bkdr", "--features", "tokens"];
    fails(create.args(short).arg(&store).arg(&good), &["features of bkdr are fixed"]);
    assert!(!store.exists());

    fpload().args(["--create", "--text"]).arg(&store).arg(&good).assert().success();
    let before = scan(&store);
    let mut other = fpload();
    fails(
        other.args(["--text", "--preset", "1e0ng"]).arg(&store).arg(&good),
        &["simhash/native/2", "must not be mixed"],
    );
    fails(fpload().arg(&store).arg("-").write_stdin("0000000000000001\t9\n"), &["the hasher of these is not known"]);
    assert_eq!(scan(&store), before);
}
