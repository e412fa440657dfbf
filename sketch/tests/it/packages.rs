//! The Python packages simhash (1e0ng) and simhash-py (seomoz), and real documents.

use fpsketch::{Features, Simhash, SimhashPreset, Table, Weights};
use serde::Deserialize;

use super::points::points;
use super::{lines, texts, tokens};

#[test]
fn simhash_of_1e0ng() {
    #[derive(Deserialize)]
    struct Line {
        text_id: String,
        input: String,
        f: u32,
        value_hex: String,
        value_dec: String,
    }
    let texts = texts();
    let lines: Vec<Line> = lines("vectors/simhash_1e0ng.ndjson");
    assert_eq!(lines.len(), 91);
    for line in &lines {
        let simhash = Simhash::new(SimhashPreset::E0ng).with_width(line.f).unwrap();
        let text = &texts[&line.text_id];
        let tokens = tokens(text);
        let found = match line.input.as_str() {
            "text" => simhash.fingerprint(text.as_str().into()),
            // These tokens of a text were made before.
            "tokens" => {
                let cut = simhash.clone().prepared(|now| now.with_features(Features::Tokens)).unwrap();
                let found = simhash.fingerprint(tokens.as_slice().into());
                assert_eq!(cut.fingerprint(text.as_str().into()), found);
                found
            }
            // Each token once, with its count as its weight.
            _ => {
                let mut table = Table::new(0.0);
                let mut distinct: Vec<String> = Vec::new();
                for token in &tokens {
                    table.set(token, table.get(token) + 1.0);
                    if !distinct.contains(token) {
                        distinct.push(token.clone());
                    }
                }
                let weighted = simhash.with_weights(Weights::Table(table.into())).unwrap();
                weighted.fingerprint(distinct.as_slice().into())
            }
        };
        let digits = line.f as usize / 4;
        assert_eq!((format!("{found:0digits$x}"), found.to_string()), (line.value_hex.clone(), line.value_dec.clone()));
    }
}

#[test]
fn simhash_of_seomoz() {
    #[derive(Deserialize)]
    struct Line {
        kind: String,
        #[serde(default)]
        text_id: String,
        #[serde(default)]
        features: String,
        #[serde(default)]
        n_features: usize,
        #[serde(default)]
        simhash_hex: String,
    }
    let texts = texts();
    let mut seen = 0;
    for line in lines::<Line>("vectors/simhash_seomoz.ndjson").iter().filter(|line| line.kind == "compute") {
        let features = if line.features == "token" { Features::Tokens } else { Features::Words(4) };
        let simhash = Simhash::new(SimhashPreset::Seomoz).prepared(|now| now.with_features(features)).unwrap();
        let text = texts[&line.text_id].as_str();
        let mut count = 0;
        simhash.preparation().each(text.into(), |_| count += 1);
        assert_eq!(count, line.n_features, "{}", line.text_id);
        assert_eq!(format!("{:016x}", simhash.fingerprint(text.into())), line.simhash_hex, "{}", line.text_id);
        seen += 1;
    }
    assert_eq!(seen, 2 * texts.len());
}

/// 3,000 real documents.
#[test]
fn real_documents() {
    #[derive(Deserialize)]
    struct Document {
        text: String,
        path: String,
    }
    #[derive(Deserialize)]
    struct Expected {
        fingerprint: String,
        path: String,
    }
    let documents: Vec<Document> = lines("../../tests/data/rust-book-documents.ndjson.gz");
    let expected: Vec<Expected> = lines("../../tests/data/rust-book.ndjson");
    assert_eq!((documents.len(), expected.len()), (3000, 3000));
    let simhash = Simhash::new(SimhashPreset::E0ng);
    for (document, expected) in points(documents.iter().zip(&expected)) {
        assert_eq!(document.path, expected.path);
        assert_eq!(format!("{:016x}", simhash.fingerprint(document.text.as_str().into())), expected.fingerprint);
    }
}
