//! Repair does not touch parts that it could only guess, and repairs all others.

use super::sound::{Case, Damage, Size, SoundStore, compare_states, planned_and_done};
use super::{content, kinds};
use crate::support::*;
use fpstore::env::Env;
use fpstore::inspect;
use fpstore::repair::{Lost, RepairAction, plan, repair};
use fpstore::{ErrorKind, IdKind, Parameters, Store};

fn file(sound: &SoundStore<u64>, name: &str) -> Vec<u8> {
    sound.fixture.env.bytes(&sound.fixture.path.join(name)).unwrap()
}

#[test]
fn a_damaged_manifest_is_not_made_up() {
    let sound = SoundStore::<u64>::new(&kinds()[2], Size(200));
    let manifest = file(&sound, "MANIFEST");
    let path = sound.fixture.path.join("MANIFEST");
    let flips = (0..manifest.len()).map(|at| {
        let mut bytes = manifest.clone();
        bytes[at] ^= 1 << (at % 8);
        bytes
    });
    let cuts = (0..manifest.len()).step_by(9).map(|length| manifest[..length].to_vec());
    for (number, bytes) in flips.chain(cuts).enumerate() {
        // A repair cannot judge a file of another version.
        if (8..12).contains(&number) {
            continue;
        }
        let fixture = sound.copy();
        fixture.env.set_bytes(&path, bytes);
        let before = fixture.files();
        let report = planned_and_done(&fixture, &format!("manifest {number}"));
        assert!(report.actions.is_empty() && !report.is_sound() && !report.saves_everything(), "{report:?}");
        assert!(report.refused[0].message.contains("segments in the directory: 5, logs: 3"), "{:?}", report.refused);
        assert!(fixture.files() == before);
    }
}

#[test]
fn without_a_manifest_there_is_nothing_to_go_by() {
    let sound = SoundStore::<u64>::new(&kinds()[0], Size(200));
    let fixture = sound.copy();
    fixture.env.remove(&fixture.path.join("MANIFEST")).unwrap();
    let before = fixture.files();
    let report = planned_and_done(&fixture, "no manifest");
    assert!(report.actions.is_empty() && report.refused.len() == 1 && fixture.files() == before);
    // A directory with foreign files is no store.
    let elsewhere = Fixture::new(fpstore::ReadMode::Pread);
    elsewhere.env.create_dir(&elsewhere.path).unwrap();
    elsewhere.env.set_bytes(&elsewhere.path.join("notes.txt"), b"x".to_vec());
    for result in [plan(&elsewhere.path, &elsewhere.options), repair(&elsewhere.path, &elsewhere.options)] {
        assert_eq!(result.unwrap_err().kind(), ErrorKind::NotFound);
    }
    assert_eq!(elsewhere.files().len(), 1);
}

#[test]
fn parts_that_hold_but_not_together_stay_as_they_are() {
    let stores = [7, 8].map(|seed| SoundStore::<u64>::seeded(&kinds()[0], Size(200), seed));
    // A page of ids of another store, at the same position there.
    let name = "00000001.segment";
    let [own, other] = stores.each_ref().map(|sound| {
        let views = inspect::open(sound.fixture.path.join(name), &sound.fixture.options).unwrap();
        let ids = views[0].sections().into_iter().find(|section| section.name == "ids").unwrap();
        (ids.offset as usize..(ids.offset + ids.length) as usize, file(sound, name))
    });
    assert_eq!(own.0.len(), other.0.len());
    let mut bytes = own.1.clone();
    bytes[own.0].copy_from_slice(&other.1[other.0]);
    let fixture = stores[0].copy();
    fixture.env.set_bytes(&fixture.path.join(name), bytes.clone());
    let report = planned_and_done(&fixture, "another's page");
    assert!(report.refused.len() == 1 && report.actions.is_empty() && report.losses.is_empty(), "{report:?}");
    assert!(fixture.env.bytes(&fixture.path.join(name)).unwrap() == bytes);
    // Repair still handles all other damage.
    let frame = &stores[0].content.frames[3];
    let case = Case { path: frame.path.clone(), section: "frame".to_owned(), damage: Damage::Flip(frame.offset + 3) };
    assert!(case.damage(&fixture));
    let report = planned_and_done(&fixture, "another's page and a log");
    assert!(report.refused.len() == 1 && report.actions.len() == 1 && report.losses.len() == 1, "{report:?}");
    assert!(fixture.env.bytes(&fixture.path.join(name)).unwrap() == bytes);
}

#[test]
fn a_segment_of_another_store_is_not_ones_own() {
    let stores = [7, 8].map(|seed| SoundStore::<u64>::seeded(&kinds()[0], Size(200), seed));
    let fixture = stores[0].copy();
    let name = "00000001.segment";
    fixture.env.set_bytes(&fixture.path.join(name), file(&stores[1], name));
    let report = planned_and_done(&fixture, "another's segment");
    assert!(
        matches!(report.losses[..], [ref loss] if matches!(loss.what, Lost::Segment { fingerprints } if fingerprints > 0))
    );
    stores[0].check(&fixture, &[], &report, "another's segment");
}

#[test]
fn a_log_of_another_store_is_not_ones_own() {
    let parameters = Parameters::new(3).with_ids(IdKind::Number).with_id_index(true);
    let other = SoundStore::<u64>::new(&parameters.clone().with_hasher(Some("other")), Size(200));
    let sound = SoundStore::<u64>::new(&parameters, Size(200));
    let paths: Vec<_> = [1, 4, 7].map(|frame| sound.content.frames[frame].path.clone()).to_vec();
    for (number, path) in paths.iter().enumerate() {
        let fixture = sound.copy();
        fixture.env.set_bytes(path, other.fixture.env.bytes(path).unwrap());
        let label = format!("log {number} of another store");
        let report = planned_and_done(&fixture, &label);
        let [loss] = &report.losses[..] else { panic!("{label}: {report:?}") };
        let first = sound.content.frames[3 * number].sequence;
        let last = if number == 2 { None } else { Some(first + 2) };
        assert_eq!(loss.what, Lost::Batches { first, last }, "{label}");
        assert_eq!(report.kept_aside.len(), 3, "{label}: all logs stay");
        sound.check(&fixture, &[], &report, &label);
    }
}

#[test]
fn batches_after_lost_ones_are_kept() {
    for parameters in kinds() {
        let sound = SoundStore::<u64>::new(&parameters, Size(200));
        let frame = &sound.content.frames[3];
        let case =
            Case { path: frame.path.clone(), section: "frame".to_owned(), damage: Damage::Flip(frame.offset + 3) };
        let fixture = sound.copy();
        assert!(case.damage(&fixture));
        let report = planned_and_done(&fixture, "one batch");
        let [loss] = &report.losses[..] else { panic!("{report:?}") };
        assert_eq!(loss.what, Lost::Batches { first: frame.sequence, last: Some(frame.sequence) });
        assert_eq!((&loss.path, loss.offset), (&frame.path, Some(frame.offset)));
        let [RepairAction::FlushLogs { batches: 8, logs, .. }] = &report.actions[..] else { panic!("{report:?}") };
        assert_eq!(logs.len(), 3);
        sound.check(&fixture, &[case], &report, "one batch");
    }
}

#[test]
fn a_missing_log_in_front_of_an_empty_one_is_a_loss() {
    let sound = SoundStore::<u64>::new(&kinds()[0], Size(200));
    let [missing, empty, last] = [0, 3, 6].map(|number| &sound.content.frames[number]);
    let fixture = sound.copy();
    let damages = [(missing, Damage::Remove), (empty, Damage::Cut(empty.offset)), (last, Damage::Remove)];
    for (frame, damage) in damages {
        assert!(Case { path: frame.path.clone(), section: "log".to_owned(), damage }.damage(&fixture));
    }
    let report = planned_and_done(&fixture, "empty");
    let [loss] = &report.losses[..] else { panic!("{report:?}") };
    assert_eq!(loss.what, Lost::Batches { first: missing.sequence, last: Some(empty.sequence - 1) });
    assert!(plan(&fixture.path, &fixture.options).unwrap().is_sound());
}

#[test]
fn counts_that_the_number_of_records_tells_are_not_lost() {
    // Each fingerprint has one record: the number of all records proves it.
    let fixture = Fixture::new(fpstore::ReadMode::Pread);
    let parameters = Parameters::new(3).with_ids(IdKind::None);
    let store = fixture.load(&parameters, &numbered(&uniform(300, 3)), 1);
    let before = content::state_of(store.records().map(Result::unwrap));
    drop(store);
    let path = fixture.path.join("00000001.segment");
    let section = |name: &str| {
        let sections = inspect::open(&path, &fixture.options).unwrap()[0].sections();
        sections.into_iter().find(|section| section.name == name).unwrap()
    };
    let (ids, data) = (section("ids"), section("table 0 index"));
    let mut bytes = fixture.env.bytes(&path).unwrap();
    bytes[ids.offset as usize + 2] ^= 9;
    bytes[data.offset as usize + 2] ^= 9;
    fixture.env.set_bytes(&path, bytes);
    let report = planned_and_done(&fixture, "counts");
    assert!(report.losses.is_empty(), "{report:?}");
    let store = Store::<u64>::open_read_only(&fixture.path, &fixture.options).unwrap();
    compare_states(&content::state_of(store.records().map(Result::unwrap)), &before, "counts");
}

#[test]
fn numbers_that_lost_writes_had_are_not_given_again() {
    let fixture = Fixture::new(fpstore::ReadMode::Pread);
    let store = Store::<u64>::create(&fixture.path, &Parameters::new(3), &fixture.options).unwrap();
    let mut last = None;
    for number in 0..4u64 {
        let mut batch = fpstore::WriteBatch::new();
        (0..5).for_each(|one| batch.insert(number << 40 | one, fpstore::IdRef::None));
        last = store.write(&batch, fpstore::Durability::SyncData).unwrap().first_number;
    }
    // Removing assigns no numbers, but its frame records that earlier ones were durable.
    store.remove(0, 0, fpstore::Durability::SyncData).unwrap();
    drop(store);
    let logs = inspect::logs(&fixture.path, &fixture.options).unwrap();
    let mut log = inspect::LogView::open(&logs[0], &fixture.options).unwrap();
    let frames: Vec<_> = std::iter::from_fn(|| log.next_frame::<u64>().unwrap()).collect();
    let mut bytes = fixture.env.bytes(&logs[0]).unwrap();
    bytes[frames[3].offset as usize + 30] ^= 1;
    fixture.env.set_bytes(&logs[0], bytes);
    let report = planned_and_done(&fixture, "numbers");
    assert!(matches!(report.losses[..], [ref loss] if matches!(loss.what, Lost::Batches { first: 4, last: Some(4) })));
    let store = Store::<u64>::open(&fixture.path, &fixture.options).unwrap();
    let mut batch = fpstore::WriteBatch::new();
    batch.insert(77, fpstore::IdRef::None);
    let next = store.write(&batch, fpstore::Durability::SyncData).unwrap().first_number;
    assert!(next >= last.map(|last| last + 5), "{next:?} after {last:?} and four more");
}
