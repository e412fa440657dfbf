//! Whether python3 is there, which runs the independent decoder of the format; a build server must have it.

use std::ffi::OsStr;
use std::process::{Command, Stdio};

use anyhow::{Result, bail};

/// Returns a notice about python3.
pub(super) fn notice(ci: Option<&OsStr>) -> Result<&'static str> {
    text(runs("python3"), ci)
}

fn text(installed: bool, ci: Option<&OsStr>) -> Result<&'static str> {
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
