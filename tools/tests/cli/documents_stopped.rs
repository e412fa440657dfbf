//! `fpdedup documents` that is killed or interrupted continues with the same command.

use std::fmt::Write as _;
use std::fs;
use std::io::Read;
use std::path::Path;
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
    for interrupt in every(2, [false, true]) {
        let mut continued = 0;
        // Every run gets somewhat further; the last one ends by itself. On a busy machine the first one may, too.
        while continued == 0 {
            [&out, &gone].into_iter().for_each(|file| fs::remove_file(file).unwrap());
            let mut runs = 0;
            while !out.exists() || work.exists() {
                runs += 1;
                assert!(runs < 100, "no run ends");
                let mut child = command(&input, &out, &gone).stderr(Stdio::piped()).spawn().unwrap();
                thread::sleep(Duration::from_millis(10).mul_f64(1.3_f64.powi(runs)));
                if interrupt {
                    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
                } else {
                    child.kill().unwrap();
                }
                let mut message = String::new();
                child.stderr.take().unwrap().read_to_string(&mut message).unwrap();
                child.wait().unwrap();
                continued += u64::from(message.contains("continuing the run that stopped"));
                assert!(!message.contains("starting over"), "{message}");
            }
            assert!(results() == expected, "after {runs} runs");
        }
    }
}

#[test]
fn other_inputs_start_over() {
    let place = Place::new();
    let input = place.file("docs.ndjson", documents());
    let (out, gone) = (place.path("out.ndjson"), place.path("gone.csv"));
    let work = place.path("out.ndjson.fpdedup");
    let mut child = command(&input, &out, &gone).spawn().unwrap();
    let has_store = || {
        let runs = fs::read_dir(&work).into_iter().flatten().flatten();
        runs.into_iter().any(|run| run.path().join("store/MANIFEST").exists())
    };
    while !has_store() && child.try_wait().unwrap().is_none() {
        thread::sleep(Duration::from_millis(1));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(work.exists(), "the run had ended");
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
