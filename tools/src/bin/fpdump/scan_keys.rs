//! `fpdump scan` of a key index: a JSON object for each record, as `fpload --kind keys` reads them, in the order in
//! which they were loaded.

use std::io::Write;
use std::path::Path;

use anyhow::bail;
use fpstore::{IdKind, KeyIndex};
use fpstore_tools::number::{push_decimal, push_json_id};
use fpstore_tools::output::{Column, Output, Style};

/// For the kind of the ids only: the rows are written here.
const COLUMNS: &[Column] = &[Column::id("id")];

/// Bytes that are written together.
const GATHERED: usize = 1 << 16;

pub(crate) fn run(index: &KeyIndex, output: Option<&Path>) -> anyhow::Result<()> {
    let texts = index.parameters().ids() == IdKind::Text;
    let mut output = Output::open(("--output", output), true, COLUMNS, 64, &[texts])?;
    if !matches!(output.style(), Style::Json(_)) {
        bail!("--output: records with keys are written as .ndjson, .ndjson.gz or .ndjson.zst");
    }
    let mut text = Vec::new();
    if let Some(hasher) = index.parameters().hasher() {
        writeln!(text, "#fpstore hasher={hasher}")?;
    }
    let mut failed = Ok(());
    let visited = index.visit_records(|id, keys, sketch| {
        text.extend_from_slice(b"{\"id\":");
        push_json_id(&mut text, id);
        text.extend_from_slice(b",\"keys\":[");
        for (number, key) in keys.iter().enumerate() {
            if number > 0 {
                text.push(b',');
            }
            push_decimal(&mut text, *key);
        }
        text.push(b']');
        if !sketch.is_empty() {
            text.extend_from_slice(b",\"sketch\":\"");
            sketch.iter().for_each(|byte| text.extend_from_slice(format!("{byte:02x}").as_bytes()));
            text.push(b'"');
        }
        text.extend_from_slice(b"}\n");
        if text.len() >= GATHERED {
            failed = output.write_text(&text);
            text.clear();
        }
        failed.is_ok()
    });
    failed?;
    visited?;
    output.write_text(&text)?;
    output.finish()
}
