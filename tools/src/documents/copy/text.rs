//! Writes whole records of JSON and of tables.

use anyhow::bail;

use super::form::{CHANGED, Form, Kind};
use crate::documents::item::{Item, Raw};
use crate::documents::reader::Reader;
use crate::documents::{Content, Document, DocumentOptions};
use crate::number::push_json_text;
use crate::output::push_cell;

/// Bytes of a chunk.
const CHUNK: usize = 1 << 20;

/// Collects records.
pub(super) struct Texts<'a> {
    form: &'a Form,
    text: Vec<u8>,
    any: bool,
}

impl<'a> Texts<'a> {
    pub(super) fn new(form: &'a Form) -> Self {
        Self { form, text: Vec::new(), any: false }
    }

    /// Adds the record that the reader came to last, as this item.
    pub(super) fn push(&mut self, reader: &Reader, item: Item) -> anyhow::Result<()> {
        let out = &mut self.text;
        match &self.form.0 {
            Kind::Table { delimiter, .. } => {
                push_row(out, reader.cells(), *delimiter);
                return Ok(());
            }
            Kind::Json { array: true } => out.extend_from_slice(if self.any { b",\n" } else { b"[\n" }),
            _ => {}
        }
        self.any = true;
        let place = item.place.clone();
        match item.raw {
            // A string of JSON has no line ends, so these are between its parts.
            Raw::Object(object) => {
                out.extend(object.iter().map(|&byte| if matches!(byte, b'\n' | b'\r') { b' ' } else { byte }));
            }
            Raw::File(..) => match item.document(&DocumentOptions::default().columns()) {
                (_, Ok(Document { id, content: Content::Text(text), .. })) => {
                    out.extend_from_slice(b"{\"id\":");
                    id.push_json(out);
                    out.extend_from_slice(b",\"text\":");
                    push_json_text(out, &text);
                    out.push(b'}');
                }
                _ => bail!("{place}: {CHANGED}"),
            },
            _ => bail!("{place}: {CHANGED}"),
        }
        if self.form.0 == (Kind::Json { array: false }) {
            out.push(b'\n');
        }
        Ok(())
    }

    /// Returns the records so far, if they are enough to be written.
    pub(super) fn full(&mut self) -> Option<Vec<u8>> {
        (self.text.len() >= CHUNK).then(|| std::mem::replace(&mut self.text, Vec::with_capacity(CHUNK + CHUNK / 8)))
    }

    /// Returns the last records, and the end of an array.
    pub(super) fn finish(mut self) -> Vec<u8> {
        if self.form.0 == (Kind::Json { array: true }) {
            self.text.extend_from_slice(if self.any { b"\n]\n" } else { b"[]\n" });
        }
        self.text
    }
}

/// Appends a row of a table. A single empty cell is quoted, because empty rows are skipped.
pub(super) fn push_row<'a>(out: &mut Vec<u8>, cells: impl Iterator<Item = &'a [u8]>, delimiter: u8) {
    let start = out.len();
    for (number, cell) in cells.enumerate() {
        if number > 0 {
            out.push(delimiter);
        }
        push_cell(out, cell, delimiter);
    }
    if out.len() == start {
        out.extend_from_slice(b"\"\"");
    }
    out.push(b'\n');
}
