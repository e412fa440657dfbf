//! Packs the crates as for publication, and checks that tests and their data stay in the repository.

use anyhow::{Context, Result, ensure};

use crate::workspace::{Workspace, announce};

const PACKAGES: [&str; 4] = ["fpstore", "fpring", "fpsketch", "fpstore-tools"];
/// Members of the workspace that are not published.
const UNPUBLISHED: [&str; 6] =
    ["xtask", "fpstore-benches", "fpstore-bindings", "fpstore-c", "fpstore-it", "fpstore-python"];
/// Folders for developers, at any depth. Unit tests are among the sources, as in `src/minhash/tests.rs`.
const LEFT_OUT: [&str; 5] = ["benches", "fuzz", "golden", "proptest-regressions", "tests"];

/// Packs all crates, and returns those with faults, one line each.
pub(super) fn run(workspace: &Workspace) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    // A run before a commit packs the work tree. Compiling the packages would repeat the build of the workspace.
    let mut pack = workspace.cargo(&["package", "--workspace", "--no-verify", "--allow-dirty", "--quiet"]);
    pack.args(UNPUBLISHED.iter().flat_map(|package| ["--exclude", package]));
    announce(workspace, &pack)?;
    if !pack.status().context("cannot run cargo")?.success() {
        failed.push("cargo package".to_owned());
    }
    for package in PACKAGES {
        let mut list = workspace.cargo(&["package", "--list", "--allow-dirty", "--package", package]);
        let output = list.output().context("cannot run cargo")?;
        ensure!(output.status.success(), "`cargo package --list` failed: {}", String::from_utf8_lossy(&output.stderr));
        let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
        failed.extend(out_of_place(&names).map(|name| format!("the package {package} contains {name}")));
    }
    Ok(failed)
}

/// Returns the names that do not belong into a package, of a list with one name a line.
fn out_of_place(names: &str) -> impl Iterator<Item = &str> {
    names.lines().filter(|name| {
        let folders = name.rsplit_once(['/', '\\']).map_or("", |(folders, _)| folders);
        folders.split(['/', '\\']).any(|folder| LEFT_OUT.contains(&folder))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_and_their_data_are_found_in_the_list() {
        let names = "Cargo.toml\nREADME.md\nsrc/minhash/tests.rs\nsrc/benches.rs\nexamples/seen_before.rs\n";
        assert_eq!(out_of_place(names).count(), 0);
        let stray =
            ["benches/batch.rs", "tests/golden/good/texts/MANIFEST", "src/tests/data.rs", "golden\\a", "fuzz/run"];
        let all = format!("{names}{}\nsrc/lib.rs\n", stray.join("\n"));
        assert_eq!(out_of_place(&all).collect::<Vec<_>>(), stray);
    }
}
