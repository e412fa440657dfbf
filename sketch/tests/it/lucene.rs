//! Lucene's token filter.

use std::collections::HashMap;

use fpsketch::{Features, Lucene, LuceneTerm, Space, Splitter};
use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::{lines, texts};

fn features(shingle: bool) -> Features {
    if shingle { Features::Words(5) } else { Features::Tokens }
}

fn hex(term: LuceneTerm) -> String {
    term.iter().map(|unit| format!("{unit:04x}")).collect()
}

#[test]
fn tokens_that_enter_the_filter() {
    #[derive(Deserialize)]
    struct Line {
        text_id: String,
        shingle: bool,
        tokens: Vec<String>,
    }
    let texts = texts();
    let lines: Vec<Line> = lines("vectors/lucene_tokens.ndjson.gz");
    assert_eq!(lines.len(), 2 * texts.len());
    for line in lines {
        let mut tokens = Vec::new();
        let splitter = Splitter { features: features(line.shingle), space: Space::Lucene };
        splitter.each(texts[&line.text_id].as_str().into(), |token| tokens.push(token.to_owned()));
        assert_eq!(tokens, line.tokens, "{}", line.text_id);
    }
}

#[test]
fn terms_that_leave_it() {
    #[derive(Deserialize)]
    struct Line {
        text_id: String,
        text: String,
        shingle: bool,
        hash_count: u32,
        bucket_count: u32,
        hash_set_size: u32,
        with_rotation: bool,
        count: usize,
        sha256: String,
        complete: bool,
        terms_hex: Vec<String>,
    }
    let lines: Vec<Line> = lines("vectors/lucene_minhash.ndjson.gz");
    assert!(lines.len() > 1000);
    let mut parameters = HashMap::new();
    for line in lines {
        let lucene = Lucene::new(line.hash_count, line.bucket_count, line.hash_set_size, line.with_rotation).unwrap();
        let sketch = lucene.prepared(|now| now.with_features(features(line.shingle))).sketch(line.text.as_str().into());
        let terms: Vec<String> = sketch.terms().map(hex).collect();
        let about = (line.hash_count, line.bucket_count, line.hash_set_size, line.with_rotation, line.shingle);
        assert_eq!(terms.len(), line.count, "{} {about:?}", line.text_id);
        assert_eq!(terms[..line.terms_hex.len()], line.terms_hex, "{} {about:?}", line.text_id);
        assert_eq!(terms.len() == line.terms_hex.len(), line.complete);
        let digest: String = Sha256::digest(terms.join("\n")).iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(digest, line.sha256, "{} {about:?}", line.text_id);
        *parameters.entry(about).or_insert(0) += 1;
        // The similarity of a sketch with itself is 1.
        assert_eq!(sketch.jaccard(&sketch), (line.count > 0).then_some((1.0, line.count)));
    }
    assert_eq!(parameters.len(), 3 * 4 * 3 * 2 * 2);
}

/// Both estimators, on sets of known similarity: many hash functions, and the least values of one function.
#[test]
fn estimates() {
    let tokens = |from: u32| (from..from + 600).map(|number| format!("token {number}")).collect::<Vec<String>>();
    // 400 of 800 tokens are in both sets.
    let (a, b) = (tokens(0), tokens(200));
    for (hash_count, bucket_count, hash_set_size) in [(512, 1, 1), (1, 1, 512), (1, 512, 1), (4, 16, 8)] {
        let lucene = Lucene::new(hash_count, bucket_count, hash_set_size, false).unwrap();
        let [a, b] = [&a, &b].map(|tokens| lucene.sketch(tokens.as_slice().into()));
        let (found, _) = a.jaccard(&b).unwrap();
        // Four standard errors of 400 values.
        assert!((found - 0.5).abs() < 0.1, "{hash_count} {bucket_count} {hash_set_size}: {found}");
    }
}
