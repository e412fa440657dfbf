//! Whether python3 is there, which runs the independent decoder of the format and the tests of the package for Python; a
//! build server must have it.

use std::env;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::jobs::Job;
use crate::python;
use crate::workspace::Workspace;

/// Returns a notice about python3.
pub(super) fn notice(ci: Option<&OsStr>) -> Result<&'static str> {
    text(runs("python3"), ci)
}

fn text(installed: bool, ci: Option<&OsStr>) -> Result<&'static str> {
    let server = ci.is_some_and(|value| !["", "0", "false"].iter().any(|off| value == *off));
    match (installed, server) {
        (true, _) => Ok("python3 found: format-spec/decode.py and bindings/python are tested too."),
        (false, false) => Ok(
            "SKIPPED: there is no python3, so format-spec/decode.py and bindings/python are not tested. Install python3 to include it.",
        ),
        (false, true) => {
            bail!(
                "CI is set but there is no python3: format-spec/decode.py and bindings/python could not be tested. Install python3."
            )
        }
    }
}

/// Builds the module for Python and returns its checks, if python3 is there. `programs` is the directory of the programs.
/// With `long` they take many more examples, and one of them is the endurance of the package.
pub(super) fn jobs(workspace: &Workspace, programs: &Path, long: bool) -> Result<Vec<Job>> {
    if !runs("python3") {
        return Ok(Vec::new());
    }
    python::build_module(workspace)?;
    let this = env::current_exe().context("cannot find xtask")?;
    let job = |check: &&str| {
        let mut command = Command::new(&this);
        command.args(["python", check]).arg(programs);
        if long {
            command.env("FPSTORE_LONG", "1");
        }
        Job { name: format!("Python: {check}"), command }
    };
    Ok(python::CHECKS.iter().map(job).collect())
}

fn runs(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_server_must_have_python() {
        assert!(text(false, Some(OsStr::new("true"))).is_err());
        assert!(text(true, Some(OsStr::new("true"))).is_ok());
        for off in [None, Some(""), Some("false")] {
            assert!(text(false, off.map(OsStr::new)).unwrap().starts_with("SKIPPED"));
        }
    }
}
