//! A ring: nodes, their virtual nodes, and the nodes of a key.

use crate::error::{Error, Result};
use crate::hash::Hash;
use crate::node::Node;
use crate::points::{Point, place};
use std::collections::HashSet;

/// Most nodes of a ring.
const MAX_NODES: usize = 65_536;
/// Most virtual nodes of a node of weight 1.
const MAX_VIRTUAL: u32 = 65_536;

/// The settings of a ring that all nodes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Places keys and virtual nodes.
    pub hash: Hash,
    /// Virtual nodes of a node of weight 1: from 1 to 65,536.
    pub virtual_nodes: u32,
    /// Number of different nodes that each key has, at least 1.
    pub replicas: u32,
}

impl Settings {
    /// The default number of virtual nodes. The standard deviation of load is about 1 / sqrt(v) of the mean, 3% for
    /// 1,024, and a virtual node takes 16 bytes of memory.
    pub const VIRTUAL_NODES: u32 = 1024;
}

impl Default for Settings {
    /// XXH64, 1,024 virtual nodes, one replica.
    fn default() -> Self {
        Self { hash: Hash::default(), virtual_nodes: Self::VIRTUAL_NODES, replicas: 1 }
    }
}

/// A ring of at least one node.
///
/// ```
/// use fpring::{Node, Ring, Settings};
/// let nodes = vec![Node::new("a")?, Node::new("b")?, Node::new("c")?.with_weight(2.0)?];
/// let ring = Ring::new(Settings { replicas: 2, ..Settings::default() }, nodes)?;
/// let replicas = ring.locate(b"http://example.org/");
/// assert_eq!(replicas.len(), 2);
/// // An id that is a number is its decimal text.
/// assert_eq!(ring.locate_id(17), ring.locate(b"17"));
/// // A key that moves when a node joins moves to that node.
/// let more = ring.with_node(Node::new("d")?)?;
/// assert!(more.locate_id(17)[0] == ring.locate_id(17)[0] || more.locate_id(17)[0].name() == "d");
/// # Ok::<(), fpring::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Ring {
    settings: Settings,
    nodes: Vec<Node>,
    points: Vec<Point>,
}

impl PartialEq for Ring {
    /// Whether the rings have the same settings, and the same nodes in the same order.
    fn eq(&self, other: &Self) -> bool {
        self.settings == other.settings && self.nodes == other.nodes
    }
}

impl Ring {
    /// Makes a ring. The order of the nodes does not change where keys belong.
    ///
    /// # Errors
    /// `InvalidInput` if there are no nodes, more than 65,536, or two of one name or path; if a number of the settings
    /// is not possible; if there are fewer nodes than replicas, or more than 4,194,304 virtual nodes.
    pub fn new(settings: Settings, nodes: Vec<Node>) -> Result<Self> {
        let Settings { hash, virtual_nodes, replicas } = settings;
        if nodes.is_empty() {
            return Err(Error::invalid("a ring has at least one node"));
        }
        if nodes.len() > MAX_NODES {
            return Err(Error::invalid(format!("there are {} nodes, {MAX_NODES} is the most", nodes.len())));
        }
        if !(1..=MAX_VIRTUAL).contains(&virtual_nodes) {
            return Err(Error::invalid(format!(
                "{virtual_nodes} virtual nodes are not possible; use 1 to {MAX_VIRTUAL}"
            )));
        }
        if replicas == 0 {
            return Err(Error::invalid("0 replicas are not possible; use at least 1"));
        }
        if replicas as usize > nodes.len() {
            return Err(Error::invalid(format!(
                "{replicas} replicas need as many nodes, and there are only {}; use fewer replicas or more nodes",
                nodes.len()
            )));
        }
        let mut names = HashSet::new();
        if let Some(twice) = nodes.iter().find(|node| !names.insert(node.name())) {
            return Err(Error::invalid(format!("node {} is there twice", twice.name())));
        }
        let mut paths = HashSet::new();
        if let Some(twice) = nodes.iter().find(|node| !paths.insert(node.path().unwrap_or(node.name()))) {
            let path = twice.path().unwrap_or(twice.name()).escape_debug();
            return Err(Error::invalid(format!("node {} has the path '{path}' of another node", twice.name())));
        }
        let points = place(hash, virtual_nodes, &nodes)?;
        Ok(Self { settings, nodes, points })
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// The nodes, in the order in which they were given.
    #[must_use]
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The node of this name.
    #[must_use]
    pub fn node(&self, name: &str) -> Option<&Node> {
        self.nodes.iter().find(|node| node.name() == name)
    }

    /// Number of virtual nodes of all nodes.
    #[must_use]
    pub fn points(&self) -> usize {
        self.points.len()
    }

    /// The positions of all virtual nodes, in ascending order.
    pub(crate) fn positions(&self) -> impl Iterator<Item = u64> {
        self.points.iter().map(|point| point.position)
    }

    /// The ring with one more node.
    ///
    /// # Errors
    /// Those of [`Ring::new`].
    pub fn with_node(&self, node: Node) -> Result<Self> {
        if self.node(node.name()).is_some() {
            return Err(Error::invalid(format!("the ring has node {} already", node.name())));
        }
        Self::new(self.settings, self.nodes.iter().cloned().chain([node]).collect())
    }

    /// The ring without a node.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such node, or those of [`Ring::new`].
    pub fn without_node(&self, name: &str) -> Result<Self> {
        self.known(name)?;
        Self::new(self.settings, self.nodes.iter().filter(|node| node.name() != name).cloned().collect())
    }

    /// The ring with another weight of a node.
    ///
    /// # Errors
    /// `InvalidInput` if there is no such node, or those of [`Node::with_weight`] and [`Ring::new`].
    pub fn with_weight(&self, name: &str, weight: f64) -> Result<Self> {
        self.known(name)?;
        let change =
            |node: &Node| if node.name() == name { node.clone().with_weight(weight) } else { Ok(node.clone()) };
        Self::new(self.settings, self.nodes.iter().map(change).collect::<Result<_>>()?)
    }

    fn known(&self, name: &str) -> Result<()> {
        let names = || self.nodes.iter().take(20).map(Node::name).collect::<Vec<_>>().join(", ");
        match self.node(name) {
            Some(_) => Ok(()),
            None => Err(Error::invalid(format!("the ring has no node '{}'; it has {}", name.escape_debug(), names()))),
        }
    }

    /// The position of a key.
    #[must_use]
    pub fn position(&self, key: &[u8]) -> u64 {
        self.settings.hash.position(key)
    }

    /// The position of an id that is a number: that of its decimal text.
    #[must_use]
    pub fn position_of_id(&self, id: u64) -> u64 {
        let mut text = [0_u8; 20];
        let mut rest = id;
        let mut begin = text.len();
        for (place, digit) in text.iter_mut().enumerate().rev() {
            *digit = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            begin = place;
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.position(text.get(begin..).unwrap_or_default())
    }

    /// The nodes of a key, as many as there are replicas: those of the first virtual nodes at or after its position,
    /// clockwise, without nodes that came before.
    #[must_use]
    pub fn locate(&self, key: &[u8]) -> Vec<&Node> {
        self.at(self.position(key))
    }

    /// The nodes of a key that is a number, as decimal text.
    #[must_use]
    pub fn locate_id(&self, id: u64) -> Vec<&Node> {
        self.at(self.position_of_id(id))
    }

    fn at(&self, position: u64) -> Vec<&Node> {
        let mut numbers = Vec::new();
        self.locate_position(position, &mut numbers);
        numbers.into_iter().filter_map(|number| self.nodes.get(number as usize)).collect()
    }

    /// Sets `found` to the nodes of a key at this position, as indexes into [`Ring::nodes`].
    pub fn locate_position(&self, position: u64, found: &mut Vec<u32>) {
        found.clear();
        let first = self.points.partition_point(|point| point.position < position);
        let (before, after) = self.points.split_at_checked(first).unwrap_or_default();
        for point in after.iter().chain(before) {
            if !found.contains(&point.node) {
                found.push(point.node);
                if found.len() >= self.settings.replicas as usize {
                    return;
                }
            }
        }
    }

    /// The first node of a key at this position, as an index into [`Ring::nodes`].
    #[must_use]
    pub fn first_at(&self, position: u64) -> u32 {
        let first = self.points.partition_point(|point| point.position < position);
        self.points.get(first).or(self.points.first()).map_or(0, |point| point.node)
    }
}
