//! The Python package datatrove.

use fpsketch::{EMPTY, Features, MinHash, MinHashPreset, Space, Splitter};
use serde::Deserialize;
use xxhash_rust::xxh64::xxh64;

use super::points::{number, points};
use super::{lines, texts};

#[test]
fn words_of_odd_texts() {
    #[derive(Deserialize)]
    struct Line {
        text: String,
        words: Vec<String>,
    }
    let splitter = Splitter { features: Features::Datatrove(1), space: Space::Unicode };
    let lines: Vec<Line> = lines("vectors/datatrove_words.ndjson.gz");
    assert_eq!(lines.len(), 2000);
    for Line { text, words } in lines {
        let mut found = Vec::new();
        splitter.each(text.as_str().into(), |word| found.push(word.to_owned()));
        assert_eq!(found, words, "{text:?}");
    }
}

#[test]
fn every_signature() {
    #[derive(Deserialize)]
    struct Line {
        text_id: String,
        bands: usize,
        rows: usize,
        hash_fc: String,
        precision: u32,
        seed: u32,
        signature: Vec<u64>,
    }
    let texts = texts();
    let lines: Vec<Line> = lines("vectors/datatrove_signatures.ndjson.gz");
    assert_eq!(lines.len(), 6 * texts.len());
    for line in lines {
        let preset = match (line.hash_fc.as_str(), line.precision) {
            ("xxhash", 64) => MinHashPreset::Datatrove,
            ("xxhash", _) => MinHashPreset::Datatrove32,
            (_, 64) => MinHashPreset::DatatroveSha1,
            _ => MinHashPreset::DatatroveSha1Narrow,
        };
        let places = line.bands * line.rows;
        let found = MinHash::new(preset, places, line.seed).unwrap().signature(texts[&line.text_id].as_str().into());
        // datatrove leaves documents without shingles out.
        let expected = if line.signature.is_empty() { vec![EMPTY; places] } else { line.signature };
        assert_eq!(found, expected, "{} {preset}", line.text_id);
    }
}

/// Documents of the sample data, in eleven languages and read as English.
#[test]
fn signatures_of_real_documents() {
    #[derive(Deserialize)]
    struct Line {
        file: String,
        digests: Vec<Option<String>>,
    }
    #[derive(Deserialize)]
    struct Text {
        text: String,
    }
    let minhash = MinHash::new(MinHashPreset::Datatrove, 112, 1).unwrap();
    let mut seen = 0;
    for Line { file, digests } in lines("vectors/datatrove_documents.ndjson.gz") {
        let texts: Vec<Text> = lines(&format!("../../tests/data/{file}"));
        assert_eq!(texts.len(), digests.len());
        for (number, (Text { text }, digest)) in points(texts.iter().zip(digests).enumerate()) {
            let signature = minhash.try_signature(text.as_str().into(), 1).ok();
            let bytes = |places: Vec<u64>| places.into_iter().flat_map(u64::to_le_bytes).collect::<Vec<u8>>();
            let found = signature.map(|places| format!("{:016x}", xxh64(&bytes(places), 0)));
            assert_eq!(found, digest, "{file}: document {number}");
            seen += 1;
        }
    }
    assert!(seen >= number(5598) - 1, "{seen}");
}
