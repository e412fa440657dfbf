//! Whole segment files, hostile from the first byte to the last.

use crate::Take;
use crate::stores::{STORE, manifest, of_words, with_id};
use fpstore::admin::verify;
use fpstore::env::Memory;
use fpstore::{Filters, Fingerprint, Id, Match, Options, ReadMode, Store, U256, inspect};
use naive::segment::{Fingerprint as Words, Footer, Id as NaiveId, read_segment};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

const SEGMENT: &str = "store/00000001.segment";

/// A segment file is sound for both readers, with the same records and answers as brute force, or for neither. No
/// operation panics.
pub fn segment(data: &[u8]) {
    let mut take = Take(data);
    let mode = take.u8();
    let mut file = take.rest().to_vec();
    if mode & 1 == 0 {
        naive::seal::segment(&mut file);
    }
    let read_mode = if mode & 2 == 0 { ReadMode::Mmap } else { ReadMode::Pread };
    let expected = read_segment(&file);
    let env = Memory::default();
    let options =
        Options::new().with_env(Arc::new(env.clone())).with_read_mode(read_mode).with_filters(Filters::AtOpen);
    let path = Path::new(SEGMENT);
    env.set_bytes(path, file.clone());

    let report = verify(path, &options).unwrap();
    match &expected {
        Ok(_) => assert!(report.damages.is_empty(), "{:?}", report.damages),
        Err(naive) => assert!(!report.damages.is_empty(), "sound for the library, but: {naive}"),
    }
    let mut fields = 0;
    let _ = inspect::explain(path, &options, &mut |_, _| {
        fields += 1;
        Ok(())
    });
    let width = match inspect::open(path, &options) {
        Ok(views) => {
            look(&views);
            views[0].parameters().width()
        }
        Err(error) => {
            assert!(expected.is_err(), "{error}");
            assert!(!report.damages.is_empty());
            return;
        }
    };
    if expected.as_ref().is_ok_and(|(footer, _)| footer.parameters.keys.is_some()) {
        // The target `keys` has whole key indexes.
        return;
    }
    // A store with this segment.
    fpstore::env::Env::create_dir(&env, Path::new(STORE)).unwrap();
    let Ok(footer) = make_store(&env, file) else { panic!("opened, but the naive reader finds no footer") };
    match width {
        128 => ask::<u128>(&options, &footer, expected, mode),
        256 => ask::<U256>(&options, &footer, expected, mode),
        _ => ask::<u64>(&options, &footer, expected, mode),
    }
}

/// A store of this segment. It has no id index, independent of the segment's footer: that field does not describe the
/// segment itself.
fn make_store(env: &Memory, mut file: Vec<u8>) -> naive::Res<Footer> {
    let at = naive::segment::locate_footer(&file)?;
    let end = file.len() - 8;
    file[at + 9] = 0;
    naive::seal::plain(&mut file[at..end]);
    let footer = naive::segment::read_footer(&file[at..], at as u64)?;
    let (hasher, checksum) = (footer.parameters.hasher.len(), &file[end - 4..end]);
    let (parameters, counts) = (&file[at..at + 16 + hasher], &file[at + 16 + hasher..at + 32 + hasher]);
    // The first write, of records: one segment.
    let one = 1u64.to_le_bytes();
    let length = (file.len() as u64).to_le_bytes();
    let run = [&one, &one, &[2][..], &one, &length, counts, checksum].concat();
    let numbering = u8::from(footer.parameters.id_kind == 1) * 2;
    env.set_bytes(&Path::new(STORE).join("MANIFEST"), manifest(parameters, numbering, [2, 1, 1], &run));
    env.set_bytes(Path::new(SEGMENT), file);
    Ok(footer)
}

/// Everything that fpdump shows.
fn look(views: &[inspect::SegmentView]) {
    let _ = inspect::distributions(views);
    for view in views {
        let _ = (view.statistics(), view.sections(), view.forms());
        for table in 0..view.tables().len() {
            let _ = view.decode_all(table);
            let _ = view.fingerprints(table, 0);
            let Ok(blocks) = view.blocks(table) else { continue };
            blocks.take(20).for_each(|block| _ = block);
        }
    }
}

fn ask<F: Fingerprint>(
    options: &Options,
    footer: &Footer,
    expected: naive::Res<(Footer, Vec<(Words, NaiveId)>)>,
    mode: u8,
) {
    let store = match Store::<F>::open_read_only(STORE, options) {
        Ok(store) => store,
        Err(error) => {
            assert!(expected.is_err(), "{error}");
            return;
        }
    };
    let records = store.records().take(100_000).collect::<Result<Vec<_>, _>>();
    let mut searcher = store.searcher();
    let Ok((_, expected)) = expected else {
        // The file may give any result, but must not panic.
        let stored = records.ok().and_then(|records| records.first().map(|record| record.fingerprint));
        for query in [stored.unwrap_or_default(), F::from_words(|_| footer.content_hash)] {
            for k in [0, 3, 9] {
                let _ = searcher.query(query, k);
            }
            let _ = (searcher.contains_near(query, 3), searcher.nearest(query, 2), searcher.scan(query, 3));
        }
        return;
    };
    let expected: Vec<(F, Id)> = expected.iter().map(|(words, id)| (of_words(words), with_id(id))).collect();
    let records = records.unwrap();
    assert!(records.iter().map(|record| (record.fingerprint, record.id.clone())).eq(expected.iter().cloned()));
    let some = |n: usize| expected.get(n.min(expected.len().saturating_sub(1))).map(|record| record.0);
    let queries = [some(0), some(usize::from(mode >> 2) * 5), Some(F::from_words(|_| footer.content_hash))];
    for query in queries.into_iter().flatten().flat_map(|query| [query, query.flipped(u32::from(mode) % F::WIDTH)]) {
        let mut distances: BTreeMap<u32, Vec<Match<F>>> = BTreeMap::new();
        for (fingerprint, id) in &expected {
            let distance = fingerprint.distance(query);
            let found = Match { distance, fingerprint: *fingerprint, id: id.clone() };
            distances.entry(distance).or_default().push(found);
        }
        for k in [0, 1, 3, 5] {
            let near: Vec<_> = distances.range(..=k).flat_map(|(_, matches)| matches.iter().cloned()).collect();
            assert_eq!(searcher.query(query, k).unwrap(), near);
            assert_eq!(searcher.contains_near(query, k).unwrap().is_some(), !near.is_empty());
        }
        let all: Vec<_> = distances.into_values().flatten().collect();
        assert_eq!(searcher.nearest(query, 3).unwrap(), all[..all.len().min(3)]);
    }
}
