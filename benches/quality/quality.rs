//! How well sketches find near-duplicates: precision and recall against the exact Jaccard similarity, over all pairs.
//!
//! `cargo bench -p fpsketch --bench quality` prints tables, with `-- --json` one JSON object for each point.
//!
//! The documents are the 3,000 of `tests/data/rust-book-documents.ndjson.gz`. A pair is right if its sets of five white-space
//! tokens in a row have a Jaccard similarity of at least one half (20,625 of 4,498,500 pairs). Nothing is random but for the
//! seeds of MinHash, which are fixed: every run prints the same.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a bench"
)]

mod data;
mod minhash;
mod report;
mod sentences;
mod simhash;

use data::Data;

/// Documents that are looked at by `cargo test --benches`, which runs this without `--bench`.
const FEW: usize = 120;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    let data = Data::read(if given("--bench") { usize::MAX } else { FEW });
    let results = [simhash::measure(&data), minhash::measure(&data), sentences::measure(&data)].concat();
    let errors = minhash::errors(&data);
    if given("--json") {
        report::json(&results, &errors);
    } else {
        report::tables(&data, &results, &errors);
    }
}
