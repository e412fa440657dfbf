//! Key indexes of two hostile files: the records and the keys of a run.

use crate::Take;
use crate::stores::{STORE, manifest};
use fpstore::admin::verify;
use fpstore::env::{Env, Memory};
use fpstore::keys::KeyQuery;
use fpstore::repair::{plan, repair};
use fpstore::{Id, KeyIndex, Options, ReadMode, inspect};
use naive::segment::{Footer, Id as NaiveId, locate_footer, read_footer, read_segment};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// A key index is sound for the library only if both files are sound for the naive reader; then its answers are those
/// of brute force. A repair leaves a sound index, or refuses. No operation panics.
pub fn keys(data: &[u8]) {
    let mut take = Take(data);
    let mode = take.u8();
    let (mut records, mut keys) = (take.part().to_vec(), take.rest().to_vec());
    if mode & 1 == 0 {
        naive::seal::segment(&mut records);
        naive::seal::segment(&mut keys);
    }
    let (Some(of_records), Some(of_keys)) = (footer(&records), footer(&keys)) else { return };
    if of_keys.parameters.keys.is_none() || of_records.parameters.keys.is_some() {
        return;
    }
    let env = Memory::default();
    let read_mode = if mode & 2 == 0 { ReadMode::Mmap } else { ReadMode::Pread };
    let options = Options::new().with_env(Arc::new(env.clone())).with_read_mode(read_mode);
    env.create_dir(Path::new(STORE)).unwrap();
    let numbering = u8::from(of_records.parameters.id_kind == 1) * (1 + (mode >> 2 & 1));
    let bytes = manifest_of((&records, &of_records), (&keys, &of_keys), numbering);
    env.set_bytes(&Path::new(STORE).join("MANIFEST"), bytes);
    env.set_bytes(&Path::new(STORE).join("00000001.segment"), records.clone());
    env.set_bytes(&Path::new(STORE).join("00000002.segment"), keys.clone());

    let is_sound = verify(STORE, &options).is_ok_and(|report| report.damages.is_empty());
    let _ = inspect::explain(STORE, &options, &mut |_, _| Ok(()));
    let naive = (read_segment(&records), read_segment(&keys));
    match KeyIndex::open_read_only(STORE, &options) {
        Ok(index) => ask(&index, is_sound, naive),
        Err(_) => assert!(!is_sound, "sound, and not opened"),
    }
    let Ok(report) = plan(STORE, &options) else { return };
    let Ok(done) = repair(STORE, &options) else { return };
    assert_eq!(report, done);
    if done.refused.is_empty() {
        let damages = verify(STORE, &options).unwrap().damages;
        assert!(damages.is_empty(), "{damages:?} after {done:?}");
        assert!(plan(STORE, &options).unwrap().is_sound());
        assert!(!is_sound || done.is_sound(), "sound, and repaired: {done:?}");
    }
}

fn footer(file: &[u8]) -> Option<Footer> {
    let at = locate_footer(file).ok()?;
    read_footer(&file[at..], at as u64).ok()
}

/// The manifest of one run of these segments.
fn manifest_of((records, of_records): (&[u8], &Footer), (keys, of_keys): (&[u8], &Footer), numbering: u8) -> Vec<u8> {
    let parameters = |file: &[u8], footer: &Footer, more: usize| {
        let at = locate_footer(file).unwrap();
        file[at..at + 16 + footer.parameters.hasher.len() + more].to_vec()
    };
    let mut shared = parameters(records, of_records, 0);
    // It has keys, and no id index.
    shared[9] = 2;
    let own = parameters(keys, of_keys, 4);
    shared.extend(&own[own.len() - 4..]);
    let entry = |number: u64, file: &[u8], footer: &Footer| {
        let numbers = [number, file.len() as u64, footer.records, footer.fingerprints];
        [&numbers.map(u64::to_le_bytes).concat(), &file[file.len() - 12..file.len() - 8]].concat()
    };
    let one = 1u64.to_le_bytes();
    let run = [&one, &one, &[18][..], &entry(1, records, of_records), &entry(2, keys, of_keys)].concat();
    manifest(&shared, numbering, [3, 1, 1], &run)
}

type Records = naive::Res<(Footer, Vec<(naive::segment::Fingerprint, NaiveId)>)>;

fn ask(index: &KeyIndex, is_sound: bool, (records, keys): (Records, Records)) {
    let format = index.parameters().keys().unwrap();
    let shift = 64 - u32::from(format.key_bits());
    let (Ok((_, records)), Ok((_, keys))) = (records, keys) else {
        assert!(!is_sound, "sound for the library only");
        for key in [0, 1 << 63, u64::MAX] {
            let _ = index.query(&[key, 1 << shift], &vec![0; format.sketch_bytes()], &KeyQuery::new());
        }
        return;
    };
    let queries: Vec<u64> = keys.iter().step_by(keys.len() / 8 + 1).map(|(key, _)| key[0] << shift).collect();
    let found = index.query(&queries, &[], &KeyQuery::new());
    let one_each: BTreeSet<u64> = records.iter().map(|(number, _)| number[0]).collect();
    if !is_sound || one_each.len() < records.len() {
        return;
    }
    let asked: BTreeSet<u64> = queries.iter().map(|key| key >> shift).collect();
    let mut shared: BTreeMap<u64, u64> = BTreeMap::new();
    for (key, number) in keys.iter().filter(|(key, _)| asked.contains(&key[0])) {
        assert!(key[0] < 1 << (64 - shift).min(63) || shift == 0, "a key of too many bits");
        let NaiveId::Number(number) = number else { panic!("a key of no number") };
        *shared.entry(*number).or_default() += 1;
    }
    let id_of: BTreeMap<u64, Id> = records.iter().map(|(number, id)| (number[0], crate::stores::with_id(id))).collect();
    let mut expected: Vec<(u64, Id)> = shared.iter().map(|(number, &shared)| (shared, id_of[number].clone())).collect();
    expected.sort_by(|a, b| (Reverse(a.0), &a.1).cmp(&(Reverse(b.0), &b.1)));
    let found: Vec<(u64, Id)> = found.unwrap().into_iter().map(|found| (found.shared, found.id)).collect();
    assert_eq!(found, expected);
}
