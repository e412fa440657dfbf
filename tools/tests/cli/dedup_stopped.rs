//! A run of `fpdedup` that was killed or stopped leaves no file behind; the next one writes what an undisturbed one
//! does.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::points::every;
use crate::support::{Place, Random, fpdedup, fpload};

/// Enough for a run of some tenths of a second.
const RECORDS: u64 = 300_000;

fn raw() -> Vec<u8> {
    let mut random = Random::new(1);
    let mut next = || random.next();
    let mut bytes = Vec::new();
    for _ in 0..RECORDS / 4 {
        let centre = next();
        bytes.extend_from_slice(&centre.to_le_bytes());
        for _ in 0..3 {
            bytes.extend_from_slice(&(centre ^ 1 << (next() % 64) ^ 1 << (next() % 64)).to_le_bytes());
        }
    }
    bytes
}

fn names(directory: &Path) -> Vec<String> {
    std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_stopped_run_leaves_no_file_and_the_next_one_is_whole() {
    let place = Place::new();
    let input = place.file("input.u64", raw());
    let store = place.path("store");
    fpload().arg("--create").arg(&store).arg(&input).assert().success();
    let runs = [("pairs", &["--sort"][..]), ("pairs", &["--distinct"]), ("clusters", &[]), ("keep", &[])];
    for (what, options) in every(4, runs) {
        let expected = place.path("expected.tsv");
        fpdedup().arg(what).args(options).arg(&store).arg("-o").arg(&expected).assert().success();
        let (temporary, found) = (place.path("temporary"), place.path("found.tsv"));
        std::fs::create_dir(&temporary).unwrap();
        let run = || {
            let mut run = Command::new(env!("CARGO_BIN_EXE_fpdedup"));
            run.arg(what).args(options).arg(&store).arg("-o").arg(&found).arg("--tmp-dir").arg(&temporary);
            run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let mut stopped = 0;
        for number in 0..12 {
            let mut run = run();
            thread::sleep(Duration::from_millis(5 << (number / 2)));
            let interrupt = number % 2 == 0;
            if interrupt {
                Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
            } else {
                let _ = run.kill();
            }
            let status = run.wait().unwrap();
            if !status.success() {
                // Before it listens, the signal itself ends it; a shell reports the same number.
                assert!(!interrupt || status.code().is_none_or(|code| code == 130), "{status}");
                stopped += 1;
            }
            // It may have ended just before, or been stopped just after that.
            assert!(status.success() <= found.exists());
            assert_eq!(names(&temporary), [""; 0], "{what}");
            if found.exists() {
                assert!(
                    std::fs::read(&found).unwrap() == std::fs::read(&expected).unwrap(),
                    "half of the output has its name"
                );
                std::fs::remove_file(&found).unwrap();
            }
        }
        assert!(stopped > 1, "{what}: {stopped} runs were stopped on their way");
        assert!(run().wait().unwrap().success());
        assert!(std::fs::read(&found).unwrap() == std::fs::read(&expected).unwrap(), "{what}");
        std::fs::remove_dir(&temporary).unwrap();
        std::fs::remove_file(&found).unwrap();
    }
}
