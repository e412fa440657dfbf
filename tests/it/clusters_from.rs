//! Clusters gone on from labels are those of a run from scratch, whatever came and went.

use crate::clusters::{crowded, expected, text};
use crate::support::{Fixture, Random, numbered, real};
use fpstore::env::Env;
use fpstore::{
    Clustered, Clustering, Clusters, Fingerprint, Id, IdKind, Keeper, Label, Parameters, ReadMode, Record, Result,
    Store, U256,
};
use std::collections::BTreeSet;

type Labels<F> = Vec<(Label<F>, Label<F>)>;

/// Records as labels name them, and their labels.
fn labels<F: Fingerprint>(clustering: &Clustering<F>) -> Labels<F> {
    let name = |one: Clustered<F>| match one.record.id {
        Id::Count(_) => (Label::Fingerprint(one.record.fingerprint), one.label),
        id => (Label::Id(id), one.label),
    };
    clustering.records().unwrap().map(|one| name(one.unwrap())).collect()
}

fn gone_on<F: Fingerprint>(clusters: &Clusters<F>, labels: &[(Label<F>, Label<F>)]) -> Clustering<F> {
    let mut previous = clusters.previous().unwrap();
    labels.iter().for_each(|(record, label)| previous.push(record, label).unwrap());
    clusters.find_from(previous, &Keeper::Smallest).unwrap()
}

fn load<F: Fingerprint>(parameters: &Parameters, records: &[Record<F>], segments: usize) -> Store<F> {
    Fixture::new(ReadMode::Mmap).load_wide(parameters, records, segments)
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    (1..items.len()).for_each(|at| items.swap(at, random.below(at as u64 + 1) as usize));
}

/// Labels some records, then removes some of them and adds others, of which some are in the store already.
fn come_and_go<F: Fingerprint>(parameters: &Parameters, records: &[Record<F>], k: u32, round: u64) {
    let mut random = Random(round);
    let (removed, new) = [(0, 5), (10, 0), (10, 10), (3, 50), (0, 0)][round as usize % 5];
    let mut choose = |percent| random.below(100) < percent;
    let (was_new, labelled): (Vec<_>, Vec<_>) = records.iter().cloned().partition(|_| choose(new));
    let (_, kept): (Vec<_>, Vec<_>) = labelled.iter().cloned().partition(|_| choose(removed));
    let loaded = was_new.iter().filter(|_| choose(30));
    let stored: Vec<_> = kept.iter().chain(loaded).cloned().collect();
    let before = load(parameters, &labelled, 1 + round as usize % 2);
    let mut labels_before = labels(&before.clusters(k).unwrap().find(&Keeper::Smallest).unwrap());
    shuffle(&mut labels_before, &mut random);
    let (store, fresh) = (load(parameters, &stored, 1 + round as usize % 3), load(parameters, &was_new, 1));
    let clusters = store.clusters(k).unwrap().with_new(&fresh).unwrap().with_sizes();
    let clustering = gone_on(&clusters, &labels_before);
    let found: Vec<Clustered<F>> = clustering.records().unwrap().map(Result::unwrap).collect();
    let all: Vec<_> = kept.into_iter().chain(was_new).collect();
    if parameters.ids() == IdKind::None {
        let scratch = clusters.find(&Keeper::Smallest).unwrap();
        assert!(scratch.records().unwrap().map(Result::unwrap).eq(found), "round {round}");
    } else {
        let smallest =
            |members: &[&Record<F>]| Label::Id(members.iter().map(|record| record.id.clone()).min().unwrap());
        assert!(found == expected(&all, k, smallest), "round {round}");
    }
}

#[test]
fn as_from_scratch_with_ids_of_every_kind() {
    for (kind, records) in
        [(IdKind::Number, crowded(Id::Number)), (IdKind::Text, crowded(text)), (IdKind::None, crowded(Id::Number))]
    {
        for round in 0..10 {
            come_and_go(&Parameters::new(3).with_ids(kind), &records, [3, 1, 0][round as usize % 3], round);
        }
    }
}

#[test]
fn as_from_scratch_with_wide_fingerprints() {
    let wide: Vec<Record<U256>> = crowded(Id::Number)
        .into_iter()
        .map(|record| Record { fingerprint: U256::from_words(|word| record.fingerprint >> word), id: record.id })
        .collect();
    for kind in [IdKind::Number, IdKind::None] {
        for round in 0..5 {
            come_and_go(&Parameters::new(8).with_width(256).with_ids(kind), &wide, 8, round);
        }
    }
}

#[test]
fn only_what_is_new_or_was_touched_is_looked_at_again() {
    // Chains of four; each id is that of its place.
    let chain = |number: u64| {
        let centre = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        [centre, centre ^ 0b11, centre ^ 0b1111, centre ^ 0b11_1111]
    };
    let fingerprints: Vec<u64> = (0..1000).flat_map(chain).collect();
    let records = numbered(&fingerprints);
    let parameters = Parameters::new(2);
    let all = load(&parameters, &records, 1);
    let scratch = all.clusters(2).unwrap().find(&Keeper::Smallest).unwrap();
    let known = labels(&scratch);
    assert_eq!(scratch.searched(), 4000);
    let unchanged = gone_on(&all.clusters(2).unwrap(), &known);
    assert_eq!((unchanged.searched(), labels(&unchanged)), (0, known.clone()));
    // The second link of one chain goes, and the ends of another come together: 3 of the first chain, and the new one.
    let without: Vec<Record> = records.iter().filter(|record| record.id != Id::Number(401)).cloned().collect();
    let store = load(&parameters, &without, 1);
    let new = load(&parameters, &[Record { fingerprint: fingerprints[800] ^ 1 << 40, id: Id::Number(9000) }], 1);
    let clusters = store.clusters(2).unwrap().with_new(&new).unwrap();
    let clustering = gone_on(&clusters, &known);
    assert_eq!(clustering.searched(), 4);
    let found = labels(&clustering);
    let label = |id: u64| found.iter().find(|one| one.0 == Label::Id(id.into())).map(|one| one.1.clone());
    let expected = [(400, 400), (402, 402), (403, 402), (800, 800), (803, 800), (9000, 800), (0, 0), (3, 0)];
    for (id, cluster) in expected {
        assert_eq!(label(id), Some(Label::Id(Id::from(cluster))), "{id}");
    }
    // A record that has no label is as good as a new one.
    let some: Labels<u64> = known.iter().filter(|one| one.0 != Label::Id(Id::Number(402))).cloned().collect();
    let clustering = gone_on(&all.clusters(2).unwrap(), &some);
    assert_eq!((clustering.searched(), labels(&clustering)), (1, known));
}

#[test]
fn a_label_counts_only_with_the_record_that_it_is_of() {
    // The middle one, whose id is the label, is gone, and so is its line.
    let records = [(1, 0b0), (2, 0b11_1111)].map(|(id, fingerprint)| Record { fingerprint, id: Id::Number(id) });
    let store = load::<u64>(&Parameters::new(3), &records, 1);
    let id = |number: u64| Label::Id(Id::Number(number));
    let clustering = gone_on(&store.clusters(3).unwrap(), &[(id(1), id(0)), (id(2), id(0))]);
    assert_eq!(labels(&clustering), [(id(1), id(1)), (id(2), id(2))]);
}

#[test]
fn fingerprints_that_begin_alike() {
    let records: Vec<Record<u128>> =
        (0..3000u64).map(|n| Record { fingerprint: u128::from(n * n * 977), id: Id::Number(n * 7 % 3000) }).collect();
    for round in 0..4 {
        come_and_go(&Parameters::new(4).with_width(128), &records, 2, round);
    }
}

#[test]
fn of_the_real_set_within_little_memory() {
    let records = numbered(&real());
    let (new, old): (Vec<_>, Vec<_>) =
        records.iter().cloned().partition(|record| record.id.number().unwrap() % 11 == 0);
    let parameters = Parameters::new(3);
    let (store, fresh) = (load(&parameters, &old, 1), load(&parameters, &new, 1));
    let known = labels(&store.clusters(3).unwrap().find(&Keeper::Smallest).unwrap());
    let clusters = store.clusters(3).unwrap().with_new(&fresh).unwrap().with_memory(18 << 20);
    let scratch = labels(&load(&parameters, &records, 1).clusters(3).unwrap().find(&Keeper::Smallest).unwrap());
    let clustering = gone_on(&clusters, &known);
    assert!(labels(&clustering) == scratch);
    let distinct: BTreeSet<u64> = new.iter().map(|record| record.fingerprint).collect();
    assert_eq!(clustering.searched(), distinct.len() as u64);
}

#[test]
fn checkpoints_are_of_the_labels_too() {
    let fixture = Fixture::new(ReadMode::Mmap);
    let records = crowded(Id::Number);
    let store = fixture.load(&Parameters::new(3), &records, 1);
    let path = std::path::Path::new("work/checkpoint");
    fixture.env.create_dir(std::path::Path::new("work")).unwrap();
    let clusters = store.clusters(3).unwrap().with_checkpoint(path);
    let known = labels(&clusters.find(&Keeper::Smallest).unwrap());
    // Labels that unite what is not near: whoever gives them gets them back, and nobody else.
    let wrong: Labels<u64> = known.iter().map(|(record, _)| (record.clone(), known[0].1.clone())).collect();
    assert!(labels(&gone_on(&clusters, &wrong)) != known);
    assert!(labels(&gone_on(&clusters, &known)) == known);
    assert!(labels(&clusters.find(&Keeper::Smallest).unwrap()) == known);
}

#[test]
fn checkpoints_tell_what_is_new() {
    let record = |(id, fingerprint)| Record { fingerprint, id: Id::Number(id) };
    let records = [(1, 0b0), (2, u64::MAX), (3, 0b1), (4, u64::MAX << 32)].map(record);
    let id = |number: u64| Label::Id(Id::Number(number));
    // As long as the third is not new, it is alone because its label says so.
    let known = [1, 2, 3].map(|number| (id(number), id(number)));
    let path = std::path::Path::new("work/checkpoint");
    let fixture = |records, segments| {
        let fixture = Fixture::new(ReadMode::Mmap);
        fixture.env.create_dir(std::path::Path::new("work")).unwrap();
        let store = fixture.load(&Parameters::new(3), records, segments);
        (fixture.env, store)
    };
    let (env, together) = fixture(&records, 2);
    let clusters = together.clusters(3).unwrap().with_checkpoint(path);
    assert_eq!(labels(&gone_on(&clusters, &known)), [1, 3, 4, 2].map(|number| (id(number), id(number))));
    let left = env.bytes(path).unwrap();
    // The same segments, the second of which is new.
    let (env, first) = fixture(&records[..2], 1);
    env.create(path).unwrap().write_all(&left).unwrap();
    let clusters = first.clusters(3).unwrap().with_new(&fixture(&records[2..], 1).1).unwrap().with_checkpoint(path);
    let found = labels(&gone_on(&clusters, &known));
    assert_eq!(found, [(1, 1), (3, 1), (4, 4), (2, 2)].map(|(record, label)| (id(record), id(label))));
}

#[test]
fn ids_of_another_kind_are_refused() {
    let store = load::<u64>(&Parameters::new(3), &[], 1);
    let other = load::<u64>(&Parameters::new(3).with_ids(IdKind::Text), &[], 1);
    let error = store.clusters(3).unwrap().with_new(&other).unwrap_err();
    assert!(error.to_string().contains("ids of the new records are text"), "{error}");
}
