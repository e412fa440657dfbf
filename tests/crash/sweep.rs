//! Records a process of each case, and checks the states that power failures may leave.

use super::cases::{CASES, Case, Step, models};
use super::image::Image;
use super::judge::Expected;
use super::points::today;
use super::recording::{MARKS, Operation, RECORDING, WATCH, compile, probe, read};
use super::states::{Progress, Start, State, choose, replay};
use super::workload::work;
use crate::support::{Random, is_build_server};
use fpstore::{Fingerprint, U256};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

/// States of a run without `FPSTORE_STATES`.
const STATES: usize = 300;
/// Maximum number of states of one recording.
const MOST: usize = 300;
/// Successive processes on a store, each except the first after a power failure.
const GENERATIONS: usize = 3;

const TEST: &str = "sweep::every_recorded_power_failure_keeps_what_was_promised";
/// The task of the recorded process: the number of a case, its seed, and the first step of each thread.
const CASE: &str = "FPSTORE_CRASH_CASE";
const SEED: &str = "FPSTORE_CRASH_SEED";
const FROM: &str = "FPSTORE_CRASH_FROM";

#[test]
fn every_recorded_power_failure_keeps_what_was_promised() {
    let number = |name: &str| std::env::var(name).ok().map(|value| value.parse::<u64>().unwrap());
    if let Some(case) = number(CASE) {
        return be_recorded(&CASES[case as usize], number(SEED).unwrap());
    }
    let seed = number("FPSTORE_SEED").unwrap_or_else(today);
    eprintln!("FPSTORE_SEED={seed} repeats the states of this run");
    // A short run records in memory, where syncs are fast.
    let wanted = number("FPSTORE_STATES");
    let (slow, fast) = (std::env::temp_dir(), Path::new("/dev/shm"));
    let fast = if fast.is_dir() { fast } else { &slow };
    let place = if wanted.is_some() { &slow } else { fast };
    let base = tempfile::Builder::new().prefix("fpstore-crash-").tempdir_in(place).unwrap();
    let recorder = compile(base.path()).and_then(|recorder| probe(&recorder, base.path()).map(|()| recorder));
    let recorder = match recorder {
        Ok(recorder) => recorder,
        Err(why) if wanted.is_some() || is_build_server() => panic!("power failures could not be tried: {why}"),
        Err(why) => return eprintln!("SKIPPED: power failures of a recorded process: {why}"),
    };
    let states = tempfile::Builder::new().prefix("fpstore-crash-").tempdir_in(fast).unwrap();
    let mut sweep = Sweep {
        base: base.path().canonicalize().unwrap(),
        states: states.path().to_owned(),
        recorder,
        wanted: wanted.map_or(STATES, |states| states as usize),
        checked: 0,
        recordings: 0,
        operations: 0,
        violations: Vec::new(),
    };
    let begun = Instant::now();
    for seed in seed.. {
        for (number, case) in CASES.iter().enumerate() {
            match case.width {
                64 => sweep.case::<u64>(number, case, seed),
                128 => sweep.case::<u128>(number, case, seed),
                _ => sweep.case::<U256>(number, case, seed),
            }
        }
        if sweep.checked >= sweep.wanted || !sweep.violations.is_empty() {
            break;
        }
    }
    let Sweep { checked, recordings, operations, violations, .. } = sweep;
    let seconds = begun.elapsed().as_secs_f64();
    eprintln!(
        "{checked} states of {recordings} recordings with {operations} operations, from seed {seed} on, {seconds:.0} s; \
         violations: {}",
        violations.len()
    );
    if !violations.is_empty() {
        let (base, _) = (base.keep(), states.keep());
        panic!("the recordings are in {}; violations:\n{}", base.display(), violations.join("\n"));
    }
}

/// Runs the recorded process.
fn be_recorded(case: &Case, seed: u64) {
    let directory = PathBuf::from(std::env::var(WATCH).unwrap());
    let from: Vec<usize> = std::env::var(FROM).unwrap().split(',').map(|step| step.parse().unwrap()).collect();
    match case.width {
        64 => work::<u64>(case, seed, &directory, &from),
        128 => work::<u128>(case, seed, &directory, &from),
        _ => work::<U256>(case, seed, &directory, &from),
    }
}

struct Sweep {
    /// The directory of the recordings, on the file system of temporary files.
    base: PathBuf,
    /// The directory of the states, in memory if possible.
    states: PathBuf,
    recorder: PathBuf,
    wanted: usize,
    checked: usize,
    recordings: usize,
    operations: usize,
    violations: Vec<String>,
}

impl Sweep {
    /// Records successive processes of a case, and checks states of each.
    fn case<F: Fingerprint>(&mut self, number: usize, case: &Case, seed: u64) {
        let steps = case.steps::<F>(seed);
        let models: Vec<_> = steps.iter().map(|steps| models(case, steps)).collect();
        let records = models.iter().map(|models| models.iter().map(|model| model.records()).collect()).collect();
        let copies = steps[0].iter().enumerate().filter(|(_, step)| matches!(step, Step::Backup));
        let expected = Expected { case: *case, records, copies: copies.map(|(step, _)| step).collect(), models };
        // Some recordings have fewer distinct states than requested.
        let per_recording = (self.wanted * 4 / 3).div_ceil(CASES.len() * GENERATIONS).min(MOST);
        let nothing = Image::default();
        let mut start = Start { image: nothing, inodes: BTreeMap::new(), progress: Progress::new(case) };
        let mut from = vec![0; case.threads];
        for generation in 0..GENERATIONS {
            let directory = self.base.join(format!("{number}-{seed}-{generation}"));
            let work = directory.join("work");
            start.image.write(&work).unwrap();
            let (written, inodes) = Image::read(&work).unwrap();
            (start.image, start.inodes) = (written, inodes);
            let operations = self.record(&directory, number, seed, &from);
            self.recordings += 1;
            self.operations += operations.len();
            let replayed = replay(&start, &operations).unwrap();
            let copy = directory.join("replayed");
            replayed.write(&copy).unwrap();
            let difference = Image::read(&copy).unwrap().0.difference(&Image::read(&work).unwrap().0);
            assert!(difference.is_none(), "{}: the recording is not complete: {difference:?}", case.name);
            let seed = seed << 4 | generation as u64;
            let states = choose(&start, &operations, per_recording, seed).unwrap();
            self.checked += states.len();
            let survived: Vec<_> = states.par_iter().map(|state| self.check(&expected, state, &directory)).collect();
            let before = self.violations.len();
            self.violations.extend(survived.iter().filter_map(|checked| checked.as_ref().err()).cloned());
            if self.violations.len() > before {
                return;
            }
            fs::remove_dir_all(&directory).unwrap();
            // The next process starts after one of the power failures, preferably an early one.
            let mut random = Random(seed);
            let next = random.below(states.len() as u64 * 2 / 3) as usize;
            from = survived[next].clone().unwrap();
            start.image = states[next].image.clone();
            start.progress = states[next].progress.clone();
            start.progress.durable.clone_from(&from);
            start.progress.begun.clone_from(&from);
        }
    }

    /// Runs a recorded process.
    fn record(&self, directory: &Path, case: usize, seed: u64, from: &[usize]) -> Vec<Operation> {
        let (recording, marks) = (directory.join("recording"), directory.join("marks"));
        fs::write(&marks, "").unwrap();
        let from: Vec<String> = from.iter().map(usize::to_string).collect();
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
            .envs([(CASE, case.to_string()), (SEED, seed.to_string()), (FROM, from.join(","))])
            .envs([(WATCH, directory.join("work")), (RECORDING, recording.clone()), (MARKS, marks)])
            .env("LD_PRELOAD", &self.recorder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let text = || String::from_utf8_lossy(&[output.stdout.as_slice(), &output.stderr].concat()).into_owned();
        assert!(output.status.success(), "case {case}, seed {seed}: the recorded process failed: {}", text());
        read(&recording).unwrap()
    }

    /// Writes a state and checks it. Keeps a state that breaks a promise.
    fn check<F: Fingerprint>(&self, expected: &Expected<F>, state: &State, aside: &Path) -> Result<Vec<usize>, String> {
        let name = format!("operation-{}-seed-{:x}", state.operation, state.seed);
        let directory = tempfile::Builder::new().prefix(&name).tempdir_in(&self.states).unwrap();
        state.image.write(directory.path()).unwrap();
        let checked = catch_unwind(AssertUnwindSafe(|| expected.check(state, directory.path())));
        let checked = checked.unwrap_or_else(|_| Err("the library panicked".to_owned()));
        checked.map_err(|why| {
            // The original state, because the check has changed it.
            let kept = aside.join(directory.path().file_name().unwrap());
            state.image.write(&kept).unwrap();
            let State { operation, seed, .. } = state;
            format!("{}, operation {operation}, seed {seed:x}: {why}; kept in {}", expected.case.name, kept.display())
        })
    }
}
