//! `--memory` and `--tmp-dir`: a load that does not fit is sorted in files that nobody sees afterwards.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use crate::support::{Place, Random, contents, fails, fpdump, fpload, stdout};
use crate::wide::fails_unchanged;

/// More than 64 MiB hold.
const RECORDS: u64 = 3_000_000;

fn big() -> String {
    let mut random = Random::new(1);
    (0..RECORDS).fold(String::with_capacity(80 << 20), |mut text, n| {
        let value = if n % 5 == 0 { n } else { random.next() };
        writeln!(text, "{value:016x}\t{n}").unwrap();
        text
    })
}

fn sound(store: &Path) {
    fpdump().arg("verify").arg(store).assert().success();
}

#[test]
fn a_load_that_spills_makes_the_same_store() {
    let place = Place::new();
    let input = place.file("big.tsv", big());
    let (roomy, tight, temporary) = (place.path("roomy"), place.path("tight"), place.path("temporary"));
    fs::create_dir(&temporary).unwrap();
    fpload().args(["--create", "--memory", "1GiB"]).arg(&roomy).arg(&input).assert().success();
    let mut load = fpload();
    load.args(["--create", "--memory", "64MiB", "--tmp-dir"]).arg(&temporary).arg(&tight).arg(&input);
    load.assert().success();
    assert!(contents(&temporary).is_empty());
    sound(&tight);
    assert!(stdout(fpdump().arg("scan").arg(&roomy)) == stdout(fpdump().arg("scan").arg(&tight)));

    // Once more: all are there already. Then none are.
    let mut load = fpload();
    load.args(["--memory", "64MiB", "--tmp-dir"]).arg(&temporary).arg(&tight).arg(&input);
    let assert = load.assert().success();
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(message.contains("3,000,000 already present"), "{message}");
    let mut load = fpload();
    load.args(["--remove", "--memory", "64MiB", "--tmp-dir"]).arg(&temporary).arg(&tight).arg(&input);
    load.assert().success();
    assert_eq!(stdout(fpdump().arg("scan").arg(&tight)), "");
    sound(&tight);
    assert!(contents(&temporary).is_empty());

    // A directory that is not there is found when it is needed, if not before; the store does not change.
    let none = place.path("no-such-directory");
    let mut load = fpload();
    load.args(["--memory", "64MiB", "--tmp-dir"]).arg(&none).arg(&roomy).arg(&input);
    fails_unchanged(&roomy, &mut load, &["no-such-directory", "No such file"]);
}

#[test]
fn sizes_that_are_too_small() {
    let place = Place::new();
    let new = place.path("new");
    for size in ["1MiB", "0", "63MiB", "67108863"] {
        let load = ["--create", "--memory", size];
        fails(fpload().args(load).arg(&new).arg("-").write_stdin(""), &["--memory", "64MiB is the least"]);
    }
    for size in ["", "-1", "64MB", "much"] {
        fails(fpload().args(["--create", &format!("--memory={size}")]).arg(&new).arg("-"), &["--memory"]);
    }
    assert!(!new.exists());
    fpload().args(["--create", "--memory", "67108864"]).arg(&new).arg("-").write_stdin("").assert().success();
}

/// Also where the load fits, and would never need it: a typing error shows at once and not with the first large load.
#[test]
fn a_directory_for_temporary_files_that_is_not_there() {
    let place = Place::new();
    let (new, none) = (place.path("new"), place.path("no-such-directory"));
    let load = |none: &Path| {
        let mut load = fpload();
        load.args(["--create", "--tmp-dir"]).arg(none).arg(&new).arg("-").write_stdin("00000000000000ff\t1\n");
        load
    };
    fails(&mut load(&none), &["no-such-directory", "No such file"]);
    fails(&mut load(&place.file("file", "")), &["file", "Not a directory"]);
    assert!(!new.exists());
}
