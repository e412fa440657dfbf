//! Something of every document, a line each, in their order.

use std::ffi::OsString;
use std::io::{self, BufWriter, Write};

use fpstore_tools::common::Common;
use fpstore_tools::documents::{self, Document, DocumentOptions, Inputs, Location};
use fpstore_tools::memory;
use fpstore_tools::number::{bytes, count_of};
use fpstore_tools::progress::Progress;

/// Memory of the program where it is not told.
pub(crate) const MEMORY: u64 = 512 << 20;

/// Writes `header`, if there is one, and what `make` appends for each document, about `made` bytes. Text for people goes to standard error.
pub(crate) fn write(
    arguments: &[OsString],
    options: &DocumentOptions,
    memory: Option<u64>,
    made: u64,
    common: Common,
    header: Option<&str>,
    make: impl Fn(&Document, &Location, &mut Vec<u8>) + Sync,
) -> anyhow::Result<()> {
    // What is wrong with the inputs is said before anything is written.
    let inputs = Inputs::new(arguments, options)?;
    let mut out = BufWriter::with_capacity(1 << 16, io::stdout().lock());
    if let Some(header) = header {
        writeln!(out, "{header}")?;
    }
    let make = |document: Document, place: &Location| {
        let mut line = Vec::new();
        make(&document, place, &mut line);
        Ok(line)
    };
    each(&inputs, memory, made, common, make, |lines| {
        for line in lines {
            out.write_all(&line)?;
        }
        Ok(())
    })?;
    Ok(out.flush()?)
}

/// Calls `make` for each document on all threads, and `take` with what came of it, in their order.
pub(crate) fn each<T: Send>(
    inputs: &Inputs,
    memory: Option<u64>,
    made: u64,
    common: Common,
    make: impl Fn(Document, &Location) -> anyhow::Result<T> + Sync,
    take: impl FnMut(Vec<T>) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let progress = if common.shows_progress() { Progress::bytes(inputs.length()) } else { Progress::hidden() };
    // What is made of documents on the way takes as much as they do.
    let memory = memory::of_load(Some(memory.unwrap_or(MEMORY))) / 2;
    let counts = documents::each(inputs, memory, made, &progress, make, take)?;
    progress.finish();
    if common.shows_progress() {
        let (documents, text) = (count_of(counts.documents, "document"), bytes(counts.bytes));
        let _ = writeln!(io::stderr().lock(), "{documents}, {text} of text");
    }
    Ok(())
}

/// The first line of fingerprint input.
pub(crate) fn header(width: Option<usize>, hasher: &str) -> String {
    match width {
        Some(width) => format!("#fpstore width={width} hasher={hasher}"),
        None => format!("#fpstore hasher={hasher}"),
    }
}

/// Begins a JSON object with the version of the schema and the id of a document.
pub(crate) fn begin_json(document: &Document, line: &mut Vec<u8>) {
    line.extend_from_slice(
        format!("{{\"schema_version\":{},\"id\":", fpstore_tools::common::SCHEMA_VERSION).as_bytes(),
    );
    document.id.push_json(line);
}
