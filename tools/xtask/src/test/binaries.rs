//! The tests and benches that cargo has built, and how to run each.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Result;
use serde_json::Value;

use crate::workspace::{SUITE, Workspace};

/// A built test or bench.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TestBinary {
    /// The package's name.
    package: String,
    /// The directory of the package, where cargo runs its tests.
    directory: PathBuf,
    /// The kind of target in cargo's words, and its name.
    kind: String,
    target: String,
    path: PathBuf,
}

impl TestBinary {
    /// Returns the name that the summary shows.
    pub(super) fn name(&self) -> String {
        let Self { package, target, .. } = self;
        match self.kind.as_str() {
            "lib" => format!("{package}: unit tests"),
            "bin" => format!("{package}: unit tests of {target}"),
            "bench" => format!("{package}: bench {target}"),
            _ => format!("{package}: {target}"),
        }
    }

    /// Returns the command that runs it as cargo does.
    pub(super) fn command(&self) -> Command {
        let mut command = Command::new(&self.path);
        command.current_dir(&self.directory).env("CARGO_MANIFEST_DIR", &self.directory);
        command
    }

    /// Whether its tests reach the code for wide registers.
    pub(super) fn has_wide_registers(&self) -> bool {
        self.package == "fpstore-it" || self.package == "fpstore" && self.kind == "lib"
    }

    /// Whether it is the test of recorded processes.
    pub(super) fn is_crash(&self) -> bool {
        self.package == "fpstore" && self.target == "crash"
    }
}

/// Returns the tests in cargo's JSON messages.
fn built(messages: &str) -> Vec<TestBinary> {
    let artifact = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        if message.get("profile")?.get("test")?.as_bool() != Some(true) {
            return None;
        }
        let target = message.get("target")?;
        let directory = Path::new(message.get("manifest_path")?.as_str()?).parent()?.to_owned();
        // The end of an id such as `path+file:///a/tools#fpstore-tools@0.1.0`, or of `path+file:///a/xtask#0.1.0`.
        let id = message.get("package_id")?.as_str()?;
        let package = match id.rsplit_once('#')?.1.split_once('@') {
            Some((name, _)) => name.to_owned(),
            None => directory.file_name()?.to_str()?.to_owned(),
        };
        Some(TestBinary {
            package,
            directory,
            kind: target.get("kind")?.as_array()?.first()?.as_str()?.to_owned(),
            target: target.get("name")?.as_str()?.to_owned(),
            path: message.get("executable")?.as_str()?.into(),
        })
    };
    messages.lines().filter_map(artifact).collect()
}

/// Builds the tests of all packages and the programs that they run; the benches too with `long`.
pub(super) fn build(workspace: &Workspace, long: bool) -> Result<Vec<TestBinary>> {
    // Nothing is said of targets: then that of the module for Python, whose tests are in Python, is none. As a program it
    // would lack the interpreter.
    let mut arguments = vec!["test", "--no-run", "--profile", SUITE, "--workspace"];
    if long {
        arguments.extend(["--exclude", "fpstore-python", "--lib", "--bins", "--tests", "--examples", "--benches"]);
    }
    Ok(built(&workspace.messages(&arguments)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_tests_among_cargo_messages() {
        let messages = r#"
{"reason":"compiler-artifact","package_id":"path+file:///w/tools#fpstore-tools@0.1.0","manifest_path":"/w/tools/Cargo.toml","target":{"kind":["bin"],"name":"fpload"},"profile":{"test":false},"executable":"/t/fpload"}
{"reason":"compiler-artifact","package_id":"path+file:///w/tools#fpstore-tools@0.1.0","manifest_path":"/w/tools/Cargo.toml","target":{"kind":["test"],"name":"cli"},"profile":{"test":true},"executable":"/t/cli-1"}
{"reason":"compiler-artifact","package_id":"path+file:///w/xtask#0.1.0","manifest_path":"/w/xtask/Cargo.toml","target":{"kind":["bin"],"name":"xtask"},"profile":{"test":true},"executable":"/t/xtask-1"}
{"reason":"build-finished","success":true}"#;
        let tests = built(messages);
        let names: Vec<String> = tests.iter().map(TestBinary::name).collect();
        assert_eq!(names, ["fpstore-tools: cli", "xtask: unit tests of xtask"]);
        assert_eq!(tests[0].directory, Path::new("/w/tools"));
        assert_eq!(tests[0].command().get_program(), "/t/cli-1");
    }
}
