//! Where the decoder of a block has ended.

/// Where a decoder stopped: the bits that no stream took, and whether all keys ascended.
pub(super) struct Tail {
    /// First bit behind the forward stream.
    pub(super) from: usize,
    /// First bit of what follows: the backward stream or the block's end; `None` if a stream left the block.
    pub(super) to: Option<usize>,
    /// Whether every key was at least the lowest possible one, without overflow.
    pub(super) in_range: bool,
}
