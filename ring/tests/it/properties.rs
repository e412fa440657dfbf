//! Random rings against brute force, and the properties that every ring has.

use std::collections::BTreeMap;

use crate::support::{naive, names, ring, settings};
use fpring::{Hash, Ring, diff};
use proptest::prelude::*;

const NAMES: [&str; 8] = ["a", "b", "c", "d", "e", "f", "g", "host:80"];

fn any_ring() -> impl Strategy<Value = Ring> {
    let nodes = prop::sample::subsequence(NAMES.to_vec(), 1..=NAMES.len());
    (0..3_usize, 1..40_u32, nodes, prop::collection::vec(1..30_u32, NAMES.len()), 1..4_u32).prop_map(
        |(hash, virtual_nodes, nodes, weights, replicas)| {
            let nodes: Vec<(&str, f64)> =
                nodes.into_iter().zip(weights).map(|(name, tenths)| (name, f64::from(tenths) / 10.0)).collect();
            let replicas = replicas.min(nodes.len() as u32);
            ring(settings(Hash::ALL[hash], virtual_nodes, replicas), &nodes)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_key_has_the_first_different_nodes_clockwise(ring in any_ring(), keys in prop::collection::vec(any::<u64>(), 50)) {
        for key in keys {
            let text = key.to_string();
            prop_assert_eq!(names(&ring, text.as_bytes()), naive(&ring, ring.position(text.as_bytes())));
        }
    }

    #[test]
    fn arcs_are_the_circle_and_their_ends_belong_to_them(ring in any_ring()) {
        let mut sum = 0;
        let mut lengths: BTreeMap<u32, u128> = BTreeMap::new();
        for arc in ring.arcs() {
            sum += arc.length;
            for node in &arc.nodes {
                *lengths.entry(*node).or_default() += arc.length;
            }
            let found = |position: u64| {
                let mut nodes = Vec::new();
                ring.locate_position(position, &mut nodes);
                nodes
            };
            prop_assert_eq!(&found(arc.to), &arc.nodes);
            let circle = ring.settings().hash.circle();
            let first = u64::try_from((u128::from(arc.after) + 1) % circle).unwrap();
            prop_assert_eq!(&found(first), &arc.nodes);
            prop_assert_eq!(ring.first_at(arc.to), arc.nodes[0]);
        }
        prop_assert_eq!(sum, ring.settings().hash.circle());
        let copies = sum as f64 * f64::from(ring.settings().replicas);
        for (share, node) in ring.shares().into_iter().zip(0..) {
            prop_assert!((share - lengths[&node] as f64 / copies).abs() < 1e-12);
        }
    }

    #[test]
    fn only_keys_of_the_node_that_comes_or_goes_move(ring in any_ring(), at in any::<prop::sample::Index>()) {
        prop_assume!(ring.nodes().len() > ring.settings().replicas as usize);
        let gone = ring.nodes()[at.index(ring.nodes().len())].name().to_owned();
        let smaller = ring.without_node(&gone).unwrap();
        for (old, new) in [(&ring, &smaller), (&smaller, &ring)] {
            let found = diff(old, new).unwrap();
            prop_assert_eq!(found.between_kept, 0.0);
            prop_assert!(found.moves.iter().all(|one| one.from == gone || one.to == gone));
            // Nothing moves that need not.
            prop_assert!((found.moved - found.least).abs() < 1e-9, "{:?}", found);
            for key in 0..200_u64 {
                let (before, after) = (names(old, key.to_string().as_bytes()), names(new, key.to_string().as_bytes()));
                let came: Vec<_> = after.iter().filter(|name| !before.contains(name)).collect();
                let went: Vec<_> = before.iter().filter(|name| !after.contains(name)).collect();
                prop_assert!(came.len() <= 1 && came.len() == went.len());
                prop_assert!(came.iter().chain(&went).all(|name| **name == gone) || came.is_empty() || *came[0] == gone || *went[0] == gone);
            }
        }
    }

    #[test]
    fn a_difference_is_what_keys_show(old in any_ring(), new in any_ring()) {
        if old.settings().hash != new.settings().hash {
            prop_assert!(diff(&old, &new).is_err());
            return Ok(());
        }
        let found = diff(&old, &new).unwrap();
        let total: f64 = found.moves.iter().map(|one| one.share).sum();
        prop_assert!((total - found.moved).abs() < 1e-9 && found.moved <= 1.0 + 1e-9);
        prop_assert!(found.least <= found.moved + 1e-9);
        let (mut moved, mut all) = (0_u32, 0_u32);
        for key in 0..5000_u64 {
            let key = key.to_string();
            let (before, after) = (names(&old, key.as_bytes()), names(&new, key.as_bytes()));
            all += after.len() as u32;
            moved += after.iter().filter(|name| !before.contains(name)).count() as u32;
        }
        let share = f64::from(moved) / f64::from(all);
        prop_assert!((share - found.moved).abs() < 0.04, "{} by keys, {} by arcs", share, found.moved);
        prop_assert_eq!(diff(&old, &old).unwrap().moved, 0.0);
    }
}
