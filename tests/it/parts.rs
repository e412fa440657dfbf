//! Joins that are divided into parts and groups, for many machines: together they find what one join finds.

use crate::points::{every, points};
use crate::support::{Fixture, Random, families, numbered, real, uniform, wide};
use fpstore::bulk::deal;
use fpstore::clusters::{Keeper, Label, Linkage, linked};
use fpstore::pairs::{Pair, Part, RecordPair};
use fpstore::{ErrorKind, Fingerprint, Id, Parameters, ReadMode, Record, Result, Snapshot, Store, U256};
use std::collections::BTreeMap;

fn store_of<F: Fingerprint>(records: &[Record<F>], k: u32, segments: usize) -> Store<F> {
    Fixture::new(ReadMode::Mmap).load_wide(&Parameters::new(k).with_width(F::WIDTH), records, segments)
}

fn sorted<T: Ord>(mut all: Vec<T>) -> Vec<T> {
    all.sort_unstable();
    all
}

/// The parts of one store have all its pairs, each once, whatever the memory.
fn parts_agree<F: Fingerprint>(fingerprints: &[F], ks: impl IntoIterator<Item = u32>) {
    let store = store_of(&numbered(fingerprints), 3, 2);
    for k in ks {
        let expected: Vec<Pair<F>> = store.pairs(k).unwrap().distinct().unwrap().map(Result::unwrap).collect();
        let records: Vec<RecordPair<F>> = store.pairs(k).unwrap().records().unwrap().map(Result::unwrap).collect();
        for memory in points([1 << 20, 1 << 30]) {
            let of_part = |part| store.pairs(k).unwrap().with_memory(memory).of_part(part).unwrap();
            let distinct = Part::all(k).flat_map(|part| of_part(part).distinct().unwrap().map(Result::unwrap));
            assert_eq!(sorted(distinct.collect()), sorted(expected.clone()), "k = {k}, {memory} bytes");
            let found = Part::all(k).flat_map(|part| of_part(part).records().unwrap().map(Result::unwrap));
            let key = |pair: &RecordPair<F>| (pair.a.clone(), pair.b.clone());
            let by_key = |all: &[RecordPair<F>]| sorted(all.iter().map(key).collect());
            assert_eq!(by_key(&found.collect::<Vec<_>>()), by_key(&records), "k = {k}, {memory} bytes");
        }
    }
}

#[test]
fn every_pair_is_in_one_part() {
    let mut fingerprints = uniform(4000, 1);
    fingerprints.extend(families(800, 8, 2));
    fingerprints.extend_from_within(..300);
    parts_agree(&fingerprints, every(3, 0..=6));
    let real: Vec<u64> = real().into_iter().step_by(9).collect();
    parts_agree(&real, every(3, 0..=6));
    parts_agree(&flipped::<u128>(1500, 9), every(3, [0, 3, 8, 20]));
    parts_agree(&flipped::<U256>(1000, 12), every(3, [1, 8, 31]));
    // A part without a bit, in which all pairs agree.
    parts_agree(&uniform(60, 4), [64]);
}

/// Fingerprints, and as many that differ from these in less than `flips` bits.
fn flipped<F: Fingerprint>(count: usize, flips: u64) -> Vec<F> {
    let mut random = Random(7);
    let mut all = wide::<F>(count, 8);
    for number in 0..count {
        let mut member = all[number];
        for _ in 0..random.below(flips) {
            member = member.flipped(random.below(F::WIDTH.into()) as u32);
        }
        all.push(member);
    }
    all
}

/// Pairs of ids.
type Links = Vec<(Id, Id)>;

/// What tasks find that know one group each: the pairs with their smallest ids, and spanning forests.
fn dealt<F: Fingerprint>(records: &[Record<F>], k: u32, tasks: usize, groups: u32) -> (Links, Links) {
    let fixture = Fixture::new(ReadMode::Mmap);
    let mut stores: BTreeMap<(u32, u32), Vec<Store<F>>> = BTreeMap::new();
    for (task, share) in records.chunks(records.len().div_ceil(tasks)).enumerate() {
        let store = store_of(share, k, 2);
        let place = |part: Part, group: u32| format!("{task}-{}-{group}", part.number()).into();
        // The memory of the first one holds one part at a time, of others all.
        let options = fixture.options.clone().with_load_memory(if task == 0 { 1 << 18 } else { 1 << 26 });
        for one in deal(&store.snapshot(), k, groups, &place, &options).unwrap() {
            let store = Store::open_read_only(&one.path, &options).unwrap();
            stores.entry((one.part.number(), one.group)).or_default().push(store);
        }
    }
    let (mut pairs, mut forest) = (Vec::new(), Vec::new());
    for ((part, _), stores) in &stores {
        let part = Part::new(*part, k).unwrap();
        let more: Vec<Snapshot<F>> = stores[1..].iter().map(Store::snapshot).collect();
        let join = stores[0].pairs(k).unwrap().with_more(&more).unwrap().of_part(part).unwrap();
        let found = join.first_ids().records().unwrap().map(Result::unwrap);
        pairs.extend(found.map(|pair| (pair.a.id, pair.b.id)));
        let clusters = stores[0].clusters(k).unwrap().with_more(&more).unwrap().of_part(part).unwrap();
        let clustering = clusters.find(&Keeper::Smallest).unwrap();
        for one in clustering.records().unwrap().map(Result::unwrap) {
            let Label::Id(label) = one.label else { unreachable!("there are ids") };
            forest.push((one.record.id, label));
        }
    }
    (pairs, forest)
}

fn groups_agree<F: Fingerprint>(fingerprints: &[F], k: u32) {
    let records = numbered(fingerprints);
    let store = store_of(&records, k, 1);
    let whole = store.pairs(k).unwrap().first_ids().records().unwrap().map(Result::unwrap);
    let whole = sorted(whole.map(|pair| (pair.a.id, pair.b.id)).collect());
    let mut first = BTreeMap::new();
    records.iter().for_each(|one| _ = first.entry(one.fingerprint).or_insert_with(|| one.id.clone()));
    let clustering = store.clusters(k).unwrap().find(&Keeper::Smallest).unwrap();
    let expected: BTreeMap<u64, u64> = clustering
        .records()
        .unwrap()
        .map(|one| one.unwrap())
        .map(|one| match one.label {
            Label::Id(label) => (one.record.id.number().unwrap(), label.number().unwrap()),
            Label::Fingerprint(_) => unreachable!("there are ids"),
        })
        .collect();
    for (tasks, groups) in points([(1, 1), (4, 1), (3, 2), (5, 7)]) {
        let (pairs, forest) = dealt(&records, k, tasks, groups);
        assert_eq!(sorted(pairs), whole, "{tasks} tasks, {groups} groups");
        let number = |id: &Id| u32::try_from(id.number().unwrap()).unwrap();
        let mut edges: Vec<(u32, u32)> = forest.iter().map(|(id, label)| (number(id), number(label))).collect();
        edges.extend(records.iter().map(|one| (number(&one.id), number(&first[&one.fingerprint]))));
        let labels = linked(Linkage::Single, u32::try_from(records.len()).unwrap(), &mut edges).unwrap();
        let found: BTreeMap<u64, u64> = (0..).zip(labels.into_iter().map(u64::from)).collect();
        assert_eq!(found, expected, "{tasks} tasks, {groups} groups");
    }
}

#[test]
fn groups_of_many_stores_are_joined_one_by_one() {
    let mut fingerprints = uniform(2000, 5);
    fingerprints.extend(families(400, 8, 6));
    // Equal ones in the shares of several tasks, and one in most of them.
    fingerprints.extend_from_within(..500);
    fingerprints.extend([fingerprints[3]; 2000]);
    groups_agree(&fingerprints, 3);
    let real: Vec<u64> = real().into_iter().step_by(40).collect();
    groups_agree(&real, 6);
    groups_agree(&flipped::<U256>(600, 12), 8);
}

#[test]
fn what_cannot_be_divided_is_refused() {
    let store = store_of(&numbered(&[7_u64, 6]), 3, 1);
    let kind = |result: Result<()>| result.map_err(|error| error.kind());
    let part = Part::new(1, 2).unwrap();
    let refused = Err(ErrorKind::InvalidInput);
    assert_eq!(kind(store.pairs(3).unwrap().of_part(part).map(drop)), refused);
    assert_eq!(kind(store.clusters(3).unwrap().of_part(part).map(drop)), refused);
    let fixture = Fixture::new(ReadMode::Mmap);
    let place = |_: Part, _: u32| "dealt".into();
    assert_eq!(kind(deal(&store.snapshot(), 65, 1, &place, &fixture.options).map(drop)), refused);
    for groups in [0, 4097] {
        assert_eq!(kind(deal(&store.snapshot(), 3, groups, &place, &fixture.options).map(drop)), refused);
    }
    let counts = fixture.load(&Parameters::new(3).with_ids(fpstore::IdKind::None), &numbered(&[7, 7]), 1);
    assert_eq!(kind(deal(&counts.snapshot(), 3, 1, &place, &fixture.options).map(drop)), refused);
    assert_eq!(kind(store.pairs(3).unwrap().with_more(&[counts.snapshot()]).map(drop)), refused);
    // Stars need all pairs.
    let clusters = store.clusters(3).unwrap().of_part(Part::new(0, 3).unwrap()).unwrap();
    let star = clusters.with_linkage(Linkage::Star).find(&Keeper::Smallest);
    assert_eq!(kind(star.map(drop)), Err(ErrorKind::Unsupported));
}
