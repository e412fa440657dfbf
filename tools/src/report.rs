//! Tables and facts for people, and JSON for programs.
//!
//! Reports are data: they go to the writer that the caller gives. Tables have no lines and no colours, so that grep,
//! awk and a terminal all read them.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

/// A table whose columns are aligned to the left, or to the right where `headings` begin with `>`.
#[derive(Debug)]
pub struct Columns {
    table: Table,
    right: Vec<bool>,
}

impl Columns {
    /// An empty table.
    #[must_use]
    pub fn new(headings: &[&str]) -> Self {
        let mut table = Table::new();
        table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Disabled);
        let right: Vec<bool> = headings.iter().map(|heading| heading.starts_with('>')).collect();
        let mut columns = Self { table, right };
        let row = columns.aligned(headings.iter().map(|heading| heading.trim_start_matches('>').to_owned()));
        columns.table.set_header(row);
        columns
    }

    /// One more row.
    pub fn row<I: IntoIterator<Item = String>>(&mut self, cells: I) {
        let row = self.aligned(cells.into_iter());
        self.table.add_row(row);
    }

    fn aligned(&self, cells: impl Iterator<Item = String>) -> Vec<Cell> {
        let side = |i: usize| match self.right.get(i) {
            Some(true) => CellAlignment::Right,
            _ => CellAlignment::Left,
        };
        cells.enumerate().map(|(i, cell)| Cell::new(cell).set_alignment(side(i))).collect()
    }

    /// Writes the table, without trailing blanks.
    ///
    /// # Errors
    ///
    /// Those of the writer.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.table.lines() {
            let line = line.strip_prefix(' ').unwrap_or(&line);
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// Writes `name  value` lines with the values under each other.
///
/// # Errors
///
/// Those of the writer.
pub fn facts(out: &mut dyn Write, facts: &[(&str, String)]) -> io::Result<()> {
    let width = facts.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, value) in facts {
        writeln!(out, "{name:width$}  {value}")?;
    }
    Ok(())
}

/// Writes one JSON object on a line of its own.
///
/// # Errors
///
/// Those of the writer.
pub fn json<T: Serialize>(out: &mut dyn Write, object: &T) -> io::Result<()> {
    // By way of `io::Error`, so that a closed pipe is still known as one.
    serde_json::to_writer(&mut *out, object).map_err(io::Error::from)?;
    writeln!(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned() {
        let mut columns = Columns::new(&["name", ">size"]);
        columns.row(["a".to_owned(), "1,000".to_owned()]);
        columns.row(["long name".to_owned(), "2".to_owned()]);
        let mut text = Vec::new();
        columns.write(&mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(text, "name        size\na          1,000\nlong name      2\n");
    }

    #[test]
    fn a_closed_pipe_stays_one_through_json() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        assert_eq!(json(&mut Closed, &1).unwrap_err().kind(), io::ErrorKind::BrokenPipe);
    }
}
