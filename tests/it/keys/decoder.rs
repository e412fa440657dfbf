//! The specification's own decoder reads key indexes.

use super::model::*;
use crate::decoder::decode;
use fpstore::{Id, IdKind, KeyFormat, KeyIndex, Maintenance, Options};

fn line(record: &KeyRecord, format: KeyFormat) -> String {
    let unused = 64 - u32::from(format.key_bits());
    let mut keys: Vec<u64> = record.keys.iter().map(|key| key >> unused << unused).collect();
    keys.sort_unstable();
    keys.dedup();
    let id = match &record.id {
        Id::Text(text) => format!("\"{text}\""),
        id => id.to_string(),
    };
    let keys: Vec<String> = keys.iter().map(u64::to_string).collect();
    let sketch: String = record.sketch.iter().map(|byte| format!("{byte:02x}")).collect();
    let sketch = if sketch.is_empty() { sketch } else { format!(",\"sketch\":\"{sketch}\"") };
    format!("{{\"id\":{id},\"keys\":[{}]{sketch}}}", keys.join(","))
}

#[test]
fn the_specifications_decoder_prints_the_same_records() {
    let options = Options::new().with_maintenance(Maintenance::Manual);
    for (format, ids) in [
        (KeyFormat::default(), IdKind::Text),
        (KeyFormat::default().with_key_bits(64).with_sketch(1000, 8), IdKind::Number),
        (KeyFormat::default().with_key_bits(9).with_sketch(5, 1), IdKind::Text),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let index = KeyIndex::create(&path, &parameters(format, ids).with_id_index(true), &options).unwrap();
        let mut model = Model::new(format);
        for seed in 0..3 {
            // Few texts are not compressed, so the decoder needs no package for them.
            let count = if ids == IdKind::Text { 8 } else { 300 };
            let mut all = frequent(count, 5, format, ids, seed);
            all[7].keys.clear();
            all[7].sketch.fill(0);
            index.load(sorted(&path, &options, format, &all)).unwrap();
            model.add(&all);
        }
        let gone: Vec<Id> = model.records.keys().step_by(5).cloned().collect();
        remove(&index, &gone);
        gone.iter().for_each(|id| _ = model.records.remove(id));
        index.close().unwrap();
        let Some(decoded) = decode(&path) else { return };
        assert_eq!(decoded.code, 0, "{}", decoded.messages);
        let mut found: Vec<&str> = decoded.records.lines().collect();
        let mut expected: Vec<String> = model.records.values().map(|record| line(record, format)).collect();
        found.sort_unstable();
        expected.sort_unstable();
        assert_eq!(found, expected);
        if ids == IdKind::Text {
            continue;
        }
        KeyIndex::open(&path, &options).unwrap().compact().unwrap();
        let decoded = decode(&path).unwrap();
        let mut found: Vec<&str> = decoded.records.lines().collect();
        found.sort_unstable();
        assert_eq!(found, expected, "{}", decoded.messages);
    }
}
