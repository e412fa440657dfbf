//! A signal ends every program with the exit code that a shell reports for it. The program says in which state the
//! store is, and leaves no files behind. Loads that are killed are in `killed`.

#![cfg(unix)]

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::support::{Place, contents, fpload, store_files};

const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];

/// Returns a program that ignores no signal, even if the tests do: a shell makes background processes ignore `INT`.
fn listening(program: &str) -> Command {
    if !cfg!(target_os = "linux") {
        return Command::new(program);
    }
    let mut command = Command::new("env");
    command.args(["--default-signal=INT,TERM,HUP", program]);
    command
}

fn start(program: &str, arguments: &[&Path], options: &[&str]) -> Child {
    let mut command = listening(program);
    command.args(options).args(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap().success());
}

/// Waits until the program has installed its handler.
fn wait_until_it_listens(child: &Child) {
    let begun = Instant::now();
    let status = format!("/proc/{}/status", child.id());
    let listens = || {
        let Ok(text) = std::fs::read_to_string(&status) else { return !Path::new("/proc/self").exists() };
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        caught.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).unwrap() & 2 != 0)
    };
    while !listens() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it does not listen");
        thread::sleep(Duration::from_millis(5));
    }
    thread::sleep(Duration::from_millis(100));
}

fn stopped(output: &Output, code: i32, message: &str) {
    let told = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{told}");
    assert!(told.contains(message), "{told}");
}

/// Programs that wait for endless input.
#[test]
fn programs_that_wait() {
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    let (new, dash) = (place.path("new"), Path::new("-"));
    let before = store_files(&store);
    let temporary = place.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    for (name, code) in SIGNALS {
        for (program, arguments, options, message) in [
            (env!("CARGO_BIN_EXE_fpload"), &[&new, dash][..], &["--create"][..], "fpload: stopped; no store was made"),
            (env!("CARGO_BIN_EXE_fpload"), &[&store, dash], &[], "fpload: stopped; the store is as it was"),
            (env!("CARGO_BIN_EXE_fpquery"), &[&store, dash], &[], "fpquery: stopped"),
            (env!("CARGO_BIN_EXE_fphash"), &[dash], &["simhash", "--format", "file"], "fphash: stopped"),
            (
                env!("CARGO_BIN_EXE_fpdedup"),
                &[&store, dash],
                &["join", "--tmp-dir", temporary.to_str().unwrap()],
                "fpdedup: stopped",
            ),
        ] {
            let mut child = start(program, arguments, options);
            let mut input = child.stdin.take().unwrap();
            // One waits for the first line, the other for more.
            if code != 143 {
                input.write_all(b"0000000000000001\t1\n").unwrap();
            }
            wait_until_it_listens(&child);
            signal(&child, name);
            stopped(&child.wait_with_output().unwrap(), code, message);
            assert!(!new.exists());
            assert!(
                contents(&temporary).is_empty() && std::fs::read_dir(&temporary).unwrap().count() == 0,
                "{message}"
            );
        }
    }
    assert_eq!(store_files(&store), before);
}

/// Enough records for a load of some tenths of a second; for wide ones, writing takes longer than reading.
fn raw() -> Vec<u8> {
    let mut random = crate::support::Random::new(7);
    (0..4 * 400_000).flat_map(|_| random.next().to_le_bytes()).collect()
}

#[test]
fn loads_on_their_way() {
    let place = Place::new();
    let (input, temporary) = (place.file("input.u256", raw()), place.path("temporary"));
    std::fs::create_dir(&temporary).unwrap();
    let base = place.path("base");
    let plan = ["--create", "--plan", "tables-2", "--width", "256"];
    fpload().args(plan).arg(&base).assert().success();
    let options = ["--memory", "64M", "--tmp-dir", temporary.to_str().unwrap()];
    let begun = Instant::now();
    fpload().args(plan).args(options).arg(place.path("whole")).arg(&input).assert().success();
    let duration = begun.elapsed();
    let before = store_files(&base);
    let mut seen = 0;
    for n in 1..=8_u32 {
        let (name, code) = SIGNALS[n as usize % 3];
        for create in [true, false] {
            let store = if create { place.path("store") } else { base.clone() };
            let child = start(
                env!("CARGO_BIN_EXE_fpload"),
                &[&store, &input],
                &[if create { &plan[..] } else { &[] }, &options[..]].concat(),
            );
            thread::sleep(duration * n / 9);
            signal(&child, name);
            let output = child.wait_with_output().unwrap();
            if output.status.success() {
                // The load was done just before.
                std::fs::remove_dir_all(&store).unwrap();
                if !create {
                    fpload().args(plan).arg(&base).assert().success();
                }
                continue;
            }
            // Before the handler is installed, the signal itself ends the process; a shell reports the same number.
            if output.status.code().is_some() {
                seen += 1;
                let left = if create { "no store was made" } else { "the store is as it was" };
                stopped(&output, code, &format!("fpload: stopped; {left}"));
                if create {
                    assert!(
                        !store.exists(),
                        "{n}: {:?}",
                        contents(&store).iter().map(|file| &file.0).collect::<Vec<_>>()
                    );
                } else {
                    assert!(store_files(&store) == before, "{n}");
                }
            }
            assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0, "{n}");
        }
    }
    assert!(seen > 4, "{seen}");
}

/// A signal that the caller has set to be ignored, as `nohup` does, stays ignored.
#[cfg(target_os = "linux")]
#[test]
fn ignored_signals_stay_ignored() {
    let place = Place::new();
    let store = place.store(&[(1, 1)]);
    let mut child = listening("sh")
        .args(["-c", "trap '' HUP; exec \"$0\" \"$1\" -", env!("CARGO_BIN_EXE_fpload")])
        .arg(&store)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    wait_until_it_listens(&child);
    signal(&child, "HUP");
    thread::sleep(Duration::from_millis(200));
    input.write_all(b"0000000000000002\t2\n").unwrap();
    drop(input);
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
