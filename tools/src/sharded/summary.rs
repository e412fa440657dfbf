//! The result of a run.

use serde::Serialize;

/// The result of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Summary {
    /// Records that a node of the new ring did not have.
    pub copied: u64,
    /// Records that were removed from nodes that they do not belong to.
    pub removed: u64,
    /// Records of all stores of the ring, each replica counted.
    pub records: u64,
    /// Whether the ring file was replaced.
    pub is_replaced: bool,
    /// Whether the run began with the end of an interrupted one.
    pub is_continued: bool,
    /// The nodes: those of the former ring, then new ones.
    pub nodes: Vec<NodeSummary>,
}

/// The changes of a node's store.
#[derive(Clone, Debug, Default, Serialize)]
pub struct NodeSummary {
    /// The node's name.
    pub name: String,
    /// The directory of its store.
    pub path: String,
    /// Whether the ring has the node now.
    pub is_in_ring: bool,
    /// Records that it has got.
    pub copied: u64,
    /// Records that were removed.
    pub removed: u64,
    /// Records that it has now.
    pub records: u64,
}

impl Summary {
    /// Adds the result of a further run.
    pub(super) fn add(&mut self, more: Self) {
        self.copied += more.copied;
        self.removed += more.removed;
        self.records = more.records;
        for node in more.nodes {
            match self.nodes.iter_mut().find(|other| other.name == node.name) {
                Some(other) => {
                    other.copied += node.copied;
                    other.removed += node.removed;
                    (other.records, other.is_in_ring) = (node.records, node.is_in_ring);
                }
                None => self.nodes.push(node),
            }
        }
    }
}
