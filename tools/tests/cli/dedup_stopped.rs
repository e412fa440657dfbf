//! A run of `fpdedup` that was killed or stopped continues when it is started again, and ends with the output of an
//! undisturbed run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{Place, Random, fpdedup, fpload};

/// Enough records for a run of some tenths of a second.
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

#[cfg(unix)]
#[test]
fn runs_go_on() {
    let place = Place::new();
    let input = place.file("input.u64", raw());
    let store = place.path("store");
    fpload().arg("--create").arg(&store).arg(&input).assert().success();
    for (what, options) in
        [("pairs", &["--threads", "1"][..]), ("pairs", &["--distinct"]), ("clusters", &[]), ("keep", &[])]
    {
        let expected = place.path("expected.tsv");
        fpdedup().arg(what).args(options).arg(&store).arg("-o").arg(&expected).assert().success();
        let (temporary, found) = (place.path("temporary"), place.path("found.tsv"));
        std::fs::create_dir(&temporary).unwrap();
        let run = || {
            let mut run = Command::new(env!("CARGO_BIN_EXE_fpdedup"));
            run.arg(what).args(options).arg(&store).arg("-o").arg(&found).arg("--tmp-dir").arg(&temporary);
            run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        };
        let has_begun = || names(&temporary).iter().any(|name| name.ends_with(".phase") || name.ends_with(".sets"));
        // Ends runs as soon as there is a checkpoint; sometimes a run is faster.
        let mut stopped = 0;
        for number in 0..20 {
            let mut run = run();
            let mut ended = None;
            while ended.is_none() && !has_begun() {
                thread::sleep(Duration::from_millis(1));
                ended = run.try_wait().unwrap();
            }
            let interrupt = number % 2 == 0;
            if interrupt {
                Command::new("kill").args(["-INT", &run.id().to_string()]).status().unwrap();
            } else {
                let _ = run.kill();
            }
            let status = ended.unwrap_or_else(|| run.wait().unwrap());
            if !status.success() {
                // Before the handler is installed, the signal itself ends the process; a shell reports the same number.
                assert!(!interrupt || status.code().is_none_or(|code| code == 130), "{status}");
                stopped += u32::from(has_begun());
            }
            // The run may have ended just before, or been stopped just after that.
            assert!(status.success() <= found.exists());
            if found.exists() {
                assert!(
                    std::fs::read(&found).unwrap() == std::fs::read(&expected).unwrap(),
                    "half of the output has its name"
                );
                std::fs::remove_file(&found).unwrap();
            }
            if stopped >= 3 {
                break;
            }
        }
        assert!(stopped > 0, "{what}: no run was stopped on its way");
        // The run continues from the checkpoint: a byte changed there appears in the result.
        let mut expected = std::fs::read(&expected).unwrap();
        let kept = names(&temporary).into_iter().find(|name| name.ends_with(".rows")).map(|name| temporary.join(name));
        if let Some(path) = kept.filter(|_| has_begun() && options == ["--distinct"]) {
            let mut rows = std::fs::read(&path).unwrap();
            rows[0] = b'#';
            expected[0] = b'#';
            std::fs::write(path, rows).unwrap();
        }
        assert!(run().wait().unwrap().success());
        assert!(std::fs::read(&found).unwrap() == expected, "{what}");
        assert_eq!(names(&temporary), [""; 0], "{what}");
        std::fs::remove_dir(&temporary).unwrap();
        std::fs::remove_file(&found).unwrap();
    }
}

#[test]
fn what_is_kept_is_for_the_same_work_only() {
    let place = Place::new();
    let store = place.store(&[(0, 1), (1, 2), (7, 3)]);
    let temporary = place.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    // Files that look like those of another run, and garbage.
    for name in ["fpdedup-0000000000000001.rows", "fpdedup-0000000000000001.phase", "other"] {
        std::fs::write(temporary.join(name), "9 9 9\n").unwrap();
    }
    for (k, count) in [("1", 1), ("2", 2), ("3", 3)] {
        let found = place.path("found.tsv");
        let run = fpdedup()
            .args(["pairs", "-k", k])
            .arg(&store)
            .arg("-o")
            .arg(&found)
            .arg("--tmp-dir")
            .arg(&temporary)
            .assert();
        run.success();
        assert_eq!(std::fs::read_to_string(&found).unwrap().lines().count(), count);
    }
    assert_eq!(names(&temporary).len(), 3);
}
