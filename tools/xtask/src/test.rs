//! `cargo xtask test`: runs all tests in one command, with a summary at the end.
//!
//! `cargo test` runs the unit and integration tests, compiles the examples and runs each bench once, but omits the
//! documentation tests and never runs an example; these are separate steps here. A failed step does not stop later
//! steps, so one run shows all failures. `--long` adds the tests that take minutes.

use std::env;
use std::ffi::OsStr;
use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::crash;
use crate::workspace::{Workspace, announce};

/// Runs every test; the long ones only with `long`.
pub(crate) fn run(long: bool) -> Result<()> {
    let workspace = Workspace::find()?;
    let notice = python_notice(runs("python3"), env::var_os("CI").as_deref())?;
    say(notice)?;

    let start = Instant::now();
    let mut tally = Tally::default();
    let mut failed = Vec::new();
    let mut steps = steps(&workspace)?;
    if long {
        steps.push(("power failures of recorded processes".to_owned(), crash::long(&workspace)));
    }
    for (name, mut command) in steps {
        announce(&workspace, &command)?;
        if !run_step(&mut command, &mut tally, &mut io::stdout()).with_context(|| format!("cannot run the {name}"))? {
            failed.push(name);
        }
    }

    let closing = format!("{}, {:.0} s", tally.text(), start.elapsed().as_secs_f64());
    if failed.is_empty() {
        say(&format!("\nAll tests passed: {closing}"))?;
        return say(notice);
    }
    for test in &tally.failures {
        say(&format!("FAILED: {test}"))?;
    }
    bail!("FAILED: {} ({closing})", failed.join(", "));
}

/// Every step with its name.
fn steps(workspace: &Workspace) -> Result<Vec<(String, Command)>> {
    let mut steps = vec![
        ("tests".to_owned(), workspace.cargo(&["test", "--workspace", "--all-targets", "--no-fail-fast"])),
        ("documentation tests".to_owned(), workspace.cargo(&["test", "--workspace", "--doc", "--no-fail-fast"])),
    ];
    // Code for wide registers has a portable version too, which other machines run. For a single package, cargo would
    // rebuild much, because other features are enabled.
    let tests =
        ["codec::", "every_real_value", "every_block_size", "filters::", "golden::", "strict::blocks", "strict::flips"];
    let mut plain = workspace.cargo(&["test", "--workspace", "--lib", "--test", "it", "--no-fail-fast", "--"]);
    plain.args(tests);
    plain.env("FPSTORE_SIMD", "off");
    steps.push(("tests without wide registers".to_owned(), plain));
    let examples = workspace.examples("fpstore");
    if examples.is_empty() {
        bail!("the library has no example to run; there should be some in examples/");
    }
    let built = workspace.build_examples()?;
    for example in examples {
        let mut command = Command::new(built.get(&example)?);
        command.current_dir(&workspace.root);
        steps.push((format!("example {example}"), command));
    }
    Ok(steps)
}

/// Runs the command, passes its output on and counts the results in it.
fn run_step(command: &mut Command, tally: &mut Tally, out: &mut impl Write) -> Result<bool> {
    let mut child = command.stdout(Stdio::piped()).spawn()?;
    let output = child.stdout.take().context("there is no output to read")?;
    for line in BufReader::new(output).split(b'\n') {
        let line = line?;
        tally.add(&String::from_utf8_lossy(&line));
        out.write_all(&line)?;
        out.write_all(b"\n")?;
        out.flush()?;
    }
    Ok(child.wait()?.success())
}

/// The sums of the `test result:` lines, and the tests that failed.
#[derive(Debug, Default, PartialEq, Eq)]
struct Tally {
    passed: u64,
    failed: u64,
    ignored: u64,
    failures: Vec<String>,
}

impl Tally {
    fn add(&mut self, line: &str) {
        if let Some(test) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.failures.push(test.to_owned());
        }
        let Some((_, counts)) = line.trim_start().strip_prefix("test result: ").and_then(|rest| rest.split_once(". "))
        else {
            return;
        };
        for count in counts.split("; ") {
            match count.split_once(' ') {
                Some((number, "passed")) => self.passed += number.parse().unwrap_or(0),
                Some((number, "failed")) => self.failed += number.parse().unwrap_or(0),
                Some((number, "ignored")) => self.ignored += number.parse().unwrap_or(0),
                _ => {}
            }
        }
    }

    fn text(&self) -> String {
        format!("{} tests passed, {} failed, {} ignored", self.passed, self.failed, self.ignored)
    }
}

/// Returns a notice about python3, which runs the independent decoder of the format; a build server must have it.
fn python_notice(installed: bool, ci: Option<&OsStr>) -> Result<&'static str> {
    let server = ci.is_some_and(|value| !["", "0", "false"].iter().any(|off| value == *off));
    match (installed, server) {
        (true, _) => Ok("python3 found: format-spec/decode.py is tested too."),
        (false, false) => {
            Ok("SKIPPED: there is no python3, so format-spec/decode.py is not tested. Install python3 to include it.")
        }
        (false, true) => {
            bail!("CI is set but there is no python3: format-spec/decode.py could not be tested. Install python3.")
        }
    }
}

fn runs(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn say(text: &str) -> Result<()> {
    writeln!(io::stdout(), "{text}")?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up_the_result_lines() {
        let mut tally = Tally::default();
        tally.add("running 3 tests");
        tally.add("test a::works ... ok");
        tally.add("test a::breaks ... FAILED");
        tally.add("test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.05s");
        tally.add("test result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.05s");
        assert_eq!(tally, Tally { passed: 15, failed: 2, ignored: 1, failures: vec!["a::breaks".into()] });
        assert_eq!(tally.text(), "15 tests passed, 2 failed, 1 ignored");
    }

    #[test]
    fn a_build_server_must_have_python() {
        assert!(python_notice(false, Some(OsStr::new("true"))).is_err());
        assert!(python_notice(true, Some(OsStr::new("true"))).is_ok());
        for off in [None, Some(""), Some("false")] {
            assert!(python_notice(false, off.map(OsStr::new)).unwrap().starts_with("SKIPPED"));
        }
    }

    #[test]
    fn a_failing_command_is_a_failed_step() {
        let mut tally = Tally::default();
        let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let mut out = Vec::new();
        assert!(run_step(Command::new(&cargo).arg("--version"), &mut tally, &mut out).unwrap());
        assert!(out.starts_with(b"cargo ") && out.ends_with(b"\n"), "the output is passed on");
        let mut wrong = Command::new(&cargo);
        wrong.args(["--quiet", "no-such-command"]).stderr(Stdio::null());
        assert!(!run_step(&mut wrong, &mut tally, &mut out).unwrap());
    }
}
