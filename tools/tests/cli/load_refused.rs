//! Wrong use of `fpload`: exit code 2, a message with a remedy, and nothing changed.

use crate::support::{Place, contents, fails, families, fpload, hex_lines, lines};

#[test]
fn creation_over_something() {
    let place = Place::new();
    let store = place.store(&families(10, 1));
    let before = contents(&store);
    fails(
        fpload().arg("--create").arg(&store).arg("-").write_stdin("0000000000000001\t1\n"),
        &["there is a store already"],
    );
    fails(fpload().arg("--create").arg(&store), &["there is a store already"]);
    assert_eq!(contents(&store), before);
    let file = place.file("file", "content");
    fails(fpload().arg("--create").arg(&file), &["there is a file"]);
    assert_eq!(std::fs::read(&file).unwrap(), b"content");
    // A directory of other files is refused before any input is read, by a dry run too.
    let directory = file.parent().unwrap();
    for options in [&["--create"][..], &["--create", "--dry-run"]] {
        fails(fpload().args(options).arg(directory).arg(place.path("no-input.tsv")), &["no store and not empty"]);
    }
}

#[test]
fn a_store_that_is_not_there() {
    let place = Place::new();
    fails(fpload().arg(place.path("none")).arg("-").write_stdin(""), &["there is no store", "--create"]);
    fails(fpload().arg("--dry-run").arg(place.path("none")).arg("-").write_stdin(""), &["there is no store"]);
    assert!(!place.path("none").exists());
    std::fs::create_dir(place.path("dir")).unwrap();
    fails(fpload().arg(place.path("dir")).arg("-").write_stdin(""), &["dir"]);
    assert!(contents(&place.path("dir")).is_empty());
}

#[test]
fn inputs_that_are_not_there() {
    let place = Place::new();
    let store = place.store(&families(10, 1));
    let before = contents(&store);
    let good = place.file("good.tsv", lines(&families(10, 2)));
    fails(fpload().arg(&store), &["no INPUT"]);
    fails(fpload().arg(&store).arg(&good).arg(place.path("none.tsv")), &["none.tsv", "No such file"]);
    std::fs::create_dir(place.path("empty")).unwrap();
    fails(fpload().arg(&store).arg(&good).arg(place.path("empty")), &["empty: the directory holds no files"]);
    fails(fpload().arg(&store).args(["-", "-"]), &["only once"]);
    fails(&mut fpload(), &["which STORE?"]);
    assert_eq!(contents(&store), before);
}

#[test]
fn ids_of_both_kinds() {
    let place = Place::new();
    let with = place.file("with.tsv", lines(&families(10, 1)));
    let without = place.file("without.tsv", hex_lines([1, 2, 3]));
    let new = place.path("new");
    fails(fpload().arg("--create").arg(&new).arg(&with).arg(&without), &["without.tsv: line 1", "no id"]);
    fails(fpload().arg("--create").arg(&new).arg(&without).arg(&with), &["with.tsv: line 1", "has an id"]);
    assert!(!new.exists());

    // A store has either its own numbers or the user's.
    let own = place.path("own");
    fpload().arg("--create").arg(&own).arg(&without).assert().success();
    let before = contents(&own);
    fails(fpload().arg(&own).arg(&with), &["fpload: "]);
    assert_eq!(contents(&own), before);
    let users = place.path("users");
    fpload().arg("--create").arg(&users).arg(&with).assert().success();
    let before = contents(&users);
    fails(fpload().arg(&users).arg(&without), &["fpload: "]);
    assert_eq!(contents(&users), before);
}

#[test]
fn options_that_cannot_be() {
    let place = Place::new();
    let new = place.path("new");
    for (options, part) in [
        (["--width", "63"], "expected 64"),
        (["--width", "512"], "expected 64, 128 or 256"),
        (["--ids", "uuid"], "--ids"),
        (["--max-distance", "65"], "65"),
        (["--max-distance", "-1"], "-1"),
        (["--plan", "tables-0"], "tables-0"),
        (["--plan", "tables-65"], "tables-65"),
        (["--plan", "fast"], "fast"),
        (["--plan", "auto:speed"], "auto:speed"),
        (["--codec", "zip"], "zip"),
        (["--block-size", "1000"], "power of two"),
        (["--block-size", "64"], "power of two"),
        (["--block-size", "3KB"], "KiB"),
        (["--block-size", "4KBit"], "1.5GiB"),
        (["--block-size", "8GiB"], "too large"),
        (["--threads", "0"], "--threads"),
        (["--memory", "1MiB"], "64MiB is the least"),
        (["--memory", "67108863"], "64MiB is the least"),
        (["--hasher", "two words"], "without white space"),
        (["--hasher", ""], "hasher"),
        (["--records", "10"], "--plan list"),
    ] {
        fails(fpload().arg("--create").args(options).arg(&new).arg("-").write_stdin(""), &[part]);
        assert!(!new.exists(), "{options:?}");
    }
    fails(fpload().arg("--no-such-option"), &["--no-such-option"]);
}

#[test]
fn options_that_contradict_the_store() {
    let place = Place::new();
    let options = ["--plan", "tables-4", "--max-distance", "5", "--codec", "xor", "--block-size", "256"];
    let store = place.store_with(&families(10, 1), &options);
    let before = contents(&store);
    for (option, value) in [
        ("--plan", "tables-2"),
        ("--max-distance", "3"),
        ("--codec", "adaptive"),
        ("--block-size", "512"),
        ("--width", "128"),
        ("--ids", "text"),
        ("--ids", "none"),
    ] {
        let mut load = fpload();
        load.args([option, value]).arg(&store).arg("-").write_stdin("0000000000000001\t1\n");
        fails(&mut load, &[option, value, "contradicts the store"]);
    }
    assert_eq!(contents(&store), before);
    // The command that created it may be repeated.
    fpload().args(options).arg(&store).arg("-").write_stdin("0000000000000001\t1\n").assert().success();
}

#[test]
fn a_store_that_somebody_else_is_writing_to() {
    let place = Place::new();
    let store = place.store(&families(10, 1));
    let writer = fpstore::Store::<u64>::open(&store, &fpstore::Options::new()).unwrap();
    let before = contents(&store);
    fails(fpload().arg(&store).arg("-").write_stdin("0000000000000001\t1\n"), &["open for writing"]);
    assert_eq!(contents(&store), before);
    // Reading and checking need no lock.
    fpload().arg("--dry-run").arg(&store).arg("-").write_stdin("0000000000000001\t1\n").assert().success();
    drop(writer);
    fpload().arg(&store).arg("-").write_stdin("0000000000000001\t1\n").assert().success();
}
