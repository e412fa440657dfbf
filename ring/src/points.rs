//! The virtual nodes on the circle.

use crate::error::{Error, Result};
use crate::hash::Hash;
use crate::node::Node;
use std::io::Write as _;

/// Most virtual nodes of all nodes together: 64 MiB of memory.
const MAX_POINTS: u64 = 1 << 22;

/// A virtual node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) position: u64,
    /// The number of its node.
    pub(crate) node: u32,
    /// Its number within the node, from 1 on.
    number: u32,
}

/// Places the virtual nodes of all nodes: by position; at one position, by the name of the node, then by number.
pub(crate) fn place(hash: Hash, virtual_nodes: u32, nodes: &[Node]) -> Result<Vec<Point>> {
    let total = nodes.iter().map(|node| node.points(virtual_nodes)).fold(0, u64::saturating_add);
    if total > MAX_POINTS {
        return Err(Error::invalid(format!(
            "the nodes have {total} virtual nodes together, {MAX_POINTS} is the most; use fewer virtual nodes, or \
             smaller weights"
        )));
    }
    let mut points = Vec::with_capacity(usize::try_from(total).unwrap_or(0));
    let mut label = Vec::new();
    for (node, index) in nodes.iter().zip(0..) {
        for number in 1..=node.points(virtual_nodes) {
            label.clear();
            // Writing to memory does not fail.
            let _ = write!(label, "{}#{number}", node.name());
            let number = u32::try_from(number).unwrap_or(u32::MAX);
            points.push(Point { position: hash.position(&label), node: index, number });
        }
    }
    let name = |point: &Point| nodes.get(point.node as usize).map(Node::name);
    points.sort_unstable_by(|a, b| {
        a.position.cmp(&b.position).then_with(|| name(a).cmp(&name(b))).then(a.number.cmp(&b.number))
    });
    Ok(points)
}
