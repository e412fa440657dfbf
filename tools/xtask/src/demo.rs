//! `cargo xtask demo`: shows the store on real documents, from their texts to near-duplicates.
//!
//! The sample holds 3,000 versions of pages of one book. The demonstration makes fingerprints with `fphash`, loads them
//! with `fpload`, queries the neighbours of every record with `fpquery`, shows *different* paths with nearly the same
//! text, and clusters all documents with `fpdedup`. At the end `fpdedup documents` does the whole job, and three of the
//! removed documents are shown beside the ones that were kept. All results are compared with brute force. Then the same
//! pages are clustered by MinHash, beside simhash and a comparison of all pages.

mod clusters;
mod minhash;
mod pairs;
mod removed;
mod report;

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::say::say;
use crate::timings::Timings;
use crate::workspace::{Programs, Workspace, announce};
use pairs::Document;

/// The texts; the column `n` numbers them.
const TEXTS: &str = "tests/data/rust-book-documents.ndjson.gz";
/// The paths of the same documents.
const PATHS: &str = "tests/data/rust-book.ndjson";
/// The programs that are run. They need neither Parquet nor a Chinese dictionary.
const PROGRAMS: [&str; 5] = ["fphash", "fpload", "fpquery", "fpdedup", "fpdump"];
/// At this distance these fingerprints hardly ever match by chance (benches/results/quality.md).
const DISTANCE: u32 = 6;

pub(crate) fn run() -> Result<()> {
    let workspace = Workspace::find()?;
    let paths = read_paths(&workspace.root.join(PATHS))?;
    let mut timings = Timings::start();
    say("Building the programs in the profile `quick` (the first time takes a minute or two) ...")?;
    let programs = timings.step("build of the programs", || workspace.build_quickly("fpstore-tools", &PROGRAMS))?;

    let directory = workspace.target.join("demo");
    let (store, list) = (directory.join("store"), directory.join("near-duplicates.tsv"));
    let (clusters, fingerprints) = (directory.join("clusters.tsv"), directory.join("fingerprints.hex"));
    let (clean, gone) = (directory.join("clean.ndjson"), directory.join("gone.tsv"));
    let bands = directory.join("bands");
    let stage = Stage { store, list, clusters, fingerprints, clean, gone, bands, workspace, programs };
    stage.clear(&directory)?;

    let (hashed, hash) = stage.hash()?;
    let documents = pairs::documents(&hashed, paths)?;
    let load = stage.load()?;
    let (answers, query) = stage.query()?;
    let answer = pairs::parse(&answers, &documents)?;
    let expected = pairs::brute_force(&documents, DISTANCE);
    if answer != expected {
        bail!("fpquery's pairs ({}) are not those of brute force ({})", answer.len(), expected.len());
    }
    let list = report::list(&answer, &documents);
    fs::write(&stage.list, list).with_context(|| format!("cannot write {}", stage.list.display()))?;

    say(&report::selection(&answer, &documents))?;
    say(&report::totals(&answer, documents.len()))?;
    say(&format!("\nThe full list is in {}", stage.short(&stage.list).display()))?;
    stage.statistics()?;
    say(report::ABOUT_THE_BOUND)?;
    say(&report::times(documents.len(), hash, load, query))?;

    let labels = clusters::parse(&stage.dedup()?, documents.len())?;
    if labels != clusters::brute_force(&expected, documents.len()) {
        bail!("fpdedup's clusters are not those of brute force");
    }
    fs::write(&stage.clusters, clusters::list(&labels, &documents))
        .with_context(|| format!("cannot write {}", stage.clusters.display()))?;
    say(&clusters::selection(&labels, &documents))?;
    say(&format!("\nAll clusters are in {}", stage.short(&stage.clusters).display()))?;

    let removed = removed::parse(&stage.documents()?)?;
    if removed != removed::brute_force(&expected, documents.len()) {
        bail!("the documents that fpdedup removed are not those of brute force");
    }
    let pages = removed::pages(&read_texts(&stage.workspace.root.join(TEXTS))?)?;
    say(&removed::selection(&removed, &pages)?)?;
    say(&format!("\nThe documents that stay are in {}", stage.short(&stage.clean).display()))?;
    let by_minhash = clusters::parse(&stage.minhash()?, documents.len())?;
    let pairs = minhash::similar(pages.iter().map(removed::Page::text));
    let exact = clusters::joined(&pairs, documents.len());
    let ways = [
        ("simhash, 6 of 64 bits", &labels),
        ("MinHash, 20 bands of 5 and sketches", &by_minhash),
        ("all pages compared", &exact),
    ];
    say(&minhash::table(ways))?;
    say(&stage.hint(&documents)?)?;
    say(&format!("\n{}", timings.text()))
}

/// The directories and programs of one demonstration.
struct Stage {
    workspace: Workspace,
    programs: Programs,
    store: PathBuf,
    list: PathBuf,
    clusters: PathBuf,
    fingerprints: PathBuf,
    clean: PathBuf,
    gone: PathBuf,
    bands: PathBuf,
}

impl Stage {
    /// Removes the output of an earlier demonstration.
    fn clear(&self, directory: &Path) -> Result<()> {
        for store in [&self.store, &self.bands].into_iter().filter(|store| store.exists()) {
            fs::remove_dir_all(store).with_context(|| format!("cannot remove {}", store.display()))?;
        }
        fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))
    }

    /// Returns a line with fingerprint and number for each document, as in the file of fingerprints.
    fn hash(&self) -> Result<(String, Duration)> {
        let mut command = self.program("fphash")?;
        command.args(["simhash", "--id-column", "n", TEXTS]);
        announce(&self.workspace, &command)?;
        let start = Instant::now();
        let lines = printed(&mut command, "fphash")?;
        let took = start.elapsed();
        fs::write(&self.fingerprints, &lines)
            .with_context(|| format!("cannot write {}", self.fingerprints.display()))?;
        Ok((lines, took))
    }

    fn load(&self) -> Result<Duration> {
        let mut command = self.program("fpload")?;
        command.args(["--create", "--max-distance", &DISTANCE.to_string()]);
        command.arg(self.short(&self.store)).arg(self.short(&self.fingerprints));
        announce(&self.workspace, &command)?;
        let start = Instant::now();
        let status = command.status().context("cannot run fpload")?;
        if !status.success() {
            bail!("fpload could not load the sample ({status}); its message is above");
        }
        Ok(start.elapsed())
    }

    fn query(&self) -> Result<(String, Duration)> {
        let mut command = self.program("fpquery")?;
        command
            .args(["--distance", &DISTANCE.to_string(), "--with-query-id", "--input"])
            .arg(self.short(&self.fingerprints))
            .arg(self.short(&self.store));
        announce(&self.workspace, &command)?;
        let start = Instant::now();
        let answers = printed(&mut command, "fpquery")?;
        Ok((answers, start.elapsed()))
    }

    fn dedup(&self) -> Result<String> {
        let mut command = self.program("fpdedup")?;
        command.args(["clusters", "--distance", &DISTANCE.to_string()]).arg(self.short(&self.store));
        announce(&self.workspace, &command)?;
        printed(&mut command, "fpdedup")
    }

    /// Removes near-duplicates from the documents; returns the evidence.
    fn documents(&self) -> Result<String> {
        let mut command = self.program("fpdedup")?;
        command.args(["documents", "--id-column", "n", TEXTS, "--output"]).arg(self.short(&self.clean));
        command.arg("--evidence").arg(self.short(&self.gone));
        announce(&self.workspace, &command)?;
        let status = command.status().context("cannot run fpdedup")?;
        if !status.success() {
            bail!("fpdedup could not remove the near-duplicates ({status}); its message is above");
        }
        fs::read_to_string(&self.gone).with_context(|| format!("cannot read {}", self.gone.display()))
    }

    /// Loads the bands and sketches of all documents into a key index; returns its clusters.
    fn minhash(&self) -> Result<String> {
        let mut command = self.program("fpload")?;
        command.args(["--create", "--kind", "keys", "--text", "--features", "words:5", "--normalise", "none"]);
        command.args(["--bands", "20", "--rows", "5", "--sketch", "800", "--id-column", "n"]);
        command.arg(self.short(&self.bands)).arg(TEXTS);
        announce(&self.workspace, &command)?;
        let status = command.status().context("cannot run fpload")?;
        if !status.success() {
            bail!("fpload could not load the bands ({status}); its message is above");
        }
        let mut command = self.program("fpdedup")?;
        let least = format!("0.{}", minhash::SIMILARITY);
        command.args(["clusters", "--min-jaccard", &least]).arg(self.short(&self.bands));
        announce(&self.workspace, &command)?;
        printed(&mut command, "fpdedup")
    }

    fn statistics(&self) -> Result<()> {
        let mut command = self.program("fpdump")?;
        command.arg("stats").arg(self.short(&self.store));
        announce(&self.workspace, &command)?;
        let status = command.status().context("cannot run fpdump")?;
        if !status.success() {
            bail!("fpdump could not read the store ({status}); its message is above");
        }
        Ok(())
    }

    fn hint(&self, documents: &[Document]) -> Result<String> {
        let store = self.short(&self.store).display();
        let any = documents.first().map_or(0, |document| document.fingerprint);
        let line = |program: &str, rest: String, what: &str| -> Result<String> {
            let program = self.short(self.programs.get(program)?);
            Ok(format!("  {} {rest}\n      {what}\n", program.display()))
        };
        let mut text = String::from("\nTo try next:\n");
        text +=
            &line("fpquery", format!("--nearest 5 {store} {any:016x}"), "the five records nearest to one fingerprint")?;
        text += &line("fphash", "presets".to_owned(), "the definitions of simhash and MinHash that there are")?;
        text += &line("fpdedup", format!("clusters --report {store}"), "how large clusters are, and which are chains")?;
        text += &line("fpdump", format!("layout {store}"), "what the files are made of, byte range by byte range")?;
        text += &line("fpdump", format!("verify {store}"), "every checksum and every rule of the format")?;
        text += "  cargo xtask test\n      every test of the project";
        Ok(text)
    }

    fn program(&self, name: &str) -> Result<Command> {
        let mut command = Command::new(self.programs.get(name)?);
        command.current_dir(&self.workspace.root);
        Ok(command)
    }

    fn short<'a>(&self, path: &'a Path) -> &'a Path {
        self.workspace.short(path)
    }
}

/// Returns the output of a program that must find something.
fn printed(command: &mut Command, name: &str) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output().with_context(|| format!("cannot run {name}"))?;
    if !output.status.success() {
        bail!("{name} failed ({}); its message is above", output.status);
    }
    String::from_utf8(output.stdout).with_context(|| format!("{name}'s output is not UTF-8"))
}

fn read_texts(path: &Path) -> Result<String> {
    let mut text = String::new();
    let read = File::open(path).and_then(|file| flate2::read::GzDecoder::new(file).read_to_string(&mut text));
    read.with_context(|| format!("cannot read the sample {}", path.display()))?;
    Ok(text)
}

fn read_paths(path: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read the sample {}", path.display()))?;
    pairs::paths(&text).with_context(|| format!("{} is not the sample as it was delivered", path.display()))
}
