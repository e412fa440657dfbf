//! Sound key indexes, and what is left of them after the losses that a report lists.

use crate::keys::model::*;
use crate::live::repair::sound::{Case, Damage, segment_cases};
use crate::support::*;
use fpstore::admin::verify;
use fpstore::env::Env;
use fpstore::inspect::{self, SegmentView};
use fpstore::keys::KeySorter;
use fpstore::repair::{Lost, RepairReport, SegmentRole, plan};
use fpstore::{Id, IdKind, IdRef, KeyFormat, KeyIndex, Parameters, ReadMode, Record};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The content of a run's files.
#[derive(Clone, Debug, Default)]
pub(super) struct RunFiles {
    pub(super) paths: Vec<(SegmentRole, PathBuf)>,
    tombstones: Vec<u64>,
    records: Vec<(u64, Id)>,
    /// Keys with numbers.
    pairs: BTreeSet<(u64, u64)>,
    sketches: Vec<Vec<u8>>,
}

impl RunFiles {
    fn role(&self, path: &PathBuf) -> Option<SegmentRole> {
        self.paths.iter().find(|(_, own)| own == path).map(|&(role, _)| role)
    }

    pub(super) fn path(&self, role: SegmentRole) -> PathBuf {
        self.paths.iter().find(|(own, _)| *own == role).unwrap().1.clone()
    }

    fn keys(&self) -> Vec<u64> {
        let mut keys: Vec<u64> = self.pairs.iter().map(|&(key, _)| key).collect();
        keys.dedup();
        keys
    }
}

/// Records by number: id, keys and sketch.
type State = BTreeMap<u64, (Id, BTreeSet<u64>, Vec<u8>)>;

fn state_of(runs: &[RunFiles]) -> State {
    let mut state = State::new();
    for run in runs {
        for (rank, (number, id)) in run.records.iter().enumerate() {
            let sketch = run.sketches.get(rank).cloned().unwrap_or_default();
            state.insert(*number, (id.clone(), BTreeSet::new(), sketch));
        }
        for (key, number) in &run.pairs {
            state.get_mut(number).unwrap().1.insert(*key);
        }
    }
    runs.iter().flat_map(|run| &run.tombstones).for_each(|number| _ = state.remove(number));
    state
}

pub(super) fn view(fixture: &Fixture, path: &PathBuf) -> SegmentView {
    inspect::open(path, &fixture.options).unwrap().pop().unwrap()
}

fn records_of(view: &SegmentView) -> Vec<Record> {
    view.records::<u64>().unwrap().map(Result::unwrap).collect()
}

/// Reads sketches as format-spec/keys.md says.
fn sketches_of(fixture: &Fixture, view: &SegmentView, records: usize) -> Vec<Vec<u8>> {
    let size = view.parameters().keys().unwrap().sketch_bytes();
    let section = view.sections().into_iter().find(|section| section.name == "sketches").unwrap();
    let bytes = fixture.env.bytes(view.path()).unwrap();
    let at = |rank: usize| section.offset as usize + rank / (4092 / size) * 4096 + rank % (4092 / size) * size;
    if size == 0 { Vec::new() } else { (0..records).map(|rank| bytes[at(rank)..at(rank) + size].to_vec()).collect() }
}

fn runs_of(fixture: &Fixture) -> Vec<RunFiles> {
    let manifest = inspect::manifest(&fixture.path, &fixture.options).unwrap();
    let run_of = |segments: Vec<(SegmentRole, PathBuf)>| {
        let mut run = RunFiles { paths: segments, ..RunFiles::default() };
        for (role, path) in run.paths.clone() {
            let view = view(fixture, &path);
            let records = records_of(&view);
            match role {
                SegmentRole::Records => {
                    run.records = records.into_iter().map(|record| (record.fingerprint, record.id)).collect();
                }
                SegmentRole::Tombstones => run.tombstones = records.iter().map(|record| record.fingerprint).collect(),
                SegmentRole::Keys => {
                    run.pairs =
                        records.iter().map(|record| (record.fingerprint, record.id.number().unwrap())).collect();
                    run.sketches = sketches_of(fixture, &view, run.records.len());
                }
                _ => {}
            }
        }
        run
    };
    let segment = |(role, fact): &(SegmentRole, inspect::SegmentFact)| (*role, fixture.path.join(&fact.name));
    manifest.runs.iter().map(|run| run_of(run.segments.iter().map(segment).collect())).collect()
}

pub(super) struct SoundIndex {
    pub(super) fixture: Fixture,
    pub(super) runs: Vec<RunFiles>,
    format: KeyFormat,
    is_numbered: bool,
    /// Whether every record has a key.
    all_have_keys: bool,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Kind {
    ids: IdKind,
    is_numbered: bool,
    sketch_bits: u16,
    all_have_keys: bool,
}

pub(super) fn kinds() -> Vec<Kind> {
    let kind = |ids, is_numbered, sketch_bits, all_have_keys| Kind { ids, is_numbered, sketch_bits, all_have_keys };
    vec![
        kind(IdKind::Number, false, 256, true),
        kind(IdKind::Text, false, 256, false),
        kind(IdKind::Number, true, 256, false),
        kind(IdKind::Text, false, 0, true),
    ]
}

impl SoundIndex {
    /// Two runs with records, the first one with gaps between the numbers, and one of tombstones.
    pub(super) fn new(kind: Kind, size: u64, seed: u64) -> Self {
        let fixture = Fixture::new(ReadMode::Pread);
        let format = KeyFormat::default().with_sketch(kind.sketch_bits, 1);
        let parameters: Parameters = parameters(format, kind.ids).with_block_size(256).with_id_index(!kind.is_numbered);
        let index = KeyIndex::create(&fixture.path, &parameters, &fixture.options).unwrap();
        let mut all = records(size + size / 2, 4, format, kind.ids, seed);
        // Ids that fill more than a page.
        let mut random = Random(seed);
        for record in &mut all {
            record.id = match kind.ids {
                IdKind::Text => Id::from(&*format!("https://host-{}.org/{}", random.below(50), random.next())),
                _ => Id::Number(random.next() >> 3),
            };
        }
        if !kind.all_have_keys {
            all.iter_mut().step_by(9).for_each(|record| record.keys.clear());
        }
        let load = |records: &[KeyRecord]| {
            let mut sorter = KeySorter::new(&fixture.path, &fixture.options, format);
            for record in records {
                let id = if kind.is_numbered { IdRef::None } else { record.id.as_ref() };
                sorter.push(id, &record.keys, &record.sketch).unwrap();
            }
            index.load(sorter.finish().unwrap()).unwrap();
        };
        let remove = |places: &[usize]| {
            let id = |&place: &usize| if kind.is_numbered { Id::Number(place as u64) } else { all[place].id.clone() };
            let ids: Vec<Id> = places.iter().map(id).collect();
            let mut sorter = fpstore::bulk::IdSorter::new(&fixture.path, &fixture.options);
            ids.iter().for_each(|id| sorter.push(id.as_ref()).unwrap());
            assert_eq!(index.remove_ids(&sorter.finish().unwrap()).unwrap().removed, ids.len() as u64);
        };
        let size = size as usize;
        load(&all[..size]);
        remove(&(0..size).step_by(7).collect::<Vec<_>>());
        assert!(index.compact().unwrap());
        load(&all[size..]);
        remove(&(1..all.len()).step_by(7).collect::<Vec<_>>());
        drop(index);
        let runs = runs_of(&fixture);
        assert!(runs.len() == 3 && !runs[2].tombstones.is_empty());
        // The files have what was given.
        let state = state_of(&runs);
        let mut given = Model::new(format);
        let is_there = |&(place, _): &(usize, &KeyRecord)| place % 7 != 1 && (place >= size || place % 7 != 0);
        for (place, record) in all.iter().enumerate().filter(is_there) {
            let id = if kind.is_numbered { Id::Number(place as u64) } else { record.id.clone() };
            given.add(&[KeyRecord { id, ..record.clone() }]);
        }
        assert_eq!(given.records.len(), state.len());
        for (id, keys, sketch) in state.values() {
            assert_eq!((&given.keys()[id], &given.records[id].sketch), (keys, sketch));
        }
        Self { fixture, runs, format, is_numbered: kind.is_numbered, all_have_keys: kind.all_have_keys }
    }

    pub(super) fn cases(&self) -> Vec<Case> {
        let files = self.fixture.files().into_iter();
        let segments = files.filter(|(path, _)| path.extension().is_some_and(|ending| ending == "segment"));
        segments.flat_map(|(path, bytes)| segment_cases(&path, bytes.len() as u64, &self.fixture)).collect()
    }

    /// The runs after the losses of a report, and the lost pairs that it leaves open.
    fn after(&self, report: &RepairReport, found: &[RunFiles], label: &str) -> Vec<RunFiles> {
        let found: BTreeSet<(u64, u64)> = found.iter().flat_map(|run| &run.pairs).copied().collect();
        self.runs.iter().map(|run| self.run_after(run, report, &found, label)).collect()
    }

    fn run_after(&self, run: &RunFiles, report: &RepairReport, found: &BTreeSet<(u64, u64)>, label: &str) -> RunFiles {
        let mut left = run.clone();
        let keys = run.keys();
        let number = |digits: &String| u64::from_str_radix(digits, 16).unwrap();
        let (mut lost_keys, mut no_sketch) = (BTreeSet::new(), BTreeSet::new());
        for loss in &report.losses {
            let Some(role) = run.role(&loss.path) else { continue };
            assert_eq!(loss.role, Some(role), "{label}");
            let (mut gone, pairs) = (BTreeSet::new(), left.pairs.len());
            match (&loss.what, role) {
                (Lost::Segment { .. }, SegmentRole::Keys) => {
                    assert_eq!(loss.records, Some(run.pairs.len() as u64), "{label}");
                    left.pairs.clear();
                    left.sketches.clear();
                    continue;
                }
                (Lost::Fingerprints { first, count, after, before, ids }, SegmentRole::Keys) => {
                    let (first, end) = (*first as usize, (*first + *count) as usize);
                    assert!(ids.is_empty());
                    assert_eq!(after.as_ref().map(number), first.checked_sub(1).map(|at| keys[at]), "{label}");
                    assert_eq!(before.as_ref().map(number), keys.get(end).copied(), "{label}");
                    let own: BTreeSet<u64> = keys[first..end].iter().copied().collect();
                    let of = run.pairs.iter().filter(|(key, _)| own.contains(key));
                    lost_keys.extend(of.map(|&(_, number)| number));
                    left.pairs.retain(|(key, _)| !own.contains(key));
                    // Pairs whose numbers are lost too count with those.
                    assert!(loss.records.unwrap() <= (pairs - left.pairs.len()) as u64, "{label}");
                    continue;
                }
                (Lost::Numbers { keys: listed }, SegmentRole::Keys) => {
                    let is_listed = |key: u64| {
                        listed.iter().any(|range| (number(&range.first)..=number(&range.last)).contains(&key))
                    };
                    left.pairs.retain(|pair| !is_listed(pair.0) || found.contains(pair));
                    // All listed ones but the first have lost something.
                    for range in listed {
                        let first = number(&range.first);
                        let own = keys.iter().filter(|&&key| key > first && key <= number(&range.last));
                        assert!(own.clone().count() as u64 + 1 >= range.count, "{label}");
                        let has_all =
                            |key: u64| run.pairs.iter().filter(|pair| pair.0 == key).all(|pair| found.contains(pair));
                        assert!(own.copied().all(|key| !has_all(key)), "{label}: {range:?}");
                    }
                    continue;
                }
                (Lost::KeysOf { numbers }, SegmentRole::Keys) => {
                    let listed: BTreeSet<u64> = numbers.iter().flat_map(|&(first, last)| first..=last).collect();
                    assert!(listed.is_subset(&lost_keys) && loss.records == Some(listed.len() as u64), "{label}");
                    let only_keys = report.losses.iter().all(|loss| !matches!(loss.what, Lost::Numbers { .. }));
                    assert!(!only_keys || listed == lost_keys, "{label}");
                    continue;
                }
                (Lost::Sketches { numbers }, SegmentRole::Keys) => {
                    no_sketch = numbers.iter().flat_map(|&(first, last)| first..=last).collect();
                    assert_eq!(loss.records, Some(no_sketch.len() as u64), "{label}");
                    continue;
                }
                (Lost::WithRecords { numbers }, SegmentRole::Keys) => {
                    let listed: BTreeSet<u64> = numbers.iter().flat_map(|&(first, last)| first..=last).collect();
                    assert!(listed.iter().all(|number| !left.records.iter().any(|own| own.0 == *number)), "{label}");
                    let of = |pair: &&(u64, u64)| !left.records.iter().any(|own| own.0 == pair.1);
                    assert!(left.pairs.iter().filter(of).all(|pair| listed.contains(&pair.1)), "{label}");
                    continue;
                }
                (Lost::Segment { .. }, _) => match role {
                    SegmentRole::Records => gone.extend(run.records.iter().map(|record| record.0)),
                    _ => gone.extend(&run.tombstones),
                },
                (Lost::Ids { fingerprints }, _) => gone.extend(fingerprints.iter().map(number)),
                (Lost::Fingerprints { first, count, .. }, _) => {
                    let all: Vec<u64> = match role {
                        SegmentRole::Records => run.records.iter().map(|record| record.0).collect(),
                        _ => run.tombstones.clone(),
                    };
                    gone.extend(&all[*first as usize..(*first + *count) as usize]);
                }
                other => panic!("{label}: {other:?}"),
            }
            match role {
                SegmentRole::Records => {
                    let keep: Vec<bool> = left.records.iter().map(|record| !gone.contains(&record.0)).collect();
                    let mut kept = keep.iter();
                    left.records.retain(|_| *kept.next().unwrap());
                    let mut kept = keep.iter();
                    left.sketches.retain(|_| *kept.next().unwrap());
                }
                _ => left.tombstones.retain(|number| !gone.contains(number)),
            }
        }
        let numbers: BTreeSet<u64> = left.records.iter().map(|record| record.0).collect();
        left.pairs.retain(|pair| numbers.contains(&pair.1));
        if left.pairs.is_empty() {
            left.sketches.clear();
        }
        for (sketch, record) in left.sketches.iter_mut().zip(&left.records) {
            if no_sketch.contains(&record.0) {
                sketch.fill(0);
            }
        }
        // The report counts everything that is gone, once.
        for (role, gone) in [
            (SegmentRole::Records, run.records.len() - left.records.len()),
            (SegmentRole::Tombstones, run.tombstones.len() - left.tombstones.len()),
        ] {
            let own = report.losses.iter().filter(|loss| run.role(&loss.path) == Some(role));
            assert_eq!(own.map(|loss| loss.records.unwrap()).sum::<u64>(), gone as u64, "{label}: {:?}", report.losses);
        }
        let of_pairs = |what: &Lost| !matches!(what, Lost::KeysOf { .. } | Lost::Sketches { .. });
        let of_keys = report.losses.iter().filter(|loss| run.role(&loss.path) == Some(SegmentRole::Keys));
        let lost: u64 = of_keys.filter(|loss| of_pairs(&loss.what)).map(|loss| loss.records.unwrap()).sum();
        assert_eq!(lost, (run.pairs.len() - left.pairs.len()) as u64, "{label}: {:?}", report.losses);
        left
    }

    /// Compares a repaired index with what the report says is left.
    pub(super) fn check(&self, fixture: &Fixture, report: &RepairReport, label: &str) {
        assert!(report.refused.is_empty(), "{label}: {:?}", report.refused);
        let damages = verify(&fixture.path, &fixture.options).unwrap().damages;
        assert!(damages.is_empty(), "{label}: {damages:?}");
        let again = plan(&fixture.path, &fixture.options).unwrap();
        assert!(again.is_sound() && again.saves_everything(), "{label}: {again:?}");
        let found = runs_of(fixture);
        let expected = state_of(&self.after(report, &found, label));
        let found = state_of(&found);
        assert!(found.keys().eq(expected.keys()), "{label}: other records");
        for (number, record) in &found {
            assert_eq!(record, &expected[number], "{label}: record {number}");
        }
        let mut model = Model::new(self.format);
        for (id, keys, sketch) in expected.values() {
            let shift = 64 - u32::from(self.format.key_bits());
            let keys = keys.iter().map(|key| key << shift).collect();
            model.add(&[KeyRecord { id: id.clone(), keys, sketch: sketch.clone() }]);
        }
        model.check(&KeyIndex::open_read_only(&fixture.path, &fixture.options).unwrap(), 5, label);
        // The index takes writes, and merging loses nothing.
        let index = KeyIndex::open(&fixture.path, &fixture.options).unwrap();
        index.compact().unwrap();
        model.check(&index, 5, label);
        let names = fixture.env.list(&fixture.path).unwrap();
        let aside = names.iter().filter(|name| name.ends_with(".damaged")).count();
        assert_eq!(aside, report.kept_aside.len(), "{label}: {names:?}");
    }

    /// Checks that one damaged place loses no more than it has to.
    pub(super) fn check_losses(&self, case: &Case, report: &RepairReport, label: &str) {
        let run = self.runs.iter().find(|run| run.role(&case.path).is_some());
        let (run, Damage::Flip(at)) = (run.unwrap(), &case.damage) else { return };
        let role = run.role(&case.path).unwrap();
        let section = case.section.as_str();
        let in_table = section.starts_with("table 0");
        let saved = match role {
            _ if matches!(section, "header" | "trailer" | "id index") => true,
            SegmentRole::IdIndex => true,
            SegmentRole::Records => in_table && self.all_have_keys || self.is_numbered && section != "footer",
            SegmentRole::Tombstones => self.is_numbered && section != "footer",
            _ => false,
        };
        assert!(!saved || report.losses.is_empty(), "{label}: {:?}", report.losses);
        assert!(!report.damages.is_empty(), "{label}: not noticed");
        if role != SegmentRole::Keys {
            return;
        }
        assert!(report.losses.iter().all(|loss| loss.path == case.path), "{label}: {:?}", report.losses);
        let view = view(&self.fixture, &case.path);
        let place = view.sections().into_iter().find(|one| one.name == section);
        let page = place.as_ref().map_or(0, |place| (at - place.offset) / 4096);
        match section {
            "table 0 data" => {
                let blocks = view.blocks(0).unwrap().map(Result::unwrap).filter(|block| block.page == page);
                let own: BTreeSet<u64> = blocks.flat_map(|block| block.keys[..block.count - 1].to_vec()).collect();
                let lost: u64 = report
                    .losses
                    .iter()
                    .map(|loss| match (&loss.what, loss.records) {
                        (Lost::Fingerprints { .. }, Some(records)) => records,
                        (Lost::KeysOf { .. }, _) => 0,
                        other => panic!("{label}: {other:?}"),
                    })
                    .sum();
                assert_eq!(lost, run.pairs.iter().filter(|pair| own.contains(&pair.0)).count() as u64, "{label}");
            }
            "sketches" => {
                let in_page = 4092 / self.format.sketch_bytes();
                let own = run.records.chunks(in_page).nth(page as usize).unwrap();
                let [loss] = &report.losses[..] else { panic!("{label}: {:?}", report.losses) };
                let Lost::Sketches { numbers } = &loss.what else { panic!("{label}: {loss:?}") };
                let numbers = numbers.iter().flat_map(|&(first, last)| first..=last);
                assert!(numbers.eq(own.iter().map(|record| record.0)), "{label}");
                assert_eq!(loss.offset, place.map(|place| place.offset + page * 4096), "{label}");
            }
            _ => {}
        }
    }
}
