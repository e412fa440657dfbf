//! Generates man pages and shell completions from the definitions of the options.
//!
//! Every program answers `--generate man`, and `--generate` with the name of a shell, by writing the text. `cargo xtask
//! generate` runs all of them and writes the files that a package installs.

use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;

use anyhow::anyhow;
use clap::{CommandFactory, ValueEnum};
use clap_complete::Shell;

use crate::exit::{Outcome, finish};

/// The option in front of the kind of text.
const OPTION: &str = "--generate";

/// Writes the text that `--generate KIND` asks for, if these are the only arguments; otherwise returns `None`.
#[must_use]
pub fn requested<A: CommandFactory>(program: &str) -> Option<ExitCode> {
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let [option, kind] = arguments.as_slice() else { return None };
    (option == OPTION).then(|| finish(program, generate::<A>(program, &kind.to_string_lossy())))
}

fn generate<A: CommandFactory>(program: &str, kind: &str) -> anyhow::Result<Outcome> {
    let mut text = Vec::new();
    if kind == "man" {
        man::<A>(&mut text)?;
    } else {
        let shell = Shell::from_str(kind, true)
            .map_err(|_| anyhow!("{OPTION} {kind}: expected man, bash, elvish, fish, powershell or zsh"))?;
        clap_complete::generate(shell, &mut A::command(), program, &mut text);
    }
    std::io::stdout().lock().write_all(&text)?;
    Ok(Outcome::Done)
}

/// Writes the page of the program, followed by those of its subcommands, in one file.
fn man<A: CommandFactory>(text: &mut Vec<u8>) -> std::io::Result<()> {
    let mut command = A::command().disable_help_subcommand(true);
    command.build();
    clap_mangen::Man::new(command.clone()).render(text)?;
    for subcommand in command.get_subcommands() {
        let name = format!("{} {}", command.get_name(), subcommand.get_name());
        let page = clap_mangen::Man::new(subcommand.clone().bin_name(name));
        page.render_synopsis_section(text)?;
        page.render_description_section(text)?;
        page.render_options_section(text)?;
        page.render_extra_section(text)?;
    }
    Ok(())
}
