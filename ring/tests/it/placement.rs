//! Where keys belong: values that never change, and wrong rings.

use crate::support::{equal, names, ring, settings};
use fpring::{Hash, Node, Ring, Settings};

/// The worked ring of format-spec/ring.md.
#[test]
fn worked_example() {
    let worked = ring(settings(Hash::Murmur3, 2, 2), &[("a", 1.0), ("b", 1.0), ("c", 1.0)]);
    let found: Vec<_> = ["17", "http://example.org/", "12"].map(|key| names(&worked, key.as_bytes()).join(",")).into();
    assert_eq!(found, ["a,b", "c,a", "a,b"]);
}

#[test]
fn a_number_is_its_decimal_text() {
    for hash in Hash::ALL {
        let ring = equal(settings(hash, 16, 1), 5);
        for id in [0, 7, 10, 99, 12_345, u64::MAX] {
            assert_eq!(ring.position_of_id(id), ring.position(id.to_string().as_bytes()));
            assert_eq!(ring.locate_id(id), ring.locate(id.to_string().as_bytes()));
        }
    }
}

#[test]
fn the_order_of_nodes_changes_nothing() {
    let one = ring(settings(Hash::Md5, 32, 2), &[("a", 1.0), ("b", 2.0), ("c", 0.5)]);
    let other = ring(settings(Hash::Md5, 32, 2), &[("c", 0.5), ("a", 1.0), ("b", 2.0)]);
    for key in 0..2000_u64 {
        assert_eq!(names(&one, key.to_string().as_bytes()), names(&other, key.to_string().as_bytes()));
    }
    assert_ne!(one, other);
}

#[test]
fn rings_that_are_not_possible() {
    let node = |name: &str| Node::new(name).unwrap();
    let error = |settings: Settings, nodes: Vec<Node>| Ring::new(settings, nodes).unwrap_err().to_string();
    let usual = Settings::default();
    assert!(error(usual, vec![]).contains("at least one node"));
    assert!(error(usual, vec![node("a"), node("a")]).contains("node a is there twice"));
    let placed = node("b").with_path(Some("a")).unwrap();
    assert!(error(usual, vec![node("a"), placed]).contains("node b has the path 'a' of another node"));
    let of = |virtual_nodes, replicas| settings(Hash::Xxh64, virtual_nodes, replicas);
    assert!(error(of(0, 1), vec![node("a")]).contains("0 virtual nodes"));
    assert!(error(of(65_537, 1), vec![node("a")]).contains("1 to 65536"));
    assert!(error(of(1, 0), vec![node("a")]).contains("0 replicas"));
    assert!(error(of(1, 2), vec![node("a")]).contains("there are only 1"));
    let heavy = node("a").with_weight(1e6).unwrap();
    assert!(error(usual, vec![heavy]).contains("4194304 is the most"));
}

#[test]
fn changes_of_a_ring() {
    let three = equal(settings(Hash::Xxh64, 8, 2), 3);
    let four = three.with_node(Node::new("n3").unwrap()).unwrap();
    assert_eq!(four, equal(settings(Hash::Xxh64, 8, 2), 4));
    assert_eq!(four.without_node("n3").unwrap(), three);
    assert!(three.with_node(Node::new("n1").unwrap()).is_err());
    assert_eq!(three.without_node("x").unwrap_err().to_string(), "the ring has no node 'x'; it has n0, n1, n2");
    assert!(three.with_weight("x", 2.0).is_err() && three.with_weight("n0", 0.0).is_err());
    assert_eq!(three.with_weight("n1", 2.0).unwrap().node("n1").unwrap().weight(), 2.0);
    let two = three.without_node("n0").unwrap();
    assert!(two.without_node("n1").unwrap_err().to_string().contains("2 replicas need as many nodes"));
}
