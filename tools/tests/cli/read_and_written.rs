//! Inputs are never overwritten.

use std::fs;
use std::path::Path;

use crate::support::{Place, contents, fails, fpdedup, fpdump, fphash, fpload, fpquery};

const DOCS: &str = "{\"id\":1,\"text\":\"a text of some words\"}\n{\"id\":2,\"text\":\"another one of others\"}\n";

#[test]
fn no_output_takes_the_place_of_an_input() {
    let place = Place::new();
    let store = place.store(&[(1, 1), (2, 2)]);
    let (docs, hex) = (place.file("docs.ndjson", DOCS), place.file("in.tsv", "0000000000000001\t1\n"));
    let dotted = place.path("./docs.ndjson");
    let pattern = place.path("*.ndjson");
    let before = contents(store.parent().unwrap());
    let input = ["this is an input"];
    let output = |path: &Path| ["--output".into(), path.as_os_str().to_owned()];
    for command in ["simhash", "minhash", "bands"] {
        fails(fphash().arg(command).args(output(&docs)).arg(&docs), &input);
        fails(fphash().arg(command).args(output(&dotted)).arg(&pattern), &input);
        fails(fphash().arg(command).arg("--rejects").args([&docs, &docs]), &["--rejects", input[0]]);
    }
    fails(fphash().args(["weights", "--rejects"]).args([&docs, &docs]), &input);
    fails(fpload().args(["--create", "--text", "--rejects"]).args([&docs, &place.path("new"), &docs]), &input);
    fails(
        fpload().args(["--create", "--text", "--rejects"]).args([&place.path("new"), &place.path("new"), &docs]),
        &input,
    );
    fails(fpquery().args(output(&hex)).arg("--input").args([&hex, &store]), &input);
    fails(fpquery().args(["--text", "--only", "new"]).args(output(&docs)).args([&store, &docs]), &input);
    let manifest = store.join("MANIFEST");
    let one_of = ["this file is one of the input"];
    fails(fpdump().arg("scan").args(output(&manifest)).arg(&store), &one_of);
    fails(fpdedup().arg("pairs").args(output(&manifest)).arg(&store), &one_of);
    fails(fpdedup().arg("join").args(output(&hex)).args([&store, &hex]), &input);
    let directory = place.path("dir");
    fs::create_dir(&directory).unwrap();
    let below = place.file("dir/docs.ndjson", DOCS);
    fails(fphash().arg("simhash").args(output(&below)).arg(&directory), &one_of);
    let both = place.path("both.tsv");
    fails(
        fphash().arg("simhash").args(output(&both)).arg("--rejects").args([&both, &docs]),
        &["this is the file of --output, too"],
    );
    fs::remove_dir_all(&directory).unwrap();
    assert_eq!(contents(store.parent().unwrap()), before);
    // Other files are written, and labels replace previous labels.
    fphash().arg("simhash").args(output(&both)).arg(&docs).assert().success();
    let labels = place.path("labels.tsv");
    for previous in [&[][..], &["--previous".as_ref(), labels.as_os_str()]] {
        fpdedup().arg("clusters").args(previous).args(output(&labels)).arg(&store).assert().success();
    }
}

/// An existing output keeps its permissions, and a link to it stays a link.
#[cfg(unix)]
#[test]
fn outputs_that_are_there() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    let (old, link) = (place.file("old.tsv", "x"), place.path("link.tsv"));
    fs::set_permissions(&old, fs::Permissions::from_mode(0o600)).unwrap();
    symlink(&old, &link).unwrap();
    fpdump().args(["scan", "--output"]).args([&link, &store]).assert().success();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&old).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(fs::read_to_string(&old).unwrap().ends_with("0000000000000001\t1\n"));
    let none = place.path("none/x.tsv");
    let mut scan = fpdump();
    let message = scan.args(["scan", "--output"]).args([&none, &store]).assert().code(2);
    assert!(!String::from_utf8_lossy(&message.get_output().stderr).contains("/.x.tsv."));
}
