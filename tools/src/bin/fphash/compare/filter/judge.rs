//! Compares the texts behind the lines: as many lines at a time as memory allows, on all threads, with output in their
//! order.

use std::io::Write;

use anyhow::{Context, anyhow};
use fpsketch::compare::Measure;
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::documents::Content;
use fpstore_tools::number::push_json_text;
use fpstore_tools::rows::Rows;
use rayon::prelude::*;

use super::columns::Columns;
use crate::wanted::{Ids, Texts};

/// Bytes of a line beside itself and its texts.
const LINE: u64 = 256;

/// The criterion, and the texts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Judge<'a> {
    pub(super) measure: Measure,
    pub(super) threshold: f64,
    pub(super) columns: Columns,
    pub(super) ids: &'a Ids,
    pub(super) texts: &'a Texts,
    pub(super) json: bool,
}

/// A line and its two texts.
struct Match {
    /// Start of the output line, up to the value.
    line: Vec<u8>,
    texts: [String; 2],
    number: u64,
}

impl Judge<'_> {
    /// Writes the rows whose texts are similar; returns the number of rows and the number of similar ones. Rows and
    /// texts of a batch take at most `batch` bytes, unless a single row is larger.
    pub(super) fn rows(self, rows: &Rows, batch: u64, out: &mut impl Write) -> anyhow::Result<(u64, u64)> {
        let mut reader = rows.read()?;
        let (mut lines, mut similar) = (0, 0);
        let (mut waiting, mut bytes) = (Vec::new(), 0);
        while let Some(row) = reader.next_row()? {
            let mut found = match self.look_up(row) {
                Ok(found) => found,
                Err(error) => return Err(reader.here().error(error)),
            };
            found.number = reader.here().number;
            lines += 1;
            bytes += found.line.len() as u64 + found.texts.iter().map(|text| text.len() as u64).sum::<u64>() + LINE;
            waiting.push(found);
            if bytes >= batch {
                similar += self.write(&waiting, out)?;
                (waiting, bytes) = (Vec::new(), 0);
            }
        }
        similar += self.write(&waiting, out)?;
        Ok((lines, similar))
    }

    fn look_up(self, row: &[u8]) -> anyhow::Result<Match> {
        let names = self.columns.of(row).map_err(anyhow::Error::msg)?;
        let index = |name: &str| {
            self.ids
                .index(name)
                .ok_or_else(|| anyhow!("the id '{name}' was not there before; the matches have changed"))
        };
        let [a, b] = names;
        let indexes = [index(a)?, index(b)?];
        let text = |index| match self.texts.contents.read(index)? {
            Content::Text(text) => Ok(text),
            Content::Tokens(_) => Err(anyhow!("texts are compared, not tokens")),
        };
        let texts = [text(indexes[0])?, text(indexes[1])?];
        let line =
            if self.json { object(names, indexes.map(|index| self.texts.is_number(index))) } else { row.to_vec() };
        Ok(Match { line, texts, number: 0 })
    }

    /// Writes the similar rows and returns their number.
    fn write(self, matches: &[Match], out: &mut impl Write) -> anyhow::Result<u64> {
        let value = |found: &Match| {
            let [a, b] = &found.texts;
            self.measure.of(a, b).with_context(|| format!("line {} of the matches", found.number))
        };
        let values: Vec<anyhow::Result<f64>> = matches.par_iter().with_max_len(1).map(value).collect();
        let mut similar = 0;
        for (Match { line, .. }, value) in matches.iter().zip(values) {
            let value = value?;
            if self.measure.similar(value, self.threshold) {
                similar += 1;
                out.write_all(line)?;
                if self.json { writeln!(out, ",\"value\":{value:?}}}")? } else { writeln!(out, "\t{value}")? }
            }
        }
        Ok(similar)
    }
}

/// Returns the start of a JSON object.
fn object(names: [&str; 2], numbers: [bool; 2]) -> Vec<u8> {
    let mut line = format!("{{\"schema_version\":{SCHEMA_VERSION}").into_bytes();
    for ((name, number), field) in names.iter().zip(numbers).zip(["id_a", "id_b"]) {
        line.extend_from_slice(format!(",\"{field}\":").as_bytes());
        if number {
            line.extend_from_slice(name.as_bytes());
        } else {
            push_json_text(&mut line, name);
        }
    }
    line
}
