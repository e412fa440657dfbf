//! The numbers that 1,024 virtual nodes have to reach, from arcs and from keys.

use crate::support::{equal, settings};
use fpring::{Hash, Ring, Settings, diff};

/// The standard deviation of shares, as a part of the mean.
fn deviation(shares: &[f64]) -> f64 {
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    let square = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / shares.len() as f64;
    square.sqrt() / mean
}

#[test]
fn ten_nodes_differ_by_four_per_cent() {
    let ring = equal(Settings::default(), 10);
    assert!(deviation(&ring.shares()) <= 0.04, "{:?}", ring.shares());
    let mut counts = [0.0; 10];
    (0..100_000_u64).for_each(|id| counts[ring.first_at(ring.position_of_id(id)) as usize] += 1.0);
    assert!(deviation(&counts) <= 0.04, "{counts:?}");
}

#[test]
fn joining_and_leaving_move_what_they_must() {
    let check = |old: &Ring, new: &Ring, ideal: f64| {
        let found = diff(old, new).unwrap();
        assert!((found.ideal - ideal).abs() < 1e-9, "{found:?}");
        assert!((found.moved / ideal - 1.0).abs() <= 0.05, "{found:?}");
        assert_eq!(found.between_kept, 0.0);
    };
    let (ten, eleven) = (equal(Settings::default(), 10), equal(Settings::default(), 11));
    check(&ten, &eleven, 1.0 / 11.0);
    check(&eleven, &ten, 1.0 / 11.0);
    check(&ten, &ten.without_node("n9").unwrap(), 0.1);
    // The least that has to move follows from the arcs.
    for node in ten.nodes() {
        let found = diff(&ten, &ten.without_node(node.name()).unwrap()).unwrap();
        assert!((found.moved - found.least).abs() < 1e-9);
    }
}

/// The spread of loads falls as the square root of the number of virtual nodes.
#[test]
fn more_virtual_nodes_balance_better() {
    for hash in Hash::ALL {
        let of = |virtual_nodes| deviation(&equal(settings(hash, virtual_nodes, 1), 10).shares());
        assert!(of(16) < 0.6 && of(256) < 0.12 && of(4096) < 0.03, "{hash}: {} {} {}", of(16), of(256), of(4096));
    }
}

#[test]
fn weights_set_shares() {
    let ring = equal(Settings::default(), 4).with_weight("n2", 3.0).unwrap();
    for (share, wanted) in ring.shares().into_iter().zip([1.0 / 6.0, 1.0 / 6.0, 0.5, 1.0 / 6.0]) {
        assert!((share / wanted - 1.0).abs() < 0.1, "{:?}", ring.shares());
    }
}
