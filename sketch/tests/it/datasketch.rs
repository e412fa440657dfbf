//! The Python package datasketch.

use fpsketch::{Features, MinHash, MinHashPreset};
use serde::Deserialize;

use super::{lines, texts};

#[test]
fn every_signature() {
    #[derive(Deserialize)]
    struct Line {
        text_id: String,
        features: String,
        num_perm: usize,
        seed: u32,
        scheme: String,
        hashvalues: Vec<u64>,
    }
    let texts = texts();
    let lines: Vec<Line> = lines("vectors/datasketch_minhash.ndjson");
    assert_eq!(lines.len(), 4 * texts.len());
    for line in lines {
        let affine = line.scheme == "affine32";
        let preset = if affine { MinHashPreset::Datasketch } else { MinHashPreset::DatasketchLegacy };
        let features = if line.features == "word" { Features::Tokens } else { Features::Words(5) };
        let minhash =
            MinHash::new(preset, line.num_perm, line.seed).unwrap().prepared(|now| now.with_features(features));
        assert_eq!(
            minhash.signature(texts[&line.text_id].as_str().into()),
            line.hashvalues,
            "{} {}",
            line.text_id,
            line.scheme
        );
    }
}
