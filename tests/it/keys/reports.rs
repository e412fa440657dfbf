//! Reports on the clusters of a key index equal those of comparing all records.

use super::model::*;
use super::pairs::{Wanted, components, labels, nearness, pairs_of, stars};
use fpstore::clusters::{Chain, Chains, ClusterReport, Keeper, Label, Linkage, Nearness, Nearnesses, Removed};
use fpstore::keys::KeyRule;
use fpstore::{Id, IdKind, KeyFormat, KeyIndex};
use std::collections::{BTreeMap, BTreeSet};

fn report(index: &KeyIndex, rule: KeyRule, linkage: Linkage, memory: u64) -> ClusterReport {
    let clusters = index.clusters(rule).unwrap().with_linkage(linkage).with_sizes().with_keepers().with_chains();
    let least = clusters.least_memory().unwrap();
    clusters.with_memory(memory.max(least)).find(&Keeper::Smallest).unwrap().report(5).unwrap()
}

/// Numbers of records, each with its keeper.
pub(super) fn nearnesses<'a>(model: &Model, wanted: Wanted, all: impl Iterator<Item = (&'a Id, &'a Id)>) -> Nearnesses {
    let mut found = Nearnesses::default();
    for (id, keeper) in all {
        let Nearness::Keys { shared, jaccard } = nearness(model, wanted, id, keeper) else { panic!() };
        *found.shared_keys.entry(shared).or_default() += 1;
        if let Some(jaccard) = jaccard {
            found.jaccard.resize(20, 0);
            let at = (1..20).filter(|number| jaccard >= f64::from(*number) / 20.0).count();
            found.jaccard[at] += 1;
        }
        found.far += u64::from(shared < wanted.min_shared || jaccard.is_some_and(|one| one < wanted.min_jaccard));
    }
    found
}

/// The connected components of several clusters.
fn chains(model: &Model, wanted: Wanted, keepers: &BTreeMap<Id, Id>, connected: &BTreeMap<Id, Id>) -> Chains {
    let kept: Vec<(&Id, &Id)> = connected.iter().filter(|(id, _)| keepers[*id] == **id).collect();
    let more: Vec<(&Id, &Id)> = kept.iter().copied().filter(|(id, first)| id != first).collect();
    let divided: BTreeSet<&Id> = more.iter().map(|(_, first)| *first).collect();
    let records = |first: &Id| connected.values().filter(|label| *label == first).count() as u64;
    let largest = divided.iter().copied().max_by(|a, b| records(a).cmp(&records(b)).then(b.cmp(a)));
    Chains {
        count: divided.len() as u64,
        largest: largest.map(|first| Chain {
            keeper: Label::Id(first.clone()),
            records: records(first),
            clusters: kept.iter().filter(|(_, label)| *label == first).count() as u64,
        }),
        more_removed: more.len() as u64,
        nearnesses: nearnesses(model, wanted, more.into_iter()),
    }
}

#[test]
fn reports_are_those_of_comparing_all() {
    let mut seen = Nearnesses::default();
    for (format, ids) in [
        (KeyFormat::default(), IdKind::Number),
        (KeyFormat::default().with_sketch(64, 1), IdKind::Number),
        (KeyFormat::default().with_key_bits(9).with_sketch(96, 8), IdKind::Number),
    ] {
        let directory = tempfile::tempdir().unwrap();
        let (index, model) = several_loads(&directory.path().join("store"), format, ids);
        for (min_shared, min_jaccard, most) in [(1, 0.0, None), (2, 0.0, None), (1, 0.55, None), (1, 0.0, Some(3))] {
            let min_jaccard = if format.sketch_bits() > 0 { min_jaccard } else { 0.0 };
            let wanted = Wanted { min_shared, min_jaccard, most };
            let pairs = pairs_of(&model, wanted).0;
            let connected = components(&model, &pairs);
            for linkage in [Linkage::Single, Linkage::Star, Linkage::Complete] {
                let keepers = match linkage {
                    Linkage::Single => connected.clone(),
                    Linkage::Star => stars(&model, &pairs),
                    // Those of complete linkage are compared with evidence elsewhere.
                    Linkage::Complete => labels(&index, wanted, linkage),
                };
                let all_near = min_shared == 1 && min_jaccard == 0.0;
                let knows_chains = linkage == Linkage::Complete || linkage == Linkage::Star && all_near;
                let gone = || keepers.iter().filter(|(id, keeper)| id != keeper);
                let removed = nearnesses(&model, wanted, gone());
                let mut sizes: BTreeMap<&Id, u64> = BTreeMap::new();
                keepers.values().for_each(|keeper| *sizes.entry(keeper).or_default() += 1);
                let mut large: Vec<u64> = sizes.values().copied().collect();
                large.sort_unstable_by(|a, b| b.cmp(a));
                large.truncate(5);
                for memory in [0, 1 << 30] {
                    let what = format!("{format:?} {wanted:?} {linkage:?}");
                    let found = report(&index, wanted.rule(), linkage, memory);
                    assert_eq!((found.records, found.clusters), (model.records.len() as u64, sizes.len() as u64));
                    assert_eq!(found.removed, removed, "{what}");
                    let expected = knows_chains.then(|| chains(&model, wanted, &keepers, &connected));
                    assert_eq!(found.chains, expected, "{what}");
                    assert_eq!(found.largest.iter().map(|one| one.records).collect::<Vec<_>>(), large, "{what}");
                    for one in &found.largest {
                        let Label::Id(keeper) = &one.label else { panic!("{one:?}") };
                        assert_eq!((one.records, one.spread), (sizes[keeper], None), "{what}");
                        // Numbers are those of the records' order in the store.
                        let first = gone().filter(|(_, other)| *other == keeper).take(3);
                        let first = first.map(|(id, _)| (id.clone(), nearness(&model, wanted, id, keeper)));
                        let samples = one.removed.iter().map(|Removed { record, keeper: of, nearness, .. }| {
                            assert_eq!(*of, one.label);
                            (record.id.clone(), *nearness)
                        });
                        assert!(samples.eq(first), "{what}: {one:?}");
                    }
                    seen.far += found.removed.far + found.chains.map_or(0, |chains| chains.nearnesses.far);
                }
            }
        }
    }
    assert!(seen.far > 0, "some are far from their keepers");
}

#[test]
fn a_report_on_many_copies_makes_no_pairs() {
    let directory = tempfile::tempdir().unwrap();
    let index = many_copies(&directory.path().join("store"));
    for rule in [KeyRule::new(), KeyRule::new().with_min_jaccard(0.9)] {
        let found = report(&index, rule, Linkage::Star, 64 << 20);
        assert_eq!((found.clusters, found.removed.far), (1, 0));
        assert_eq!(found.removed.shared_keys, BTreeMap::from([(14, 299_999)]));
        assert_eq!((found.removed.jaccard.len(), found.removed.jaccard[19]), (20, 299_999));
        assert_eq!(found.chains.map(|chains| chains.count), (rule == KeyRule::new()).then_some(0));
    }
}
