//! Shared by the tests: running programs, making inputs, and brute-force answers.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use tempfile::TempDir;

pub(crate) fn fphash() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fphash"))
}

pub(crate) fn fpload() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fpload"))
}

pub(crate) fn fpquery() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fpquery"))
}

pub(crate) fn fpdedup() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fpdedup"))
}

pub(crate) fn fpdump() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fpdump"))
}

pub(crate) fn fprepair() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fprepair"))
}

pub(crate) fn fpring() -> Command {
    Command::new(env!("CARGO_BIN_EXE_fpring"))
}

/// A fingerprint and its id.
pub(crate) type Pair = (u64, u64);

/// A directory that vanishes with the test.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// Creates a store named `store` with these records.
    pub(crate) fn store(&self, records: &[Pair]) -> PathBuf {
        self.store_with(records, &[])
    }

    /// Creates a store with these records and further options.
    pub(crate) fn store_with(&self, records: &[Pair], options: &[&str]) -> PathBuf {
        let store = self.path("store");
        fpload().arg("--create").args(options).arg(&store).arg("-").write_stdin(lines(records)).assert().success();
        store
    }
}

/// Formats records as input lines.
pub(crate) fn lines(records: &[Pair]) -> String {
    records.iter().fold(String::new(), |mut text, (fingerprint, id)| {
        writeln!(text, "{fingerprint:016x}\t{id}").unwrap();
        text
    })
}

/// Formats fingerprints as input lines.
pub(crate) fn hex_lines(fingerprints: impl IntoIterator<Item = u64>) -> String {
    fingerprints.into_iter().fold(String::new(), |mut text, fingerprint| {
        writeln!(text, "{fingerprint:016x}").unwrap();
        text
    })
}

/// Uniformly distributed numbers, the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    /// Returns the fingerprint with up to `most` random bits flipped.
    pub(crate) fn flipped(&mut self, fingerprint: u64, most: u64) -> u64 {
        (0..self.below(most + 1)).fold(fingerprint, |near, _| near ^ (1 << self.below(64)))
    }
}

/// Returns records in families of near fingerprints, with equal fingerprints under several ids, in no order.
pub(crate) fn families(number: usize, seed: u64) -> Vec<Pair> {
    let mut random = Random::new(seed);
    let mut parent = random.next();
    let mut records = Vec::new();
    for id in 0..number as u64 {
        if random.below(4) == 0 {
            parent = random.next();
        }
        records.push((random.flipped(parent, 4), id * 7 + 1));
    }
    for i in (1..records.len()).rev() {
        records.swap(i, usize::try_from(random.below(i as u64 + 1)).unwrap());
    }
    records
}

/// Returns the matches of a query by comparing all records, in the order of answers: (distance, fingerprint, id).
pub(crate) fn brute_force(records: &[Pair], query: u64, k: u32) -> Vec<(u32, u64, u64)> {
    let mut found: Vec<_> = records
        .iter()
        .map(|(fingerprint, id)| ((fingerprint ^ query).count_ones(), *fingerprint, *id))
        .filter(|(distance, _, _)| *distance <= k)
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Formats these matches as lines of `fpquery`.
pub(crate) fn brute_force_lines(records: &[Pair], queries: &[u64], k: u32) -> String {
    let mut text = String::new();
    for query in queries {
        for (distance, fingerprint, id) in brute_force(records, *query, k) {
            writeln!(text, "{query:016x}\t{fingerprint:016x}\t{distance}\t{id}").unwrap();
        }
    }
    text
}

/// Formats the `count` nearest matches within `k` as lines of `fpquery`.
pub(crate) fn nearest_lines(records: &[Pair], query: u64, count: usize, k: u32) -> String {
    let mut text = String::new();
    for (distance, fingerprint, id) in brute_force(records, query, k).into_iter().take(count) {
        writeln!(text, "{query:016x}\t{fingerprint:016x}\t{distance}\t{id}").unwrap();
    }
    text
}

/// Returns the standard output of a finished program.
pub(crate) fn stdout(command: &mut Command) -> String {
    String::from_utf8(command.assert().success().get_output().stdout.clone()).unwrap()
}

/// Runs a program that must fail with exit code 2, without standard output, and with every one of `parts` in a message
/// that names the program.
pub(crate) fn fails(command: &mut Command, parts: &[&str]) {
    let assert = command.assert().code(2).stdout("");
    let message = String::from_utf8(assert.get_output().stderr.clone()).unwrap();
    for part in parts {
        assert!(message.contains(part), "no '{part}' in: {message}");
    }
    assert!(message.starts_with("fp") || message.starts_with("error:"), "{message}");
}

/// Returns the output of `fphash` without its last line, which must tell the number of records.
pub(crate) fn without_trailer(text: &str) -> &str {
    let (lines, number) = text.rsplit_once("#end records=").unwrap();
    let records = lines.lines().filter(|line| !line.starts_with('#')).count();
    assert_eq!(number, format!("{records}\n"));
    lines
}

/// Parses JSON objects, one on each line; each must have the version of the schema.
pub(crate) fn json_lines(text: &str) -> Vec<serde_json::Value> {
    let objects: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(objects.iter().all(|object| object["schema_version"] == 1), "{text}");
    objects
}

/// Parses the only JSON object of an output.
pub(crate) fn json_object(text: &str) -> serde_json::Value {
    let mut objects = json_lines(text);
    assert_eq!(objects.len(), 1, "{text}");
    objects.remove(0)
}

/// Returns the files of a store except the lock, which every writer marks.
pub(crate) fn store_files(store: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = contents(store);
    files.retain(|(path, _)| !path.ends_with("LOCK"));
    files
}

/// Returns every file of a directory, with its bytes.
pub(crate) fn contents(dir: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut files = Vec::new();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(contents(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            files.push((path, bytes));
        }
    }
    files.sort();
    files
}
