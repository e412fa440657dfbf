//! The examples and the checks in C, under valgrind.
//!
//! Only blocks that are definitely lost are leaks: threads that end at the same time as the process, and Rust's and
//! crossbeam's records of threads, are "possibly" lost to valgrind, which sees no pointer to their beginning.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::header::root;
use crate::installed::{Installed, Library, copy, has_tools, succeeded};

/// Errors of memory and leaks end a program with this code.
const STRICT: [&str; 2] = ["--error-exitcode=99", "--errors-for-leak-kinds=definite,indirect"];

/// 64-bit fingerprints: of real documents, and uniform ones.
fn fingerprints() -> Vec<u64> {
    let bytes = fs::read(root().join("../../tests/data/real_simhash64.u64")).unwrap();
    let real = bytes.as_chunks::<8>().0.iter().take(2000).map(|bytes| u64::from_le_bytes(*bytes));
    let uniform =
        (1..=500_u64).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(number as u32 % 64));
    real.chain(uniform).collect()
}

/// Pages of the crawler, every tenth of them nearly as an earlier one; and the lines that it writes, by brute force.
fn pages() -> (String, String) {
    let (mut pages, mut answers, mut seen) = (String::new(), String::new(), Vec::<(u64, String)>::new());
    for (number, fingerprint) in fingerprints().into_iter().step_by(5).enumerate() {
        let fingerprint = match seen.get(number / 2).filter(|_| number % 10 == 9) {
            Some((earlier, _)) => earlier ^ (1 << (number % 64)),
            None => fingerprint,
        };
        let address = format!("https://example.org/{number}");
        writeln!(pages, "{fingerprint:016x} {address}").unwrap();
        let distance = |other: &u64| (other ^ fingerprint).count_ones();
        let near = seen.iter().min_by_key(|(other, address)| (distance(other), *other, address.clone()));
        match near.filter(|(other, _)| distance(other) <= 3) {
            Some((other, near)) => writeln!(answers, "seen\t{address}\t{near}\t{}", distance(other)).unwrap(),
            None => {
                writeln!(answers, "new\t{address}").unwrap();
                seen.push((fingerprint, address));
            }
        }
    }
    (pages, answers)
}

/// Runs a program that reads the pages.
fn crawl(command: &mut Command, installed: &Installed, pages: &str) -> String {
    let input = installed.directory.path().join("pages");
    fs::write(&input, pages).unwrap();
    let output = succeeded(command.stdin(Stdio::from(fs::File::open(input).unwrap())));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_crawler_answers_as_brute_force() {
    if !has_tools() {
        return;
    }
    let (pages, answers) = pages();
    assert!(answers.lines().filter(|line| line.starts_with("seen")).count() > 40);
    for library in [Library::Static, Library::Shared] {
        let installed = Installed::new(library);
        let program = installed.compile("examples/crawler.c");
        let store = installed.directory.path().join("store");
        let mut command = installed.valgrind(&STRICT);
        assert_eq!(crawl(command.arg(&program).arg(&store), &installed, &pages), answers, "{library:?}");
        // On the second day all pages are there already.
        let first_day = answers.lines().next().unwrap().replace("new", "seen");
        let seen =
            crawl(Command::new(&program).arg(&store).env("LD_LIBRARY_PATH", installed.lib()), &installed, &pages);
        assert!(!seen.contains("new"), "{seen}");
        assert!(seen.starts_with(&first_day), "{first_day}\n{seen}");
    }
}

#[test]
fn the_crawler_in_python_answers_as_the_one_in_c() {
    if !has_tools() {
        return;
    }
    let installed = Installed::new(Library::Shared);
    let (pages, answers) = pages();
    // `python3` may be a script.
    let python = succeeded(Command::new("python3").args(["-c", "import sys; print(sys.executable)"])).stdout;
    let log = installed.directory.path().join("valgrind.log");
    let mut command = installed.valgrind(&["--undef-value-errors=no", "--show-leak-kinds=definite"]);
    // Python's own allocator hides its blocks from valgrind.
    command.arg(format!("--log-file={}", log.display())).env("PYTHONMALLOC", "malloc");
    command.arg(String::from_utf8(python).unwrap().trim()).arg(root().join("examples/crawler.py"));
    command.arg(installed.lib().join("libfpstore_c.so")).arg(installed.header());
    command.arg(installed.directory.path().join("store"));
    assert_eq!(crawl(&mut command, &installed, &pages), answers);
    // Python has errors and leaks of its own. Those of the library name it.
    let log = fs::read_to_string(log).unwrap();
    let errors = log.split("== \n").filter(|error| error.contains("libfpstore_c"));
    assert_eq!(errors.collect::<Vec<_>>().join("\n"), "");
}

/// Compiles one of the checks in C, and runs it with a directory and the fingerprints.
fn checked(name: &str) {
    if !has_tools() {
        return;
    }
    let installed = Installed::new(Library::Shared);
    let program = installed.compile(&format!("tests/abi/{name}.c"));
    let data = installed.directory.path().join("data");
    let bytes: Vec<u8> = fingerprints().into_iter().flat_map(u64::to_ne_bytes).collect();
    fs::write(&data, bytes).unwrap();
    let mut command = installed.valgrind(&STRICT);
    let output = succeeded(command.arg(program).arg(installed.directory.path()).arg(data));
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{name}\n"));
}

#[test]
fn records_and_their_pairs_are_those_of_brute_force() {
    checked("right");
}

#[test]
fn clusters_snapshots_and_copies_are_those_of_brute_force() {
    checked("whole");
}

#[test]
fn key_indexes_answer_as_brute_force() {
    checked("keys");
}

/// The same for wrong uses, with a directory that has a damaged store.
fn refused(name: &str) {
    if !has_tools() {
        return;
    }
    let installed = Installed::new(Library::Shared);
    let program = installed.compile(&format!("tests/abi/{name}.c"));
    let work = installed.directory.path().join("work");
    fs::create_dir(&work).unwrap();
    damaged(&installed, &work.join("damaged"));
    let mut command = installed.valgrind(&STRICT);
    let output = succeeded(command.arg(program).arg(work));
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{name}\n"));
}

#[test]
fn every_wrong_use_is_an_error_with_a_message() {
    refused("wrong");
}

#[test]
fn so_is_every_wrong_use_of_key_indexes_and_whole_stores() {
    refused("wrong_keys");
}

/// A store with a flipped byte in the middle of its segment.
fn damaged(installed: &Installed, path: &Path) {
    use fpstore::{Options, Parameters, Records, Store};
    let sound = installed.directory.path().join("sound");
    let records = Records::Numbered(fingerprints());
    Store::create_loaded(&sound, &Parameters::new(3), &Options::new(), records).unwrap().0.close().unwrap();
    copy(&sound, path);
    let segment = path.join("00000001.segment");
    let mut bytes = fs::read(&segment).unwrap();
    let middle = bytes.len() / 3;
    *bytes.get_mut(middle).unwrap() ^= 1;
    fs::write(segment, bytes).unwrap();
}
