//! `--memory` and `--tmp-dir`: a load that does not fit is sorted in temporary files, none of which remains.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use crate::points::{every, is_long};
use crate::support::{Place, Random, contents, fails, fpdedup, fpdump, fpload, json_object, stdout};
use crate::wide::fails_unchanged;

/// So many records, one of `share` among others near it.
fn big(records: u64, share: u64) -> String {
    let mut random = Random::new(1);
    (0..records).fold(String::with_capacity(80 << 20), |mut text, n| {
        let value = if n % share == 0 { n } else { random.next() };
        writeln!(text, "{value:016x}\t{n}").unwrap();
        text
    })
}

/// Returns the most memory observed while a program ran, without mapped files. It is sampled often, so that hardly any
/// is missed. `None` if the system does not report it.
pub(crate) fn peak(command: &mut Command) -> u64 {
    let mut program = command.spawn().unwrap();
    let status = format!("/proc/{}/status", program.id());
    let kib = |line: &str| line.split_whitespace().nth(1).and_then(|number| number.parse::<u64>().ok());
    let own = |line: &&str| line.starts_with("RssAnon:") || line.starts_with("RssShmem:");
    let mut most = 0;
    while program.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        most = most.max(text.lines().filter(own).filter_map(kib).sum::<u64>() << 10);
        sleep(Duration::from_millis(1));
    }
    assert!(program.wait().unwrap().success());
    most
}

fn sound(store: &Path) {
    fpdump().arg("verify").arg(store).assert().success();
}

#[test]
fn a_load_that_spills_makes_the_same_store() {
    let place = Place::new();
    // More than 64 MiB hold: a load of so many that does not spill takes 83 MiB.
    let (records, all_present) =
        if is_long() { (3_000_000, "3,000,000 already present") } else { (1_500_000, "1,500,000 already present") };
    let input = place.file("big.tsv", big(records, 5));
    let (roomy, tight, temporary) = (place.path("roomy"), place.path("tight"), place.path("temporary"));
    fs::create_dir(&temporary).unwrap();
    fpload().args(["--create", "--memory", "1GiB"]).arg(&roomy).arg(&input).assert().success();
    let most = peak(
        Command::new(env!("CARGO_BIN_EXE_fpload"))
            .args(["--quiet", "--create", "--memory", "64MiB", "--tmp-dir"])
            .args([&temporary, &tight, &input]),
    );
    assert!(most <= 64 << 20, "{most} bytes of memory");
    assert!(contents(&temporary).is_empty());
    sound(&tight);
    assert!(stdout(fpdump().arg("scan").arg(&roomy)) == stdout(fpdump().arg("scan").arg(&tight)));

    // Once more: all are present. Then none is.
    let mut load = fpload();
    load.args(["--memory", "64MiB", "--tmp-dir"]).arg(&temporary).arg(&tight).arg(&input);
    let assert = load.assert().success();
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    assert!(message.contains(all_present), "{message}");
    let mut load = fpload();
    load.args(["--remove", "--memory", "64MiB", "--tmp-dir"]).arg(&temporary).arg(&tight).arg(&input);
    load.assert().success();
    assert_eq!(stdout(fpdump().arg("scan").arg(&tight)), "");
    sound(&tight);
    assert!(contents(&temporary).is_empty());

    // A missing directory is found when it is needed at the latest; the store does not change.
    let none = place.path("no-such-directory");
    let mut load = fpload();
    load.args(["--memory", "64MiB", "--tmp-dir"]).arg(&none).arg(&roomy).arg(&input);
    fails_unchanged(&roomy, &mut load, &["no-such-directory", "No such file"]);
}

/// More ids than the memory holds, all of one fingerprint: they are present already, or in two segments that are
/// merged.
#[test]
fn a_fingerprint_with_very_many_records() {
    let place = Place::new();
    let ids = |from: u64, to: u64| {
        (from..to).fold(String::new(), |mut text, n| {
            writeln!(text, "00000000000000aa\t{n}").unwrap();
            text
        })
    };
    let (first, second) =
        (place.file("first.tsv", ids(0, 2_000_000)), place.file("second.tsv", ids(1_000_000, 3_000_000)));
    let store = place.path("store");
    let load = |options: &[&str], input: &Path| {
        let mut load = fpload();
        load.args(["--memory", "64MiB", "--json"]).args(options).arg(&store).arg(input);
        json_object(&stdout(&mut load))
    };
    assert_eq!(load(&["--create"], &first)["store_records"], 2_000_000);
    let report = load(&[], &second);
    assert_eq!((&report["store_records"], &report["already_present"]), (&3_000_000.into(), &1_000_000.into()));
    fpload().args(["--compact", "--memory", "64MiB"]).arg(&store).assert().success();
    sound(&store);
    assert!(stdout(fpdump().arg("scan").arg(&store)) == ids(0, 3_000_000));
    assert_eq!(load(&["--remove"], &first)["removed"], 2_000_000);
    assert!(stdout(fpdump().arg("scan").arg(&store)) == ids(2_000_000, 3_000_000));
}

/// Very many documents, and some long ones, with fingerprints and signatures.
#[test]
fn documents_are_read_only_so_far_ahead() {
    let place = Place::new();
    let mut random = Random::new(2);
    let mut text = String::new();
    for id in 0..3_000 {
        let words = if id % 1000 == 0 { 100_000 } else { 1000 };
        write!(text, "{{\"id\":{id},\"text\":\"").unwrap();
        (0..words).for_each(|_| write!(text, "{:x} ", random.below(1 << 24)).unwrap());
        text.push_str("\"}\n");
    }
    let (input, store) = (place.file("documents.ndjson", text), place.path("store"));
    let tight = ["--quiet", "--threads", "8", "--memory", "64MiB"];
    let presets: [&[&str]; 5] = [
        &["simhash"],
        &["minhash", "--bits", "1"],
        &["minhash", "--num-perm", "4096", "--json"],
        &["minhash", "--preset", "lucene", "--hash-count", "10"],
        &["bands"],
    ];
    for arguments in every(5, presets) {
        let mut run = Command::new(env!("CARGO_BIN_EXE_fphash"));
        let most = peak(run.args(arguments).args(tight).arg(&input).stdout(Stdio::null()));
        assert!(most <= 64 << 20, "{arguments:?}: {most} bytes of memory");
    }
    let mut run = Command::new(env!("CARGO_BIN_EXE_fpload"));
    let most = peak(run.args(["--create", "--text"]).args(tight).args([&store, &input]));
    assert!(most <= 64 << 20, "{most} bytes of memory");
    sound(&store);
}

#[test]
fn sizes_that_are_too_small() {
    let place = Place::new();
    let new = place.path("new");
    for size in ["1MiB", "0", "63MiB", "67108863"] {
        let load = ["--create", "--memory", size];
        fails(fpload().args(load).arg(&new).arg("-").write_stdin(""), &["--memory", "64MiB is the least"]);
    }
    for size in ["", "-1", "64XB", "much"] {
        fails(fpload().args(["--create", &format!("--memory={size}")]).arg(&new).arg("-"), &["--memory"]);
    }
    assert!(!new.exists());
    fpload().args(["--create", "--memory", "67108864"]).arg(&new).arg("-").write_stdin("").assert().success();
}

/// A typing error is reported at once, even if the load fits and needs no temporary files.
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

#[test]
fn all_against_all_keeps_within_its_memory() {
    let place = Place::new();
    // Clusters of so many do not fit 64 MiB, nor would all pairs: 15 million, or 7 in a short run.
    let records = big(3_000_000, if is_long() { 5 } else { 10 });
    let (input, store, labels) = (place.file("big.tsv", records), place.path("store"), place.path("labels.tsv"));
    fpload().arg("--create").arg(&store).arg(&input).assert().success();
    let within = |mib: u64, arguments: &[&str]| {
        let mut run = Command::new(env!("CARGO_BIN_EXE_fpdedup"));
        run.args(arguments).args(["--quiet", "--threads", "8"]).arg(format!("--memory={mib}MiB")).arg(&store);
        let most = peak(run.stdout(Stdio::null()));
        assert!(most <= mib << 20, "{arguments:?}: {most} bytes of memory");
    };
    let labels = labels.to_str().unwrap();
    // The least memory in the message suffices.
    let assert = fpdedup().args(["clusters", "--threads", "8", "--memory", "64MiB"]).arg(&store).assert().code(2);
    let said = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    let least = said.split(" take ").nth(1).unwrap().split(' ').next().unwrap().parse::<f64>().unwrap() as u64;
    let gone = place.path("gone.tsv");
    let gone = gone.to_str().unwrap();
    let mut random = Random::new(2);
    let added = (0..200_000).map(|n| format!("{:016x}\t{}\n", random.next() >> (n % 2 * 43), 3_000_000 + n));
    let added = place.file("added.tsv", added.collect::<String>());
    let go_on = ["keep", "-k", "1", "--evidence", gone, "--previous", gone, "--new", added.to_str().unwrap()];
    let runs: [(u64, &[&[&str]]); 6] = [
        (64, &[&["pairs", "--distinct", "-k", "2"]]),
        (least, &[&["keep", "--linkage", "single", "-k", "1"]]),
        // Star linkage takes four bytes a fingerprint more.
        (least + 12, &[&["keep", "-k", "1"]]),
        // A report has as much for the connected components.
        (least + 24, &[&["keep", "--report", "-k", "1"]]),
        // To continue takes four bytes more, too, and the new records take some.
        (least + 28, &[&["keep", "-k", "1", "--evidence", gone], &go_on]),
        (least, &[&["clusters", "-k", "1", "--output", labels], &["clusters", "-k", "1", "--previous", labels]]),
    ];
    for (mib, steps) in every(6, runs) {
        steps.iter().for_each(|arguments| within(mib, arguments));
    }
}
