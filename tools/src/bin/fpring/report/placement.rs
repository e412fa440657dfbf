//! The ways to place keys on nodes that the report compares.

use fpring::others::{jump, modulo, rendezvous::Rendezvous};
use fpring::{Hash, Node, Ring, Settings};

/// Numbers of virtual nodes in the report.
const VIRTUAL: [u32; 7] = [1, 4, 16, 64, 128, 256, 1024];

/// A way to place keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placement {
    /// On a ring with this many virtual nodes.
    Ring(u32),
    /// By the remainder of the hash.
    Modulo,
    Jump,
    Rendezvous,
}

/// The placements of the report, in its order.
pub(super) fn all() -> Vec<Placement> {
    let others = [Placement::Modulo, Placement::Jump, Placement::Rendezvous];
    VIRTUAL.into_iter().map(Placement::Ring).chain(others).collect()
}

impl Placement {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Ring(_) => "ring",
            Self::Modulo => "hash mod N",
            Self::Jump => "jump",
            Self::Rendezvous => "rendezvous",
        }
    }

    /// Virtual nodes of a node of weight 1.
    pub(super) fn virtual_nodes(self) -> Option<u32> {
        if let Self::Ring(virtual_nodes) = self { Some(virtual_nodes) } else { None }
    }
}

/// A key of the report.
#[derive(Clone, Copy, Debug)]
pub(super) struct Key {
    /// Its position on the circle of rings.
    position: u64,
    /// Its hash for the other placements.
    hash: u64,
}

impl Key {
    /// The key of an id: its decimal text.
    pub(super) fn of(id: u64, hash: Hash) -> Self {
        let text = id.to_string();
        let position = hash.position(text.as_bytes());
        Self { position, hash: if hash == Hash::Xxh64 { position } else { Hash::Xxh64.position(text.as_bytes()) } }
    }
}

/// Places keys on some of the nodes.
pub(super) struct Placer {
    how: How,
    /// The numbers of these nodes among all.
    nodes: Vec<u32>,
}

enum How {
    Ring(Box<Ring>),
    Modulo,
    Jump,
    Rendezvous(Rendezvous),
}

impl Placer {
    /// For the nodes with these numbers.
    pub(super) fn new(placement: Placement, hash: Hash, nodes: &[Node], numbers: Vec<u32>) -> fpring::Result<Self> {
        let known = || numbers.iter().filter_map(|number| nodes.get(*number as usize));
        let how = match placement {
            Placement::Ring(virtual_nodes) => {
                let settings = Settings { hash, virtual_nodes, replicas: 1 };
                How::Ring(Box::new(Ring::new(settings, known().cloned().collect())?))
            }
            Placement::Modulo => How::Modulo,
            Placement::Jump => How::Jump,
            Placement::Rendezvous => How::Rendezvous(Rendezvous::new(known())),
        };
        Ok(Self { how, nodes: numbers })
    }

    /// The number of the key's node.
    pub(super) fn node(&self, key: Key) -> u32 {
        let number = u32::try_from(self.nodes.len()).unwrap_or(u32::MAX);
        let place = match &self.how {
            How::Ring(ring) => ring.first_at(key.position),
            How::Modulo => modulo::node(key.hash, number),
            How::Jump => jump::bucket(key.hash, number),
            How::Rendezvous(nodes) => nodes.node(key.hash),
        };
        self.nodes.get(place as usize).copied().unwrap_or(0)
    }

    /// The exact shares of a ring's nodes.
    pub(super) fn shares(&self) -> Option<Vec<f64>> {
        if let How::Ring(ring) = &self.how { Some(ring.shares()) } else { None }
    }
}
