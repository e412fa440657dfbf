//! Text to band keys: documents a second on one thread, for 26 bands of 11 rows and shingles of five words.
//!
//! `cargo bench --bench bands` cuts 1,000 pages of `tests/data/rust-book-documents.ndjson.gz` at 3,000
//! characters and prints the median and the best of nine rounds. `-- PRESET` measures one preset.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    missing_docs,
    reason = "a bench"
)]

use std::hint::black_box;
use std::io::Read;
use std::time::Instant;

use flate2::read::GzDecoder;
use fpsketch::bands::Bands;
use fpsketch::{MinHash, MinHashPreset, Normalise};

const CHARACTERS: usize = 3000;
const BANDS: usize = 26;
const ROWS: usize = 11;

fn texts() -> Vec<String> {
    let packed = include_bytes!("../../tests/data/rust-book-documents.ndjson.gz").as_slice();
    let mut lines = String::new();
    GzDecoder::new(packed).read_to_string(&mut lines).unwrap();
    let text = |line: &str| {
        let object: serde_json::Value = serde_json::from_str(line).unwrap();
        let text: String = object["text"].as_str().unwrap_or_default().chars().take(CHARACTERS).collect();
        (text.chars().count() == CHARACTERS).then_some(text)
    };
    lines.lines().filter_map(text).collect()
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --benches` runs this without `--bench`.
    let whole = arguments.iter().any(|argument| argument == "--bench");
    let (documents, rounds) = if whole { (1000, 9) } else { (10, 1) };
    let wanted: Option<MinHashPreset> = arguments.iter().find_map(|argument| argument.parse().ok());
    let texts: Vec<String> = texts().into_iter().step_by(2).take(documents).collect();
    let bands = Bands::new(BANDS, ROWS, BANDS * ROWS).unwrap();
    println!("{} documents of {CHARACTERS} characters, {BANDS} x {ROWS}; median of {rounds} rounds", texts.len());
    for preset in MinHashPreset::ALL.into_iter().filter(|preset| wanted.is_none_or(|wanted| wanted == *preset)) {
        let mut minhash = MinHash::new(preset, BANDS * ROWS, 1).unwrap();
        if preset == MinHashPreset::Native {
            let words = "words:5".parse().unwrap();
            minhash = minhash.prepared(|now| now.with_features(words).with_normalise(Normalise::default()));
        }
        let mut seconds: Vec<f64> = (0..rounds)
            .map(|_| {
                let start = Instant::now();
                for text in &texts {
                    black_box(bands.keys(&minhash.signature(text.as_str().into())).collect::<Vec<u64>>());
                }
                start.elapsed().as_secs_f64()
            })
            .collect();
        seconds.sort_unstable_by(f64::total_cmp);
        let [best, median] = [0, rounds / 2].map(|round| texts.len() as f64 / seconds[round]);
        println!("{:>18} {median:>8.0} documents/s (best round {best:.0})", preset.name());
    }
}
