//! Logs, hostile from the first byte to the last, and merge notes.

use crate::Take;
use crate::files::traced;
use crate::stores::{STORE, manifest, of_words, with_id};
use fpstore::admin::verify;
use fpstore::env::{Env, Memory};
use fpstore::inspect::{self, LogView};
use fpstore::{Fingerprint, Id, Maintenance, Options, Result, Store, U256, fuzzing};
use naive::logs::{Log, Operation, read_header, read_log};
use naive::segment::Id as NaiveId;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A log, and the number of its first frames that are already in runs of its store.
pub(crate) struct LogCase {
    bytes: Vec<u8>,
    flushed: u64,
}

impl LogCase {
    /// Sealed on request: all frames but one, so that the frames after it may or may not record it as durable.
    pub(crate) fn take(take: &mut Take<'_>) -> Self {
        let mode = take.u8();
        let mut bytes = take.rest().to_vec();
        if mode & 1 == 0 {
            naive::seal::log(&mut bytes, usize::from(mode >> 4));
        }
        Self { bytes, flushed: u64::from(mode >> 1 & 7) }
    }

    fn log(&self) -> naive::Res<Log> {
        read_log(&self.bytes)
    }

    /// Puts the log into a store in memory. Its name is that of its number, if the bytes give it.
    fn place(&self) -> (Options, Memory, PathBuf) {
        let env = Memory::default();
        let path =
            Path::new(STORE).join(format!("{:08}.wal", read_header(&self.bytes).map_or(1, |header| header.number)));
        env.create_dir(Path::new(STORE)).unwrap();
        env.set_bytes(&path, self.bytes.clone());
        let options = Options::new()
            .with_env(Arc::new(env.clone()))
            .with_memtable_memory(1 << 14)
            .with_maintenance(Maintenance::Manual);
        (options, env, path)
    }
}

/// Both readers read a log, with the same frames and the same torn tail, or both refuse it. A store with this log has
/// the records of its operations, before and after a flush.
pub fn log(data: &[u8]) {
    let case = LogCase::take(&mut Take(data));
    compare(&case);
    let (options, env, path) = case.place();
    let mut fields = Vec::new();
    let explained = inspect::explain(&path, &options, &mut |_, field| {
        fields.push(field);
        Ok(())
    });
    let bytes: Vec<u8> = fields.iter().flat_map(|field| field.bytes.clone()).collect();
    traced(&case.bytes, 0, fields);
    let expected = case.log();
    assert_eq!(explained.is_ok(), expected.is_ok());
    assert_eq!(verify(&path, &options).unwrap().damages.is_empty(), expected.is_ok());
    assert!(explained.is_err() || bytes == case.bytes);
    // A repair looks for frames after one that does not hold, too.
    let frames = fuzzing::log_frames(&case.bytes);
    if let (Ok(frames), Ok(log)) = (&frames, &expected) {
        assert!(frames.starts_with(&log.frames.iter().map(|frame| frame.0).collect::<Vec<_>>()));
    }
    let Ok(header) = read_header(&case.bytes) else {
        assert!(frames.is_err());
        return;
    };
    let numbering = u8::from(header.parameters.id_kind == 1) * 2;
    let flushed = (header.first - 1 + case.flushed).min(1 << 63);
    let parameters = &case.bytes[12..28 + header.parameters.hasher.len()];
    env.set_bytes(
        &Path::new(STORE).join("MANIFEST"),
        manifest(parameters, numbering, [1, header.number, flushed], &[]),
    );
    let expected = expected.and_then(|log| Ok((log.torn, said_by(&log, flushed)?)));
    match header.parameters.width {
        128 => ask::<u128>(&options, header.number, header.parameters.id_index, expected),
        256 => ask::<U256>(&options, header.number, header.parameters.id_index, expected),
        _ => ask::<u64>(&options, header.number, header.parameters.id_index, expected),
    }
}

/// The library and the naive reader on the same log.
pub(crate) fn compare(case: &LogCase) {
    match (fuzzing::log_header(&case.bytes), read_header(&case.bytes)) {
        (Ok(again), Ok(header)) => assert_eq!(again, case.bytes[..header.length]),
        (Err(_), Err(_)) => {}
        (library, naive) => panic!("library: {library:?}\nnaive: {naive:?}"),
    }
    let (options, _, path) = case.place();
    let library = LogView::open(&path, &options).and_then(|mut view| {
        let frames = match view.parameters().width() {
            128 => frames_of::<u128>(&mut view),
            256 => frames_of::<U256>(&mut view),
            _ => frames_of::<u64>(&mut view),
        }?;
        Ok((view.number(), view.first(), frames, view.position(), view.torn_bytes()?))
    });
    match (library, case.log()) {
        (Ok(library), Ok(log)) => {
            assert_eq!(library, (log.header.number, log.header.first, log.frames, log.end, log.torn));
        }
        (Err(_), Err(_)) => {}
        (library, naive) => panic!("library: {library:?}\nnaive: {naive:?}"),
    }
}

/// The frames in the form of the naive reader.
fn frames_of<F: Fingerprint>(view: &mut LogView) -> Result<Vec<(u64, Vec<Operation>)>> {
    let (mut frames, mut next) = (Vec::new(), view.first());
    while let Some(frame) = view.next_frame::<F>()? {
        assert_eq!((frame.sequence, frame.offset + frame.bytes), (next, view.position()));
        next += 1;
        let operations = frame.operations.into_iter().map(|(record, removed)| {
            let words = (0..F::WORDS).map(|number| record.fingerprint.word(number)).collect();
            let id = match record.id {
                Id::Number(number) => NaiveId::Number(number),
                Id::Text(text) => NaiveId::Text(text.into()),
                Id::Count(count) => NaiveId::Count(count),
            };
            (!removed, words, id)
        });
        frames.push((frame.offset, operations.collect()));
    }
    Ok(frames)
}

/// The records after all frames that are in no run, as long as numbers and counts are within a store's limits.
fn said_by(log: &Log, flushed: u64) -> naive::Res<Records> {
    const MOST: u64 = 1 << 63;
    let mut total = 0u64;
    let (mut records, mut sums) = (BTreeMap::new(), BTreeMap::<Vec<u64>, (u64, u64)>::new());
    for (sequence, (_, operations)) in (log.header.first..).zip(&log.frames) {
        naive::require(sequence <= MOST || sequence <= flushed, "a number that no store reaches")?;
        for (inserted, fingerprint, id) in operations.iter().filter(|_| sequence > flushed) {
            if let NaiveId::Count(count) = id {
                total = total.saturating_add(*count);
                naive::require(total <= MOST, "counts that no store reaches")?;
                let (more, less) = sums.entry(fingerprint.clone()).or_default();
                *if *inserted { more } else { less } += *count;
            } else if *inserted {
                records.insert((fingerprint.clone(), id.clone()), 1);
            } else {
                records.remove(&(fingerprint.clone(), id.clone()));
            }
        }
    }
    let left = sums.into_iter().filter(|(_, (more, less))| more > less);
    records.extend(left.map(|(fingerprint, (more, less))| ((fingerprint, NaiveId::Count(more - less)), 1)));
    Ok(records)
}

/// Fingerprints and ids.
type Records = BTreeMap<(Vec<u64>, NaiveId), u64>;

/// Torn bytes, and records.
type Said = (u64, Records);

fn ask<F: Fingerprint>(options: &Options, number: u64, id_index: bool, expected: naive::Res<Said>) {
    let store = match Store::<F>::open_read_only(STORE, options) {
        Ok(store) => store,
        Err(error) => {
            assert!(expected.is_err(), "{error}");
            return;
        }
    };
    let Ok((torn, records)) = expected else { panic!("opened, but the naive reader refuses the log") };
    assert_eq!(store.recovery().torn.iter().map(|log| log.bytes).sum::<u64>(), torn);
    let _ = store.statistics();
    let records: Vec<(F, Id)> = records.keys().map(|(words, id)| (of_words(words), with_id(id))).collect();
    check(&store, &records, id_index);
    drop(store);
    // The next log would have a number beyond a store's limits.
    if number >= 1 << 62 {
        return;
    }
    let store = Store::<F>::open(STORE, options).unwrap();
    check(&store, &records, id_index);
    store.flush().unwrap();
    check(&store, &records, id_index);
    drop(store);
    let report = verify(STORE, options).unwrap();
    assert!(report.damages.is_empty(), "{:?}", report.damages);
    check(&Store::<F>::open_read_only(STORE, options).unwrap(), &records, id_index);
}

fn check<F: Fingerprint>(store: &Store<F>, expected: &[(F, Id)], id_index: bool) {
    let records = store.records().map(|record| record.map(|record| (record.fingerprint, record.id)).unwrap());
    assert!(records.eq(expected.iter().cloned()));
    for (fingerprint, id) in expected.iter().take(5) {
        let found = store.query(*fingerprint, 0).unwrap();
        let same = expected.iter().filter(|record| record.0 == *fingerprint);
        assert!(found.into_iter().map(|found| found.id).eq(same.map(|record| record.1.clone())));
        if id_index {
            let of_id = expected.iter().filter(|record| record.1 == *id).map(|record| record.0);
            assert!(store.get_id(id).unwrap().into_iter().eq(of_id));
        }
    }
}
