//! `fpdump hex`: every byte of a file with its meaning.
//!
//! The fields come from the code that reads files, so the output shows what the reader sees. If it finds damage, it has
//! printed everything before it.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use fpstore::inspect::{self, Field};
use fpstore::{Error, ErrorKind};
use fpstore_tools::exit::Outcome;
use fpstore_tools::report;
use serde::Serialize;

use crate::opened::{Versioned, file_name};

/// Bytes of a line.
const ROW: usize = 16;

#[derive(Serialize)]
struct FieldRow<'a> {
    file: String,
    offset: u64,
    name: &'a str,
    value: &'a str,
    bytes: String,
}

pub(crate) fn run(path: &Path, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let whole_store = path.is_dir();
    let mut current = PathBuf::new();
    let mut failed = None;
    let shown = inspect::explain(path, &fpstore_tools::threads::options(), &mut |file, field| {
        let new_file = std::mem::replace(&mut current, file.to_owned()) != file;
        let result = if json {
            report::json(out, &Versioned::new(row(file, &field)))
        } else {
            let title = (whole_store && new_file).then(|| format!("# {}", file.display()));
            people(title, &field, out)
        };
        result.map_err(|error| {
            failed = Some(error);
            Error::new(ErrorKind::Io, "cannot write")
        })
    });
    // An error of the output takes precedence over the library's error about it.
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(shown.map(|()| Outcome::Done)?),
    }
}

fn row<'a>(file: &Path, field: &'a Field) -> FieldRow<'a> {
    FieldRow {
        file: file_name(file),
        offset: field.offset,
        name: &field.name,
        value: &field.value,
        bytes: digits(&field.bytes, ""),
    }
}

fn people(title: Option<String>, field: &Field, out: &mut dyn Write) -> io::Result<()> {
    if let Some(title) = title {
        writeln!(out, "{title}")?;
    }
    let mut meaning = match field.value.as_str() {
        "" => format!("  {}", field.name),
        value => format!("  {}: {value}", field.name),
    };
    let mut offset = field.offset;
    for bytes in field.bytes.chunks(ROW) {
        let line = format!("{offset:08x}  {:width$}{meaning}", digits(bytes, " "), width = 3 * ROW - 1);
        writeln!(out, "{}", line.trim_end())?;
        offset += bytes.len() as u64;
        meaning.clear();
    }
    Ok(())
}

fn digits(bytes: &[u8], between: &str) -> String {
    let pairs: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    pairs.join(between)
}
