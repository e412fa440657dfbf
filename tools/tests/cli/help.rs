//! `--help` fits 80 columns without a terminal.

use assert_cmd::Command;

use crate::support::{fpdedup, fpdump, fphash, fpload, fpquery, fprepair, fpring, stdout};

fn help(program: fn() -> Command, arguments: &[&str]) -> String {
    let mut command = program();
    let text = stdout(command.env_remove("COLUMNS").args(arguments));
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{arguments:?}: {line}");
    }
    text
}

#[test]
fn no_line_is_too_long() {
    for program in [fpload, fpquery, fpdedup, fpdump, fprepair, fphash, fpring] {
        let text = help(program, &["--help"]);
        help(program, &["-h"]);
        let (_, commands) = text.split_once("\nCommands:\n").unwrap_or_default();
        let names = commands.lines().take_while(|line| !line.is_empty()).filter_map(|line| {
            let name = line.strip_prefix("  ")?;
            (!name.starts_with(' ')).then(|| name.split(' ').next().unwrap_or_default())
        });
        for name in names.filter(|name| *name != "help") {
            let text = help(program, &[name, "--help"]);
            assert!(text.contains("Options:"), "{name}: {text}");
            help(program, &[name, "-h"]);
        }
    }
}

/// The text after the options is present, with its own lines.
#[test]
fn examples_keep_their_lines() {
    let text = help(fpload, &["--help"]);
    assert!(
        text.contains("\nExamples:\n  fpload --create store fingerprints.tsv       make a store and load a file\n")
    );
    assert!(text.contains("1.5GiB: powers of 1024"), "{text}");
    let text = help(fphash, &["simhash", "--help"]);
    assert!(text.contains("\n  fphash simhash docs.ndjson.gz > docs.hex\n"), "{text}");
}
