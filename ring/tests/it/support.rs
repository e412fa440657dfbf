//! Rings for tests, and the definition of placement as brute force.

use fpring::{Hash, Node, Ring, Settings};

pub(crate) fn settings(hash: Hash, virtual_nodes: u32, replicas: u32) -> Settings {
    let mut settings = Settings::default();
    (settings.hash, settings.virtual_nodes, settings.replicas) = (hash, virtual_nodes, replicas);
    settings
}

/// Returns a ring of nodes with these names, each with its weight.
pub(crate) fn ring(settings: Settings, nodes: &[(&str, f64)]) -> Ring {
    let node = |(name, weight): &(&str, f64)| Node::new(*name).unwrap().with_weight(*weight).unwrap();
    Ring::new(settings, nodes.iter().map(node).collect()).unwrap()
}

/// Returns a ring of `number` nodes of weight 1, named `n0`, `n1`, ...
pub(crate) fn equal(settings: Settings, number: usize) -> Ring {
    let nodes = (0..number).map(|number| Node::new(format!("n{number}")).unwrap());
    Ring::new(settings, nodes.collect()).unwrap()
}

/// Names of the nodes of a key.
pub(crate) fn names(ring: &Ring, key: &[u8]) -> Vec<String> {
    ring.locate(key).into_iter().map(|node| node.name().to_owned()).collect()
}

/// Finds the nodes of a position by sorting all virtual nodes by their distance from it.
pub(crate) fn naive(ring: &Ring, position: u64) -> Vec<String> {
    let Settings { hash, virtual_nodes, replicas, .. } = ring.settings();
    let mut points = Vec::new();
    for node in ring.nodes() {
        for number in 1..=((f64::from(virtual_nodes) * node.weight()).round() as u64).max(1) {
            let at = u128::from(hash.position(format!("{}#{number}", node.name()).as_bytes()));
            let distance = (at + hash.circle() - u128::from(position)) % hash.circle();
            points.push((distance, node.name(), number));
        }
    }
    points.sort_unstable();
    let mut found: Vec<String> = Vec::new();
    for (_, name, _) in points {
        if found.len() < replicas as usize && !found.iter().any(|other| other == name) {
            found.push(name.to_owned());
        }
    }
    found
}
