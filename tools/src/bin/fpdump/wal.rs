//! `fpdump wal`: the content of write-ahead logs, batch by batch.

use std::io::Write;
use std::path::Path;

use fpstore::inspect::{self, FrameView, LogView};
use fpstore::{Fingerprint, Id};
use fpstore_tools::common::Common;
use fpstore_tools::exit::Outcome;
use fpstore_tools::notice;
use fpstore_tools::number::{count_of, hex};
use fpstore_tools::report::{self, Columns};
use serde::Serialize;

use crate::opened::{Versioned, file_name};

#[derive(Serialize)]
struct LogRow {
    /// Kind of this object.
    kind: &'static str,
    file: String,
    number: u64,
    first_sequence: u64,
    batches: u64,
    bytes: u64,
    /// Bytes of the torn tail.
    torn_bytes: u64,
}

#[derive(Serialize)]
struct BatchRow {
    /// Kind of this object.
    kind: &'static str,
    file: String,
    offset: u64,
    bytes: u64,
    sequence: u64,
    inserted: u64,
    removed: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    operations: Option<Vec<OperationRow>>,
}

#[derive(Serialize)]
struct OperationRow {
    removed: bool,
    fingerprint: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<serde_json::Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<u64>,
}

/// Returns the width of the fingerprints in a log, or in the logs of a store.
pub(crate) fn width(path: &Path) -> fpstore::Result<u32> {
    if path.is_dir() {
        return fpstore::parameters_of(path, &fpstore_tools::threads::options()).map(|parameters| parameters.width());
    }
    LogView::open(path, &fpstore_tools::threads::options()).map(|log| log.parameters().width())
}

pub(crate) fn run<F: Fingerprint>(
    path: &Path,
    operations: bool,
    common: Common,
    out: &mut dyn Write,
) -> anyhow::Result<Outcome> {
    let json = common.json;
    let (logs, options) = (inspect::logs(path, &fpstore_tools::threads::options())?, fpstore_tools::threads::options());
    let listed = path.is_dir();
    let mut shown = 0;
    for path in logs {
        let log = if listed { LogView::open_listed(&path, &options)? } else { Some(LogView::open(&path, &options)?) };
        match log {
            Some(log) => {
                shown += 1;
                show::<F>(log, &path, operations, json, out)?;
            }
            None => {
                let file = file_name(&path);
                notice::warn(format_args!("{file} was removed meanwhile; its writes are in segments now"));
            }
        }
    }
    if shown == 0 && !json {
        writeln!(out, "no logs: all writes are in segments")?;
    }
    Ok(Outcome::Done)
}

fn show<F: Fingerprint>(
    mut log: LogView,
    path: &Path,
    operations: bool,
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let file = file_name(path);
    if !json {
        writeln!(out, "{file}: log {}, batches from number {} on", log.number(), log.first())?;
    }
    let mut columns = Columns::new(&[">batch", ">offset", ">bytes", ">inserted", ">removed"]);
    let mut batches = 0;
    while let Some(frame) = log.next_frame::<F>()? {
        batches += 1;
        let row = row(&file, &frame, operations);
        if json {
            report::json(out, &Versioned::new(row))?;
        } else if operations {
            people(&row, out)?;
        } else {
            columns.row([row.sequence, row.offset, row.bytes, row.inserted, row.removed].map(|n| n.to_string()));
        }
    }
    let (number, first_sequence, bytes) = (log.number(), log.first(), log.position());
    let torn_bytes = log.torn_bytes()?;
    if json {
        return Ok(report::json(
            out,
            &Versioned::new(LogRow { kind: "log", file, number, first_sequence, batches, bytes, torn_bytes }),
        )?);
    }
    if !operations && batches > 0 {
        columns.write(out)?;
    }
    let torn = match torn_bytes {
        0 => String::new(),
        n => format!("; torn after byte {bytes}: {} were cut short by a crash", count_of(n, "byte")),
    };
    Ok(writeln!(out, "{}{torn}", count_of(batches, "batch"))?)
}

fn row<F: Fingerprint>(file: &str, frame: &FrameView<F>, operations: bool) -> BatchRow {
    let removed = frame.operations.iter().filter(|(_, removed)| *removed).count() as u64;
    let shown = |(record, removed): &(fpstore::Record<F>, bool)| OperationRow {
        removed: *removed,
        fingerprint: hex(record.fingerprint),
        id: match &record.id {
            Id::Number(number) => Some((*number).into()),
            Id::Text(text) => Some((**text).into()),
            Id::Count(_) => None,
        },
        count: if let Id::Count(count) = record.id { Some(count) } else { None },
    };
    BatchRow {
        kind: "batch",
        file: file.to_owned(),
        offset: frame.offset,
        bytes: frame.bytes,
        sequence: frame.sequence,
        inserted: frame.operations.len() as u64 - removed,
        removed,
        operations: operations.then(|| frame.operations.iter().map(shown).collect()),
    }
}

/// Writes a line for each operation: the number of its write, + or -, and the record as `scan` prints it.
fn people(row: &BatchRow, out: &mut dyn Write) -> std::io::Result<()> {
    for operation in row.operations.iter().flatten() {
        let sign = if operation.removed { '-' } else { '+' };
        write!(out, "{}\t{sign}\t{}", row.sequence, operation.fingerprint)?;
        match (&operation.id, operation.count) {
            (Some(serde_json::Value::String(text)), _) => writeln!(out, "\t{text}")?,
            (Some(id), _) => writeln!(out, "\t{id}")?,
            (None, count) => writeln!(out, "\t{}", count.unwrap_or(1))?,
        }
    }
    Ok(())
}
