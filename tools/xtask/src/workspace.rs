//! The workspace, its target directory and its programs, as reported by cargo.

use std::env;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// The profile of tests (`Cargo.toml`).
pub(crate) const SUITE: &str = "suite";

/// The checkout from which this program was built.
pub(crate) struct Workspace {
    /// The directory of the workspace's `Cargo.toml`.
    pub(crate) root: PathBuf,
    /// The target directory, wherever `CARGO_TARGET_DIR` or the configuration puts it.
    pub(crate) target: PathBuf,
    metadata: Value,
}

impl Workspace {
    /// Asks `cargo metadata`.
    pub(crate) fn find() -> Result<Self> {
        // Set at run time under `cargo xtask`; the fallback is for a program started directly.
        let package = env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
        let output = Command::new(cargo())
            .args(["metadata", "--no-deps", "--format-version=1", "--manifest-path"])
            .arg(Path::new(&package).join("Cargo.toml"))
            .stderr(Stdio::inherit())
            .output()
            .context("cannot run cargo; install Rust from https://rustup.rs")?;
        if !output.status.success() {
            bail!("`cargo metadata` failed ({})", output.status);
        }
        let metadata: Value = serde_json::from_slice(&output.stdout).context("`cargo metadata` printed no JSON")?;
        let path = |key: &str| {
            let text = metadata.get(key).and_then(Value::as_str);
            text.map(PathBuf::from).with_context(|| format!("`cargo metadata` names no {key}"))
        };
        Ok(Self { root: path("workspace_root")?, target: path("target_directory")?, metadata })
    }

    /// Returns a cargo command that runs at the root of the workspace.
    pub(crate) fn cargo(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(cargo());
        command.current_dir(&self.root).args(arguments);
        command
    }

    /// Returns the path relative to the root of the workspace.
    pub(crate) fn short<'a>(&self, path: &'a Path) -> &'a Path {
        path.strip_prefix(&self.root).unwrap_or(path)
    }

    /// Returns the names of the examples of a package.
    pub(crate) fn examples(&self, package: &str) -> Vec<String> {
        let packages = self.metadata.get("packages").and_then(Value::as_array);
        let targets =
            packages.into_iter().flatten().filter(|p| has_text(p, "name", package)).filter_map(|p| p.get("targets"));
        let mut names: Vec<String> = targets
            .filter_map(Value::as_array)
            .flatten()
            .filter(|target| is_kind(target, "example"))
            .filter_map(|target| target.get("name")?.as_str().map(str::to_owned))
            .collect();
        names.sort();
        names
    }

    /// Builds the programs of a package in release mode and returns their paths.
    pub(crate) fn build(&self, package: &str) -> Result<Programs> {
        self.build_programs(&["--release", "--bins", "--package", package])
    }

    /// Builds some programs of a package quickly: in the profile `quick`, without features that take long to build.
    pub(crate) fn build_quickly(&self, package: &str, programs: &[&str]) -> Result<Programs> {
        let what = ["--profile", "quick", "--no-default-features", "--package", package];
        let programs: Vec<&str> = programs.iter().flat_map(|program| ["--bin", program]).collect();
        self.build_programs(&[&what[..], &programs].concat())
    }

    /// Builds the programs of a package in the profile of the tests and returns their directory.
    pub(crate) fn build_for_tests(&self, package: &str) -> Result<PathBuf> {
        let programs = self.build_programs(&["--profile", SUITE, "--bins", "--package", package])?;
        let first = programs.0.first().and_then(|(_, path)| path.parent());
        first.map(Path::to_owned).with_context(|| format!("{package} has no programs"))
    }

    /// Builds the examples of all packages and returns their paths.
    pub(crate) fn build_examples(&self) -> Result<Programs> {
        self.build_programs(&["--profile", SUITE, "--workspace", "--examples"])
    }

    fn build_programs(&self, what: &[&str]) -> Result<Programs> {
        Ok(Programs(executables(&self.messages(&[&["build"], what].concat())?)))
    }

    /// Runs a build and returns cargo's messages in JSON.
    pub(crate) fn messages(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.cargo(arguments);
        announce(self, &command)?;
        command.arg("--message-format=json-render-diagnostics").stderr(Stdio::inherit());
        let output = command.output().context("cannot run cargo")?;
        if !output.status.success() {
            bail!("the build failed; the compiler's messages are above");
        }
        String::from_utf8(output.stdout).context("cargo's messages are not UTF-8")
    }
}

/// The programs of a build, by name.
pub(crate) struct Programs(Vec<(String, PathBuf)>);

impl Programs {
    pub(crate) fn get(&self, name: &str) -> Result<&Path> {
        let found = self.0.iter().find(|(n, _)| n == name);
        found.map(|(_, path)| path.as_path()).with_context(|| format!("the build made no program `{name}`"))
    }
}

/// Returns the executables in cargo's JSON messages.
fn executables(messages: &str) -> Vec<(String, PathBuf)> {
    let artifact = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let target = message.get("target").filter(|target| is_kind(target, "bin") || is_kind(target, "example"))?;
        let path = message.get("executable")?.as_str()?;
        Some((target.get("name")?.as_str()?.to_owned(), PathBuf::from(path)))
    };
    messages.lines().filter_map(artifact).collect()
}

fn has_text(value: &Value, key: &str, text: &str) -> bool {
    value.get(key).and_then(Value::as_str) == Some(text)
}

fn is_kind(target: &Value, kind: &str) -> bool {
    let kinds = target.get("kind").and_then(Value::as_array);
    kinds.into_iter().flatten().any(|k| k.as_str() == Some(kind))
}

/// The cargo that runs this program.
pub(crate) fn cargo() -> OsString {
    env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// Prints the command on a line of its own, as typed at the root of the workspace.
pub(crate) fn announce(workspace: &Workspace, command: &Command) -> Result<()> {
    let mut line = String::from("\n$");
    let program = Path::new(command.get_program());
    // Without the full path of cargo.
    let program = if program.file_stem().is_some_and(|n| n == "cargo") { Path::new("cargo") } else { program };
    write!(line, " {}", workspace.short(program).display())?;
    for argument in command.get_args() {
        write!(line, " {}", argument.display())?;
    }
    let mut out = io::stdout().lock();
    writeln!(out, "{line}")?;
    out.flush()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_executables_among_cargo_messages() {
        let messages = r#"
{"reason":"compiler-artifact","target":{"kind":["lib"],"name":"fpstore"},"executable":null}
{"reason":"compiler-artifact","target":{"kind":["bin"],"name":"fpload"},"executable":"/t/release/fpload"}
{"reason":"build-finished","success":true}"#;
        assert_eq!(executables(messages), [("fpload".to_owned(), PathBuf::from("/t/release/fpload"))]);
    }

    #[test]
    fn knows_this_workspace() {
        let workspace = Workspace::find().unwrap();
        assert!(workspace.root.join("tools/xtask/src/workspace.rs").is_file());
        assert!(workspace.target.is_absolute());
        assert_eq!(workspace.short(&workspace.root.join("a/b")), Path::new("a/b"));
    }
}
