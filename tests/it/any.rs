//! `AnyStore` answers as the typed store of the same width, and takes fingerprints of no other.

use fpstore::{AnyFingerprint, AnyStore, Durability, ErrorKind, Fingerprint, IdKind, Options, Parameters, Store, U256};
use std::path::Path;

const BUFFERED: Durability = Durability::Buffered;

/// Fingerprints near one another, one a number.
fn fingerprint<F: Fingerprint>(number: u64) -> F {
    F::from_words(|word| number.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(word as u32) & !7 | (number % 8))
}

fn agrees<F: Fingerprint + Into<AnyFingerprint>>(directory: &Path) {
    let path = directory.join(F::WIDTH.to_string());
    let parameters = Parameters::new(3).with_width(F::WIDTH).with_id_index(true);
    let any = |number: u64| -> AnyFingerprint { fingerprint::<F>(number).into() };
    let store = AnyStore::create(&path, &parameters, &Options::new()).unwrap();
    assert_eq!((store.parameters().width(), store.path()), (F::WIDTH, &*path));
    store.insert(any(0), 0, BUFFERED).unwrap();
    store.insert_many((1..100).map(|number| (any(number), number)), BUFFERED).unwrap();
    assert!(!store.insert_if_new(any(5), 500, 3, BUFFERED).unwrap().inserted);
    assert!(store.remove(any(6), 6, BUFFERED).unwrap());
    assert_eq!(store.remove_fingerprint(any(7), BUFFERED).unwrap(), 1);
    assert_eq!(store.remove_id(8, BUFFERED).unwrap(), 1);
    assert_eq!(store.replace(any(108), 9, BUFFERED).unwrap(), 1);
    store.sync(Durability::SyncData).unwrap();
    assert!(store.compact().unwrap() || store.statistics().segments == 1);
    assert!(store.health().is_good() && store.verify().unwrap().damages.is_empty());
    store.backup(directory.join("copy"), fpstore::admin::BackupMode::Link).unwrap();
    let copied = AnyStore::open_read_only(directory.join("copy"), &Options::new()).unwrap();
    assert!(!copied.refresh().unwrap() && copied.recovery().batches == 0);
    assert_eq!(copied.records().count(), store.records().count());
    drop(copied);
    std::fs::remove_dir_all(directory.join("copy")).unwrap();
    store.close().unwrap();

    let typed = Store::<F>::open_read_only(&path, &Options::new()).unwrap();
    let store = AnyStore::open(&path, &Options::new()).unwrap();
    assert_eq!(store.id_assignment(), typed.id_assignment());
    let records: Vec<_> = store.records().map(|record| record.map(|one| (one.fingerprint, one.id)).unwrap()).collect();
    let expected: Vec<_> = typed.records().map(|record| record.unwrap()).collect();
    assert_eq!(expected.len(), 97);
    assert_eq!(records, expected.into_iter().map(|one| (one.fingerprint.into(), one.id)).collect::<Vec<_>>());
    for number in 0..120 {
        let (query, expected) = (any(number), fingerprint::<F>(number));
        let found = |matches: Vec<fpstore::Match<AnyFingerprint>>| {
            matches.into_iter().map(|one| (one.distance, one.fingerprint.typed().unwrap(), one.id)).collect::<Vec<_>>()
        };
        let plain = |matches: Vec<fpstore::Match<F>>| {
            matches.into_iter().map(|one| (one.distance, one.fingerprint, one.id)).collect::<Vec<_>>()
        };
        assert_eq!(found(store.query(query, 3).unwrap()), plain(typed.query(expected, 3).unwrap()));
        assert_eq!(found(store.nearest(query, 4).unwrap()), plain(typed.nearest(expected, 4).unwrap()));
        assert_eq!(
            store.contains_near(query, 1).unwrap().is_some(),
            typed.contains_near(expected, 1).unwrap().is_some()
        );
        assert_eq!(store.get(query).unwrap(), typed.get(expected).unwrap());
        let of_id: Vec<F> = store.get_id(number).unwrap().into_iter().map(|one| one.typed().unwrap()).collect();
        assert_eq!(of_id, typed.get_id(number).unwrap());
    }
    // A fingerprint of another width is refused, and writes nothing.
    let other: AnyFingerprint = if F::WIDTH == 64 { 1_u128.into() } else { 1_u64.into() };
    let kind = |error: fpstore::Error| error.kind();
    assert_eq!(store.insert(other, 1, BUFFERED).map_err(kind), Err(ErrorKind::InvalidInput));
    assert_eq!(store.insert_many([(any(1), 1000), (other, 1)], BUFFERED).map_err(kind), Err(ErrorKind::InvalidInput));
    assert_eq!(store.query(other, 3).map_err(kind), Err(ErrorKind::InvalidInput));
    assert_eq!(store.records().count(), 97);
}

#[test]
fn it_answers_as_the_typed_store() {
    let directory = tempfile::tempdir().unwrap();
    agrees::<u64>(directory.path());
    agrees::<u128>(directory.path());
    agrees::<U256>(directory.path());
}

#[test]
fn it_numbers_records() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let store = AnyStore::create(&path, &Parameters::new(3).with_width(256), &Options::new()).unwrap();
    let fingerprint = AnyFingerprint::from(U256([1, 2, 3, 4]));
    assert_eq!(store.insert_numbered(fingerprint, BUFFERED).unwrap(), 0);
    assert_eq!(store.insert_numbered(fingerprint, BUFFERED).unwrap(), 1);
    assert_eq!(store.get(fingerprint).unwrap(), [0, 1]);
    let impossible = Parameters::new(3).with_ids(IdKind::None).with_id_index(true);
    assert_eq!(
        AnyStore::create(directory.path().join("b"), &impossible, &Options::new()).unwrap_err().kind(),
        ErrorKind::InvalidInput
    );
}

#[test]
fn fingerprints_are_read_as_they_are_printed() {
    for text in ["832fe9f6aa2f461a", &"0123456789abcdef".repeat(2), &"fedcba9876543210".repeat(4)] {
        let fingerprint: AnyFingerprint = text.parse().unwrap();
        assert_eq!((fingerprint.width() as usize, fingerprint.to_string()), (4 * text.len(), text.to_owned()));
        assert_eq!(text.to_uppercase().parse::<AnyFingerprint>().unwrap(), fingerprint);
        assert_eq!(AnyFingerprint::from_be_bytes(&fingerprint.to_be_bytes()).unwrap(), fingerprint);
    }
    assert_eq!("832fe9f6aa2f461a".parse::<AnyFingerprint>().unwrap().typed::<u64>().unwrap(), 0x832f_e9f6_aa2f_461a);
    for text in ["", "832fe9f6aa2f461", "832fe9f6aa2f461ab", "832fe9f6aa2f461g", "+32fe9f6aa2f461a", "ä32fe9f6aa2f461"]
    {
        assert_eq!(text.parse::<AnyFingerprint>().unwrap_err().kind(), ErrorKind::InvalidInput, "{text}");
    }
    for length in [0, 7, 9, 24, 33] {
        assert_eq!(AnyFingerprint::from_be_bytes(&vec![0; length]).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
}
