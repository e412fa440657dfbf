//! The classes of the article, in Python and in Java.

use std::collections::HashMap;

use fpsketch::compare::{distance, ratio};
use fpsketch::{Simhash, SimhashPreset};
use serde_json::Value;

use super::{lines, tokens};

fn simhash(preset: SimhashPreset, width: u32) -> Simhash {
    Simhash::new(preset).with_width(width).unwrap()
}

#[test]
fn every_fingerprint_and_pair() {
    let lines: Vec<Value> = lines("vectors/string_hash_simhash.ndjson");
    let mut found: HashMap<(String, u32), u128> = HashMap::new();
    let mut seen = HashMap::new();
    for line in &lines {
        let kind = line["kind"].as_str().unwrap();
        let text = |key: &str| line[key].as_str().unwrap();
        let width = u32::try_from(line["hashbits"].as_u64().unwrap_or(128)).unwrap();
        *seen.entry(kind).or_insert(0) += 1;
        match kind {
            "fingerprint" => {
                let simhash = simhash(SimhashPreset::StringHash, width);
                let fingerprint = simhash.fingerprint(text("text").into());
                assert_eq!(fingerprint.to_string(), text("fingerprint_dec"), "{line}");
                // The fingerprint of one token is its hash, because there are no ties.
                let hashes = line["token_hashes_hex"].as_array().unwrap();
                for (token, hash) in tokens(text("text")).iter().zip(hashes) {
                    let digits = width as usize / 4;
                    let of_token = simhash.fingerprint(std::slice::from_ref(token).into());
                    assert_eq!(format!("{of_token:0digits$x}"), hash.as_str().unwrap(), "{token}");
                }
                found.insert((text("id").to_owned(), width), fingerprint);
            }
            "fingerprint_java" => {
                let of_this = |other: &&Value| other["id"] == line["id"] && other["text"].is_string();
                let document = lines.iter().find(of_this).unwrap()["text"].as_str().unwrap();
                let fingerprint = simhash(SimhashPreset::StringHashJava, width).fingerprint(document.into());
                assert_eq!(fingerprint.to_string(), text("fingerprint_dec"), "{line}");
                let python = simhash(SimhashPreset::StringHash, width).fingerprint(document.into());
                assert_eq!(python == fingerprint, line["equals_python"].as_bool().unwrap(), "{line}");
            }
            _ => {
                let [a, b] = ["first", "second"].map(|side| found[&(text(side).to_owned(), width)]);
                assert_eq!(u64::from(distance(a, b)), line["hamming"].as_u64().unwrap(), "{line}");
                let expected = line["similarity"].as_f64().unwrap();
                assert!((ratio(a, b) - expected).abs() < 1e-12, "{line}");
            }
        }
    }
    assert_eq!(seen.len(), 3, "{seen:?}");
}
