//! Speed of sketching; see ../sketch.py, which runs it beside other systems.
//!
//! `cargo bench --bench sketch` reads the documents of `tests/data/rust-book-documents.ndjson.gz` into
//! memory and prints one JSON object per sketch: megabytes of text per second, the median of several rounds on one
//! thread. `-- ROUNDS EVERY` sets the number of rounds, and takes every EVERY-th document. Ready tokens are five
//! consecutive white-space tokens; their megabytes are those of the text.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a bench"
)]

use std::fs::File;
use std::hint::black_box;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use flate2::read::GzDecoder;
use fpsketch::{Document, MinHash, MinHashPreset, Normalise, Simhash, SimhashPreset, Space, Splitter, Weights};

/// Documents for `cargo test --benches`, which runs this without `--bench`.
const FEW: usize = 40;
const ROUNDS: usize = 5;

struct Bench {
    texts: Vec<String>,
    shingles: Vec<Vec<String>>,
    rounds: usize,
}

impl Bench {
    fn read() -> Self {
        let whole = std::env::args().any(|argument| argument == "--bench");
        let mut numbers = std::env::args().skip(1).filter_map(|argument| argument.parse().ok());
        let (rounds, every) = (numbers.next(), numbers.next().unwrap_or(1));
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/data/rust-book-documents.ndjson.gz");
        let lines = BufReader::new(GzDecoder::new(File::open(path).unwrap())).lines();
        let text = |line: std::io::Result<String>| -> String {
            let document: serde_json::Value = serde_json::from_str(&line.unwrap()).unwrap();
            document["text"].as_str().unwrap().to_owned()
        };
        let texts: Vec<String> = lines.take(if whole { usize::MAX } else { FEW }).step_by(every).map(text).collect();
        let splitter = Splitter { features: "words:5".parse().unwrap(), space: Space::Unicode };
        let cut = |text: &String| {
            let mut shingles = Vec::new();
            splitter.each(text.as_str().into(), |shingle| shingles.push(shingle.to_owned()));
            shingles
        };
        let shingles = texts.iter().map(cut).collect();
        Self { texts, shingles, rounds: rounds.unwrap_or(if whole { ROUNDS } else { 1 }) }
    }

    fn of_texts<T>(&self, name: &str, sketch: impl Fn(Document<'_>) -> T) {
        self.time(name, || self.texts.iter().for_each(|text| _ = black_box(sketch(text.as_str().into()))));
    }

    fn of_tokens<T>(&self, name: &str, sketch: impl Fn(Document<'_>) -> T) {
        self.time(name, || self.shingles.iter().for_each(|tokens| _ = black_box(sketch(tokens.as_slice().into()))));
    }

    fn time(&self, name: &str, work: impl Fn()) {
        let time = |_| {
            let start = Instant::now();
            work();
            start.elapsed().as_secs_f64()
        };
        let mut seconds: Vec<f64> = (0..self.rounds).map(time).collect();
        seconds.sort_unstable_by(f64::total_cmp);
        let bytes: usize = self.texts.iter().map(String::len).sum();
        let speed = bytes as f64 / 1e6 / seconds[seconds.len() / 2];
        println!("{}", serde_json::json!({ "name": name, "mb_s": speed, "rounds": self.rounds }));
    }
}

fn main() {
    let bench = Bench::read();
    let native = Simhash::new(SimhashPreset::Native);
    let chars = native.clone().prepared(|now| now.with_features("chars:4".parse().unwrap())).unwrap();
    let count = chars.clone().with_weights(Weights::Count).unwrap();
    bench.of_texts("simhash native", |document| native.fingerprint(document));
    bench.of_texts("simhash native, chars:4", |document| chars.fingerprint(document));
    bench.of_texts("simhash native, chars:4, count", |document| count.fingerprint(document));
    for preset in [SimhashPreset::E0ng, SimhashPreset::Seomoz] {
        let simhash = Simhash::new(preset);
        bench.of_texts(&format!("simhash {preset}"), |document| simhash.fingerprint(document));
    }
    let minhash = |preset| MinHash::new(preset, 128, 1).unwrap();
    let native = minhash(MinHashPreset::Native);
    let words = native
        .clone()
        .prepared(|now| now.with_features("words:5".parse().unwrap()))
        .prepared(|now| now.with_normalise(Normalise::default()));
    bench.of_texts("minhash native", |document| native.signature(document));
    bench.of_texts("minhash native, words:5", |document| words.signature(document));
    bench.of_tokens("minhash native, ready tokens", |document| words.signature(document));
    for preset in [MinHashPreset::Datasketch, MinHashPreset::DatasketchLegacy] {
        let minhash = minhash(preset);
        bench.of_texts(&format!("minhash {preset}"), |document| minhash.signature(document));
    }
}
