//! Tests every value of every file in `tests/vectors`. (Three more files are read beside the code that they test.)

#![allow(clippy::unwrap_used, reason = "tests may")]

mod bkdr;
mod datasketch;
mod datatrove;
mod lucene;
mod packages;
#[path = "../../../tests/it/points.rs"]
#[allow(dead_code, clippy::print_stdout, reason = "shared with the tests of the library")]
mod points;
mod string_hash;

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use flate2::read::GzDecoder;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// Reads the lines of a file.
fn lines<T: DeserializeOwned>(path: &str) -> Vec<T> {
    let file = File::open(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(path)).unwrap();
    let bytes: Box<dyn Read> = if path.ends_with(".gz") { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
    BufReader::new(bytes).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// Returns the short texts by name.
fn texts() -> HashMap<String, String> {
    #[derive(Deserialize)]
    struct Line {
        text_id: String,
        text: String,
    }
    lines::<Line>("vectors/texts.ndjson").into_iter().map(|line| (line.text_id, line.text)).collect()
}

/// Splits a text as Python's `str.split()` does.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let splitter = fpsketch::Splitter { features: fpsketch::Features::Tokens, space: fpsketch::Space::Unicode };
    splitter.each(text.into(), |token| tokens.push(token.to_owned()));
    tokens
}
