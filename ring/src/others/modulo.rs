//! The remainder of a hash: all nodes have the same load, and nearly all keys move when their number changes.

/// The node of a key, below `nodes`; 0 if there are none.
#[must_use]
pub fn node(key: u64, nodes: u32) -> u32 {
    u32::try_from(key.checked_rem(nodes.into()).unwrap_or(0)).unwrap_or(0)
}
