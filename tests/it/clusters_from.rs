//! Clusters updated from earlier labels equal those of a full run, after any insertions and removals.

use crate::clusters::{crowded, expected, text};
use crate::points::every;
use crate::support::{Fixture, Random, families, numbered, real};
use fpstore::clusters::{ClusterChange, ClusterUpdate, Clustered, Clustering, Clusters, Keeper, Label};
use fpstore::{Fingerprint, Id, IdKind, Parameters, ReadMode, Record, Result, Store, U256};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

pub(crate) type Labels<F> = Vec<(Label<F>, Label<F>)>;

/// The name of a record in labels, and its label.
fn name<F: Fingerprint>(one: Clustered<F>) -> (Label<F>, Label<F>) {
    match one.record.id {
        Id::Count(_) => (Label::Fingerprint(one.record.fingerprint), one.label),
        id => (Label::Id(id), one.label),
    }
}

pub(crate) fn labels<F: Fingerprint>(clustering: &Clustering<F>) -> Labels<F> {
    clustering.records().unwrap().map(|one| name(one.unwrap())).collect()
}

/// The updated labels, and whether the report of changes gave them.
pub(crate) fn updated<F: Fingerprint>(clusters: &Clusters<F>, given: &[(Label<F>, Label<F>)]) -> (Labels<F>, bool) {
    let mut previous = clusters.previous().unwrap();
    given.iter().for_each(|(record, label)| previous.push(record, label).unwrap());
    let changes = match clusters.find_changes(previous).unwrap() {
        ClusterUpdate::All(clustering) => return (labels(&clustering), false),
        ClusterUpdate::Changes(changes) => changes,
    };
    let mut found = Vec::new();
    let add = |lot: &mut Labels<F>, change| {
        match change {
            ClusterChange::Same(same) => lot.extend_from_slice(&given[same.start as usize..same.end as usize]),
            ClusterChange::Other(others, label) => {
                let records = &given[others.start as usize..others.end as usize];
                lot.extend(records.iter().map(|(record, _)| (record.clone(), label.clone())));
            }
            ClusterChange::Record(one) => {
                assert_ne!(one.record.id, Id::Count(0));
                lot.push(name(one));
            }
        }
        if lot.len() > 100 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let take = |lot: Labels<F>| {
        found.extend(lot);
        Ok(ControlFlow::Continue(()))
    };
    changes.visit(add, take).unwrap();
    (found, true)
}

pub(crate) fn gone_on<F: Fingerprint>(clusters: &Clusters<F>, labels: &[(Label<F>, Label<F>)]) -> Clustering<F> {
    gone_on_with(clusters, labels, &Keeper::Smallest)
}

fn gone_on_with<F: Fingerprint>(
    clusters: &Clusters<F>,
    labels: &[(Label<F>, Label<F>)],
    keeper: &Keeper,
) -> Clustering<F> {
    let mut previous = clusters.previous().unwrap();
    labels.iter().for_each(|(record, label)| previous.push(record, label).unwrap());
    clusters.find_from(previous, keeper).unwrap()
}

fn load<F: Fingerprint>(parameters: &Parameters, records: &[Record<F>], segments: usize) -> Store<F> {
    Fixture::new(ReadMode::Mmap).load_wide(parameters, records, segments)
}

pub(crate) fn shuffle<T>(items: &mut [T], random: &mut Random) {
    (1..items.len()).for_each(|at| items.swap(at, random.below(at as u64 + 1) as usize));
}

/// Labels some records, then removes some of them and adds others; some of these are already in the store.
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
    // In the order of the store, or in random order.
    if round.is_multiple_of(2) {
        shuffle(&mut labels_before, &mut random);
    }
    let (store, fresh) = (load(parameters, &stored, 1 + round as usize % 3), load(parameters, &was_new, 1));
    let clusters = store.clusters(k).unwrap().with_new(&fresh.snapshot()).unwrap().with_sizes();
    let clustering = gone_on(&clusters, &labels_before);
    let found: Vec<Clustered<F>> = clustering.records().unwrap().map(Result::unwrap).collect();
    let unsized_too = gone_on(&store.clusters(k).unwrap().with_new(&fresh.snapshot()).unwrap(), &labels_before);
    assert!(labels(&unsized_too) == labels(&clustering), "round {round}");
    let (update, _) = updated(&store.clusters(k).unwrap().with_new(&fresh.snapshot()).unwrap(), &labels_before);
    assert!(update == labels(&clustering), "round {round}");
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
        // A short run takes other rounds every day.
        for round in every(3, 0..10) {
            come_and_go(&Parameters::new(3).with_ids(kind), &records, [3, 1, 0][round as usize % 3], round);
        }
    }
}

/// Removes a few of many records, and adds a few: most labels stay those of their clusters.
fn little_has_changed<F: Fingerprint>(kind: IdKind, id: fn(u64) -> Id, widened: fn(u64) -> F) {
    let fingerprints = families(1500, 9, 5);
    let parameters = Parameters::new(3).with_width(F::WIDTH).with_ids(kind);
    let record = |fingerprint: u64, number: u64| Record { fingerprint: widened(fingerprint), id: id(number) };
    // Ids in no order; some fingerprints have several, and one id has two fingerprints.
    let all = fingerprints.iter().chain(&fingerprints[..700]);
    let mut records: Vec<Record<F>> =
        all.zip(0..).map(|(&fingerprint, number)| record(fingerprint, number * 7919 % 20_011 + 1)).collect();
    records[4000].id = records[60].id.clone();
    // One fingerprint has very many.
    let crowd = fingerprints[2000];
    records.extend((0..600).map(|number| record(crowd, 30_000 + 7 * number)));
    let gone = |number: usize| number % 7000 == 69;
    let mut kept: Vec<Record<F>> =
        (0..).zip(&records).filter(|(number, _)| !gone(*number)).map(|(_, one)| one.clone()).collect();
    // Some records are in the store without a label.
    let loaded = [(crowd, 30_003), (!fingerprints[3], 40_001), (!fingerprints[3], 40_002)];
    kept.extend(loaded.map(|(fingerprint, number)| record(fingerprint, number)));
    // Records near old ones, far from all, and some existing ones, all of one fingerprint; with the smallest id, and
    // the largest.
    let near = |n: u64| fingerprints[n as usize * 900] ^ if n == 4 { u64::MAX } else { n };
    let mut new: Vec<Record<F>> = (0..5)
        .map(|n| record(near(n), if n == 3 { 0 } else { (1 << 20) + n }))
        .chain([record(crowd, 31_002)])
        .collect();
    let twice = kept[77].fingerprint;
    new.extend(kept.iter().filter(|one| one.fingerprint == twice).cloned());
    let before = load(&parameters, &records, 1);
    let old = labels(&before.clusters(3).unwrap().find(&Keeper::Smallest).unwrap());
    let largest = labels(&before.clusters(3).unwrap().find(&Keeper::Largest).unwrap());
    let (store, fresh) = (load(&parameters, &kept, 2), load(&parameters, &new, 1));
    let clusters = store.clusters(3).unwrap().with_new(&fresh.snapshot()).unwrap();
    for keeper in [Keeper::Smallest, Keeper::Largest] {
        let scratch = labels(&clusters.find(&keeper).unwrap());
        for given in [&old, &largest] {
            let clustering = gone_on_with(&clusters, given, &keeper);
            assert!(labels(&clustering) == scratch, "{kind:?} {keeper:?}");
            assert!((4..50).contains(&clustering.searched()), "{}", clustering.searched());
            let unknown = given.len() as u64 - clustering.labelled();
            assert!((1..=5).contains(&unknown), "{kind:?} {unknown}");
        }
    }
    // Only the keeper of the smallest ids supports reports of changes.
    let scratch = labels(&clusters.find(&Keeper::Smallest).unwrap());
    assert!(updated(&clusters, &old) == (scratch.clone(), true), "{kind:?}");
    assert!(updated(&clusters, &largest) == (scratch.clone(), false), "{kind:?}");
    for round in 0..8 {
        let given = damaged(&old, &mut Random(round), round);
        let (found, by_changes) = updated(&clusters, &given);
        assert!(found == scratch, "{kind:?} {round}");
        assert!(by_changes || round != 1, "{kind:?} {round}");
    }
}

#[test]
fn as_from_scratch_where_little_has_changed() {
    let stores: [fn(); 6] = [
        || little_has_changed::<u64>(IdKind::Number, Id::Number, |one| one),
        || little_has_changed::<u64>(IdKind::Text, text_of, |one| one),
        || little_has_changed::<u64>(IdKind::None, Id::Number, |one| one),
        || little_has_changed::<u128>(IdKind::Number, Id::Number, |one| u128::from(one) << 64),
        // All fingerprints share their first 64 bits.
        || little_has_changed::<u128>(IdKind::Text, text_of, u128::from),
        || {
            little_has_changed::<U256>(IdKind::None, Id::Number, |one| {
                U256::from_words(|word| if word == 3 { one } else { 7 })
            });
        },
    ];
    // A short run takes two of the stores.
    every(3, stores).for_each(|store| store());
}

/// Labels with lines that are missing, of no record, of another record, repeated, or in another order.
fn damaged<F: Fingerprint>(labels: &Labels<F>, random: &mut Random, round: u64) -> Labels<F> {
    let mut labels = labels.clone();
    for _ in 0..2 {
        let at = random.below(labels.len() as u64 - 200) as usize;
        let unknown = match &labels[at].0 {
            Label::Id(Id::Text(_)) => Label::Id(text_of(1 << 40)),
            Label::Fingerprint(_) => Label::Fingerprint(F::from_words(|_| 0x1234_5678_9abc_def0)),
            Label::Id(_) => Label::Id(Id::Number(1 << 40)),
        };
        match round % 8 {
            0 => drop(labels.drain(at..at + 2)),
            1 => labels.insert(at, (unknown.clone(), unknown)),
            2 => labels[at].1 = unknown,
            3 => labels[at] = (unknown.clone(), unknown),
            4 => labels.insert(at, labels[at].clone()),
            5 => labels.swap(at, at + 150),
            6 => labels.truncate(at),
            _ => labels.clear(),
        }
        if labels.len() < 1000 {
            break;
        }
    }
    labels
}

fn text_of(number: u64) -> Id {
    Id::from(format!("https://example.org/{number}").as_str())
}

#[test]
fn as_from_scratch_with_wide_fingerprints() {
    let wide: Vec<Record<U256>> = crowded(Id::Number)
        .into_iter()
        .map(|record| Record { fingerprint: U256::from_words(|word| record.fingerprint >> word), id: record.id })
        .collect();
    for kind in [IdKind::Number, IdKind::None] {
        for round in every(2, 0..5) {
            come_and_go(&Parameters::new(8).with_width(256).with_ids(kind), &wide, 8, round);
        }
    }
}

#[test]
fn only_what_is_new_or_was_touched_is_looked_at_again() {
    // Chains of four; each id is that of its position.
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
    assert_eq!(updated(&all.clusters(2).unwrap(), &known), (known.clone(), true));
    // Removes the second link of one chain, and joins the ends of another: 3 records of the first chain, and the new
    // one.
    let without: Vec<Record> = records.iter().filter(|record| record.id != Id::Number(401)).cloned().collect();
    let store = load(&parameters, &without, 1);
    let new = load(&parameters, &[Record { fingerprint: fingerprints[800] ^ 1 << 40, id: Id::Number(9000) }], 1);
    let clusters = store.clusters(2).unwrap().with_new(&new.snapshot()).unwrap();
    let clustering = gone_on(&clusters, &known);
    assert_eq!(clustering.searched(), 4);
    let found = labels(&clustering);
    let label = |id: u64| found.iter().find(|one| one.0 == Label::Id(id.into())).map(|one| one.1.clone());
    let expected = [(400, 400), (402, 402), (403, 402), (800, 800), (803, 800), (9000, 800), (0, 0), (3, 0)];
    for (id, cluster) in expected {
        assert_eq!(label(id), Some(Label::Id(Id::from(cluster))), "{id}");
    }
    // A record without a label counts as a new one.
    let some: Labels<u64> = known.iter().filter(|one| one.0 != Label::Id(Id::Number(402))).cloned().collect();
    let clustering = gone_on(&all.clusters(2).unwrap(), &some);
    assert_eq!((clustering.searched(), labels(&clustering)), (1, known));
}

#[test]
fn a_label_counts_only_with_the_record_that_it_is_of() {
    // The middle record, whose id is the label, is gone, with its line.
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
    let clusters = store.clusters(3).unwrap().with_new(&fresh.snapshot()).unwrap().with_memory(18 << 20);
    let scratch = labels(&load(&parameters, &records, 1).clusters(3).unwrap().find(&Keeper::Smallest).unwrap());
    let clustering = gone_on(&clusters, &known);
    assert!(labels(&clustering) == scratch);
    let distinct: BTreeSet<u64> = new.iter().map(|record| record.fingerprint).collect();
    assert_eq!(clustering.searched(), distinct.len() as u64);
}

#[test]
fn ids_of_another_kind_are_refused() {
    let store = load::<u64>(&Parameters::new(3), &[], 1);
    let other = load::<u64>(&Parameters::new(3).with_ids(IdKind::Text), &[], 1);
    let error = store.clusters(3).unwrap().with_new(&other.snapshot()).unwrap_err();
    assert!(error.to_string().contains("ids of the new records are text"), "{error}");
}
