//! Arbitrary records: stored, read, queried, removed, and compared with a set of them.

use arbitrary::{Arbitrary, Unstructured};
use fpstore::admin::verify;
use fpstore::bulk::RecordSorter;
use fpstore::env::Memory;
use fpstore::{Codec, Design, Durability, Filters, Fingerprint, Id, IdKind, IdRef, Maintenance, Match, Options};
use fpstore::{Parameters, ReadMode, Store, U256, WriteBatch};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

#[derive(Arbitrary, Debug)]
struct Case {
    shape: u8,
    design: u8,
    filters: bool,
    pread: bool,
    little_memory: bool,
    block_shift: u8,
    operations: Vec<Operation>,
    queries: Vec<(Value, u8)>,
}

#[derive(Arbitrary, Debug)]
enum Operation {
    Load(Vec<(Value, u16)>),
    /// Many consecutive records that differ little.
    Run(Value, u16, u8),
    Remove(Vec<(Value, u16)>),
    RemoveSome(u8),
    Compact,
    Reopen,
}

/// A fingerprint: one of few families with flipped bits; or any.
#[derive(Arbitrary, Clone, Debug)]
enum Value {
    Near(u8, [u8; 3]),
    Any([u64; 4]),
    Ends(bool, u8),
}

impl Value {
    fn fingerprint<F: Fingerprint>(&self) -> F {
        match self {
            Self::Near(family, bits) => {
                let family = u64::from(*family % 8).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let base = F::from_words(|number| family.rotate_left(17 * number as u32));
                bits.iter().take_while(|&&bit| bit > 0).fold(base, |base, &bit| base.flipped(u32::from(bit) % F::WIDTH))
            }
            Self::Any(words) => F::from_words(|number| words[number]),
            Self::Ends(high, less) => {
                let word = |last: bool| match (high, last) {
                    (true, true) => u64::MAX - u64::from(*less),
                    (true, false) => u64::MAX,
                    (false, true) => u64::from(*less),
                    (false, false) => 0,
                };
                F::from_words(|number| word(number + 1 == F::WORDS))
            }
        }
    }
}

fn text(id: u16) -> String {
    format!("https://example.org/{}/{id}?\u{e9}", "x".repeat(usize::from(id % 61) * usize::from(id % 7)))
}

/// After each operation all records, the answers to queries and the results of verification equal those of a plain map.
pub fn round_trip(data: &[u8]) {
    let Ok(case) = Case::arbitrary_take_rest(Unstructured::new(data)) else { return };
    match case.shape % 3 {
        0 => run::<u64>(&case),
        1 => run::<u128>(&case),
        _ => run::<U256>(&case),
    }
}

fn run<F: Fingerprint>(case: &Case) {
    let ids = IdKind::ALL[usize::from(case.shape / 3 % 3)];
    // For wide fingerprints the library refuses or accepts codec xor; it must read everything that it accepts.
    let codec = if case.shape / 9 % 4 == 3 { Codec::Xor } else { Codec::Adaptive };
    let id_index = case.shape / 36 % 2 == 1 && ids != IdKind::None;
    // Whether to insert and remove records in batches instead of in bulk.
    let live = matches!(case.shape / 72, 1 | 2);
    let listed = Design::listed(F::WIDTH);
    let parameters = Parameters::new(3)
        .with_width(F::WIDTH)
        .with_ids(ids)
        .with_id_index(id_index)
        .with_codec(codec)
        .with_design(listed[usize::from(case.design) % listed.len()])
        .with_block_size(128 << (case.block_shift % 10));
    let options = Options::new()
        .with_env(Arc::new(Memory::default()))
        .with_read_mode(if case.pread { ReadMode::Pread } else { ReadMode::Mmap })
        .with_load_memory(if case.little_memory { 1 << 16 } else { 1 << 20 })
        .with_memtable_memory(if case.little_memory { 1 << 12 } else { 1 << 20 })
        .with_maintenance(Maintenance::Foreground)
        .with_filters(if case.filters { Filters::AtOpen } else { Filters::Off });
    let path = Path::new("store");
    let mut store = Store::<F>::create(path, &parameters, &options).unwrap();
    let mut model: BTreeMap<(F, Id), u64> = BTreeMap::new();
    let mut loaded = 0;
    for (turn, operation) in case.operations.iter().take(6).enumerate() {
        let records: Vec<(F, u16)> = match operation {
            Operation::Load(records) | Operation::Remove(records) => {
                records.iter().map(|(value, id)| (value.fingerprint(), *id)).collect()
            }
            Operation::Run(value, count, step) => {
                let first: F = value.fingerprint();
                let run = |n: u16| {
                    let add = u64::from(n) * (u64::from(*step) + 1);
                    let word = |number: usize| {
                        first.word(number) ^ if number + 1 == F::WORDS { add } else { add.rotate_left(32) >> 7 }
                    };
                    (F::from_words(word), n)
                };
                (0..*count % 1200).map(run).collect()
            }
            Operation::RemoveSome(step) => {
                let keys = model.keys().step_by(usize::from(*step) + 1);
                keys.map(|(fingerprint, id)| (*fingerprint, id.number().unwrap_or(0) as u16)).collect()
            }
            Operation::Compact => {
                if live && turn % 2 == 0 {
                    store.flush().unwrap();
                } else {
                    store.compact().unwrap();
                }
                Vec::new()
            }
            Operation::Reopen => {
                drop(store);
                store = Store::open(path, &options).unwrap();
                Vec::new()
            }
        };
        let removes = matches!(operation, Operation::Remove(_) | Operation::RemoveSome(_));
        let texts: Vec<String> = records.iter().map(|record| text(record.1)).collect();
        let mut batch = WriteBatch::new();
        let mut sorter = RecordSorter::<F>::new(path, &options);
        for ((fingerprint, number), text) in records.iter().zip(&texts) {
            let (id, key) = match ids {
                IdKind::Number => (IdRef::Number((*number).into()), Id::Number((*number).into())),
                IdKind::Text => (IdRef::Text(text), Id::Text(text.as_str().into())),
                IdKind::None => (IdRef::None, Id::Count(0)),
            };
            if !live {
                sorter.push(*fingerprint, id).unwrap();
            } else if removes {
                batch.remove(*fingerprint, id);
            } else {
                batch.insert(*fingerprint, id);
            }
            let key = (*fingerprint, key);
            if !removes {
                *model.entry(key).or_default() += 1;
            } else if ids != IdKind::None {
                model.remove(&key);
            } else if let Some(count) = model.get_mut(&key) {
                *count -= 1;
                if *count == 0 {
                    model.remove(&key);
                }
            }
        }
        let records = sorter.finish().unwrap();
        if live {
            store.write(&batch, Durability::SyncData).unwrap();
            loaded += if removes { 0 } else { batch.len() as u64 };
        } else if removes {
            store.bulk_remove(records).unwrap();
        } else {
            loaded += store.bulk_load(records).unwrap().added();
        }
        assert!(loaded > 0 || model.is_empty());
        check(&store, &model, case, &options);
    }
}

fn check<F: Fingerprint>(store: &Store<F>, model: &BTreeMap<(F, Id), u64>, case: &Case, options: &Options) {
    let counted = |(key, count): (&(F, Id), &u64)| match key.1 {
        Id::Count(_) => (key.0, Id::Count(*count)),
        _ => key.clone(),
    };
    let expected: Vec<(F, Id)> = model.iter().map(counted).collect();
    let records: Vec<(F, Id)> =
        store.records().map(|record| record.map(|record| (record.fingerprint, record.id)).unwrap()).collect();
    assert_eq!(records, expected);
    let report = verify(store.path(), options).unwrap();
    assert!(report.damages.is_empty(), "{:?}", report.damages);
    if store.parameters().id_index() {
        for (_, id) in expected.iter().step_by(expected.len() / 3 + 1) {
            let of_id = expected.iter().filter(|record| record.1 == *id).map(|record| record.0);
            assert!(store.get_id(id).unwrap().into_iter().eq(of_id));
        }
    }
    let mut searcher = store.searcher();
    for (value, k) in case.queries.iter().take(4) {
        let query: F = value.fingerprint();
        let mut all: Vec<Match<F>> = expected
            .iter()
            .map(|(fingerprint, id)| Match {
                distance: fingerprint.distance(query),
                fingerprint: *fingerprint,
                id: id.clone(),
            })
            .collect();
        all.sort_unstable();
        let k = u32::from(*k % 8);
        let near = all.partition_point(|found| found.distance <= k);
        assert_eq!(searcher.query(query, k).unwrap(), all[..near]);
        assert_eq!(searcher.scan(query, k).unwrap(), all[..near]);
        assert_eq!(searcher.contains_near(query, k).unwrap().is_some(), near > 0);
        let count = usize::from(case.design % 5);
        assert_eq!(searcher.nearest(query, count).unwrap(), all[..count.min(all.len())]);
    }
}
