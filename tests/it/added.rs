//! Stars of a store and of added records, where earlier decisions hold: compared with the definition on all pairs, and
//! with a search of all.

use crate::linkage::{Cluster, by_priority, chain, evidence, expected, greedy, keepers, kept_of, label};
use crate::points::every;
use crate::support::{Fixture, Random, families, numbered, real, wide};
use fpstore::clusters::{Clustering, Clusters, Keeper, Label, Linkage, Removed};
use fpstore::{ErrorKind, Fingerprint, Id, IdKind, Parameters, ReadMode, Record, Result, Store, U256};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Adds the new records to the clusters, by definition. Returns the number of those with priority over their keepers.
fn add<F: Fingerprint>(clusters: &mut Vec<Cluster<F>>, new: &[Record<F>], k: u32, keeper: &Keeper) -> u64 {
    clusters.sort_by(|a, b| by_priority(&a[0], &b[0], keeper));
    let old: BTreeSet<Record<F>> = clusters.concat().into_iter().collect();
    let is_counted = |one: &Record<F>| matches!(one.id, Id::Count(_));
    let mut new: Vec<&Record<F>> = new.iter().filter(|one| is_counted(one) || !old.contains(one)).collect();
    new.sort_by(|a, b| by_priority(a, b, keeper));
    new.dedup();
    let mut overruled = 0;
    for record in new {
        let is_same = |all: &Cluster<F>| all.iter().any(|one| one.fingerprint == record.fingerprint);
        let is_near = |all: &Cluster<F>| all[0].fingerprint.distance(record.fingerprint) <= k;
        let star = clusters.iter().position(is_same).or_else(|| clusters.iter().position(is_near));
        let Some(star) = star.map(|star| &mut clusters[star]) else {
            clusters.push(vec![record.clone()]);
            continue;
        };
        let same = star.iter_mut().find(|one| one.fingerprint == record.fingerprint);
        if let (Some(Record { id: Id::Count(count), .. }), Id::Count(more)) = (same, &record.id) {
            *count += more;
            continue;
        }
        if by_priority(record, &star[0], keeper).is_lt() {
            overruled += count(record);
        }
        star.push(record.clone());
    }
    overruled
}

fn count<F: Fingerprint>(record: &Record<F>) -> u64 {
    if let Id::Count(count) = record.id { count } else { 1 }
}

/// Fingerprints with the number of their records.
fn counted<F: Fingerprint>(records: &[Record<F>]) -> Vec<Record<F>> {
    let mut counts: BTreeMap<F, u64> = BTreeMap::new();
    records.iter().for_each(|record| *counts.entry(record.fingerprint).or_default() += 1);
    counts.into_iter().map(|(fingerprint, count)| Record { fingerprint, id: Id::Count(count) }).collect()
}

/// Clusters of a store and new records.
fn with_new<F: Fingerprint>(store: &Store<F>, new: &Store<F>, k: u32) -> Clusters<F> {
    let clusters = store.clusters(k).unwrap().with_linkage(Linkage::Star).with_removals();
    clusters.with_sizes().with_chains().with_new(&new.snapshot()).unwrap()
}

fn gone_on<F: Fingerprint>(clusters: &Clusters<F>, given: &[Removed<F>], keeper: &Keeper) -> Result<Clustering<F>> {
    let mut removals = clusters.removals()?;
    for (one, line) in given.iter().zip(1..) {
        removals.push(&label(&one.record), &one.keeper, one.nearness.distance().unwrap(), line)?;
    }
    clusters.find_from_removals(removals, keeper)
}

fn kept<F: Fingerprint>(clustering: &Clustering<F>) -> Vec<Label<F>> {
    let (kept, left) = kept_of(clustering);
    assert_eq!(left.far, 0);
    kept
}

fn kept_by<F: Fingerprint>(clusters: &[Cluster<F>]) -> BTreeSet<Label<F>> {
    clusters.iter().map(|all| label(&all[0])).collect()
}

fn shuffle<T>(items: &mut [T], random: &mut Random) {
    (1..items.len()).for_each(|at| items.swap(at, random.below(at as u64 + 1) as usize));
}

fn load<F: Fingerprint>(parameters: &Parameters, records: &[Record<F>], segments: usize) -> Store<F> {
    Fixture::new(ReadMode::Mmap).load_wide(parameters, records, segments)
}

/// Adds each part to those before, and compares. Returns the number of overruled records.
fn agrees<F: Fingerprint>(parameters: &Parameters, parts: &[Vec<Record<F>>], k: u32, keeper: &Keeper) -> u64 {
    let (has_ids, mut random) = (parameters.ids() != IdKind::None, Random(k.into()));
    let of_model = |records: &[Record<F>]| if has_ids { records.to_vec() } else { counted(records) };
    let mut all = parts[0].clone();
    let mut model = greedy(&of_model(&all), k, Linkage::Star, keeper);
    let mut given = expected(&model).0;
    let mut sum = 0;
    for (new, round) in parts[1..].iter().zip(1..) {
        // Some old records come again.
        let again = (0..all.len() / 20).map(|_| all[random.below(all.len() as u64) as usize].clone());
        let new: Vec<Record<F>> = new.iter().cloned().chain(again).collect();
        let (store, fresh) = (load(parameters, &all, 1 + round % 3), load(parameters, &new, 1 + round % 2));
        let overruled = add(&mut model, &of_model(&new), k, keeper);
        sum += overruled;
        all.extend(new);
        let removed = expected(&model).0;
        let told = format!("round {round}, k = {k}, {keeper:?}, {}", parameters.ids());
        shuffle(&mut given, &mut random);
        let clusters = with_new(&store, &fresh, k);
        for memory in [1 << 30, clusters.least_memory().unwrap()] {
            let clustering = gone_on(&clusters.clone().with_memory(memory), &given, keeper).unwrap();
            assert_eq!(clustering.overruled(), overruled, "{told}");
            assert!(evidence(&clustering) == removed, "evidence, {told}");
            assert!(kept(&clustering).into_iter().collect::<BTreeSet<_>>() == kept_by(&model), "kept, {told}");
            let report = clustering.report(3).unwrap();
            let sizes: Vec<u64> = model.iter().map(|star| star.iter().map(count).sum()).collect();
            assert_eq!((report.clusters, report.records), (model.len() as u64, sizes.iter().sum()), "{told}");
            let mut largest = sizes;
            largest.sort_unstable_by(|a, b| b.cmp(a));
            assert!(report.largest.iter().map(|one| one.records).eq(largest.into_iter().take(3)), "{told}");
            let mut distances = vec![0; report.removed.distances.len()];
            removed.iter().for_each(|one| distances[one.nearness.distance().unwrap() as usize] += count(&one.record));
            assert_eq!((report.removed.distances, report.removed.far), (distances, 0), "{told}");
        }
        given = removed;
        let anew = greedy(&of_model(&all), k, Linkage::Star, keeper);
        assert!(sum > 0 || kept_by(&anew) == kept_by(&model), "as a search of all, {told}");
    }
    sum
}

/// Records in families; many share a fingerprint.
fn crowded(id: impl Fn(u64) -> Id) -> Vec<Record> {
    let fingerprints = families(120, 12, 9);
    let mut random = Random(10);
    let mut fingerprint = || fingerprints[random.below(fingerprints.len() as u64) as usize];
    (0..2400).map(|number| Record { fingerprint: fingerprint(), id: id(number * 7919 % 2400) }).collect()
}

fn text(number: u64) -> Id {
    Id::from(&*format!("https://example.org/{number}"))
}

fn parts<F: Fingerprint>(records: &[Record<F>], sizes: &[usize]) -> Vec<Vec<Record<F>>> {
    let mut records = records.iter().cloned();
    sizes.iter().map(|&size| records.by_ref().take(size).collect()).collect()
}

#[test]
fn ids_of_every_kind_and_every_priority() {
    let cases = [IdKind::Number, IdKind::Text, IdKind::None]
        .into_iter()
        .flat_map(|kind| keepers().into_iter().flat_map(move |keeper| [3, 1, 0].map(|k| (kind, keeper.clone(), k))));
    for (kind, keeper, k) in every(3, cases) {
        let records = crowded(if kind == IdKind::Text { text } else { Id::Number });
        // Many new records are joined with all, few are looked up.
        let parts = parts(&records, &[1000, 600, 3, 700, 97]);
        let overruled = agrees(&Parameters::new(3).with_ids(kind), &parts, k, &keeper);
        assert!(overruled > 0 || k == 0 && kind == IdKind::None, "{kind} {k} {overruled}");
    }
}

#[test]
fn real_and_wide_fingerprints() {
    let records = numbered(&real().into_iter().step_by(23).collect::<Vec<u64>>());
    agrees(&Parameters::new(3), &parts(&records, &[2500, 9, 900, 300]), 6, &Keeper::Smallest);
    agrees(&Parameters::new(3), &parts(&records, &[2000, 1000, 4]), 3, &Keeper::Largest);
    let mut random = Random(5);
    let mut members = wide::<U256>(40, 8);
    for number in 0..600 {
        members.push(members[number].flipped(random.below(256) as u32));
    }
    for kind in [IdKind::Number, IdKind::None] {
        let parameters = Parameters::new(3).with_width(256).with_ids(kind);
        agrees(&parameters, &parts(&numbered(&members), &[400, 200, 1, 39]), 3, &Keeper::Largest);
    }
    let members: Vec<u128> = chain(300).into_iter().map(|one| u128::from(one) << 64).collect();
    let parameters = Parameters::new(3).with_width(128);
    agrees(&parameters, &parts(&numbered(&members), &[100, 100, 100]), 3, &Keeper::Smallest);
}

/// Day after day with greater ids: labels, evidence and their order are those of a search of all, and only new
/// fingerprints are compared.
#[test]
fn greater_ids_are_as_a_search_of_all() {
    let fingerprints: Vec<u64> = families(60, 9, 5).into_iter().chain(real().into_iter().step_by(43)).collect();
    let mut records = numbered(&fingerprints);
    shuffle(&mut records, &mut Random(4));
    records.iter_mut().zip(100..).for_each(|(record, id)| record.id = Id::Number(id));
    let keeper = Keeper::Smallest;
    let mut given = Vec::new();
    for (day, until) in [0, 1200, 1201, 1900, 1905, records.len()].windows(2).enumerate() {
        let (store, new) = (&records[..until[0]], &records[until[0]..until[1]]);
        let (store, new) = (load(&Parameters::new(3), store, day % 3), load(&Parameters::new(3), new, 1));
        let clusters = with_new(&store, &new, 3);
        let clustering = gone_on(&clusters, &given, &keeper).unwrap();
        let anew = clusters.find(&keeper).unwrap();
        assert_eq!((clustering.overruled(), clustering.labelled()), (0, given.len() as u64));
        assert!(clustering.searched() <= (until[1] - until[0]) as u64);
        assert!(kept(&clustering) == kept(&anew), "day {day}");
        assert!(evidence(&clustering) == evidence(&anew), "day {day}");
        let (report, mut of_all) = (clustering.report(5).unwrap(), anew.report(5).unwrap());
        // The pairs of old records are unknown.
        assert!(of_all.chains.take().is_some() && report == of_all, "day {day}");
        given = evidence(&clustering);
    }
}

#[test]
fn nothing_old_and_nothing_new() {
    let (empty, records) = (Vec::new(), crowded(Id::Number));
    for parts in [[empty.clone(), records.clone()], [records, empty.clone()], [empty.clone(), empty]] {
        assert_eq!(agrees(&Parameters::new(3), &parts, 3, &Keeper::Smallest), 0);
    }
}

/// One record kept of a million with its fingerprint: a place among many ids, which is not that of the best.
#[test]
fn a_keeper_that_is_not_the_best_of_its_fingerprint() {
    let rank: fpstore::clusters::Ranking = Arc::new(|id| (*id == Id::Number(77_777)).then_some(0));
    let records: Vec<Record> = (0..100_000).map(|id| Record::new(7, id)).collect();
    let store = load(&Parameters::new(3), &records, 1);
    let new = load(&Parameters::new(3), &[Record::new(7, 100_001), Record::new(6, 77_776), Record::new(5, 77_778)], 1);
    let clusters = with_new(&store, &new, 3);
    let given = evidence(
        &store.clusters(3).unwrap().with_linkage(Linkage::Star).with_keepers().find(&Keeper::Ranked(rank)).unwrap(),
    );
    // The least memory does not hold so many rows.
    for memory in [1 << 30, clusters.least_memory().unwrap()] {
        let clustering = gone_on(&clusters.clone().with_memory(memory), &given, &Keeper::Smallest).unwrap();
        assert_eq!(kept(&clustering), [Label::Id(Id::Number(77_777))]);
        assert_eq!(clustering.overruled(), 1, "of the new records, one has a smaller id");
        assert_eq!(evidence(&clustering).len(), given.len() + 3);
    }
}

#[test]
fn evidence_of_another_store() {
    let ids = |id: u64| Label::Id(Id::Number(id));
    // 0, 1 and 2 are near each other, 3 is near 2 alone; 5 is on two fingerprints.
    let near: [(u64, u64); 7] = [(0, 0), (1, 1), (3, 2), (0x1f, 3), (u64::MAX, 4), (0xff << 40, 5), (0xff << 20, 5)];
    let records: Vec<Record> = near.iter().map(|&(fingerprint, id)| Record::new(fingerprint, id)).collect();
    let (store, new) = (load(&Parameters::new(3), &records, 1), load(&Parameters::new(3), &[], 1));
    let clusters = with_new(&store, &new, 3);
    let go_on = |rows: &[(u64, u64, u32)]| {
        let mut removals = clusters.removals()?;
        for (&(record, keeper, distance), line) in rows.iter().zip(11..) {
            removals.push(&ids(record), &ids(keeper), distance, line)?;
        }
        clusters.find_from_removals(removals, &Keeper::Smallest).map(|clustering| evidence(&clustering).len())
    };
    assert_eq!(go_on(&[(2, 0, 2), (1, 0, 1)]).unwrap(), 2);
    for (rows, part) in [
        (&[(1, 0, 4)][..], "line 11: the distance from the keeper is 4, more than 3"),
        (&[(1, 1, 0)], "line 11: a record cannot be its own keeper"),
        (&[(1, 0, 1), (9, 0, 1)], "line 12: the store has no such record"),
        (&[(1, 0, 1), (2, 0, 2), (1, 0, 1)], "line 13: there was a row for this record"),
        (&[(2, 9, 1)], "line 11: its keeper is not a record of the store that is kept"),
        (&[(1, 0, 1), (2, 1, 1)], "line 12: its keeper is not a record of the store that is kept"),
        (&[(5, 4, 1)], "line 11: several records share this id, and not all of them are removed"),
        (&[(1, 5, 1)], "line 11: several records share the id of its keeper"),
        (&[(9, 0, 1), (8, 0, 1), (7, 7, 1)], "line 13: a record cannot"),
        (&[(9, 0, 1), (8, 0, 1)], "line 11: the store has no such record"),
        (&[(3, 0, 1)], "the keeper of fingerprint 000000000000001f differs in more than 3 bits"),
    ] {
        let error = go_on(rows).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
        assert!(error.to_string().contains(part), "{rows:?}: {error}");
    }
    // Two records of one fingerprint.
    let records: Vec<Record> = [(0, 0), (0, 1), (1, 2), (2, 3)].map(|(one, id)| Record::new(one, id)).into();
    let store = load(&Parameters::new(3), &records, 1);
    let clusters = with_new(&store, &new, 3);
    for (rows, part) in [
        (&[(2, 0, 1), (3, 0, 1)][..], "keeps two records that have the same fingerprint"),
        (&[(1, 2, 1), (3, 2, 1)], "records of one fingerprint have several keepers"),
        (&[(1, 2, 1), (0, 3, 1)], "records of one fingerprint have several keepers"),
    ] {
        let mut removals = clusters.removals().unwrap();
        rows.iter().for_each(|&(one, keeper, distance)| removals.push(&ids(one), &ids(keeper), distance, 1).unwrap());
        let error = clusters.find_from_removals(removals, &Keeper::Smallest).unwrap_err();
        assert!(error.kind() == ErrorKind::InvalidInput && error.to_string().contains(part), "{error}");
    }
}

#[test]
fn only_stars_that_were_prepared_go_on() {
    let store = load(&Parameters::new(3), &numbered(&[1u64, 2]), 1);
    let clusters = store.clusters(3).unwrap().with_removals();
    let kind = |clusters: &Clusters| clusters.removals().unwrap_err().kind();
    assert_eq!(kind(&clusters), ErrorKind::Unsupported);
    assert_eq!(kind(&clusters.clone().with_linkage(Linkage::Complete)), ErrorKind::Unsupported);
    assert_eq!(kind(&store.clusters(3).unwrap().with_linkage(Linkage::Star)), ErrorKind::InvalidInput);
    let tight = clusters.with_linkage(Linkage::Star);
    let tight = tight.clone().with_memory(tight.least_memory().unwrap() - 1);
    assert!(tight.removals().unwrap_err().to_string().contains("memory at least"));
}
