//! Runs commands side by side, as many as there are cores, and prints the output of each when it ends.

use std::io::{self, Read, Write};
use std::num::NonZero;
use std::process::{Command, Stdio};
use std::sync::Mutex;
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

/// Runs all jobs, the first ones first, and calls `report` with each as it ends.
pub(super) fn run(jobs: Vec<Job>, mut report: impl FnMut(Ended) -> Result<()> + Send) -> Result<()> {
    let lanes = thread::available_parallelism().map_or(1, NonZero::get);
    let waiting = Mutex::new(jobs.into_iter());
    let report = Mutex::new(&mut report);
    let lane = || -> Result<()> {
        loop {
            let next = waiting.lock().ok().and_then(|mut jobs| jobs.next());
            let Some(job) = next else { return Ok(()) };
            let name = job.name.clone();
            let ended = run_one(job).with_context(|| format!("cannot run the {name}"))?;
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

fn run_one(job: Job) -> Result<Ended> {
    let Job { name, mut command } = job;
    writeln!(io::stdout(), "running: {name}")?;
    let begun = Instant::now();
    let (mut reader, writer) = io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // It holds the pipe open.
    drop(command);
    let mut output = Vec::new();
    reader.read_to_end(&mut output)?;
    let succeeded = child.wait()?.success();
    Ok(Ended { name, succeeded, took: begun.elapsed(), output: String::from_utf8_lossy(&output).into_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::env;

    #[test]
    fn a_failing_command_is_a_failed_job() {
        let cargo = || Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        let job = |name: &str, arguments: &[&str]| {
            let mut command = cargo();
            command.args(arguments);
            Job { name: name.to_owned(), command }
        };
        let mut ended = Vec::new();
        run(vec![job("good", &["--version"]), job("bad", &["--quiet", "no-such-command"])], |one| {
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
        assert!(run(missing, |_| Ok(())).is_err());
    }
}
