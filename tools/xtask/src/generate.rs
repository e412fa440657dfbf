//! `cargo xtask generate`: writes man pages and shell completions of all programs, for packages.

use std::fs;
use std::io::{self, Write};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::workspace::Workspace;

/// The package of the programs, and their names.
const PACKAGE: &str = "fpstore-tools";
const PROGRAMS: [&str; 7] = ["fphash", "fpload", "fpquery", "fpdedup", "fpdump", "fprepair", "fpring"];

/// A kind of text (its name in `--generate`), its folder, and the name of a program's file in it.
type Kind = (&'static str, &'static str, fn(&str) -> String);

/// All kinds.
const KINDS: [Kind; 4] = [
    ("man", "man/man1", |program| format!("{program}.1")),
    ("bash", "completions/bash", |program| program.to_owned()),
    ("zsh", "completions/zsh", |program| format!("_{program}")),
    ("fish", "completions/fish", |program| format!("{program}.fish")),
];

/// Writes all files below the target directory.
pub(crate) fn run() -> Result<()> {
    let workspace = Workspace::find()?;
    let programs = workspace.build(PACKAGE)?;
    let root = workspace.target.join("share");
    let mut out = io::stdout().lock();
    for (kind, folder, file) in KINDS {
        let folder = root.join(folder);
        fs::create_dir_all(&folder).with_context(|| format!("cannot create {}", folder.display()))?;
        for program in PROGRAMS {
            let path = programs.get(program)?;
            let output = Command::new(path).args(["--generate", kind]).output();
            let output = output.with_context(|| format!("cannot run {}", path.display()))?;
            if !output.status.success() || output.stdout.is_empty() {
                bail!("{program} --generate {kind} failed: {}", String::from_utf8_lossy(&output.stderr).trim());
            }
            let file = folder.join(file(program));
            fs::write(&file, output.stdout).with_context(|| format!("cannot write {}", file.display()))?;
            writeln!(out, "{}", workspace.short(&file).display())?;
        }
    }
    Ok(())
}
