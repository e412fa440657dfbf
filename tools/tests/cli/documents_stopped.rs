//! `fpdedup documents` that is killed or interrupted continues with the same command.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::points::every;
use crate::support::{Place, Random, fpdedup};

const DOCUMENTS: u64 = 40_000;

/// Documents in families.
fn documents() -> String {
    let mut random = Random::new(5);
    let mut text = String::new();
    let mut words: Vec<u64> = Vec::new();
    for id in 0..DOCUMENTS {
        if id % 4 == 0 {
            words = (0..150).map(|_| random.below(100_000)).collect();
        }
        let place = usize::try_from(random.below(150)).unwrap();
        words[place] = random.below(100_000);
        let list: Vec<String> = words.iter().map(ToString::to_string).collect();
        writeln!(text, "{{\"id\":\"page-{id}\",\"text\":\"{}\"}}", list.join(" ")).unwrap();
    }
    text
}

fn command(input: &Path, out: &Path, gone: &Path) -> Command {
    let mut run = Command::new(env!("CARGO_BIN_EXE_fpdedup"));
    run.arg("documents").arg(input).arg("-o").arg(out).arg("--evidence").arg(gone).args(["--verify", "0.5"]);
    run.stdout(Stdio::null()).stderr(Stdio::null());
    run
}

#[test]
fn the_same_command_continues() {
    let place = Place::new();
    let input = place.file("docs.ndjson", documents());
    let (out, gone) = (place.path("out.ndjson"), place.path("gone.csv"));
    assert!(command(&input, &out, &gone).status().unwrap().success());
    let results = || (fs::read(&out).unwrap(), fs::read(&gone).unwrap());
    let expected = results();
    let rows = expected.1.iter().filter(|byte| **byte == b'\n').count();
    assert!(rows > 10_000, "{rows}");
    let work = place.path("out.ndjson.fpdedup");
    // Runs from the beginning, and from a run that has saved its progress.
    for (interrupt, has_saved) in every(2, [(false, false), (true, true), (false, true), (true, false)]) {
        remove_results(&out, &gone);
        if has_saved {
            killed(&input, &out, &gone, &work);
        }
        let (mut continued, mut runs) = (0, 0);
        // Every run gets somewhat further; the last one ends by itself.
        while !out.exists() || work.exists() {
            runs += 1;
            // The 35th waits a minute and a half.
            assert!(runs < 36, "no run ends");
            let mut child = command(&input, &out, &gone).stderr(Stdio::piped()).spawn().unwrap();
            thread::sleep(Duration::from_millis(10).mul_f64(1.3_f64.powi(runs)));
            if interrupt {
                Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
            } else {
                child.kill().unwrap();
            }
            let mut message = String::new();
            child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
            // Ended by itself, killed, or interrupted.
            let code = child.wait().unwrap().code();
            assert!(matches!(code, Some(0 | 130) | None), "{message}");
            continued += u64::from(message.contains("continuing the run that stopped"));
            assert!(!message.contains("starting over"), "{message}");
        }
        assert!(results() == expected, "after {runs} runs");
        assert!(continued > 0 || !has_saved, "{runs} runs");
    }
}

fn remove_results(out: &Path, gone: &Path) {
    [out, gone].into_iter().filter(|file| file.exists()).for_each(|file| fs::remove_file(file).unwrap());
}

/// Kills a run once it has loaded its store, and returns its directory. On a busy machine a run may end before.
fn killed(input: &Path, out: &Path, gone: &Path, work: &Path) -> PathBuf {
    let runs = || fs::read_dir(work).into_iter().flatten().flatten().map(|run| run.path());
    let one = || {
        remove_results(out, gone);
        let mut child = command(input, out, gone).spawn().unwrap();
        while !runs().any(|run| run.join("store/MANIFEST").exists()) && child.try_wait().unwrap().is_none() {
            thread::sleep(Duration::from_millis(1));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        runs().next()
    };
    (0..10).find_map(|_| one()).unwrap_or_else(|| panic!("every run ended before it was killed"))
}

/// The progress of a run must not outlive the files that the next run would continue with.
#[test]
fn a_run_that_is_killed_while_it_removes_its_files_starts_over() {
    let place = Place::new();
    let input = place.file("docs.ndjson", documents());
    let (out, gone) = (place.path("out.ndjson"), place.path("gone.csv"));
    // On a busy machine a run may end before it is killed.
    let run = (0..10)
        .map(|_| killed_in_removal(&input, &out, &gone, &place.path("out.ndjson.fpdedup")))
        .find(|run| run.exists())
        .unwrap_or_else(|| panic!("every run had removed its files before it was killed"));
    assert!(!run.join("state.json").exists());
    assert!(command(&input, &out, &gone).status().unwrap().success());
    assert!(!run.exists());
}

/// Kills a run once a first file of its directory is gone, and returns the directory.
fn killed_in_removal(input: &Path, out: &Path, gone: &Path, work: &Path) -> PathBuf {
    let run = killed(input, out, gone, work);
    // Removing these takes long, and in most orders some of them come between two files of the run.
    for directory in 0..64 {
        let directory = run.join(format!("many-{directory}"));
        fs::create_dir(&directory).unwrap();
        (0..150).for_each(|file| fs::write(directory.join(file.to_string()), "").unwrap());
    }
    let mut child = command(input, out, gone).spawn().unwrap();
    let fates = run.join("fates");
    // The last of the files below that a run makes.
    while !fates.exists() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    let files = || ["state.json", "entries", "ids", "id-ends", "links", "fates"].map(|name| run.join(name));
    while files().iter().all(|file| file.exists()) && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_micros(100));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    run
}

#[test]
fn other_inputs_start_over() {
    let place = Place::new();
    let input = place.file("docs.ndjson", documents());
    let (out, gone) = (place.path("out.ndjson"), place.path("gone.csv"));
    let work = place.path("out.ndjson.fpdedup");
    killed(&input, &out, &gone, &work);
    // The options are others.
    let mut run = fpdedup();
    run.arg("documents").arg(&input).arg("-o").arg(&out);
    let message = String::from_utf8(run.assert().success().get_output().stderr.clone()).unwrap();
    assert!(message.contains("starting over") && !message.contains("continuing"), "{message}");
    assert!(!work.exists());
    // What is there and no run has made stays.
    fs::create_dir(&work).unwrap();
    fs::write(work.join("thesis.txt"), "mine").unwrap();
    run.assert().success();
    assert_eq!(fs::read_to_string(work.join("thesis.txt")).unwrap(), "mine");
    assert_eq!(fs::read_dir(&work).unwrap().count(), 1);
}
