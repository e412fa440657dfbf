//! `fpdump scan`: all records as `fpload` reads them, by fingerprint, then id.

use std::io::Write;
use std::path::Path;

use fpstore::Record;
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::exit::Outcome;
use fpstore_tools::number::{push_decimal, push_hex};

use crate::opened::Opened;

pub(crate) fn run(path: &Path, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    match Opened::new(path)? {
        Opened::Store(store) => all(store.records(), json, out)?,
        Opened::Segment(view) => all(view.records(), json, out)?,
    }
    Ok(Outcome::Done)
}

fn all(records: impl Iterator<Item = fpstore::Result<Record>>, json: bool, out: &mut dyn Write) -> anyhow::Result<()> {
    let mut text = Vec::new();
    for record in records {
        text.clear();
        push(&mut text, record?, json);
        out.write_all(&text)?;
    }
    Ok(())
}

/// Appends a record as a line of its own.
pub(crate) fn push(text: &mut Vec<u8>, record: Record, json: bool) {
    if json {
        text.extend_from_slice(b"{\"schema_version\":");
        push_decimal(text, SCHEMA_VERSION.into());
        text.extend_from_slice(b",\"fingerprint\":\"");
        push_hex(text, record.fingerprint);
        text.extend_from_slice(b"\",\"id\":");
        push_decimal(text, record.id);
        text.extend_from_slice(b"}\n");
    } else {
        push_hex(text, record.fingerprint);
        text.push(b'\t');
        push_decimal(text, record.id);
        text.push(b'\n');
    }
}
