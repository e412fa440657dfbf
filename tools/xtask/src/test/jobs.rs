//! Runs commands side by side, as many as there are cores, and prints the output of each when it ends.
//!
//! A command that takes longer than it may is killed. Its output tells what it was doing: libtest names a test that has
//! run for a minute.

use std::io::{self, Read, Write};
use std::num::NonZero;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A command with the name of its step.
pub(super) struct Job {
    pub(super) name: String,
    pub(super) command: Command,
}

/// The outcome of a job.
pub(super) struct Ended {
    pub(super) name: String,
    pub(super) succeeded: bool,
    pub(super) took: Duration,
    /// Standard output and standard error.
    pub(super) output: String,
}

/// Runs all jobs, the first ones first, each for at most `limit`, and calls `report` with each as it ends.
pub(super) fn run(jobs: Vec<Job>, limit: Duration, mut report: impl FnMut(Ended) -> Result<()> + Send) -> Result<()> {
    let lanes = thread::available_parallelism().map_or(1, NonZero::get);
    let waiting = Mutex::new(jobs.into_iter());
    let report = Mutex::new(&mut report);
    let lane = || -> Result<()> {
        loop {
            let next = waiting.lock().ok().and_then(|mut jobs| jobs.next());
            let Some(job) = next else { return Ok(()) };
            let name = job.name.clone();
            let ended = run_one(job, limit).with_context(|| format!("cannot run the {name}"))?;
            if let Ok(mut report) = report.lock() {
                report(ended)?;
            }
        }
    };
    thread::scope(|scope| {
        let lanes: Vec<_> = (0..lanes).map(|_| scope.spawn(lane)).collect();
        lanes.into_iter().try_for_each(|lane| lane.join().unwrap_or_else(|_| bail!("a thread of xtask panicked")))
    })
}

fn run_one(job: Job, limit: Duration) -> Result<Ended> {
    let Job { name, mut command } = job;
    writeln!(io::stdout(), "running: {name}")?;
    let begun = Instant::now();
    let (mut reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // It holds the pipe open.
    drop(command);
    let (sender, receiver) = channel();
    // Not joined: a process that the command started may hold the pipe open when the command is killed.
    thread::spawn(move || {
        let mut piece = vec![0; 1 << 16];
        while let Ok(length @ 1..) = reader.read(&mut piece) {
            let _ = sender.send(piece.get(..length).unwrap_or_default().to_vec());
        }
    });
    let mut output = Vec::new();
    let ended = loop {
        match receiver.recv_timeout(limit.saturating_sub(begun.elapsed())) {
            Ok(mut piece) => output.append(&mut piece),
            Err(RecvTimeoutError::Disconnected) => break true,
            Err(RecvTimeoutError::Timeout) => break false,
        }
    };
    if !ended {
        child.kill()?;
        writeln!(output, "\nkilled, because it took longer than {} minutes", limit.as_secs() / 60)?;
    }
    let succeeded = child.wait()?.success() && ended;
    Ok(Ended { name, succeeded, took: begun.elapsed(), output: String::from_utf8_lossy(&output).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace;

    const LIMIT: Duration = Duration::from_secs(600);

    #[test]
    fn a_failing_command_is_a_failed_job() {
        let job = |name: &str, arguments: &[&str]| {
            let mut command = Command::new(workspace::cargo());
            command.args(arguments);
            Job { name: name.to_owned(), command }
        };
        let mut ended = Vec::new();
        run(vec![job("good", &["--version"]), job("bad", &["--quiet", "no-such-command"])], LIMIT, |one| {
            ended.push((one.name, one.succeeded, one.output));
            Ok(())
        })
        .unwrap();
        ended.sort();
        assert_eq!((ended[0].0.as_str(), ended[0].1), ("bad", false));
        assert!(!ended[0].2.is_empty(), "messages are part of the output");
        assert_eq!((ended[1].0.as_str(), ended[1].1), ("good", true));
        assert!(ended[1].2.starts_with("cargo "), "{}", ended[1].2);
        let missing = vec![Job { name: "missing".into(), command: Command::new("no-such-program-anywhere") }];
        assert!(run(missing, LIMIT, |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_command_that_does_not_end_is_killed_and_its_output_is_shown() {
        let mut command = Command::new("sh");
        // The inner process keeps the pipe when the outer one is killed.
        command.args(["-c", "echo begun; sleep 20; true"]);
        let begun = Instant::now();
        let mut ended = Vec::new();
        run(vec![Job { name: "endless".into(), command }], Duration::from_secs(1), |one| {
            ended.push(one);
            Ok(())
        })
        .unwrap();
        assert!(begun.elapsed() < Duration::from_secs(15), "the inner process is not waited for");
        assert!(!ended[0].succeeded && ended[0].output.starts_with("begun\n"), "{}", ended[0].output);
        assert!(ended[0].output.contains("killed, because it took longer"), "{}", ended[0].output);
    }
}
