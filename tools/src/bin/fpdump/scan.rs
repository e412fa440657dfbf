//! `fpdump scan`: all records as `fpload` reads them, by fingerprint, then id. Where there are no ids, a fingerprint has
//! as many lines as records.

use std::io::Write;
use std::path::Path;

use fpstore::{Fingerprint, Id, Parameters, Record};
use fpstore_tools::common::SCHEMA_VERSION;
use fpstore_tools::exit::Outcome;
use fpstore_tools::header;
use fpstore_tools::number::{push_decimal, push_hex, push_json_text};

use crate::opened::Opened;

pub(crate) fn run<F: Fingerprint>(path: &Path, json: bool, out: &mut dyn Write) -> anyhow::Result<Outcome> {
    let opened = Opened::<F>::new(path)?;
    let parameters = opened.parameters().clone();
    match opened {
        Opened::Store(store) => all(store.records(), &parameters, json, out)?,
        Opened::Segment(view) => all(view.records::<F>()?, &parameters, json, out)?,
    }
    Ok(Outcome::Done)
}

fn all<F: Fingerprint>(
    records: impl Iterator<Item = fpstore::Result<Record<F>>>,
    parameters: &Parameters,
    json: bool,
    out: &mut dyn Write,
) -> anyhow::Result<()> {
    let mut records = records.peekable();
    let first = records.peek().and_then(|first| first.as_ref().ok());
    if let Some(header) = header::line(parameters, first.map(|first| &first.id)).filter(|_| !json) {
        out.write_all(header.as_bytes())?;
    }
    let mut text = Vec::new();
    for record in records {
        let Record { fingerprint, id } = record?;
        text.clear();
        push(&mut text, fingerprint, &id, json);
        let lines = if let Id::Count(count) = id { count } else { 1 };
        for _ in 0..lines {
            out.write_all(&text)?;
        }
    }
    Ok(())
}

/// Appends a record as a line of its own; without an id where there is none.
pub(crate) fn push<F: Fingerprint>(text: &mut Vec<u8>, fingerprint: F, id: &Id, json: bool) {
    if json {
        text.extend_from_slice(b"{\"schema_version\":");
        push_decimal(text, SCHEMA_VERSION.into());
        text.extend_from_slice(b",\"fingerprint\":\"");
        push_hex(text, fingerprint);
        text.push(b'"');
        match id {
            Id::Number(number) => {
                text.extend_from_slice(b",\"id\":");
                push_decimal(text, *number);
            }
            Id::Text(id) => {
                text.extend_from_slice(b",\"id\":");
                push_json_text(text, id);
            }
            Id::Count(_) => {}
        }
        text.extend_from_slice(b"}\n");
        return;
    }
    push_hex(text, fingerprint);
    match id {
        Id::Number(number) => {
            text.push(b'\t');
            push_decimal(text, *number);
        }
        Id::Text(id) => {
            text.push(b'\t');
            text.extend_from_slice(id.as_bytes());
        }
        Id::Count(_) => {}
    }
    text.push(b'\n');
}
