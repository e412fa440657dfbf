//! The Java classes with the BKDR hash.

use std::collections::HashMap;

use fpsketch::compare::equal_bits;
use fpsketch::{Simhash, SimhashPreset};
use serde_json::Value;

use super::lines;

fn bits(width: u32, content: &str) -> String {
    let simhash = Simhash::new(SimhashPreset::Bkdr).with_width(width).unwrap();
    format!("{:0width$b}", simhash.fingerprint(content.into()), width = width as usize)
}

#[test]
fn every_string() {
    let mut seen = 0;
    for line in lines::<Value>("vectors/bkdr_simhash.ndjson").iter().filter(|line| line["kind"] == "string") {
        let expected: HashMap<String, String> = serde_json::from_value(line["simhash"].clone()).unwrap();
        assert_eq!(expected.len(), 7);
        for (width, expected) in expected {
            let content = line["content"].as_str().unwrap();
            assert_eq!(bits(width.parse().unwrap(), content), expected, "{} {width}", line["id"]);
            seen += 1;
        }
    }
    assert_eq!(seen, 6 * 7);
}

/// The licence of the texts does not allow a copy here; that of their bits does.
#[test]
fn every_pair_of_news() {
    let mut seen = 0;
    for line in lines::<Value>("vectors/bkdr_simhash.ndjson").iter().filter(|line| line["kind"] == "news_pair") {
        let bits = |key: &str| u128::from_str_radix(line[key].as_str().unwrap(), 2).unwrap();
        let width = u32::try_from(line["hash_bit_num"].as_u64().unwrap()).unwrap();
        let share = equal_bits(bits("bits_first"), bits("bits_second"), width);
        assert!((share - line["similarity"].as_f64().unwrap()).abs() < 1e-12, "{line}");
        seen += 1;
    }
    assert!(seen >= 6, "{seen}");
}
