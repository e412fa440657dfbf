//! The options of a visit.

/// Which matches of a query are visited ([`crate::Searcher::visit`]), and in how much memory.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    pub(crate) k: u32,
    pub(crate) scan: bool,
    pub(crate) wanted: usize,
    pub(crate) memory: usize,
}

impl Visit {
    /// Default memory in bytes.
    const MEMORY: usize = 64 << 20;

    /// All within distance `k`.
    #[must_use]
    pub fn within(k: u32) -> Self {
        Self { k, scan: false, wanted: usize::MAX, memory: Self::MEMORY }
    }

    /// By comparing with every stored fingerprint.
    #[must_use]
    pub fn with_scan(mut self, scan: bool) -> Self {
        self.scan = scan;
        self
    }

    /// Announces that the caller breaks after about this many matches. All come if it does not.
    #[must_use]
    pub fn with_wanted(mut self, matches: usize) -> Self {
        self.wanted = matches;
        self
    }

    /// Bytes of memory for fingerprints that were found but not yet visited. With less memory, a query with many
    /// matches takes longer.
    #[must_use]
    pub fn with_memory(mut self, bytes: usize) -> Self {
        self.memory = bytes;
        self
    }
}
