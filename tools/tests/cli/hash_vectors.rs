//! What the tests of `fphash` share: values that other systems made, and documents for it.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::support::{Place, fphash, json_lines, stdout};

/// A file of the repository.
pub(crate) fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)
}

/// The 3,000 real documents.
pub(crate) fn real_documents() -> PathBuf {
    repository("tests/data/rust-book-documents.ndjson.gz")
}

/// The objects of a file of the repository.
pub(crate) fn objects(path: &str) -> Vec<Value> {
    let file = File::open(repository(path)).unwrap();
    let bytes: Box<dyn Read> =
        if path.ends_with(".gz") { Box::new(flate2::read::GzDecoder::new(file)) } else { Box::new(file) };
    BufReader::new(bytes).lines().map(|line| serde_json::from_str(&line.unwrap()).unwrap()).collect()
}

/// Values that another system made.
pub(crate) fn vectors(name: &str) -> Vec<Value> {
    objects(&format!("sketch/tests/vectors/{name}"))
}

/// Documents as NDJSON.
pub(crate) fn ndjson(documents: impl IntoIterator<Item = (Value, Value)>) -> String {
    documents.into_iter().map(|(id, text)| json!({"id": id, "text": text}).to_string() + "\n").collect()
}

/// What `fphash` says of documents with options, as JSON; in their order. Of those without features, too: the systems have values
/// for them.
pub(crate) fn hashed(options: &[&str], input: &Path) -> Vec<Value> {
    json_lines(&stdout(fphash().args(options).args(["--min-features", "0", "--json"]).arg(input)))
}

/// A file with the short texts, and one with their tokens as Python's `str.split()` gives them.
pub(crate) fn short_texts(place: &Place) -> (PathBuf, PathBuf) {
    let texts = vectors("texts.ndjson");
    let tokens = texts.iter().map(|line| {
        let tokens: Vec<&str> = line["text"].as_str().unwrap().split_whitespace().collect();
        json!({"text_id": line["text_id"], "tokens": tokens}).to_string() + "\n"
    });
    let tokens = place.file("tokens.ndjson", tokens.collect::<String>());
    (repository("sketch/tests/vectors/texts.ndjson"), tokens)
}

/// The result of one document.
pub(crate) fn of_id<'a>(results: &'a [Value], id: &Value) -> &'a Value {
    results.iter().find(|result| result["id"] == *id).unwrap()
}
