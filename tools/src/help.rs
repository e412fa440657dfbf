//! `--help` at a width that every terminal has.
//!
//! Text is wrapped at 80 columns, or at the width of a narrower terminal. The text after the options is written in
//! lines of any length: prose is filled; in an example, a line that begins with blanks, a remark that does not fit
//! beside the command moves to its own line.

use clap::Command;

/// Columns of a line.
const WIDTH: usize = 80;

/// Returns the command with wrapped help.
pub(crate) fn fitted(mut command: Command) -> Command {
    command = command.max_term_width(WIDTH);
    if let Some(text) = command.get_after_help().map(ToString::to_string) {
        command = command.after_help(fit(&text));
    }
    command.mut_subcommands(fitted)
}

/// Wraps a text at [`WIDTH`] columns.
fn fit(text: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut prose = String::new();
    for line in text.lines().chain([""]) {
        if !line.is_empty() && !line.starts_with(' ') {
            let space = if prose.is_empty() { "" } else { " " };
            prose = format!("{prose}{space}{line}");
            continue;
        }
        if !prose.is_empty() {
            wrap(&mut lines, "", &prose, "");
            prose.clear();
        }
        example(&mut lines, line);
    }
    lines.pop();
    lines.join("\n")
}

/// Wraps a command with its remark, or a line of indented prose.
fn example(lines: &mut Vec<String>, line: &str) {
    let text = line.trim_start();
    let indent = line.get(..line.len() - text.len()).unwrap_or_default();
    if columns(line) <= WIDTH {
        return lines.push(line.to_owned());
    }
    if !text.starts_with("fp") {
        return wrap(lines, indent, text, "");
    }
    let (command, remark) = text.split_once("  ").unwrap_or((text, ""));
    wrap(lines, indent, command, " \\");
    if !remark.is_empty() {
        wrap(lines, &format!("{indent}    "), remark.trim_start(), "");
    }
}

/// Appends a text in indented lines; `mark` ends all but the last.
fn wrap(lines: &mut Vec<String>, indent: &str, text: &str, mark: &str) {
    let mut line = indent.to_owned();
    for word in text.split(' ') {
        let begun = line.trim_start().is_empty();
        if !begun && columns(&line) + 1 + columns(word) + mark.len() > WIDTH {
            lines.push(line + mark);
            line = format!("{indent}{}", if mark.is_empty() { "" } else { "  " });
        } else if !begun {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.push(line);
}

fn columns(text: &str) -> usize {
    text.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_is_filled_and_examples_are_kept() {
        let long = "word ".repeat(30);
        let text = format!(
            "One\ntwo.\n\n{long}\n\nExamples:\n  fpload a b     short\n  fpload {}     {long}",
            "argument ".repeat(9).trim_end()
        );
        let found = fit(&text);
        let lines: Vec<&str> = found.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= 80), "{found}");
        assert_eq!(lines[..2], ["One two.", ""]);
        assert!(found.contains("\n\nExamples:\n  fpload a b     short\n  fpload argument"), "{found}");
        assert!(found.contains(" \\\n    argument argument\n      word word"), "{found}");
        assert_eq!(fit("a\n\n  b"), "a\n\n  b");
    }
}
