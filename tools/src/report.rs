//! Tables and facts for people, JSON for programs.
//!
//! Reports are data and go to the writer that the caller passes. Tables have no lines and no colours, so grep, awk and
//! a terminal read them alike.

use std::io::{self, Write};

use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use serde::Serialize;

/// A table whose columns are aligned to the left, or to the right if the heading begins with `>`.
#[derive(Debug)]
pub struct Columns {
    table: Table,
    right: Vec<bool>,
}

impl Columns {
    /// Returns a table without rows.
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

    /// Adds a row.
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
    /// Errors of the writer.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        for line in self.table.lines() {
            let line = line.strip_prefix(' ').unwrap_or(&line);
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

/// A table with fixed column widths, for too many rows to keep until all are measured.
#[derive(Debug)]
pub struct FixedColumns {
    /// The width of each column, and whether it is aligned to the right.
    columns: Vec<(usize, bool)>,
}

impl FixedColumns {
    /// Writes the headings. Each has the width of its column, and is aligned to the right if it begins with `>`.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn new(headings: &[(&str, usize)], out: &mut dyn Write) -> io::Result<Self> {
        let columns = headings.iter().map(|(heading, width)| (*width, heading.starts_with('>'))).collect();
        let columns = Self { columns };
        columns.row(headings.iter().map(|(heading, _)| heading.trim_start_matches('>').to_owned()), out)?;
        Ok(columns)
    }

    /// Writes a row, without trailing blanks. A cell that is too long shifts the cells after it.
    ///
    /// # Errors
    ///
    /// Errors of the writer.
    pub fn row<I: IntoIterator<Item = String>>(&self, cells: I, out: &mut dyn Write) -> io::Result<()> {
        let aligned = cells.into_iter().zip(&self.columns).map(|(cell, (width, right))| match right {
            true => format!("{cell:>width$}"),
            false => format!("{cell:<width$}"),
        });
        writeln!(out, "{}", aligned.collect::<Vec<_>>().join("  ").trim_end())
    }
}

/// Writes `name  value` lines with aligned values.
///
/// # Errors
///
/// Errors of the writer.
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
/// Errors of the writer.
pub fn json<T: Serialize>(out: &mut dyn Write, object: &T) -> io::Result<()> {
    // Converts to `io::Error`, so that a closed pipe is still recognised.
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
    fn columns_of_fixed_width_are_written_at_once() {
        let mut out = Vec::new();
        let columns = FixedColumns::new(&[(">size", 5), ("name", 6), ("kind", 0)], &mut out).unwrap();
        columns.row(["1".to_owned(), "a".to_owned(), "x".to_owned()], &mut out).unwrap();
        columns.row(["123456".to_owned(), "b".to_owned(), String::new()], &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), " size  name    kind\n    1  a       x\n123456  b\n");
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
