//! `cargo xtask python`: the package for Python, built as its users get it, and tested.
//!
//! The tests run in environments of their own below `target/python`, with pinned packages: one with pytest alone, one
//! with everything that the package works with, one that checks types, one with Ray, Spark and datatrove.
//! `cargo xtask test` runs them with the module that was built for the tests, as jobs of their own; this task builds the
//! wheel and tests that (`wheel.rs`).

mod commands;
mod environment;
mod wheel;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::workspace::{SUITE, Workspace};
use commands::{succeed, with_programs};
use environment::{Environment, PACKAGE};
pub(crate) use wheel::run;

/// The checks, each with an environment of its name.
pub(crate) const CHECKS: [&str; 4] = ["full", "plain", "types", "engines"];

/// Builds the module in the profile of the tests, puts it into the package, and returns its path.
pub(crate) fn build_module(workspace: &Workspace) -> Result<PathBuf> {
    // With the whole workspace and its examples: then dependencies have the features that the build of the tests gave
    // them, and nothing but the module is compiled.
    let messages = workspace.messages(&["build", "--profile", SUITE, "--workspace", "--lib", "--examples"])?;
    let library = messages.lines().find_map(library).context("the build made no module for Python")?;
    let end = if cfg!(windows) { "pyd" } else { "abi3.so" };
    let module = workspace.root.join(PACKAGE).join("fpstore").join(format!("_native.{end}"));
    let same = fs::read(&module).ok().zip(fs::read(&library).ok()).is_some_and(|(old, new)| old == new);
    if !same {
        // A file that a process has mapped must not change.
        let _ = fs::remove_file(&module);
        fs::copy(&library, &module).with_context(|| format!("cannot write {}", module.display()))?;
    }
    Ok(module)
}

/// The library in one of cargo's messages.
fn library(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    let target = message.get("target")?;
    let is_cdylib = target.get("kind")?.as_array()?.iter().any(|kind| kind == "cdylib");
    if !is_cdylib || target.get("name")? != "_native" {
        return None;
    }
    let files = message.get("filenames")?.as_array()?.iter().filter_map(Value::as_str).map(PathBuf::from);
    files
        .into_iter()
        .find(|file| file.extension().is_some_and(|end| ["so", "dll", "dylib"].iter().any(|one| end == *one)))
}

/// One of the checks of the module in the package: what `cargo xtask test` runs as a job.
pub(crate) fn check(name: &str, programs: &Path) -> Result<()> {
    let workspace = Workspace::find()?;
    ensure!(CHECKS.contains(&name), "there is no check {name}");
    let place = Environment::of(&workspace, name)?;
    let package = workspace.root.join(PACKAGE);
    if name == "types" {
        let mut pyright = place.module("basedpyright");
        pyright.current_dir(&package);
        let mut stubs = place.module("mypy.stubtest");
        stubs
            .args(["fpstore._native", "--ignore-disjoint-bases", "--mypy-config-file", "pyproject.toml"])
            .current_dir(&package);
        return [pyright, stubs].into_iter().try_for_each(|command| succeed(&workspace, command));
    }
    let mut tests = place.module("pytest");
    tests.args(["-q", "-p", "no:cacheprovider", "--durations=3", "-rs"]).current_dir(&package);
    if name == "engines" {
        tests.arg("tests/engines");
    }
    succeed(&workspace, with_programs(tests, programs))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_module_among_cargo_messages() {
        let message = r#"{"reason":"compiler-artifact","target":{"kind":["cdylib"],"name":"NAME"},"filenames":["/t/lib_native.so"]}"#;
        assert_eq!(library(&message.replace("NAME", "_native")), Some("/t/lib_native.so".into()));
        assert_eq!(library(&message.replace("NAME", "other")), None);
        assert_eq!(library("no JSON"), None);
    }
}
