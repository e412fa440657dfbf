//! Rendezvous hashing, or highest random weight (Thaler and Ravishankar, 1998): a key belongs to the node with the
//! highest score for it.
//!
//! It needs no virtual nodes, and a lookup takes a step for each node. The score of a node of weight w is
//! -w / ln(u), where u is a number between 0 and 1 made of the key and the name (Schindler and others); with equal
//! weights the order of scores is that of u.

use crate::hash::Hash;
use crate::node::Node;

/// Nodes with the hashes of their names.
#[derive(Clone, Debug)]
pub struct Rendezvous(Vec<(u64, f64)>);

impl Rendezvous {
    /// For these nodes.
    #[must_use]
    pub fn new<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Self {
        let scored = |node: &Node| (Hash::Xxh64.position(node.name().as_bytes()), node.weight());
        Self(nodes.into_iter().map(scored).collect())
    }

    /// The node of a key, given by its 64-bit hash, as a place in the order of the nodes. Of equal scores the first one
    /// wins.
    #[must_use]
    pub fn node(&self, key: u64) -> u32 {
        let mut best = (0, f64::NEG_INFINITY);
        for ((name, weight), number) in self.0.iter().zip(0..) {
            let score = -weight / unit(mixed(key ^ name)).ln();
            if score > best.1 {
                best = (number, score);
            }
        }
        best.0
    }
}

/// The finaliser of SplitMix64: a permutation of the numbers of 64 bits.
fn mixed(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ number >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ number >> 31
}

/// A number above 0 and below 1.
#[expect(clippy::cast_precision_loss, reason = "a float has 53 bits")]
fn unit(number: u64) -> f64 {
    ((number >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nodes(weights: &[f64]) -> Vec<Node> {
        let node = |(number, weight): (usize, &f64)| Node::new(format!("n{number}")).unwrap().with_weight(*weight);
        weights.iter().enumerate().map(|one| node(one).unwrap()).collect()
    }

    #[test]
    fn loads_follow_weights_and_only_keys_of_a_leaving_node_move() {
        let nodes = nodes(&[1.0, 1.0, 2.0]);
        let (all, without) = (Rendezvous::new(&nodes), Rendezvous::new([&nodes[0], &nodes[2]]));
        let mut counts = [0; 3];
        for key in (0..40_000_u64).map(|key| Hash::Xxh64.position(key.to_string().as_bytes())) {
            let node = all.node(key);
            counts[node as usize] += 1;
            match (node, without.node(key)) {
                (0, now) => assert_eq!(now, 0),
                (2, now) => assert_eq!(now, 1),
                _ => {}
            }
        }
        for (count, wanted) in counts.into_iter().zip([10_000_i32, 10_000, 20_000]) {
            assert!((count - wanted).abs() < 500, "{counts:?}");
        }
    }
}
