//! The raw view: sections and fields cover every byte of every file, and blocks hold the loaded records.

use crate::support::*;
use fpstore::{Codec, Parameters, ReadMode, inspect};

#[test]
fn sections_and_fields_cover_every_byte_once() {
    for codec in Codec::ALL {
        let fixture = Fixture::new(ReadMode::Mmap);
        // Large enough for an aligned section, and so for padding.
        let records = numbered(&uniform(210_000, 1));
        drop(fixture.load(&Parameters::new(3).with_codec(codec), &records, 1));
        for view in inspect::open(&fixture.path, &fixture.options).unwrap() {
            let mut at = 0;
            for section in view.sections() {
                assert_eq!(section.offset, at, "{}", section.name);
                at += section.length;
            }
            assert_eq!(at, view.file_length());
        }
        for (path, bytes) in fixture.files().into_iter().filter(|(path, _)| !path.ends_with("LOCK")) {
            let mut at = 0;
            inspect::explain(&path, &fixture.options, &mut |_, field| {
                assert_eq!(field.offset, at as u64, "{}", field.name);
                assert_eq!(field.bytes, bytes[at..at + field.bytes.len()], "{}", field.name);
                at += field.bytes.len();
                Ok(())
            })
            .unwrap();
            assert_eq!(at, bytes.len(), "{}", path.display());
        }
    }
}

#[test]
fn blocks_hold_the_tables_keys_in_order() {
    let fixture = Fixture::new(ReadMode::Pread);
    let records = numbered(&real()[..30_000]);
    drop(fixture.load(&Parameters::new(3), &records, 1));
    let views = inspect::open(fixture.path.join("00000001.segment"), &fixture.options).unwrap();
    let view = &views[0];
    let mut fingerprints: Vec<u64> = records.iter().map(|record| record.fingerprint).collect();
    fingerprints.sort_unstable();
    fingerprints.dedup();
    for (number, (layout, blocks)) in view.tables().into_iter().enumerate() {
        let mut keys: Vec<u64> = fingerprints.iter().map(|&f| layout.permutation.apply(f)).collect();
        keys.sort_unstable();
        let found: Vec<_> = view.blocks(number).unwrap().map(Result::unwrap).collect();
        assert_eq!(found.len(), blocks);
        assert!(found.iter().flat_map(|block| &block.keys).eq(&keys));
        assert_eq!(view.block(number, blocks - 1).unwrap(), found[blocks - 1]);
        assert!(view.block(number, blocks).is_err());
    }
    assert!(view.block(2, 0).is_err());
    let ids = records.iter().filter(|r| r.fingerprint == fingerprints[9]).map(|r| r.id.clone());
    let ids: Vec<_> = ids.collect();
    assert_eq!(view.get(fingerprints[9]).unwrap(), ids);
    assert!(view.get(fingerprints[9] ^ 0x10_0400).unwrap().is_empty());
}
