//! The arcs of a ring: ranges of positions whose keys have the same nodes.

use crate::ring::Ring;

/// A range of positions whose keys have the same nodes. A range that wraps goes from `after` over the end of the circle
/// to `to`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arc {
    /// The position before the first one; the arc begins after it.
    pub after: u64,
    /// The last position.
    pub to: u64,
    /// Number of positions.
    pub length: u128,
    /// The nodes of its keys in order, as indexes into [`Ring::nodes`].
    pub nodes: Vec<u32>,
}

impl Ring {
    /// Returns the arcs, one between each two neighbouring positions of virtual nodes. The first one wraps. Together
    /// they are the circle.
    pub fn arcs(&self) -> impl Iterator<Item = Arc> {
        let mut ends: Vec<u64> = self.positions().collect();
        ends.dedup();
        spans(ends, self.settings().hash.circle()).map(|(after, to, length)| {
            let mut nodes = Vec::new();
            self.locate_position(to, &mut nodes);
            Arc { after, to, length, nodes }
        })
    }

    /// The share of all copies of keys that each node has, exact up to the last digits of a float: sums of arcs.
    #[must_use]
    pub fn shares(&self) -> Vec<f64> {
        let lengths = self.lengths();
        let copies = self.settings().hash.circle() * u128::from(self.settings().replicas);
        lengths.into_iter().map(|length| share(length, copies)).collect()
    }

    /// Number of positions of each node, as any replica.
    pub(crate) fn lengths(&self) -> Vec<u128> {
        let mut lengths = vec![0; self.nodes().len()];
        for arc in self.arcs() {
            for node in arc.nodes {
                if let Some(length) = lengths.get_mut(node as usize) {
                    *length += arc.length;
                }
            }
        }
        lengths
    }
}

/// The ranges between positions in ascending order, each once: the position before the range, the last one, and the
/// length. The first range wraps.
pub(crate) fn spans(ends: Vec<u64>, circle: u128) -> impl Iterator<Item = (u64, u64, u128)> {
    let mut before = ends.last().copied().unwrap_or(0);
    let mut wraps = true;
    ends.into_iter().map(move |to| {
        let wrapped = if std::mem::take(&mut wraps) { circle } else { 0 };
        let length = u128::from(to) + wrapped - u128::from(before);
        (std::mem::replace(&mut before, to), to, length)
    })
}

/// The quotient of two numbers of positions.
#[expect(clippy::cast_precision_loss, reason = "a share has 53 bits")]
pub(crate) fn share(part: u128, of: u128) -> f64 {
    part as f64 / of as f64
}
