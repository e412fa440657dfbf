//! The destination of sketches.

use std::io::{self, BufWriter, Stdout, Write};
use std::path::Path;

use anyhow::{Context, bail};

use super::parquet::Writer;
use super::sketch::{Kind, Row, Style};
use crate::documents::Fault;
use crate::header::trailer;
use crate::input::format::ending_of;
use crate::input::{Compression, HASHER, Header};
use crate::output::File;

/// The destination of sketches.
///
/// The last line of a text is a trailer that the first line announces; lines of keys have no such announcement. JSON
/// has neither, but each object with keys names the hasher.
pub struct Sink {
    style: Style,
    /// Member that ends each JSON object.
    member: String,
    to: To,
    /// Number of lines of records so far.
    lines: u64,
}

/// The end of a JSON object.
const OBJECT_END: &str = "}\n";

enum To {
    Standard(BufWriter<Stdout>),
    File(Box<File>),
    Parquet(Box<Writer>),
}

impl Sink {
    /// Opens the file, or standard output, for sketches of that kind, and writes `header` if the format has a place for
    /// it.
    ///
    /// # Errors
    ///
    /// If the name has no known extension, or the file cannot be created.
    pub fn open(path: Option<&Path>, json: bool, kind: Kind, header: &Header) -> anyhow::Result<Self> {
        let style = path.map_or(Ok(if json { Style::Json } else { Style::Tsv }), |path| style_of(path, json))?;
        let to = match path.map(|path| File::named("--output", path)).transpose()? {
            None => To::Standard(BufWriter::with_capacity(1 << 16, io::stdout())),
            Some(file) if style == Style::Parquet => To::Parquet(Box::new(Writer::new(file, kind, header)?)),
            Some(file) => To::File(Box::new(file)),
        };
        let hasher = header.hasher.as_ref().filter(|_| (style, kind) == (Style::Json, Kind::Keys));
        let member = hasher
            .map_or_else(String::new, |hasher| format!(",\"{HASHER}\":{}", serde_json::Value::from(hasher.as_str())));
        let mut sink = Self { style, member, to, lines: 0 };
        match (style, kind) {
            (Style::Tsv, Kind::Keys) => sink.text(format!("{header}\n").as_bytes())?,
            (Style::Tsv, _) => {
                let header = Header { end: true, ..header.clone() };
                sink.text(format!("{header}\n").as_bytes())?;
            }
            (Style::Csv, _) => sink.text(format!("{}\n", kind.names()).as_bytes())?,
            (Style::Json | Style::Parquet, _) => {}
        }
        Ok(sink)
    }

    /// Style of the rows for this sink.
    #[must_use]
    pub fn style(&self) -> Style {
        self.style
    }

    /// Rejects a row that the format cannot hold.
    ///
    /// # Errors
    ///
    /// If the id has another type than the column of a Parquet file.
    pub fn check(&mut self, row: &Row) -> Result<(), Fault> {
        match (row, &mut self.to) {
            (Row::Cells(id, _), To::Parquet(writer)) => writer.check(id),
            _ => Ok(()),
        }
    }

    /// Writes a row.
    ///
    /// # Errors
    ///
    /// Errors of the file.
    pub fn write(&mut self, row: Row) -> anyhow::Result<()> {
        match (row, &mut self.to) {
            (Row::Text(mut text), _) => {
                self.lines += memchr::memchr_iter(b'\n', &text).count() as u64;
                if !self.member.is_empty() {
                    let end = text.len().saturating_sub(OBJECT_END.len());
                    text.splice(end..end, self.member.bytes());
                }
                self.text(&text)
            }
            (Row::Cells(id, sketch), To::Parquet(writer)) => writer.push(id, sketch),
            (Row::Cells(..), _) => Ok(()),
        }
    }

    fn text(&mut self, text: &[u8]) -> anyhow::Result<()> {
        match &mut self.to {
            To::Standard(out) => Ok(out.write_all(text)?),
            To::File(file) => file.write_all(text).with_context(|| file.name()),
            To::Parquet(_) => Ok(()),
        }
    }

    /// Completes the output; a file appears under its name.
    ///
    /// # Errors
    ///
    /// Errors of the file.
    pub fn finish(mut self) -> anyhow::Result<()> {
        if self.style == Style::Tsv {
            self.text(trailer(self.lines).as_bytes())?;
        }
        match self.to {
            To::Standard(mut out) => Ok(out.flush()?),
            To::File(file) => file.finish(),
            To::Parquet(writer) => writer.finish(),
        }
    }
}

/// Returns the format that a file's name implies.
fn style_of(path: &Path, json: bool) -> anyhow::Result<Style> {
    let compressed = Compression::of(path) != Compression::None;
    Ok(match ending_of(path).as_str() {
        "tsv" | "txt" | "hex" => Style::Tsv,
        "ndjson" | "jsonl" => Style::Json,
        "csv" => Style::Csv,
        "parquet" if !compressed => Style::Parquet,
        "parquet" => bail!("--output {}: Parquet is compressed by itself; leave the second ending off", path.display()),
        // Devices and pipes have no extension.
        _ if path.exists() && !path.is_file() && json => Style::Json,
        _ if path.exists() && !path.is_file() => Style::Tsv,
        _ => bail!(
            "--output {}: the ending tells the format: .tsv, .txt, .hex, .ndjson, .csv or .parquet, all but the last \
             also \
             with .gz or .zst",
            path.display()
        ),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        let of = |name: &str| style_of(Path::new(name), false).ok();
        for (name, style) in [
            ("a.tsv", Style::Tsv),
            ("a.TXT.gz", Style::Tsv),
            ("d.csv/a.hex", Style::Tsv),
            ("a.jsonl.zst", Style::Json),
            ("a.csv", Style::Csv),
            ("a.parquet", Style::Parquet),
        ] {
            assert_eq!(of(name), Some(style), "{name}");
        }
        for wrong in ["a", "a.parquet.gz", "a.gz", "tsv", "a.u64"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
