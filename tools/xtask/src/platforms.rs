//! Other platforms, as far as one Linux machine can look at them.
//!
//! * **aarch64 Linux**: tests run under qemu, those of codecs, formats, plans, segments and queries, and of the live
//!   store.
//! * **Windows**: clippy of the libraries, the programs and their tests, with MinGW's C compiler for zstd. Parquet and
//!   jieba, which take most of the build time, are left out.
//! * **macOS**: the same. Its C compiler cannot be installed here; `true` stands in for it, because code that is only
//!   checked is never linked.
//!
//! Warnings are errors everywhere. Each step installs missing targets and compilers with rustup and apt-get, or fails
//! and names the command that installs them.

mod install;

use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace::{SUITE, Workspace, announce};

/// A platform, and the programs and commands that check it.
struct Platform {
    name: &'static str,
    target: &'static str,
    /// Programs, each with the Debian package that has it.
    programs: &'static [(&'static str, &'static str)],
    /// Environment variables.
    variables: &'static [(&'static str, &'static str)],
    /// Cargo's subcommands and their arguments.
    commands: &'static [(&'static str, &'static [&'static str])],
}

/// Lints of the library and its tests.
const LINTS: (&str, &[&str]) =
    ("clippy", &["--package", "fpstore", "--package", "fpstore-it", "--lib", "--tests", "--", "-D", "warnings"]);
/// Lints of the other packages. Of their dependencies only zstd needs a C compiler, as with the library.
const LINTS_OF_PROGRAMS: (&str, &[&str]) = (
    "clippy",
    &[
        "--package",
        "fpring",
        "--package",
        "fpsketch",
        "--package",
        "fpstore-tools",
        "--no-default-features",
        "--lib",
        "--bins",
        "--tests",
        "--",
        "-D",
        "warnings",
    ],
);

/// Tests that do not run under emulation. Processes that are started again or killed: the machine cannot run their file
/// itself. Sweeps: qemu keeps memory of each thread that has ended, and these start some hundred thousand.
const NOT_EMULATED: [&str; 4] = ["live::killed", "live::readers::twenty", "live::faults", "live::repair"];

const PLATFORMS: [Platform; 3] = [
    Platform {
        name: "aarch64 Linux",
        target: "aarch64-unknown-linux-gnu",
        programs: &[
            ("aarch64-linux-gnu-gcc", "gcc-aarch64-linux-gnu libc6-dev-arm64-cross"),
            ("qemu-aarch64", "qemu-user"),
        ],
        variables: &[
            ("CC_aarch64_unknown_linux_gnu", "aarch64-linux-gnu-gcc"),
            ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", "aarch64-linux-gnu-gcc"),
            ("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", "qemu-aarch64 -L /usr/aarch64-linux-gnu"),
            ("RUSTFLAGS", "-D warnings"),
            ("FPSTORE_SEQUENCES", "20"),
        ],
        commands: &[
            ("test", &["--package", "fpstore", "--lib", "--", "codec::", "format::", "plan::", "segment::", "query::"]),
            ("test", &["--package", "fpstore-it", "--", "live::"]),
        ],
    },
    Platform {
        name: "Windows",
        target: "x86_64-pc-windows-gnu",
        programs: &[("x86_64-w64-mingw32-gcc", "gcc-mingw-w64-x86-64")],
        variables: &[("CC_x86_64_pc_windows_gnu", "x86_64-w64-mingw32-gcc")],
        commands: &[LINTS, LINTS_OF_PROGRAMS],
    },
    Platform {
        name: "macOS",
        target: "aarch64-apple-darwin",
        programs: &[],
        variables: &[
            ("CC_aarch64_apple_darwin", "true"),
            ("AR_aarch64_apple_darwin", "true"),
            // Otherwise zstd's build asks Apple's tools for it.
            ("SDKROOT", "/"),
        ],
        commands: &[LINTS, LINTS_OF_PROGRAMS],
    },
];

/// Looks at each platform, and returns those with faults, one line each.
pub(crate) fn run(workspace: &Workspace) -> Result<Vec<String>> {
    let mut failed = Vec::new();
    for platform in &PLATFORMS {
        if let Err(error) = look_at(workspace, platform) {
            failed.push(format!("{}: {error:#}", platform.name));
        }
    }
    Ok(failed)
}

/// Runs all commands of a platform, even after one has failed.
fn look_at(workspace: &Workspace, platform: &Platform) -> Result<()> {
    install::target(platform.target)?;
    for (program, packages) in platform.programs {
        install::program(program, packages)?;
    }
    let mut failed = 0;
    for &arguments in platform.commands {
        let mut command = command(workspace, platform, arguments);
        announce(workspace, &command)?;
        failed += usize::from(!command.status().context("cannot run cargo")?.success());
    }
    ensure!(failed == 0, "{failed} of {} commands failed", platform.commands.len());
    Ok(())
}

/// Returns the command with target and profile after cargo's subcommand.
fn command(workspace: &Workspace, platform: &Platform, (subcommand, rest): (&str, &[&str])) -> Command {
    let mut command = workspace.cargo(&[subcommand, "--profile", SUITE]);
    command.args(["--target", platform.target]).args(rest);
    if subcommand == "test" {
        command.args(NOT_EMULATED.iter().flat_map(|test| ["--skip", test]));
    }
    command.envs(platform.variables.iter().copied());
    // The lints of one platform must not make another one build again.
    command.env("CARGO_TARGET_DIR", workspace.target.join("platforms"));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_name_target_and_profile() {
        let workspace = Workspace::find().unwrap();
        let windows = PLATFORMS.iter().find(|platform| platform.name == "Windows").unwrap();
        let command = command(&workspace, windows, windows.commands[0]);
        let arguments: Vec<_> = command.get_args().map(|argument| argument.to_str().unwrap()).collect();
        let expected = "clippy --profile suite --target x86_64-pc-windows-gnu --package fpstore --package fpstore-it \
                        --lib --tests -- -D warnings";
        assert_eq!(arguments.join(" "), expected);
    }
}
