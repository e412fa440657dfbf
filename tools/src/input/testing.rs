//! Inputs for tests.

use std::io::Write;

use fpstore::Fingerprint;

use super::{Input, InputOptions, RawId, Reader, Source};
use crate::progress::Progress;

/// Compresses the content as the extension says, for `.gz` and `.zst`.
pub(crate) fn packed(name: &str, content: &[u8]) -> Vec<u8> {
    if name.ends_with(".gz") {
        let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gz.write_all(content).unwrap();
        return gz.finish().unwrap();
    }
    if name.ends_with(".zst") { zstd::encode_all(content, 1).unwrap() } else { content.to_vec() }
}

/// Opens a file of that name and content.
pub(super) fn input_with(name: &str, content: &[u8], options: &InputOptions) -> anyhow::Result<Input> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(name);
    std::fs::write(&path, packed(name, content)).unwrap();
    // An open file outlives its name.
    Input::open(&Source::File(path), options, &Progress::hidden())
}

/// Opens a file of that name and content, without options.
pub(super) fn input(name: &str, content: &[u8]) -> anyhow::Result<Input> {
    input_with(name, content, &InputOptions::default())
}

/// Returns the reader of a file of that name and content.
pub(super) fn reader<F: Fingerprint>(name: &str, content: &[u8]) -> Reader<F> {
    input(name, content).unwrap().reader().unwrap()
}

/// Returns options that name the columns.
pub(super) fn columns(fingerprint: Option<&str>, id: Option<&str>) -> InputOptions {
    InputOptions {
        fingerprint_column: fingerprint.map(str::to_owned),
        id_column: id.map(str::to_owned),
        ..InputOptions::default()
    }
}

/// Returns the records of an input, with `#` before ids that are numbers, or the first error as text.
pub(super) fn records<F: Fingerprint>(input: anyhow::Result<Input>) -> Result<Vec<(F, Option<String>)>, String> {
    let mut reader: Reader<F> = input.and_then(Input::reader).map_err(|error| format!("{error:#}"))?;
    let mut records = Vec::new();
    while let Some(entry) = reader.next_entry().map_err(|error| format!("{error:#}"))? {
        let id = match entry.id {
            RawId::None => None,
            RawId::Number(number) => Some(format!("#{number}")),
            RawId::Text(text) => Some(String::from_utf8_lossy(text).into_owned()),
        };
        records.push((entry.fingerprint, id));
    }
    Ok(records)
}
