//! Writes tables as TSV, CSV, NDJSON or Parquet, to standard output or to a file.
//!
//! Threads fill [`Rows`] and format them there; an [`Output`] writes them in the order in which it receives them. A
//! file appears under its name only when it is complete; its name determines format and compression. CSV begins with a
//! row of names, the other text formats with the first row of the table.

mod apart;
mod evidence;
mod file;
#[cfg_attr(not(feature = "parquet"), path = "parquet_missing.rs")]
mod parquet;
mod rows;
mod used_rows;

pub use apart::check_apart;
pub use evidence::{EVIDENCE, KEY_EVIDENCE, VERIFIED};
pub use file::File;
pub(crate) use rows::push_cell;
pub use rows::{Column, Rows, Style};
pub use used_rows::UsedRows;

use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, bail};

use crate::input::Compression;

/// Format of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Tsv,
    Csv,
    Ndjson,
    Parquet,
}

/// The destination of rows.
pub struct Output {
    columns: &'static [Column],
    format: Format,
    sink: Sink,
}

enum Sink {
    Standard(io::Stdout),
    Text(Box<File>),
    Parquet(Box<parquet::Writer>),
}

impl Output {
    /// Opens the file that an option names, or standard output, for a table with these columns. `width` is that of the
    /// fingerprints; `texts` tells for each column of ids whether they are texts.
    ///
    /// # Errors
    ///
    /// If the name has no known extension, or the file cannot be created.
    pub fn open(
        (option, path): (&str, Option<&Path>),
        json: bool,
        columns: &'static [Column],
        width: u32,
        texts: &[bool],
    ) -> anyhow::Result<Self> {
        let Some(path) = path else {
            let format = if json { Format::Ndjson } else { Format::Tsv };
            let out = io::stdout();
            widen_pipe(&out);
            return Ok(Self { columns, format, sink: Sink::Standard(out) });
        };
        let (format, compression) = format_of(option, path, json)?;
        let file = File::create(path, compression).with_context(|| format!("{option} {}", path.display()))?;
        let sink = match format {
            Format::Parquet => Sink::Parquet(Box::new(parquet::Writer::new(file, columns, width, texts)?)),
            _ => Sink::Text(Box::new(file)),
        };
        let mut output = Self { columns, format, sink };
        if format == Format::Csv {
            let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
            output.write_text(format!("{}\n", names.join(",")).as_bytes())?;
        }
        Ok(output)
    }

    /// Writes the header line of fingerprint input, if the format is TSV.
    ///
    /// # Errors
    ///
    /// Errors of the file.
    pub fn write_header(&mut self, line: &str) -> anyhow::Result<()> {
        if self.format == Format::Tsv { self.write_text(line.as_bytes()) } else { Ok(()) }
    }

    /// Style of the rows for this output.
    #[must_use]
    pub fn style(&self) -> Style {
        match self.format {
            Format::Tsv => Style::Tsv,
            Format::Csv => Style::Csv,
            Format::Ndjson => Style::Json(self.columns),
            Format::Parquet => Style::Columns,
        }
    }

    /// Writes rows.
    ///
    /// # Errors
    ///
    /// Errors of the file.
    pub fn write(&mut self, rows: &Rows) -> anyhow::Result<()> {
        match &mut self.sink {
            Sink::Parquet(writer) => writer.write(rows),
            _ => self.write_text(rows.text()),
        }
    }

    /// Writes the text of rows, if the output is text.
    ///
    /// # Errors
    ///
    /// Errors of the file.
    pub fn write_text(&mut self, text: &[u8]) -> anyhow::Result<()> {
        match &mut self.sink {
            Sink::Standard(out) => out.write_all(text)?,
            Sink::Text(file) => file.write_all(text).with_context(|| file.name())?,
            Sink::Parquet(_) => {}
        }
        Ok(())
    }

    /// Completes the output; a file appears under its name.
    ///
    /// # Errors
    ///
    /// Errors of the file.
    pub fn finish(self) -> anyhow::Result<()> {
        match self.sink {
            Sink::Standard(mut out) => Ok(out.flush()?),
            Sink::Text(file) => file.finish(),
            Sink::Parquet(writer) => writer.finish(),
        }
    }
}

/// Widens standard output, if it is a pipe: the programs at its ends then wait for each other less often. A smaller
/// pipe does as well.
#[cfg(target_os = "linux")]
fn widen_pipe(out: &io::Stdout) {
    /// As much as each process may have by default (`/proc/sys/fs/pipe-max-size`).
    const BYTES: usize = 1 << 20;
    if rustix::pipe::fcntl_getpipe_size(out).is_ok_and(|bytes| bytes < BYTES) {
        let _ = rustix::pipe::fcntl_setpipe_size(out, BYTES);
    }
}

/// Only Linux has pipes that can be widened.
#[cfg(not(target_os = "linux"))]
fn widen_pipe(_: &io::Stdout) {}

/// Returns the format and compression that a file's name implies.
fn format_of(option: &str, path: &Path, json: bool) -> anyhow::Result<(Format, Compression)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let (name, compression) = match name.rsplit_once('.') {
        Some((name, "gz")) => (name, Compression::Gzip),
        Some((name, "zst")) => (name, Compression::Zstd),
        _ => (name.as_str(), Compression::None),
    };
    let format = match name.rsplit_once('.') {
        Some((_, "tsv" | "txt")) => Format::Tsv,
        Some((_, "csv")) => Format::Csv,
        Some((_, "ndjson" | "jsonl")) => Format::Ndjson,
        Some((_, "parquet")) if compression == Compression::None => Format::Parquet,
        Some((_, "parquet")) => {
            bail!("{option} {}: Parquet is compressed by itself; leave the second ending off", path.display())
        }
        // Devices and pipes have no extension.
        _ if path.exists() && !path.is_file() => {
            if json {
                Format::Ndjson
            } else {
                Format::Tsv
            }
        }
        _ => bail!(
            "{option} {}: the ending of the name tells the format; use .tsv, .txt, .csv, .ndjson or .jsonl, each also \
             with .gz or \
             .zst, or .parquet",
            path.display()
        ),
    };
    Ok((format, compression))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings() {
        let of = |name: &str| format_of("--output", Path::new(name), false).ok();
        assert_eq!(of("a.tsv"), Some((Format::Tsv, Compression::None)));
        assert_eq!(of("d/a.b.NDJSON.GZ"), Some((Format::Ndjson, Compression::Gzip)));
        assert_eq!(of("a.jsonl.zst"), Some((Format::Ndjson, Compression::Zstd)));
        assert_eq!(of("a.txt"), Some((Format::Tsv, Compression::None)));
        assert_eq!(of("a.csv.gz"), Some((Format::Csv, Compression::Gzip)));
        assert_eq!(of("a.parquet"), Some((Format::Parquet, Compression::None)));
        for wrong in ["a", "a.xls", "a.parquet.gz", "a.gz", "tsv"] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }
}
