//! How well sketches find near-duplicates: precision and recall against the exact Jaccard similarity, over all pairs.
//!
//! `cargo bench -p fpsketch --bench quality` prints tables, with `-- --json` one JSON object for each point.
//!
//! The documents are those of two corpora, `tests/data/rust-book-documents.ndjson.gz` and `tests/data/manuals.ndjson.gz`. A pair is
//! right if its sets of five tokens in a row have a Jaccard similarity of at least one half. A token is what stands between
//! white space, in a Chinese or Japanese text every character. Nothing is random but for the seeds of MinHash and of texts that are
//! drawn by chance, which are fixed: every run prints the same.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a bench"
)]

mod data;
mod lengths;
mod minhash;
mod report;
mod sentences;
mod simhash;
mod ties;
mod truth;

use data::{Corpus, Data, Points};
use ties::Rule;

/// One document in so many is looked at by `cargo test --benches`, which runs this without `--bench`.
const FEW: usize = 25;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let given = |name: &str| arguments.iter().any(|argument| argument == name);
    let quick = !given("--bench");
    let corpora = Corpus::ALL.map(|corpus| Data::read(corpus, if quick { FEW } else { 1 }));
    let results: Vec<Points> = corpora
        .iter()
        .flat_map(|data| [simhash::measure(data), minhash::measure(data), sentences::measure(data)].concat())
        .collect();
    let errors = minhash::errors(&corpora[0]);
    let lengths = lengths::measure(&corpora, quick, &Rule::ALL);
    if given("--json") {
        report::json(&results, &errors, &lengths);
    } else {
        corpora.iter().for_each(|data| report::tables(data, &results));
        report::errors(&errors);
        report::lengths(&lengths);
    }
}
