//! Reads tables of weights and lists of stop words.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context;
use fpsketch::Table;

use crate::input::Place;

/// Reads a table of weights: a line `feature<TAB>weight` for each feature.
pub(super) fn read(path: &Path) -> anyhow::Result<Table> {
    let mut table = Table::new(1.0);
    lines(path, |line, first| Ok(table.line(line, first)?))?;
    Ok(table)
}

/// Sets the weight of every feature in a file to zero.
pub(super) fn stop(table: &mut Table, path: &Path) -> anyhow::Result<()> {
    lines(path, |line, _| {
        if !line.is_empty() {
            table.set(line, 0.0);
        }
        Ok(())
    })
}

/// Calls `take` with every line, without its line end, and whether it is the first.
fn lines(path: &Path, mut take: impl FnMut(&str, bool) -> anyhow::Result<()>) -> anyhow::Result<()> {
    let file = File::open(path).with_context(|| path.display().to_string())?;
    for (line, number) in BufReader::new(file).lines().zip(1..) {
        let place = || Place { input: path.display().to_string().into(), unit: "line", number };
        let line = line.with_context(|| place().to_string())?;
        let line = if number == 1 { line.strip_prefix('\u{feff}').unwrap_or(&line) } else { &line };
        take(line.strip_suffix('\r').unwrap_or(line), number == 1).map_err(|error| place().error(error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_and_lists() {
        let dir = tempfile::tempdir().unwrap();
        let (weights, words, bad) = (dir.path().join("w"), dir.path().join("s"), dir.path().join("b"));
        std::fs::write(&weights, "\u{feff}#default\t2\r\na b\t5\r\n").unwrap();
        std::fs::write(&words, "the\n\nof\n").unwrap();
        std::fs::write(&bad, "a\t1\nb\n").unwrap();
        let mut table = read(&weights).unwrap();
        stop(&mut table, &words).unwrap();
        assert_eq!(["a b", "the", "of", "x"].map(|feature| table.get(feature)), [5.0, 0.0, 0.0, 2.0]);
        let error = read(&bad).unwrap_err().to_string();
        assert!(error.ends_with("b: line 2: expected a feature, a TAB and its weight"), "{error}");
        assert!(format!("{:#}", read(&dir.path().join("no")).unwrap_err()).contains("no: No such file"));
    }
}
