//! Quality of sketches as detectors of near-duplicates: precision and recall against the exact Jaccard similarity, over
//! all pairs.
//!
//! `cargo bench --bench quality` prints tables, with `-- --json` one JSON object for each point.
//!
//! The documents come from two corpora, `tests/data/rust-book-documents.ndjson.gz` and `tests/data/manuals.ndjson.gz`.
//! A pair is right if its sets of five consecutive tokens have a Jaccard similarity of at least one half. Tokens are
//! separated by white space; in a Chinese or Japanese text every character is one. The seeds of MinHash and of random
//! texts are fixed, so the output is deterministic.
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

/// `cargo test --benches`, which runs this without `--bench`, takes every 25th document.
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
