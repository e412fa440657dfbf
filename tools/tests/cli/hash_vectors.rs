//! Values that other systems computed, and documents, for the tests of `fphash`.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Place, fphash, json_lines, stdout};

/// Returns the path of a file in the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// Returns the path of the 3,000 real documents.
pub(crate) fn real_documents() -> PathBuf {
    repository("tests/data/rust-book-documents.ndjson.gz")
}

/// Returns the objects of a file in the repository.
pub(crate) fn objects(path: &str) -> Vec<Value> {
    let file = File::open(repository(path)).unwrap();
    let bytes: Box<dyn Read> =
        if path.ends_with(".gz") { Box::new(flate2::read::GzDecoder::new(file)) } else { Box::new(file) };
    BufReader::new(bytes).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// Returns values that another system computed.
pub(crate) fn vectors(name: &str) -> Vec<Value> {
    objects(&format!("sketch/tests/vectors/{name}"))
}

/// Formats documents as NDJSON.
pub(crate) fn ndjson(documents: impl IntoIterator<Item = (Value, Value)>) -> String {
    documents.into_iter().map(|(id, text)| json!({"id": id, "text": text}).to_string() + "\n").collect()
}

/// Returns the JSON output of `fphash` for documents, in their order. Documents without features are included, because
/// the systems have values for them.
pub(crate) fn hashed(options: &[&str], input: &Path) -> Vec<Value> {
    json_lines(&stdout(fphash().args(options).args(["--min-features", "0", "--json"]).arg(input)))
}

/// Creates a file with the short texts, and one with their tokens as Python's `str.split()` splits them.
pub(crate) fn short_texts(place: &Place) -> (PathBuf, PathBuf) {
    let texts = vectors("texts.ndjson");
    let tokens = texts.iter().map(|line| {
        let tokens: Vec<&str> = line["text"].as_str().unwrap().split_whitespace().collect();
        json!({"text_id": line["text_id"], "tokens": tokens}).to_string() + "\n"
    });
    let tokens = place.file("tokens.ndjson", tokens.collect::<String>());
    (repository("sketch/tests/vectors/texts.ndjson"), tokens)
}

/// Returns the result for one document.
pub(crate) fn of_id<'a>(results: &'a [Value], id: &Value) -> &'a Value {
    results.iter().find(|result| result["id"] == *id).unwrap()
}
