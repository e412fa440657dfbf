//! Stars where many records share a key.

use super::model::*;
use super::pairs::{Wanted, check_evidence, labels, pairs_of, stars};
use crate::support::Random;
use fpstore::clusters::{Keeper, Linkage, Nearness};
use fpstore::keys::KeyRule;
use fpstore::{Id, IdKind, KeyFormat, KeyIndex};

#[test]
fn frequent_keys_beside_others() {
    let format = KeyFormat::default().with_sketch(64, 1);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let index = KeyIndex::create(&path, &parameters(format, IdKind::Text), &options()).unwrap();
    let (mut model, mut random) = (Model::new(format), Random(3));
    for seed in 0..2 {
        let mut all = records(200, 5, format, IdKind::Text, seed);
        for record in &mut all {
            // Keys of a half, a quarter, and so on of all records: above and below the number that is frequent.
            for common in 1..6 {
                if random.below(1 << common) == 0 {
                    record.keys.push(common << 56);
                }
            }
        }
        index.load(sorted(&path, &options(), format, &all)).unwrap();
        model.add(&all);
    }
    for (min_shared, min_jaccard, most) in
        [(1, 0.0, None), (2, 0.0, None), (1, 0.6, None), (3, 0.3, None), (2, 0.0, Some(60)), (4, 0.0, None)]
    {
        let wanted = Wanted { min_shared, min_jaccard, most };
        let expected = stars(&model, &pairs_of(&model, wanted).0);
        assert_eq!(labels(&index, wanted, Linkage::Star), expected, "{wanted:?}");
        check_evidence(&index, &model, wanted, Linkage::Star);
    }
}

#[test]
fn many_copies_cost_each_record_once() {
    let directory = tempfile::tempdir().unwrap();
    let index = many_copies(&directory.path().join("store"));
    for rule in [KeyRule::new(), KeyRule::new().with_min_jaccard(0.9), KeyRule::new().with_min_shared(14)] {
        let clusters = index.clusters(rule).unwrap().with_linkage(Linkage::Star).with_keepers();
        let (kept, removed, left) = crate::linkage::decisions(&clusters.find(&Keeper::Smallest).unwrap());
        assert_eq!((kept.len(), left.records, left.far), (1, 299_999, 0));
        let nearness = Nearness::Keys { shared: 14, jaccard: Some(1.0) };
        assert!(removed.iter().all(|one| one.nearness == nearness && one.record.id != Id::Number(0)));
    }
}
